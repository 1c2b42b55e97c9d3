package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Update is one ref of a remote that a push moves.
type Update struct {
	Ref string // of the remote
	ID  string // its new value
	Old string // its expected value; empty: none. ID must descend from it
}

// Outcome is the result of one ref in a push.
type Outcome string

const (
	Moved    Outcome = "moved"      // the remote has acknowledged it
	UpToDate Outcome = "up to date" // it was there already
	LostRace Outcome = "lost race"  // the ref was no longer at Old: fetch, merge and try again
	Refused  Outcome = "refused"    // by the server, permanently: a hook, a protected branch, a limit
	Broken   Outcome = "broken"     // the connection or the server failed: try again later
)

// Pushed is the outcome for one ref, with the reason in git's or the server's words.
type Pushed struct {
	Ref     string
	Outcome Outcome
	Reason  string
	Commits int // that the update adds to Old
}

// Report is the result of a push.
type Report struct {
	Refs []Pushed // in the order of the updates
	Said []string // the server's own lines, with only their ends changed: they may hold anything
}

// Push moves refs of the remote, each only from its Old to a descendant. The server compares, and
// nothing is ever forced. It returns an error if the push had no outcome: an update that is no
// fast-forward, an unreachable remote, or the end of ctx.
func (m *Remote) Push(ctx context.Context, updates ...Update) (Report, error) {
	if m.NoPush != nil {
		return Report{}, m.NoPush
	}
	args := []string{"push", "--porcelain", "--progress", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"}
	var specs []string
	commits := make([]int, len(updates))
	for i, u := range updates {
		var err error
		if commits[i], err = m.checkUpdate(ctx, u); err != nil {
			return Report{}, err
		}
		args = append(args, "--force-with-lease="+u.Ref+":"+u.Old)
		specs = append(specs, u.ID+":"+u.Ref)
	}
	out, err := m.run(ctx, nil, append(append(args, "--", alias), specs...)...)
	report := Report{}
	var told *Error
	if errors.As(err, &told) {
		report.Said = sideband(told.all)
	}
	lines := parsePorcelain(string(out))
	for i, u := range updates {
		p, found := lines[u.Ref]
		if !found {
			if err == nil {
				err = errors.New("git did not say what became of " + u.Ref)
			}
			return report, fmt.Errorf("push to %s: %w", m.Name, m.explain(ctx, err))
		}
		p.Commits = commits[i]
		report.Refs = append(report.Refs, p)
	}
	return report, nil
}

// checkUpdate refuses an update that could overwrite something, and counts the commits that it
// adds. The server's compare-and-swap uses --force-with-lease, which would replace a history
// without this check.
func (m *Remote) checkUpdate(ctx context.Context, u Update) (commits int, err error) {
	if err := CheckRef(u.Ref); err != nil {
		return 0, err
	}
	if !m.repo.ObjectFormat.IsID(u.ID) || u.Old != "" && !m.repo.ObjectFormat.IsID(u.Old) {
		return 0, fmt.Errorf("push %s: %q from %q: not object ids", u.Ref, u.ID, u.Old)
	}
	lost, commits, err := m.Apart(ctx, u.Old, u.ID)
	if err == nil && lost > 0 {
		err = fmt.Errorf("%.12s does not descend from %.12s, and nothing is overwritten", u.ID, u.Old)
	}
	if err != nil {
		return 0, fmt.Errorf("push %s: %w", u.Ref, err)
	}
	return commits, nil
}

// parsePorcelain reads the lines of git push --porcelain: a flag, the two refs and a summary,
// separated by tabs. A remote with several addresses gives several lines for a ref; the worst
// counts.
func parsePorcelain(out string) map[string]Pushed {
	refs := map[string]Pushed{}
	for line := range strings.Lines(out) {
		flag, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		pair, summary, ok := strings.Cut(rest, "\t")
		if len(flag) != 1 || !ok {
			continue
		}
		ref := pair[strings.LastIndexByte(pair, ':')+1:]
		p := Pushed{Ref: ref, Outcome: Moved}
		switch flag {
		case "=":
			p.Outcome = UpToDate
		case "!":
			p.Outcome, p.Reason = judge(summary)
		}
		if old, twice := refs[ref]; !twice || rank(p.Outcome) > rank(old.Outcome) {
			refs[ref] = p
		}
	}
	return refs
}

func rank(o Outcome) int {
	for i, known := range []Outcome{UpToDate, Moved, LostRace, Broken} {
		if o == known {
			return i
		}
	}
	return 4
}

// races lists words by which git's own server reports that another client was moving the ref.
var races = []string{"cannot lock ref", "incorrect old value", "failed to update ref", "failed to lock", "reference already exists",
	"fetch first", "non-fast-forward", "stale info"}

// faults lists words of a failing server, against which a proposal would not help.
var faults = []string{"unpacker error", "failed to report status", "missing necessary objects", "internal server error", "timeout", "unable to migrate objects"}

// judge parses a summary such as "[remote rejected] (pre-receive hook declined)". If the server
// reports neither a lost race nor a failure, it has refused.
func judge(summary string) (Outcome, string) {
	kind, reason, _ := strings.Cut(summary, "] (")
	kind, reason = strings.TrimPrefix(kind, "["), strings.TrimSuffix(reason, ")")
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(reason), w) })
	}
	switch {
	case kind == "rejected":
		return LostRace, reason // by our own git, which compared with the server's value
	case kind == "remote failure", has(faults):
		return Broken, reason
	case kind == "remote rejected" && has(races):
		return LostRace, reason
	case kind == "remote rejected":
		return Refused, reason
	}
	return Broken, summary
}

