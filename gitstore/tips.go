package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// tips is our own record of each store's last commit, one line "id ref" each. git deletes a
// branch's reflog with the branch; this file still shows that the branch existed.
const tipsFile = "tips"

// tipRecord is the record of one store's last commit. It knows nothing of the ref itself.
type tipRecord struct {
	repo *git.Repo
	ref  string
}

// set records the store's last commit. The caller holds the lock. It need not be durable,
// because there are other records.
func (r tipRecord) set(id ID) error { return r.write(fmt.Sprintf("%s %s\n", id, r.ref)) }

// write replaces the store's line; an empty line removes it.
func (r tipRecord) write(mine string) error {
	text, err := r.repo.State().Read(tipsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if was, ref, ok := r.parse(line); ok && ref != r.ref {
			fmt.Fprintf(&b, "%s %s\n", was, ref)
		}
	}
	b.WriteString(mine)
	return r.repo.State().Write(tipsFile, []byte(b.String()), false)
}

// parse parses a line of tips. Other lines are ignored, and dropped at the next write.
func (r tipRecord) parse(line string) (id ID, ref string, ok bool) {
	hex, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return ID(hex), ref, r.repo.ObjectFormat.IsID(hex) && git.CheckRef(ref) == nil
}

// Lost returns the last commit made here if the ref no longer reaches it. Either the ref was set
// back, or its file was lost and git found an older value in packed-refs. Usually it returns ""
// after reading a small file.
func (s *Store) Lost(ctx context.Context) (ID, error) {
	made := s.tips.get() // before the tip: a writer moves the ref first
	if !s.repo.ObjectFormat.IsID(string(made)) {
		return "", nil
	}
	tip, err := s.Tip(ctx)
	if err != nil || tip == made {
		return "", err
	}
	reached, err := s.repo.History().IsAncestor(ctx, string(made), string(tip))
	if err == nil && !reached {
		return made, nil
	}
	return "", ctx.Err() // it is there, or git knows no such commit
}

// get returns the last commit made here, as tips records it, or "".
func (r tipRecord) get() ID {
	text, _ := r.repo.State().Read(tipsFile)
	for line := range strings.Lines(string(text)) {
		if id, ref, ok := r.parse(line); ok && ref == r.ref {
			return id
		}
	}
	return ""
}

// noted reports whether a last commit was ever recorded.
func (r tipRecord) noted() bool { return r.get() != "" }

// last returns the last known commit of the store, or "".
func (r tipRecord) last(ctx context.Context) ID {
	if id := r.get(); id != "" {
		return id
	}
	if r.repo.RefFormat != "files" {
		return "" // such a log goes with its ref
	}
	log, _ := r.repo.Refs().Log(ctx, r.ref)
	for _, l := range slices.Backward(log) {
		if l.New != "" {
			return ID(l.New)
		}
	}
	return ""
}

// absent returns the reason that the store's ref is missing: never made, or deleted.
func (r tipRecord) absent(ctx context.Context) error {
	if id := r.last(ctx); id != "" {
		return &DeletedError{r.ref, id}
	}
	return fmt.Errorf("%s: %w", r.ref, ErrNoStore)
}

// DeletedError wraps both ErrDeleted and ErrNoStore, for callers that only ask whether there is a
// store.
type DeletedError struct {
	Ref  string
	Last ID // the last known commit
}

func (e *DeletedError) Error() string {
	return fmt.Sprintf("%s: %v, last at %s", e.Ref, ErrDeleted, e.Last)
}

func (e *DeletedError) Is(target error) bool { return target == ErrDeleted || target == ErrNoStore }

func goneBack(ref string, lost ID) string {
	return fmt.Sprintf("the ref does not reach %s, the last commit made here; if nobody set it back on purpose, bring it back with git update-ref %s %s", lost, ref, lost)
}
