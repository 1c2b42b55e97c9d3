package gitstore

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Backups is the prefix of the refs that keep a tip before it is given up.
const Backups = "refs/reverie/backup/"

// Backup stores a commit under the next number of Backups and returns the ref. If it is the newest
// backup already, it is not stored again.
func (s *Store) Backup(ctx context.Context, id ID) (ref string, err error) {
	_, unlock, err := s.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	for {
		out, err := s.repo.Git(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", Backups)
		if err != nil {
			return "", err
		}
		last, lastID := 0, ""
		for line := range strings.Lines(string(out)) {
			name, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if n, err := strconv.Atoi(strings.TrimPrefix(name, Backups)); err == nil && n > last {
				last, lastID = n, at
			}
		}
		if lastID == string(id) {
			return Backups + strconv.Itoa(last), nil
		}
		ref := Backups + strconv.Itoa(last+1)
		err = s.repo.Refs().Move(ctx, ref, string(id), "", "reverie: backup of "+s.ref)
		if !errors.Is(err, git.ErrLost) {
			return ref, err
		}
	}
}
