package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/cmd/ci"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/redact"
)

// findCI returns the file of a forge.
func findCI(forge string) (ci.File, error) {
	f, ok := ci.For(forge)
	if !ok {
		return f, exit.Usage("reverie init --ci github, or reverie init --ci gitlab", "there are no CI files for %q", forge)
	}
	return f, nil
}

// renderCI is a forge's file for the memory branch of these settings and this version.
func (w *workspace) renderCI(f ci.File) (string, error) {
	text, err := f.Render(w.Config.Ref, version())
	if bad := (*ci.RefError)(nil); errors.As(err, &bad) && bad.Branch {
		return "", exit.New(exit.Failed, err, "take letters, digits, '.', '_', '-' and '/' only")
	} else if err != nil {
		return "", exit.New(exit.Failed, err, "the setting memory.ref names a branch, such as refs/heads/reverie/memory")
	}
	return text, nil
}

// ciDiffers reports whether a tree does not hold a forge's file with that text. The error says that it holds one
// that is not ours.
func ciDiffers(f ci.File, t *gitstore.Tree, text string) (bool, error) {
	old, err := t.Read(f.Path)
	switch {
	case errors.Is(err, gitstore.ErrNotFound):
		return true, nil
	case err != nil || string(old) == text:
		return false, err
	case !f.Ours(string(old)):
		return false, exit.New(exit.NeedsPerson, fmt.Errorf("%s is there, and 'reverie init --ci' did not write it", f.Path), "remove it from the memory branch first, or keep it and let it run: reverie check --diff BASE...HEAD")
	}
	return true, nil
}

// installCI writes a forge's file to the memory branch, and reports whether it was not there like that before.
// A dry run only looks.
func (w *workspace) installCI(ctx context.Context, f ci.File, text string, dry bool) (changed bool, err error) {
	if err := w.view(ctx, func(*record.View) error { return nil }); err != nil { // a newer format is not written to
		return false, err
	}
	if dry {
		err = w.Memory.View(ctx, func(t *gitstore.Tree) error {
			changed, err = ciDiffers(f, t, text)
			return err
		})
		return changed, err
	}
	clean, report := (*redact.Scanner)(nil).Text(text)
	if report.Found > 0 {
		return false, fmt.Errorf("%s: the branch's name looks like a secret", f.Path)
	}
	message := gitstore.Commit{Subject: "init: check pull requests on " + f.Forge, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "init"}}}
	res, err := w.Memory.Update(ctx, message, func(tx *gitstore.Tx) error {
		if differs, err := ciDiffers(f, tx.Tree, text); err != nil || !differs {
			return err
		}
		return tx.Write(f.Path, clean)
	})
	if err == nil && res.Note != "" {
		w.env.Say("%s", res.Note)
	}
	return res.Changed, err
}

// ciOnBranch names the files on the memory branch that init --ci wrote.
func (w *workspace) ciOnBranch(ctx context.Context) []string {
	var found []string
	_ = w.Memory.View(ctx, func(t *gitstore.Tree) error { // of a memory that cannot be read there is nothing to say
		for _, f := range ci.Files {
			if text, err := t.Read(f.Path); err == nil && f.Ours(string(text)) {
				found = append(found, f.Path)
			}
		}
		return nil
	})
	return found
}
