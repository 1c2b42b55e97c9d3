package loop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A plan that this user commits here starts a loop if the user's settings allow it. A stranger's
// commit starts nothing, even under this user's name.
func TestPlannedIsForThisUsersCommits(t *testing.T) {
	const both = `["branch", "trailer"]`
	const write = "echo '# Do it' >plan.md && git add plan.md && "
	const named = write + "git commit -qm 'a plan' --trailer 'Reverie-Plan: plan.md'"
	for name, test := range map[string]struct{ on, script, want string }{
		"a plan on its branch":                {both, "git switch -qc plan/x && " + write + "git commit -qm plan", "plan.md"},
		"a trailer":                           {both, named, "plan.md"},
		"a trailer in another folder":         {both, "mkdir d && echo x >d/p && git add d && git commit -qm 'a plan' --trailer 'Reverie-Plan: ./d/p'", "d/p"},
		"in a linked work tree":               {both, "git worktree add -q w -b plan/w && cd w && " + write + "git commit -qm plan", "plan.md"},
		"the first commit of a branch":        {both, "git switch -q --orphan plan/y && " + write + "git commit -qm plan", "plan.md"},
		"no setting":                          {`[]`, "git switch -qc plan/x && " + named, ""},
		"trailers alone: a branch":            {`["trailer"]`, "git switch -qc plan/x && " + write + "git commit -qm plan", ""},
		"branches alone: a trailer":           {`["branch"]`, named, ""},
		"the next commit on the branch":       {both, "git switch -qc plan/x && " + write + "git commit -qm plan && echo >>plan.md && git commit -qam more", ""},
		"two trailers":                        {both, named + " && git commit -q --allow-empty -m 'x' --trailer 'Reverie-Plan: plan.md' --trailer 'Reverie-Plan: README'", ""},
		"a trailer out of the tree":           {both, "git commit -q --allow-empty -m x --trailer 'Reverie-Plan: ../plan.md'", ""},
		"a trailer that names no file":        {both, "git commit -q --allow-empty -m x --trailer 'Reverie-Plan: nosuch.md'", ""},
		"a link":                              {both, "ln -s README plan.md && git add . && git commit -qm x --trailer 'Reverie-Plan: plan.md'", ""},
		"amended":                             {both, write + "git commit -qm x && git commit -q --amend -m x --trailer 'Reverie-Plan: plan.md'", ""},
		"another's address":                   {both, write + "git commit -qm x --author 'Eve <eve@example.com>' --trailer 'Reverie-Plan: plan.md'", ""},
		"an agent's commit":                   {both, named + " && : agent", ""},
		"a stranger's branch, checked out":    {both, "git switch -q plan/evil", ""},
		"a stranger's branch, pulled":         {both, "git switch -qc plan/mine && git merge -q --ff-only plan/evil", ""},
		"a stranger's branch, merged":         {both, "git commit -q --allow-empty -m x && git merge -q --no-edit plan/evil", ""},
		"a stranger's commit, cherry-picked":  {both, "git commit -q --allow-empty -m x && git cherry-pick plan/evil", ""},
		"a stranger's conflict, resolved":     {both, "echo mine >plan.md && git add . && git commit -qm mine && ! git cherry-pick plan/evil && git add . && git commit -qF .git/MERGE_MSG", ""},
		"a stranger's commit, rebased":        {both, "git commit -q --allow-empty -m x && git switch -q plan/evil && git rebase -q main", ""},
		"a stranger's commit, by mail":        {both, "git commit -q --allow-empty -m x && git format-patch -q -1 plan/evil && git am -q 0001*", ""},
		"a stranger's commit, amended":        {both, "git switch -q plan/evil && git commit -q --amend --no-edit --reset-author", ""},
		"a stranger's plan, and work on it":   {both, "git switch -q plan/evil && echo >>plan.md && git commit -qam mine", ""},
		"a stranger's squashed branch":        {both, "git commit -q --allow-empty -m x && git merge -q --squash plan/evil && git commit -q --no-edit", ""},
		"an ordinary commit after a pull":     {both, "git merge -q --ff-only plan/evil && git commit -q --allow-empty -m x", ""},
		"a reset to what a stranger pushed":   {both, "git reset -q --hard plan/evil", ""},
		"a branch whose name only begins so":  {both, "git switch -qc planned/x && " + write + "git commit -qm plan", ""},
		"a plan below the top, on the branch": {both, "git switch -qc plan/x && mkdir d && echo x >d/plan.md && git add d && git commit -qm x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t)
			settings := t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", settings)
			if err := os.MkdirAll(filepath.Join(settings, "reverie"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(settings, "reverie", "config.toml"), []byte("[loop]\nstart-on = "+test.on+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			// A stranger forges this user's name and address.
			stranger := filepath.Join(t.TempDir(), "stranger")
			r.Run("clone", "-q", r.Dir, stranger)
			evil := testrepo.At(t, stranger)
			evil.Run("switch", "-qc", "plan/evil")
			if err := os.WriteFile(filepath.Join(stranger, "plan.md"), []byte("# Evil\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			evil.Run("add", ".")
			evil.Run("commit", "-qm", "evil", "--trailer", "Reverie-Plan: plan.md")
			r.Run("fetch", "-q", stranger, "plan/evil:plan/evil")

			cmd := exec.Command("sh", "-ec", test.script+"; pwd >$HOME/where")
			cmd.Dir = r.Dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			where, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), "where"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(test.script, "agent") {
				t.Setenv("CLAUDECODE", "1")
			}
			dir := strings.TrimSpace(string(where))
			c, err := clone.Open(t.Context(), clone.Options{Dir: dir, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			if want != "" {
				want = testrepo.At(t, dir).Run("rev-parse", "HEAD") + ":" + want
			}
			if got, err := Planned(t.Context(), reader.New(c, nil)); got != want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
}
