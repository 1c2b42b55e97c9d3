package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Container is one of our existing containers.
type Container struct {
	ID      string
	Name    string
	Loop    string
	Owner   Owner
	Status  string // created, running, exited …
	Started time.Time
}

// List finds the containers with our labels, of this machine and others that ask the same engine.
func (e *Engine) List(ctx context.Context) ([]Container, error) {
	out, err := e.ask(ctx, orderTime, "ps", "--all", "--no-trunc", "--quiet", "--filter", "label="+labelOurs)
	if err != nil {
		return nil, err
	}
	var list []Container
	for _, id := range strings.Fields(string(out)) {
		made, err := e.inspect(ctx, id)
		if missing(err) {
			continue // it has ended since
		}
		if err != nil {
			return nil, err
		}
		labels := made.Config.Labels
		if labels[labelOurs] == "" {
			continue
		}
		list = append(list, Container{made.ID, strings.TrimPrefix(made.Name, "/"), labels[labelLoop], ownerOf(labels), made.State.Status, made.State.StartedAt})
	}
	return list, nil
}

// Prune removes our containers with dead owners and their folders, and returns them. A nil alive
// means Owner.Alive. It touches nothing else.
func (e *Engine) Prune(ctx context.Context, alive func(Owner) bool) ([]Container, error) {
	if alive == nil {
		alive = Owner.Alive
	}
	list, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	var removed []Container
	for _, c := range list {
		if alive(c.Owner) {
			continue
		}
		if gone := e.remove(c.ID); gone != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s: %w", ErrLeft, c.Name, gone))
			continue
		}
		removed = append(removed, c)
	}
	return removed, errors.Join(err, e.sweep(alive))
}

// Remove removes one of our containers by its name or id, regardless of its owner.
func (e *Engine) Remove(ctx context.Context, name string) error {
	made, err := e.inspect(ctx, name)
	if err != nil {
		return err
	}
	if made.Config.Labels[labelOurs] == "" {
		return fmt.Errorf("%s was not made here", name)
	}
	return e.remove(made.ID)
}