// Bounds of the server's stored words.
const (
	maxSaid     = 20
	maxSaidLine = 300
)

// counts matches progress lines of a server's git.
var counts = pattern.New(`^(Resolving deltas|Checking connectivity|[A-Z][a-z]+ objects): +\d+(%|,|$)`)

// sideband extracts the server's lines, without its progress, from git's standard error.
func sideband(stderr []byte) []string {
	var said []string
	for line := range strings.Lines(string(stderr)) {
		theirs := false
		for part := range strings.SplitSeq(line, "\r") {
			if text, ok := strings.CutPrefix(part, "remote: "); ok {
				part, theirs = text, true
			}
			if part = shown(strings.TrimSpace(part)); theirs && part != "" && !counts.MatchString(part) && len(said) < maxSaid {
				said = append(said, part[:min(maxSaidLine, len(part))])
			}
		}
	}
	return said
}

// Overwrite moves one ref of the remote from u.Old to u.ID, although that is no descendant. Only a
// purge replaces the remote's history. The server compares u.Old, so nothing unseen is overwritten:
// an empty Old is refused. Otherwise it works like Push.
func (m *Remote) Overwrite(ctx context.Context, u Update) (Pushed, []string, error) {
	if m.NoPush != nil {
		return Pushed{}, nil, m.NoPush
	}
	if err := CheckRef(u.Ref); err != nil {
		return Pushed{}, nil, err
	}
	if !m.repo.ObjectFormat.IsID(u.ID) || !m.repo.ObjectFormat.IsID(u.Old) {
		return Pushed{}, nil, fmt.Errorf("overwrite %s: %q from %q: not object ids", u.Ref, u.ID, u.Old)
	}
	out, err := m.run(ctx, nil, "push", "--porcelain", "--progress", "--no-verify", "--no-signed", "--no-follow-tags",
		"--recurse-submodules=no", "--force-with-lease="+u.Ref+":"+u.Old, "--", alias, u.ID+":"+u.Ref)
	var told *Error
	var said []string
	if errors.As(err, &told) {
		said = sideband(told.all)
	}
	p, found := parsePorcelain(string(out))[u.Ref]
	if found {
		if p.Outcome == LostRace && strings.Contains(p.Reason, "non-fast-forward") {
			p.Outcome = Refused // the server forbids this very operation
		}
		return p, said, nil
	}
	if err == nil {
		err = errors.New("git did not say what became of " + u.Ref)
	}
	return Pushed{}, said, fmt.Errorf("push to %s: %w", m.Name, m.explain(ctx, err))
}
