package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
)

// Reading by a model that Reverie cannot reach: a person carries the questions and the answer.

// Unnamed is the model of an answer without a model's name.
const Unnamed = "unnamed"

// Question is a question about a session.
type Question struct {
	Session string
	prompts.Rendered
}

// Questions returns the questions about sessions to the named model. Without a model they suit a
// large one, unless the settings give the size of its context. With pending it asks about unread
// sessions, at most limit of them unless limit is 0.
func Questions(ctx context.Context, l *Learner, names []string, name string, pending bool, limit int) (all []Question, err error) {
	m, set, err := l.Model(ctx, model.Reflect, name)
	if err != nil {
		return nil, err
	}
	if m == nil {
		settings, err := l.Settings(ctx)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(settings.Settings(), func(s config.Setting) bool { return s.Key == "model.context" && s.Origin != "default" }) {
			m = &prompts.Model{Context: settings.Model.Context}
		}
		if set, err = model.Prompts(l.Config); err != nil {
			return nil, err
		}
	}
	if pending {
		if names, err = l.Unread(ctx, nil, set); err != nil {
			return nil, err
		}
		names, _ = Oldest(names, limit)
	}
	for _, name := range names {
		kept, events, err := l.Sessions.Load(name)
		if err != nil {
			return nil, fmt.Errorf("reflect: %w", err)
		}
		known, err := l.KnownAbout(ctx, kept.Session, events, false) // the model may be elsewhere
		if err != nil {
			return nil, err
		}
		questions, err := reflect.Questions(m, set, kept.Session, events, known)
		if err != nil {
			return nil, err
		}
		for _, q := range questions {
			all = append(all, Question{kept.Name(), q})
		}
	}
	return all, nil
}

// Oldest returns the first of some names, all without a limit, and the number of the others.
func Oldest(names []string, limit int) (some []string, left int) {
	if limit > 0 && len(names) > limit {
		return names[:limit], len(names) - limit
	}
	return names, 0
}

// Import checks a model's answers about a session, which a person brought from the source from, and
// keeps the reading unless dry.
func Import(ctx context.Context, l *Learner, session, from string, answers []byte, by string, dry bool) (got reflect.Reading, err error) {
	set, err := model.Prompts(l.Config)
	if err != nil {
		return got, err
	}
	purges := purge.Mark(l.State)
	kept, events, err := l.Sessions.Load(session)
	if err != nil {
		return got, fmt.Errorf("reflect: %w", err)
	}
	base := reflect.Study(kept.Session, events)
	known, err := l.KnownAbout(ctx, kept.Session, events, false)
	if err != nil {
		return got, err
	}
	if got, err = reflect.Import(set, kept.Session, events, base, answers, by, known...); err != nil {
		return got, fmt.Errorf("reflect: %s: %w", from, err)
	}
	if dry {
		return got, nil
	}
	if err := l.Create(ctx); err != nil {
		return got, err
	}
	return got, l.KeepReading(ctx, got, purges)
}
