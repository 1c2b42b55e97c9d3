// Package ci renders the workflow file by which a forge checks pull requests against the memory
// branch, and publishes the memories if asked to. A forge runs the workflow of a pull request's
// target branch, so the memory branch has its own. The file installs Reverie and runs check --diff.
//
// Render returns the text of such a file. Written recognises it for any branch and version.
package ci

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// File makes one forge check pull requests.
type File struct {
	Forge string
	Path  string // in the tree of the memory branch
	Next  string // a person's part in the forge's settings before it publishes
	text  string // with @BRANCH@ for the memory branch and @VERSION@ for the version to install
	pages string // further jobs, which publish the memories
}

var (
	//go:embed github.yml
	github string
	//go:embed gitlab.yml
	gitlab string
	//go:embed github-pages.yml
	githubPages string
	//go:embed gitlab-pages.yml
	gitlabPages string
)

// Files lists the files of all known forges.
var Files = []File{
	{"github", ".github/workflows/reverie.yml", "choose GitHub Actions in Settings, Pages, and allow the branch in Settings, Environments", github, githubPages},
	{"gitlab", ".gitlab-ci.yml", "choose who can read Pages in Settings, General, Visibility", gitlab, gitlabPages},
}

// Names that are safe unquoted in YAML, in a shell and in a forge's patterns.
const (
	plainBranch = `[A-Za-z0-9][A-Za-z0-9._/-]*`
	plainTag    = `latest|v[0-9]+\.[0-9]+\.[0-9]+`
)

var release = pattern.New(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// For returns the file of a forge, and false for an unknown forge.
func For(forge string) (File, bool) {
	i := slices.IndexFunc(Files, func(f File) bool { return f.Forge == forge })
	if i < 0 {
		return File{}, false
	}
	return Files[i], true
}

// A RefError explains why no forge can check pull requests to a ref.
type RefError struct {
	Ref    string // as it was given
	Branch bool   // it is a branch whose name is unsafe in a file
}

func (e *RefError) Error() string {
	if !e.Branch {
		return fmt.Sprintf("%s is no branch: a forge opens no pull requests on it", e.Ref)
	}
	return fmt.Sprintf("the branch %s has characters that mean something else in CI files", strings.TrimPrefix(e.Ref, "refs/heads/"))
}

// Render returns the file's text for a memory branch, given by its full ref. It installs this
// version, or the latest if this one was never released. With pages it also publishes the memories.
// The error is a *RefError.
func (f File) Render(ref, version string, pages bool) (string, error) {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok || !regexp.MustCompile(`^(`+plainBranch+`)$`).MatchString(branch) {
		return "", &RefError{Ref: ref, Branch: ok}
	}
	if !release.MatchString(version) {
		version = "latest"
	}
	return f.fill(branch, version, pages), nil
}

func (f File) fill(branch, version string, pages bool) string {
	text := f.text
	if pages { // the first line names the command; on GitHub, a job of a push needs that trigger
		text = strings.Replace(text, f.Forge+"'", f.Forge+asked, 1)
		text = strings.Replace(text, "\non:\n", "\non:\n  push:\n    branches: [\"@BRANCH@\"]\n", 1) + f.pages
	}
	return strings.NewReplacer("@BRANCH@", branch, "@VERSION@", version).Replace(text)
}

// asked ends the command in a file that publishes.
const asked = " --ci-pages'"

// Ours reports whether a text is output of init --ci.
func (f File) Ours(text string) bool {
	first, _, _ := strings.Cut(f.text, "\n")
	return strings.HasPrefix(strings.Replace(text, asked, "'", 1), first+"\n")
}

// Publishes reports whether a text of init --ci publishes the memories.
func Publishes(text string) bool { return strings.Contains(text, asked) }

// Decides reports whether the file at path controls a forge's runs.
func Decides(path string) bool {
	return strings.HasPrefix(path, ".github/") || path == ".gitlab-ci.yml"
}

// Output describes a file that init --ci wrote.
type Output struct {
	Branch, Version string
	Pages           bool // it publishes the memories
}

// Written reports whether a file is output of init --ci of this version, and describes it.
func Written(path string, data []byte) (o Output, ok bool) {
	for _, f := range Files {
		for _, pages := range []bool{false, true} {
			form := regexp.QuoteMeta(f.fill("@BRANCH@", "@VERSION@", pages))
			for mark, name := range map[string]string{"@BRANCH@": plainBranch, "@VERSION@": plainTag} {
				form = strings.Replace(form, mark, `(`+name+`)`, 1)
				form = strings.ReplaceAll(form, mark, `(?:`+name+`)`)
			}
			found := regexp.MustCompile(`^` + form + `$`).FindStringSubmatch(string(data))
			if f.Path != path || found == nil {
				continue
			}
			o = Output{found[1], found[2], pages}
			return o, f.fill(o.Branch, o.Version, pages) == string(data)
		}
	}
	return Output{}, false
}

// Older reports whether one released version comes before another.
func Older(a, b string) bool {
	if !release.MatchString(a) || !release.MatchString(b) {
		return false
	}
	number := func(s string) string { return strings.TrimLeft(s, "0") }
	return slices.CompareFunc(strings.Split(a[1:], "."), strings.Split(b[1:], "."), func(x, y string) int {
		x, y = number(x), number(y)
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	}) < 0
}
