package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
)

// Span names two states of a memory, between which Diff looks.
type Span struct {
	A, B string // as they were named

	from, to gitstore.ID // from is empty for nothing at all
	beside   gitstore.ID // the newest state of the base, where from is an older one; else empty
	three    bool        // A...B
}

// ReadSpan reads the notation of git's diff: A..B compares two states, A...B shows the change of B
// since it left A, and A alone means A..TIP. A missing side is the tip, too.
func ReadSpan(ctx context.Context, c *clone.Clone, text string) (Span, error) {
	a, b, three := strings.Cut(text, "...")
	if !three {
		a, b, _ = strings.Cut(text, "..")
	}
	if a == "" && b == "" {
		return Span{}, exit.Usage(spanHint(ctx, c), "--diff takes two states of the memory")
	}
	s := Span{A: a, B: b, three: three}
	for _, side := range []*string{&s.A, &s.B} {
		if *side == "" {
			*side = c.Branch()
		}
	}
	var err error
	if s.to, err = stateAt(ctx, c, b); err != nil {
		return s, err
	}
	if s.from, err = stateAt(ctx, c, a); err != nil || !three || s.from == "" {
		return s, err
	}
	out, err := c.Repo.Git(ctx, nil, "merge-base", string(s.from), string(s.to))
	if err != nil {
		return s, cutOff(ctx, c, fmt.Errorf("%s and %s have no commit in common", term.OneLine(a, 60), term.OneLine(b, 60)))
	}
	base := gitstore.ID(strings.TrimSpace(string(out)))
	if base != s.from {
		s.beside = s.from
	}
	s.from = base
	return s, nil
}

// stateAt finds a commit. HEAD is that of this worktree. Zeros, by which a forge means a missing
// branch, give "".
func stateAt(ctx context.Context, c *clone.Clone, rev string) (gitstore.ID, error) {
	if len(rev) >= 40 && strings.Trim(rev, "0") == "" {
		return "", nil
	}
	if rev == "" {
		id, err := c.Memory.Tip(ctx)
		if !clone.NoMemory(err) {
			return id, err
		}
		rev = "HEAD"
	}
	if rest, ok := strings.CutPrefix(rev, "HEAD"); ok && (rest == "" || rest[0] == '~' || rest[0] == '^') {
		id, _, err := c.Repo.Head(ctx)
		if err != nil {
			return "", err
		}
		rev = id + rest
	}
	id, err := clone.Resolve(ctx, c, rev)
	if err == nil {
		err = c.Memory.ViewAt(ctx, string(id), func(*gitstore.Tree) error { return nil })
	}
	if errors.Is(err, gitstore.ErrRevision) {
		return "", cutOff(ctx, c, err)
	}
	return id, err
}

// cutOff adds the remedy to an error about history, which a shallow clone may lack.
func cutOff(ctx context.Context, c *clone.Clone, err error) error {
	if c.Repo.Shallow {
		return exit.New(exit.Failed, fmt.Errorf("%w, and the history is cut off here (a shallow clone)", err),
			"fetch all of it: 'fetch-depth: 0' for actions/checkout, GIT_DEPTH: \"0\" for GitLab, or git fetch --unshallow")
	}
	return exit.New(exit.Failed, err, "fetch the branch that contains it; to check what is here: "+spanHint(ctx, c))
}

// Missing reports whether the base of A..B has commits that its head lacks. Their changes look
// deleted. A shallow clone cannot tell.
func (s Span) Missing(ctx context.Context, c *clone.Clone) bool {
	if s.three || s.from == "" || c.Repo.Shallow {
		return false
	}
	in, err := c.Repo.History().IsAncestor(ctx, string(s.from), string(s.to))
	return err == nil && !in // trees have no history
}

// Diff returns everything that the rules find in a span, in order. version is that of this program.
func (s Span) Diff(ctx context.Context, r *reader.Reader, version string) ([]finding.Finding, error) {
	if s.to == "" {
		return nil, exit.Usage("", "the state to check is not one of the memory")
	}
	found, err := Run(ctx, Change{
		Store: r.Memory, From: s.from, To: s.to, Beside: s.beside,
		Scanner: redact.New(r.AllSecrets(ctx)...), Now: r.Now(), Version: version,
		Brief: func(text string) string { return term.OneLine(text, 120) },
		Stale: func(m record.Memory) []string { return r.CheckedCode(ctx).Gone(ctx, m) },
	})
	var none *NoMemoryError
	var history *HistoryError
	switch {
	case errors.As(err, &none):
		name := s.B
		if none.Base {
			name = s.A
		}
		err = fmt.Errorf("%s is not a state of the memory: it has no reverie.toml", term.OneLine(name, 60))
		return nil, exit.New(exit.Failed, err, "name two states of the memory branch: "+spanHint(ctx, r.Clone))
	case errors.As(err, &history):
		return nil, cutOff(ctx, r.Clone, history.Err)
	case err != nil:
		return nil, err
	}
	for i := range found {
		found[i].Message = term.Visible(found[i].Message)
	}
	return Rules.Sort(found), nil
}

// spanHint returns a command line for a span that exists here.
func spanHint(ctx context.Context, c *clone.Clone) string {
	base, head := c.Branch()+"~1", c.Branch()
	if id, _, err := c.Repo.Head(ctx); err == nil {
		if ours, err := c.OfMemory(ctx, id); ours && err == nil {
			head = "HEAD"
		}
	}
	if _, err := clone.Resolve(ctx, c, "origin/"+c.Branch()); err == nil {
		base = "origin/" + c.Branch()
	}
	return "reverie check --diff " + base + "..." + head
}
