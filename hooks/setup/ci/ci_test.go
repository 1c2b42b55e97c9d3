package ci

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestFilesAskForNothing pins the properties that make the files safe for any pull request.
func TestFilesAskForNothing(t *testing.T) {
	for _, f := range Files {
		for _, pages := range []bool{false, true} {
			text, err := f.Render("refs/heads/team/memory", "v1.2.3", pages)
			if err != nil {
				t.Fatal(err)
			}
			never := []string{"pull_request_target", "workflow_run", "secrets.", "head.ref", "head_ref", "title", "@BRANCH", "@VERSION"}
			if !pages {
				never = append(never, "write", "uses:", "push", "pages", "public", "--export", "trust")
			}
			for _, never := range never {
				if strings.Contains(afterComment(text), never) {
					t.Errorf("%s: holds %q", f.Path, never)
				}
			}
			for _, always := range []string{`"team/memory"`, "cmd/reverie@v1.2.3\n"} {
				if !strings.Contains(text, always) {
					t.Errorf("%s: lacks %q", f.Path, always)
				}
			}
			command := "reverie init --ci " + f.Forge
			if pages {
				command += " --ci-pages"
			}
			if !strings.HasPrefix(text, "# Written by '"+command+"', ") || !f.Ours(text) || Publishes(text) != pages {
				t.Errorf("%s: would not be known again", f.Path)
			}
			if o, ok := Written(f.Path, []byte(text)); !ok || o != (Output{"team/memory", "v1.2.3", pages}) {
				t.Errorf("%s: %+v %v", f.Path, o, ok)
			}
			changes := []string{text + "\n", "x" + text}
			for _, old := range []string{"status=0", "reverie-memory/", "team/memory", "v1.2.3"} {
				changes = append(changes, strings.Replace(text, old, "evil", 1))
				if at := strings.LastIndex(text, old); pages && at >= 0 {
					changes = append(changes, text[:at]+"other"+text[at+len(old):])
				}
			}
			for _, changed := range changes {
				if o, ok := Written(f.Path, []byte(changed)); ok && o.Branch != "evil" {
					t.Errorf("%s: a changed file passes for ours", f.Path)
				}
			}
		}
		for _, ref := range []string{"refs/reverie/memory", `refs/heads/a"b`, "refs/heads/a$(b)", "refs/heads/a\nb", "refs/heads/-a"} {
			if _, err := f.Render(ref, "devel", true); err == nil {
				t.Errorf("%s: %q has no error", f.Path, ref)
			}
		}
		if text, _ := f.Render("refs/heads/m", "v0.0.0-20260101000000-abcdef123456+dirty", false); !strings.Contains(text, "cmd/reverie@latest\n") {
			t.Errorf("%s: installs a version that was never released", f.Path)
		}
	}
}

// job holds the fields of a job that the tests read.
type job struct {
	If          string
	Permissions map[string]string
	Needs       string
	Rules       []map[string]string
	Steps       []struct{ Uses, Run string }
	Artifacts   struct{ Paths []string }
}

// Only a push to the branch publishes, by a job that runs nothing else, with pinned actions.
func TestPagesArePublishedByPushesAlone(t *testing.T) {
	hub, _ := For("github")
	text, _ := hub.Render("refs/heads/m", "v1.2.3", true)
	var workflow struct {
		On          map[string]map[string][]string
		Permissions map[string]string
		Jobs        map[string]job
	}
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatal(err)
	}
	on := map[string]map[string][]string{"push": {"branches": {"m"}}, "pull_request": {"branches": {"m"}}}
	if d := cmp.Diff(on, workflow.On); d != "" {
		t.Error(d)
	}
	conditions, permissions := map[string]string{}, map[string]map[string]string{"": workflow.Permissions}
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)
	for name, j := range workflow.Jobs {
		conditions[name] = j.If + j.Needs
		if j.Permissions != nil {
			permissions[name] = j.Permissions
		}
		for _, s := range j.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				t.Errorf("%s: %s is not pinned", name, s.Uses)
			}
			if j.Permissions != nil && s.Run != "" {
				t.Errorf("%s may write, and runs %s", name, s.Run)
			}
		}
	}
	if d := cmp.Diff(map[string]string{"check": "github.event_name == 'pull_request'", "site": "github.event_name == 'push'", "publish": "site"}, conditions); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]map[string]string{"": {"contents": "read"}, "publish": {"pages": "write", "id-token": "write"}}, permissions); d != "" {
		t.Error(d)
	}

	lab, _ := For("gitlab")
	text, _ = lab.Render("refs/heads/m", "v1.2.3", true)
	var jobs map[string]job
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"if": `$CI_COMMIT_BRANCH == "m"`}, jobs["pages"].Rules[0]); d != "" || len(jobs) != 2 || len(jobs["pages"].Rules) != 1 {
		t.Errorf("%d jobs: %s", len(jobs), d)
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
