package reader

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/history"
)

// Found is the memory or the pending operation that an id names.
type Found struct {
	Operation *record.Operation // pending review; nil if Memory was found

	Memory  record.Memory
	Caveats Caveats
	Shadow  bool // the asker sees the agents' version, not the newest state
	Models  []ModelCommit
	Unknown error // why Models could not be read
}

// Find finds the target of an id in a view, as the asker may see it. The error wraps
// record.ErrNoMemory if nothing matches.
func Find(ctx context.Context, r *Reader, v *record.View, id string) (f Found, err error) {
	asked, err := r.ForAsker(ctx, v)
	if err != nil {
		return f, err
	}
	f.Memory, err = asked.Find(id)
	if withheld, werr := v.Find(id); err != nil && werr == nil {
		if err := r.WantTrust("show " + withheld.ID[:8]); err != nil {
			return f, err
		}
	}
	if err != nil { // people not trusted here may have removed it
		if asked, err = r.ForAgents(ctx, v); err != nil {
			return f, err
		}
		f.Memory, err = asked.Find(id)
	}
	if err != nil {
		missing := findOperation(r, v, id, err, &f)
		if f.Operation == nil && errors.Is(err, record.ErrNoMemory) {
			if own, err := FindOwn(ctx, r, id); err == nil {
				return Found{Memory: own}, nil
			}
		}
		return f, missing
	}
	f.Shadow = asked != v
	caveats, err := r.Caveats(ctx, asked)
	if err != nil {
		return f, err
	}
	f.Caveats = caveats(f.Memory)
	CheckTree(ctx, r, f.Memory, &f.Caveats)
	if f.Models, f.Unknown = ModelCommits(ctx, r, f.Memory.ID); ctx.Err() != nil {
		return f, ctx.Err()
	}
	return f, nil
}

// findOperation finds a pending operation if no memory has the id, or returns the error missing.
func findOperation(r *Reader, v *record.View, id string, missing error, f *Found) error {
	pending, err := v.Inbox().Operations()
	if err := r.Tolerate(err); err != nil {
		return err
	}
	o, err := record.FindOperation(pending, id)
	if err != nil {
		return missing
	}
	f.Operation = &o
	return nil
}

// ModelNames lists the models, each once.
func (f Found) ModelNames() (names []string) {
	for _, c := range f.Models {
		names = append(names, c.Models...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ModelCommit is a commit that added a model's proposal, which a person accepted.
type ModelCommit struct {
	ID     string
	Day    string
	Models []string
}

// ModelCommits returns the commits to a memory's file that added proposals of models, newest first.
// The source of a memory never changes, so only the history shows them.
func ModelCommits(ctx context.Context, r *Reader, id string) (all []ModelCommit, err error) {
	ref, path, err := Place(ctx, r, id)
	if errors.Is(err, record.ErrNoMemory) { // it was removed
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := r.Repo.Git(ctx, nil, append([]string{"log", "--no-show-signature", "--encoding=UTF-8", "--date=short",
		"--format=%H%x09%ad%x09%(trailers:key=Reverie-Model,valueonly,separator=%x09)", ref, "--"}, path...)...)
	if err != nil {
		return nil, err
	}
	named, _ := record.MemoryID(path[0]) // id may be short
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\t\n"), "\t")
		if models := history.Behind(f[2:], named); len(models) > 0 {
			all = append(all, ModelCommit{f[0], f[1], models})
		}
	}
	return all, nil
}

// Place finds the ref and the path of a memory. Without an id it returns the branch and no path.
func Place(ctx context.Context, r *Reader, id string) (ref string, path []string, err error) {
	ref = r.Config.Ref
	err = r.View(ctx, func(v *record.View) error {
		if v.Fallback() {
			ref = "refs/remotes/origin/" + r.Branch()
		}
		if id == "" {
			return nil
		}
		m, err := v.Find(id)
		if err != nil {
			return err
		}
		if m.Private {
			ref = clone.JournalRef
		}
		path = []string{m.Path()}
		return nil
	})
	return ref, path, err
}
