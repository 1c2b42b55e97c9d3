package cmd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/redact"
)

// A forge runs for a pull request what the CI files on its own branches say, so the memory branch has its own.
// They install Reverie and run check --diff.

// ciFile is the file that tells one forge to check pull requests. In its text @BRANCH@ stands for the memory
// branch and @VERSION@ for the version to install.
type ciFile struct {
	forge string
	path  string
	text  string
}

var (
	//go:embed ci/github.yml
	githubCI string
	//go:embed ci/gitlab.yml
	gitlabCI string
)

var ciFiles = []ciFile{
	{"github", ".github/workflows/reverie.yml", githubCI},
	{"gitlab", ".gitlab-ci.yml", gitlabCI},
}

// Names that can stand in YAML, in a shell and in a forge's patterns as they are.
const (
	plainBranch = `[A-Za-z0-9][A-Za-z0-9._/-]*`
	plainTag    = `latest|v[0-9]+\.[0-9]+\.[0-9]+`
)

var release = pattern.New(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// findCI returns the file of a forge.
func findCI(forge string) (ciFile, error) {
	for _, f := range ciFiles {
		if f.forge == forge {
			return f, nil
		}
	}
	return ciFile{}, usage("reverie init --ci github, or reverie init --ci gitlab", "there are no CI files for %q", forge)
}

// render is the file's text for a memory branch, given by its whole ref. It installs this version, or the latest
// where this one was never released.
func (f ciFile) render(ref, version string) (string, error) {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return "", &failure{exitFailed, fmt.Errorf("%s is no branch: a forge opens no pull requests on it", ref), "the setting memory.ref names a branch, such as refs/heads/reverie/memory"}
	}
	if !regexp.MustCompile(`^(` + plainBranch + `)$`).MatchString(branch) {
		return "", &failure{exitFailed, fmt.Errorf("the branch %s has characters that mean something else in CI files", branch), "take letters, digits, '.', '_', '-' and '/' only"}
	}
	if !release.MatchString(version) {
		version = "latest"
	}
	return strings.NewReplacer("@BRANCH@", branch, "@VERSION@", version).Replace(f.text), nil
}

// ours reports whether a file's text says that init --ci wrote it.
func (f ciFile) ours(text string) bool {
	first, _, _ := strings.Cut(f.text, "\n")
	return strings.HasPrefix(text, first+"\n")
}

// differs reports whether a tree does not hold the file with that text. The error says that it holds one
// that is not ours.
func (f ciFile) differs(t *gitstore.Tree, text string) (bool, error) {
	old, err := t.Read(f.path)
	switch {
	case errors.Is(err, gitstore.ErrNotFound):
		return true, nil
	case err != nil || string(old) == text:
		return false, err
	case !f.ours(string(old)):
		return false, &failure{exitPerson, fmt.Errorf("%s is there, and 'reverie init --ci' did not write it", f.path), "remove it from the memory branch first, or keep it and let it run: reverie check --diff BASE...HEAD"}
	}
	return true, nil
}

// installCI writes a forge's file to the memory branch, and reports whether it was not there like that before.
// A dry run only looks.
func (w *workspace) installCI(ctx context.Context, f ciFile, text string, dry bool) (changed bool, err error) {
	if err := w.view(ctx, func(*record.View) error { return nil }); err != nil { // a newer format is not written to
		return false, err
	}
	if dry {
		err = w.memory.View(ctx, func(t *gitstore.Tree) error {
			changed, err = f.differs(t, text)
			return err
		})
		return changed, err
	}
	clean, report := (*redact.Scanner)(nil).Text(text)
	if report.Found > 0 {
		return false, fmt.Errorf("%s: the branch's name looks like a secret", f.path)
	}
	message := gitstore.Commit{Subject: "init: check pull requests on " + f.forge, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "init"}}}
	res, err := w.memory.Update(ctx, message, func(tx *gitstore.Tx) error {
		if differs, err := f.differs(tx.Tree, text); err != nil || !differs {
			return err
		}
		return tx.Write(f.path, clean)
	})
	if err == nil && res.Note != "" {
		w.env.say("%s", res.Note)
	}
	return res.Changed, err
}

// ciOnBranch names the files on the memory branch that init --ci wrote.
func (w *workspace) ciOnBranch(ctx context.Context) []string {
	var found []string
	_ = w.memory.View(ctx, func(t *gitstore.Tree) error { // of a memory that cannot be read there is nothing to say
		for _, f := range ciFiles {
			if text, err := t.Read(f.path); err == nil && f.ours(string(text)) {
				found = append(found, f.path)
			}
		}
		return nil
	})
	return found
}

// isCIFile reports whether a forge reads a file of the branch to decide what it runs.
func isCIFile(path string) bool {
	return strings.HasPrefix(path, ".github/") || path == ".gitlab-ci.yml"
}

// writtenByInit reports whether a file is what init --ci of this version writes, for whichever branch and
// version of Reverie, and names these.
func writtenByInit(path string, data []byte) (branch, version string, ok bool) {
	for _, f := range ciFiles {
		if f.path != path {
			continue
		}
		form := regexp.QuoteMeta(f.text)
		form = strings.Replace(form, "@BRANCH@", `(`+plainBranch+`)`, 1)
		form = strings.Replace(form, "@VERSION@", `(`+plainTag+`)`, 1)
		found := regexp.MustCompile(`^` + form + `$`).FindSubmatch(data)
		if found == nil {
			return "", "", false
		}
		return string(found[1]), string(found[2]), true
	}
	return "", "", false
}
