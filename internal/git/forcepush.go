package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Overwrite moves one ref of the remote from u.Old to u.ID, although that is no descendant. Only a
// purge replaces the remote's history. The server compares u.Old, so nothing unseen is overwritten:
// an empty Old is refused. Otherwise it works like Push.
func (m *Remote) Overwrite(ctx context.Context, u Update) (Pushed, []string, error) {
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
