package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
)

// check --diff looks at what one state of the memory changed against another, for a pull request:
// it reads commits only, so that it works in a checkout of the branch, of a merge on it, and in a
// clone of the code alike.

type checkDiffOptions struct {
	span   string // BASE..HEAD, BASE...HEAD or BASE
	sarif  bool
	github bool
	strict bool // warnings count
}

func runCheckDiff(ctx context.Context, env *Env, o checkDiffOptions) error {
	if env.JSON && o.sarif || env.JSON && o.github || o.sarif && o.github {
		return exit.Usage("", "--json, --sarif and --github exclude each other")
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	span, err := w.span(ctx, o.span)
	if err != nil {
		return err
	}
	tellApart(ctx, w, span)
	found, err := checkDiff(ctx, w, span)
	if err != nil {
		return err
	}
	if err := tellFindings(env, found, o); err != nil {
		return err
	}
	n := map[finding.Level]int{}
	for _, f := range found {
		n[f.Level]++
	}
	if len(found) == 0 {
		env.Say("nothing found in %s", o.span)
		return nil
	}
	summary := fmt.Sprintf("%s, %s and %s in %s", plural.Count(n[finding.Error], "error", "errors"), plural.Count(n[finding.Warning], "warning", "warnings"), plural.Count(n[finding.Note], "note", "notes"), o.span)
	if n[finding.Error] > 0 || o.strict && n[finding.Warning] > 0 {
		env.Warn("%s", summary)
		return exit.Silent
	}
	env.Say("%s", summary)
	return nil
}

// span is the two states between which a check looks, and the commits that lead from one to the
// other.
type span struct {
	from, to gitstore.ID // from is empty for nothing at all
	beside   gitstore.ID // the newest state of the base, where from is an older one; else empty
	a, b     string      // as they were named
	three    bool        // A...B
}

// span reads what git's diff reads: A..B compares two states, A...B what B changed since it left A,
// and A alone is A..TIP. A side that is missing is the tip too.
func (w *workspace) span(ctx context.Context, text string) (span, error) {
	a, b, three := strings.Cut(text, "...")
	if !three {
		a, b, _ = strings.Cut(text, "..")
	}
	if a == "" && b == "" {
		return span{}, exit.Usage(spanHint(ctx, w), "--diff takes two states of the memory")
	}
	s := span{a: a, b: b, three: three}
	for _, side := range []*string{&s.a, &s.b} {
		if *side == "" {
			*side = w.Branch()
		}
	}
	var err error
	if s.to, err = stateAt(ctx, w, b); err != nil {
		return s, err
	}
	if s.from, err = stateAt(ctx, w, a); err != nil || !three || s.from == "" {
		return s, err
	}
	out, err := w.Repo.Git(ctx, nil, "merge-base", string(s.from), string(s.to))
	if err != nil {
		return s, cutOff(ctx, w, fmt.Errorf("%s and %s have no commit in common", term.OneLine(a, 60), term.OneLine(b, 60)))
	}
	base := gitstore.ID(strings.TrimSpace(string(out)))
	if base != s.from {
		s.beside = s.from
	}
	s.from = base
	return s, nil
}

// stateAt finds a commit. HEAD is that of this worktree; zeros, which a forge gives for a branch
// that was not there, are nothing.
func stateAt(ctx context.Context, w *workspace, rev string) (gitstore.ID, error) {
	if len(rev) >= 40 && strings.Trim(rev, "0") == "" {
		return "", nil
	}
	if rev == "" {
		id, err := w.Memory.Tip(ctx)
		if !clone.NoMemory(err) {
			return id, err
		}
		rev = "HEAD"
	}
	if rest, ok := strings.CutPrefix(rev, "HEAD"); ok && (rest == "" || rest[0] == '~' || rest[0] == '^') {
		id, _, err := w.Repo.Head(ctx)
		if err != nil {
			return "", err
		}
		rev = id + rest
	}
	id, err := w.Memory.Resolve(ctx, rev)
	if seen := seenAs(w, rev); errors.Is(err, gitstore.ErrRevision) && seen != "" {
		if at, serr := w.Memory.Resolve(ctx, seen); serr == nil {
			id, err = at, nil
		}
	}
	if err == nil {
		err = w.Memory.ViewAt(ctx, string(id), func(*gitstore.Tree) error { return nil })
	}
	if errors.Is(err, gitstore.ErrRevision) {
		return "", cutOff(ctx, w, err)
	}
	return id, err
}

// cutOff says of an error about history that a shallow clone is to blame, where it is.
func cutOff(ctx context.Context, w *workspace, err error) error {
	if w.Repo.Shallow {
		return exit.New(exit.Failed, fmt.Errorf("%w, and the history is cut off here (a shallow clone)", err),
			"fetch all of it: 'fetch-depth: 0' for actions/checkout, GIT_DEPTH: \"0\" for GitLab, or git fetch --unshallow")
	}
	return exit.New(exit.Failed, err, "fetch the branch that contains it; to check what is here: "+spanHint(ctx, w))
}

// checkDiff returns everything that the rules find in a span, in order.
func checkDiff(ctx context.Context, w *workspace, s span) ([]finding.Finding, error) {
	if s.to == "" {
		return nil, exit.Usage("", "the state to check is not one of the memory")
	}
	found, err := check.Run(ctx, check.Change{
		Store: w.Memory, From: s.from, To: s.to, Beside: s.beside,
		Scanner: redact.New(w.AllSecrets(ctx)...), Now: w.env.Now(), Version: version(),
		Brief: func(text string) string { return term.OneLine(text, 120) },
		Stale: func(m record.Memory) []string { return w.CheckedCode(ctx).Gone(ctx, m) },
	})
	var none *check.NoMemoryError
	var history *check.HistoryError
	switch {
	case errors.As(err, &none):
		name := s.b
		if none.Base {
			name = s.a
		}
		err = fmt.Errorf("%s is not a state of the memory: it has no reverie.toml", term.OneLine(name, 60))
		return nil, exit.New(exit.Failed, err, "name two states of the memory branch: "+spanHint(ctx, w))
	case errors.As(err, &history):
		return nil, cutOff(ctx, w, history.Err)
	case err != nil:
		return nil, err
	}
	for i := range found {
		found[i].Message = term.Visible(found[i].Message)
	}
	return check.Rules.Sort(found), nil
}
