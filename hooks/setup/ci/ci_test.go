package ci

import (
	"strings"
	"testing"
)

// TestFilesAskForNothing pins the properties that make the files safe for any pull request.
func TestFilesAskForNothing(t *testing.T) {
	for _, f := range Files {
		text, err := f.Render("refs/heads/team/memory", "v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"pull_request_target", "workflow_run", "secrets.", "write", "uses:", "head.ref", "head_ref", "title", "@BRANCH", "@VERSION"} {
			if strings.Contains(afterComment(text), never) {
				t.Errorf("%s: holds %q", f.Path, never)
			}
		}
		for _, always := range []string{`"team/memory"`, "cmd/reverie@v1.2.3\n"} {
			if !strings.Contains(text, always) {
				t.Errorf("%s: lacks %q", f.Path, always)
			}
		}
		if !strings.HasPrefix(f.text, "# Written by 'reverie init --ci "+f.Forge+"'") {
			t.Errorf("%s: would not be known again", f.Path)
		}
		if branch, version, ok := Written(f.Path, []byte(text)); !ok || branch != "team/memory" || version != "v1.2.3" {
			t.Errorf("%s: %q %q %v", f.Path, branch, version, ok)
		}
		for _, changed := range []string{text + "\n", strings.Replace(text, "status=0", "status=0; exit 0", 1), strings.Replace(text, "reverie-memory/", "evil/", 1), "x" + text} {
			if _, _, ok := Written(f.Path, []byte(changed)); ok {
				t.Errorf("%s: a changed file passes for ours", f.Path)
			}
		}
		for _, ref := range []string{"refs/reverie/memory", `refs/heads/a"b`, "refs/heads/a$(b)", "refs/heads/a\nb", "refs/heads/-a"} {
			if _, err := f.Render(ref, "devel"); err == nil {
				t.Errorf("%s: %q has no error", f.Path, ref)
			}
		}
		if text, _ := f.Render("refs/heads/m", "v0.0.0-20260101000000-abcdef123456+dirty"); !strings.Contains(text, "cmd/reverie@latest\n") {
			t.Errorf("%s: installs a version that was never released", f.Path)
		}
	}
}

// afterComment returns a CI file without the comment it begins with.
func afterComment(text string) string {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"v0.0.1", "v0.0.2", true}, {"v0.9.0", "v0.10.0", true}, {"v2.0.0", "v10.0.0", true}, {"v1.0.0", "v1.0.0", false}, {"v1.2.0", "v1.1.9", false}, {"latest", "v1.0.0", false}, {"v1.0.0", "devel", false}} {
		if got := Older(c.a, c.b); got != c.want {
			t.Errorf("%s before %s: %v", c.a, c.b, got)
		}
	}
}
