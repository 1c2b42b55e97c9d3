package gitstore

import (
	"context"
	"strings"
)

// WithTree returns the newest commit reachable from tip whose tree is tree, or "".
func (s *Store) WithTree(ctx context.Context, tip, tree ID) (ID, error) {
	out, err := s.repo.Git(ctx, nil, "rev-list", "--topo-order", "--format=tformat:%T", string(tip), "--")
	if err != nil {
		return "", err
	}
	var commit ID
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			commit = ID(id)
		} else if line == string(tree) {
			return commit, nil
		}
	}
	return "", nil
}
