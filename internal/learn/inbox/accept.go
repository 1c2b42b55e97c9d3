package inbox

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
)

// maxListed bounds how many statements, sessions or dreams a commit message lists.
const maxListed = 50

// manyByPolicy is the number of operations that share a commit if the policy accepts them. Fewer
// have one each, so that a person can revert one.
const manyByPolicy = 20

// AcceptByPolicy accepts the operations that the policy allows. It returns them and the rest of the
// inbox. It accepts nothing if an agent asks.
func (b *Inbox) AcceptByPolicy(ctx context.Context) (accepted []record.Operation, rest []Waiting, err error) {
	var through []record.Operation
	stated := b.Documents() // reads them before the lock is taken
	allows := func(c config.Config, o record.Operation) bool {
		ok, _ := clone.Policy(c).Accepts(o)
		return ok && (o.How != record.Seen || stated(o.Memory) == "")
	}
	err = b.View(ctx, func(v *record.View, t clone.Team) error {
		pending, err := b.Pending(v)
		for _, o := range pending {
			if b.Asker() == "" && allows(t.Config, o) {
				through = append(through, o)
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if len(through) > 0 {
		size := 1
		if len(through) >= manyByPolicy {
			size = len(through)
		}
		accepted, err = accept(ctx, b, slices.Chunk(through, size), "learn", allows)
		if record.Undecidable(err) {
			b.Note(Doubt{err}) // they wait for a person
			err = nil
		}
		b.Note(AcceptedByPolicy(len(accepted)))
		if err != nil {
			return accepted, nil, err
		}
	}
	rest, err = b.Queue(ctx, nil)
	return accepted, rest, err
}

// Accept applies operations as a person saw them, in one commit: one undo takes all back. An
// undecidable operation stays in the inbox and is named in the error; the others are applied. verb
// goes into the commit's trailer.
func (b *Inbox) Accept(ctx context.Context, shown []record.Operation, verb string) (done []record.Operation, err error) {
	return accept(ctx, b, slices.Values([][]record.Operation{shown}), verb, nil)
}

// accept applies each batch of operations in a commit. allow may be nil; it judges each operation
// again under the lock.
func accept(ctx context.Context, b *Inbox, batches iter.Seq[[]record.Operation], verb string, allow func(config.Config, record.Operation) bool) (done []record.Operation, err error) {
	var left []error
	for batch := range batches {
		applied, refused, err := b.acceptBatch(ctx, batch, verb, allow)
		if err != nil {
			return done, errors.Join(append(left, err)...)
		}
		done, left = append(done, applied...), append(left, refused...)
	}
	if slices.ContainsFunc(done, func(o record.Operation) bool { return o.Memory.Kind == record.Preference }) {
		Prefer(ctx, b)
	}
	return done, errors.Join(left...)
}

// Prefer offers the preferences of a clone to all repositories of the person. Call it after a new
// preference.
func Prefer(ctx context.Context, b *Inbox) {
	if err := b.Offer(ctx); err != nil {
		b.Note(Doubt{err})
	}
}

// acceptBatch applies operations in one commit.
func (b *Inbox) acceptBatch(ctx context.Context, batch []record.Operation, verb string, allow func(config.Config, record.Operation) bool) (applied []record.Operation, refused []error, err error) {
	err = b.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		applied, refused = nil, nil
		for _, o := range batch {
			now, err := tx.Pending(o)
			if allow != nil && (errors.Is(err, record.ErrDecided) || err == nil && !allow(t.Config, now)) {
				continue // another process was faster, or the policy changed
			}
			if err == nil {
				now.Memory.Supersedes, err = b.overruled(tx.View, now, applied)
			}
			if err == nil {
				err = tx.Accept(now)
			}
			switch {
			case record.Undecidable(err):
				refused = append(refused, err)
			case err != nil:
				return err
			default:
				applied = append(applied, now)
			}
		}
		tx.Describe(acceptCommit(verb, applied))
		return nil
	})
	return applied, refused, err
}

// overruled returns the ids of the memories that accepting an operation retires. The error wraps
// record.ErrChanged if it contradicts a memory that the same commit adds.
func (b *Inbox) overruled(v *record.View, o record.Operation, applied []record.Operation) ([]string, error) {
	for _, a := range applied {
		if o.Op == record.Add && slices.Contains(o.Contradicts, a.Memory.ID) {
			return nil, fmt.Errorf("accept %s: %w: it contradicts %s", o.ID, record.ErrChanged, a.Memory.ID)
		}
	}
	return dream.Overruled(v, o, b.Now()), nil
}

// acceptCommit describes the accepted operations and their evidence. Among several it names no
// private statement and its session, because the commit may be on the branch.
func acceptCommit(verb string, ops []record.Operation) gitstore.Commit {
	var c gitstore.Commit
	several := len(ops) > 1
	switch len(ops) {
	case 0:
		return c
	case 1:
		o := ops[0]
		c.Subject = o.Verb() + ": " + record.CommitSubject(o.Memory.Text)
		c.Body = o.Memory.Body
		if o.Op == record.Skill {
			c.Body = o.Path
		}
	default:
		verb := ops[0].Verb()
		if slices.ContainsFunc(ops, func(o record.Operation) bool { return o.Verb() != verb }) {
			verb = "accept"
		}
		c.Subject = fmt.Sprintf("%s: %d statements", verb, len(ops))
		shared := slices.DeleteFunc(slices.Clone(ops), func(o record.Operation) bool { return o.Memory.Private })
		if len(shared) > 0 {
			ops = shared
		}
		var lines []string
		for _, o := range ops[:min(maxListed, len(ops))] {
			lines = append(lines, "- "+o.Verb()+": "+o.Memory.Text)
		}
		if more := len(ops) - maxListed; more > 0 {
			lines = append(lines, fmt.Sprintf("- and %d more", more))
		}
		c.Body = strings.Join(lines, "\n")
	}
	c.Trailers = append([]gitstore.Trailer{{Key: "Reverie-Op", Value: verb}}, evidence(ops, several)...)
	return c
}

// evidence lists the sessions, models and dreams behind operations, each once. In a commit of
// several, the first digits of the memories' ids follow each name, for history.Behind.
func evidence(ops []record.Operation, several bool) (out []gitstore.Trailer) {
	at := map[gitstore.Trailer]int{}
	add := func(o record.Operation, key, name string) {
		t := gitstore.Trailer{Key: key, Value: name}
		i, known := at[t]
		switch {
		case name == "" || !known && key == "Reverie-Session" && len(at) >= 2*maxListed:
			return
		case !known:
			i = len(out)
			at[t], out = i, append(out, t)
		}
		for _, id := range append([]string{o.Memory.ID}, o.Memory.Supersedes...) {
			if short := " " + id[:min(8, len(id))]; several && key != "Reverie-Dream" && !strings.Contains(out[i].Value, short) {
				out[i].Value += short
			}
		}
	}
	for _, o := range ops {
		add(o, "Reverie-Model", o.Model)
		for _, s := range o.Sightings {
			add(o, "Reverie-Session", s.Client+"/"+s.Session)
			add(o, "Reverie-Model", s.Model)
		}
		add(o, "Reverie-Dream", o.Dream)
	}
	return out
}

// Reject drops the operations with the given ids, or all, and records never to propose them again.
func (b *Inbox) Reject(ctx context.Context, ids []string, all bool, reason string) (ops []record.Operation, err error) {
	err = b.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		var err error
		if ops, err = b.Pick(ctx, tx.View, ids, all); err != nil {
			return err
		}
		for _, op := range ops {
			if err := tx.Reject(op.Reject(reason, "", b.Now())); err != nil {
				return err
			}
		}
		text := Count(len(ops), "operation")
		if len(ops) == 1 {
			text = record.CommitSubject(ops[0].Memory.Text)
		}
		tx.Describe(gitstore.Commit{Subject: "reject: " + text, Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "reject"}}})
		return nil
	})
	return ops, err
}

// Count writes a number and a noun for a commit subject.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
