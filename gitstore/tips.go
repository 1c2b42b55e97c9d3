package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// tips is our own record of each store's last commit, one line "id ref" each. git deletes a
// branch's reflog with the branch; this file still shows that the branch existed.
const tips = "tips"

// remember records the store's last commit. The caller holds the lock. It need not be durable,
// because there are other records.
func (s *Store) remember(id ID) error { return s.note(fmt.Sprintf("%s %s\n", id, s.ref)) }

// note replaces the store's line; an empty line removes it.
func (s *Store) note(mine string) error {
	text, err := s.repo.State().Read(tips)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if was, ref, ok := s.parseTip(line); ok && ref != s.ref {
			fmt.Fprintf(&b, "%s %s\n", was, ref)
		}
	}
	b.WriteString(mine)
	return s.repo.State().Write(tips, []byte(b.String()), false)
}

// parseTip parses a line of tips. Other lines are ignored, and dropped at the next write.
func (s *Store) parseTip(line string) (id ID, ref string, ok bool) {
	hex, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return ID(hex), ref, s.repo.ObjectFormat.IsID(hex) && git.CheckRef(ref) == nil
}

// Lost returns the last commit made here if the ref no longer reaches it. Either the ref was set
// back, or its file was lost and git found an older value in packed-refs. Usually it returns ""
// after reading a small file.
func (s *Store) Lost(ctx context.Context) (ID, error) {
	made := s.made() // before the tip: a writer moves the ref first
	if !s.repo.ObjectFormat.IsID(string(made)) {
		return "", nil
	}
	tip, err := s.Tip(ctx)
	if err != nil || tip == made {
		return "", err
	}
	var no *git.Error
	_, err = s.repo.Git(ctx, nil, "merge-base", "--is-ancestor", string(made), string(tip))
	if errors.As(err, &no) && no.Code == 1 {
		return made, nil
	}
	return "", ctx.Err() // it is there, or git knows no such commit
}

// made returns the last commit made here, as tips records it, or "".
func (s *Store) made() ID {
	text, _ := s.repo.State().Read(tips)
	for line := range strings.Lines(string(text)) {
		if id, ref, ok := s.parseTip(line); ok && ref == s.ref {
			return id
		}
	}
	return ""
}

// noted reports whether a last commit was ever recorded.
func (s *Store) noted() bool { return s.made() != "" }

// last returns the last known commit of the store, or "".
func (s *Store) last() ID {
	if id := s.made(); id != "" {
		return id
	}
	log, _ := os.ReadFile(filepath.Join(s.repo.CommonDir, "logs", filepath.FromSlash(s.ref)))
	var id ID
	for line := range strings.Lines(string(log)) {
		if fields := strings.Fields(line); len(fields) > 1 && s.repo.ObjectFormat.IsID(fields[1]) {
			id = ID(fields[1])
		}
	}
	return id
}

// absent returns the reason that the store's ref is missing: never made, or deleted.
func (s *Store) absent() error {
	if id := s.last(); id != "" {
		return fmt.Errorf("%s: %w, last at %s: bring it back with git update-ref %s %s", s.ref, deleted{}, id, s.ref, id)
	}
	return fmt.Errorf("%s: %w", s.ref, ErrNoStore)
}

// deleted wraps both ErrDeleted and ErrNoStore, for callers that only ask whether there is a store.
type deleted struct{}

func (deleted) Error() string { return ErrDeleted.Error() }

func (deleted) Is(target error) bool { return target == ErrDeleted || target == ErrNoStore }

func goneBack(ref string, lost ID) string {
	return fmt.Sprintf("the ref does not reach %s, the last commit made here; if nobody set it back on purpose, bring it back with git update-ref %s %s", lost, ref, lost)
}
