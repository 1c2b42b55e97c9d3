package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/file"
)

// place is a home folder with an installer and clones.
type place struct {
	t    *testing.T
	home string
	in   Installer
	m    Machine
}

func newPlace(t *testing.T) *place {
	home := t.TempDir()
	m := Machine{home, func(string) string { return "" }}
	return &place{t, home, Installer{Dir: m.StateDir()}, m}
}

func (p *place) clone(name string) string {
	dir := filepath.Join(p.home, name, ".git")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return dir
}

func (p *place) user(agentName string) Target {
	t, ok := p.m.User(agent(p.t, agentName))
	if !ok {
		p.t.Fatal("no settings")
	}
	return t
}

func (p *place) install(t Target, clone string) {
	p.t.Helper()
	if _, err := p.in.Install(context.Background(), t, "/opt/my tools/reverie", clone); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) remove(t Target, clone string) Fate {
	p.t.Helper()
	fate, err := p.in.Remove(context.Background(), t, clone)
	if err != nil {
		p.t.Fatal(err)
	}
	return fate
}

// tree returns everything in the home folder except our state and the clones: names, modes, targets
// and bytes.
func (p *place) tree() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.home, path)
		if name == ".local" || strings.HasPrefix(name, "clone") {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case !d.IsDir():
			var data []byte
			data, err = os.ReadFile(path)
			text = string(data)
		}
		found[name] = info.Mode().String() + " " + text
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// stateless fails if the installer's records or their folders remain.
func (p *place) stateless() {
	p.t.Helper()
	filepath.WalkDir(filepath.Join(p.home, ".local"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			p.t.Errorf("%s is left", path)
		}
		return nil
	})
}

func (p *place) write(file, text string, mode fs.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		p.t.Fatal(err)
	}
}

func TestUninstallLeavesEveryByteAsItWas(t *testing.T) {
	setups := map[string]func(p *place, file string){
		"nothing": func(*place, string) {},
		"a folder without the file": func(p *place, file string) {
			p.write(filepath.Join(filepath.Dir(file), "other"), "x", 0o644)
		},
		"empty file": func(p *place, file string) { p.write(file, "", 0o644) },
		"a link into another folder": func(p *place, file string) {
			p.write(filepath.Join(p.home, "dotfiles", "s.json"), "{\n\t\"theme\": \"dark\"\n}", 0o640)
			os.MkdirAll(filepath.Dir(file), 0o755)
			to, _ := filepath.Rel(filepath.Dir(file), filepath.Join(p.home, "dotfiles", "s.json"))
			if err := os.Symlink(to, file); err != nil {
				p.t.Fatal(err)
			}
		},
	}
	for _, at := range []struct {
		name string
		n    int // of the agent's targets
	}{{"claude", 0}, {"claude", 1}, {"codex", 0}, {"codex", 1}, {"gemini", 0}, {"opencode", 0}} {
		name := at.name
		cases := map[string]func(p *place, file string){}
		texts := priors
		if name == "codex" && at.n == 1 {
			texts = tables
		}
		for n, set := range setups {
			cases[n] = set
		}
		for n, text := range texts {
			cases[n] = func(p *place, file string) { p.write(file, text, 0o604) }
		}
		if name == "codex" {
			delete(cases, "byte order mark")
		}
		if name == "gemini" {
			for n, text := range commented {
				cases[n] = func(p *place, file string) { p.write(file, text, 0o600) }
			}
		}
		if name == "codex" && at.n == 1 {
			cases["a link into another folder"] = func(p *place, file string) {
				p.write(filepath.Join(p.home, "dotfiles", "c.toml"), "model = \"x\"", 0o640)
				os.MkdirAll(filepath.Dir(file), 0o755)
				if err := os.Symlink("../dotfiles/c.toml", file); err != nil {
					p.t.Fatal(err)
				}
			}
		}
		for n, set := range cases {
			if name == "opencode" && n != "nothing" {
				continue
			}
			t.Run(fmt.Sprintf("%s%d/%s", name, at.n, n), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				target := p.m.Users(agent(t, name))[at.n]
				set(p, target.File)
				before := p.tree()
				a, b := p.clone("clone1"), p.clone("clone2")
				p.install(target, a)
				once := p.tree()
				if d := cmp.Diff(before, once); d == "" {
					t.Fatal("installing changed nothing")
				}
				p.install(target, a)
				p.install(target, b)
				if d := cmp.Diff(once, p.tree()); d != "" {
					t.Errorf("installing again changed:\n%s", d)
				}
				if fate := p.remove(target, a); fate != Stays {
					t.Errorf("the first of two clones: %s", fate)
				}
				if d := cmp.Diff(once, p.tree()); d != "" {
					t.Errorf("the first of two clones to leave changed:\n%s", d)
				}
				p.remove(target, b)
				if d := cmp.Diff(before, p.tree()); d != "" {
					t.Errorf("left behind:\n%s", d)
				}
				p.stateless()
			})
		}
	}
}

func TestModeAndLinkStay(t *testing.T) {
	p := newPlace(t)
	target := p.user("claude")
	real := filepath.Join(p.home, "dotfiles", "claude.json")
	p.write(real, "{}\n", 0o640)
	os.MkdirAll(filepath.Dir(target.File), 0o755)
	if err := os.Symlink(real, target.File); err != nil {
		t.Fatal(err)
	}
	p.install(target, p.clone("clone"))
	if to, err := os.Readlink(target.File); to != real {
		t.Errorf("the link is to %q, %v", to, err)
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %s", info.Mode())
	}
	for path, want := range map[string]fs.FileMode{p.in.Dir: 0o700, filepath.Join(p.in.Dir, journalFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	backups, _ := filepath.Glob(filepath.Join(p.in.Dir, backupFolder, "*"))
	if info, err := os.Stat(backups[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v", info, err)
	}
}

func TestWhatTheUserChangedSinceStays(t *testing.T) {
	p := newPlace(t)
	target, clone := p.user("gemini"), p.clone("clone")
	p.write(target.File, "{\n  // mine\n  \"theme\": \"dark\"\n}\n", 0o600)
	p.install(target, clone)
	text, _ := os.ReadFile(target.File)
	changed := strings.Replace(string(text), `"theme": "dark"`, `"theme": "light"`, 1)
	p.write(target.File, changed, 0o600)
	if fate := p.remove(target, clone); fate != Cut {
		t.Errorf("fate %s", fate)
	}
	left, _ := os.ReadFile(target.File)
	if d := cmp.Diff("{\n  // mine\n  \"theme\": \"light\"\n}\n", string(left)); d != "" {
		t.Error(d)
	}
}

func TestChangedAndInstalledAgainComesBackToTheChange(t *testing.T) {
	p := newPlace(t)
	target, clone := p.user("claude"), p.clone("clone")
	p.install(target, clone) // makes the file
	text, _ := os.ReadFile(target.File)
	p.write(target.File, strings.Replace(string(text), "{", "{\n  \"theme\": \"dark\",", 1), 0o600)
	if _, err := p.in.Install(context.Background(), target, "/new/reverie", clone); err != nil {
		t.Fatal(err)
	}
	if fate := p.remove(target, clone); fate != Returns {
		t.Errorf("fate %s", fate)
	}
	left, _ := os.ReadFile(target.File)
	if d := cmp.Diff("{\n  \"theme\": \"dark\"\n}\n", string(left)); d != "" {
		t.Error(d)
	}
}

func TestFileThatWeMadeAndTheUserFilledStays(t *testing.T) {
	p := newPlace(t)
	target, clone := p.user("claude"), p.clone("clone")
	p.install(target, clone)
	text, _ := os.ReadFile(target.File)
	p.write(target.File, strings.Replace(string(text), "{", "{ ", 1), 0o600)
	if fate := p.remove(target, clone); fate != Goes { // white space has no owner
		t.Errorf("fate %s", fate)
	}
	if _, err := os.Stat(filepath.Dir(target.File)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that we made: %v", err)
	}
}

func TestCloneThatIsGoneClaimsNothing(t *testing.T) {
	p := newPlace(t)
	target := p.user("codex")
	a, b := p.clone("clone1"), p.clone("clone2")
	p.install(target, a)
	p.install(target, b)
	os.RemoveAll(filepath.Dir(a))
	if fate := p.remove(target, b); fate != Goes {
		t.Errorf("fate %s", fate)
	}
	if _, err := os.Stat(target.File); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
}

func TestFileThatMayNotBeWrittenIsRefused(t *testing.T) {
	mine := "{\n  \"theme\": \"dark\"\n}\n"
	for name, c := range map[string]struct {
		agent string
		set   func(p *place, file string)
		says  string
	}{
		"read-only":      {"claude", func(p *place, file string) { p.write(file, mine, 0o444) }, "read-only"},
		"its folder":     {"claude", func(p *place, file string) { p.write(file, mine, 0o644); os.Chmod(filepath.Dir(file), 0o555) }, "its folder is read-only"},
		"no folder":      {"claude", func(p *place, file string) { p.write(filepath.Dir(file), mine, 0o644) }, "not a"},
		"a folder":       {"claude", func(p *place, file string) { os.MkdirAll(file, 0o755) }, "not a plain file"},
		"a link":         {"claude", func(p *place, file string) { os.MkdirAll(filepath.Dir(file), 0o755); os.Symlink("nowhere", file) }, "a link to nothing"},
		"not JSON":       {"gemini", func(p *place, file string) { p.write(file, "{\n  \"a\" 1\n}", 0o644) }, "settings.json:2:"},
		"comment":        {"claude", func(p *place, file string) { p.write(file, "{}\n// x\n", 0o644) }, "settings.json:2: a comment"},
		"another plugin": {"opencode", func(p *place, file string) { p.write(file, "export const X = 1\n", 0o644) }, "not written by Reverie"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			target := p.user(c.agent)
			c.set(p, target.File)
			before := p.tree()
			_, err := p.in.Install(context.Background(), target, "/bin/reverie", p.clone("clone"))
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if d := cmp.Diff(before, p.tree()); d != "" {
				t.Error(d)
			}
			if j, err := p.in.read(); err != nil || len(j.Artefacts) > 0 {
				t.Errorf("the journal has %v, %v", j, err)
			}
			os.Chmod(filepath.Dir(target.File), 0o755)
		})
	}
}

func TestProjectFileStaysInItsProject(t *testing.T) {
	p := newPlace(t)
	top := filepath.Join(p.home, "work")
	p.write(filepath.Join(p.home, ".claude", "settings.local.json"), "{}\n", 0o644)
	os.Mkdir(top, 0o755)
	if err := os.Symlink("../.claude", filepath.Join(top, ".claude")); err != nil {
		t.Fatal(err)
	}
	before := p.tree()
	target, _ := Project(agent(t, "claude"), top)
	_, err := p.in.Install(context.Background(), target, "/bin/reverie", p.clone("clone"))
	if err == nil || !strings.Contains(err.Error(), "leads out of this work tree") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(before, p.tree()); d != "" {
		t.Error(d)
	}
}

func TestWriterBesideUsIsNotOverwritten(t *testing.T) {
	p := newPlace(t)
	target := p.user("gemini")
	p.write(target.File, "{}\n", 0o600)
	c, err := p.in.Plan(target, "/bin/reverie", p.clone("clone"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(target.File, "{\"theme\": \"new\"}\n", 0o600)
	if err := c.write(); !errors.Is(err, errChanged) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(target.File); string(text) != "{\"theme\": \"new\"}\n" {
		t.Errorf("it is now %s", text)
	}
}

func TestUnknownEntriesAreListed(t *testing.T) {
	p := newPlace(t)
	target, clone := p.user("gemini"), p.clone("clone")
	p.install(target, clone)
	os.RemoveAll(p.in.Dir)
	found, err := p.in.Installed(clone, []Target{target, p.user("claude")})
	if err != nil || len(found) != 1 || found[0].File != target.File || found[0].Fate != Cut {
		t.Fatalf("%+v, %v", found, err)
	}
	p.remove(target, clone)
	if text, _ := os.ReadFile(target.File); string(text) != "{}\n" {
		t.Errorf("left %q", text)
	}
}

func TestDamagedJournalStopsEverything(t *testing.T) {
	for _, text := range []string{"{", `{"version": 2}`, `{"version":1,"artefacts":[{"file":"x","agent":"claude"}]}`, `{"version":1,"artefacts":[{"file":"/x","agent":"hal"}]}`} {
		p := newPlace(t)
		p.write(filepath.Join(p.in.Dir, journalFile), text, 0o600)
		if _, err := p.in.Install(context.Background(), p.user("gemini"), "/bin/reverie", p.clone("clone")); err == nil {
			t.Errorf("%s: installed", text)
		}
		if _, err := os.Stat(filepath.Join(p.home, ".gemini")); err == nil {
			t.Errorf("%s: written", text)
		}
	}
}

// A killed installer has written the journal, and perhaps half of a file next to the settings.
func TestKilledInstallerLeavesNothing(t *testing.T) {
	for _, again := range []bool{false, true} {
		p := newPlace(t)
		target, clone := p.user("claude"), p.clone("clone")
		p.write(target.File, "{}\n", 0o600)
		before := p.tree()
		c, err := p.in.Plan(target, "/bin/reverie", p.clone("clone"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(p.in.Dir, backupFolder), 0o700); err != nil {
			t.Fatal(err)
		}
		name, err := p.in.keep(c.Old)
		if err != nil {
			t.Fatal(err)
		}
		a := artefact{File: target.File, Agent: "claude", Before: name, After: hash(c.New), Made: c.made, Clones: []string{clone}}
		if err := p.in.write(&journal{Version: journalVersion, Artefacts: []artefact{a}}); err != nil {
			t.Fatal(err)
		}
		p.write(filepath.Join(filepath.Dir(target.File), file.Foreign+"123"), "{", 0o600)
		if again {
			p.install(target, clone)
		}
		p.remove(target, clone)
		if d := cmp.Diff(before, p.tree()); d != "" {
			t.Errorf("again %v: left behind:\n%s", again, d)
		}
	}
}

func TestInstallersWaitForEachOther(t *testing.T) {
	p := newPlace(t)
	p.write(p.user("gemini").File, "{}\n", 0o600)
	before := p.tree()
	var clones []string
	for i := range 6 {
		clones = append(clones, p.clone(fmt.Sprint("clone", i)))
	}
	each := func(do func(target Target, clone string) error) {
		var group sync.WaitGroup
		for _, clone := range clones {
			for _, name := range []string{"claude", "codex", "gemini", "opencode", "copilot", "qwen", "cursor"} {
				group.Go(func() {
					if err := do(p.user(name), clone); err != nil {
						t.Errorf("%s for %s: %v", name, clone, err)
					}
				})
			}
		}
		group.Wait()
	}
	each(func(target Target, clone string) error {
		_, err := p.in.Install(context.Background(), target, "/bin/reverie", clone)
		return err
	})
	j, err := p.in.read()
	if err != nil || len(j.Artefacts) != 7 {
		t.Fatalf("%+v, %v", j, err)
	}
	for _, a := range j.Artefacts {
		if len(a.Clones) != len(clones) {
			t.Errorf("%s is claimed by %q", a.File, a.Clones)
		}
	}
	each(func(target Target, clone string) error {
		_, err := p.in.Remove(context.Background(), target, clone)
		return err
	})
	if d := cmp.Diff(before, p.tree()); d != "" {
		t.Error(d)
	}
	p.stateless()
}

// A clone that relies on the user's own settings keeps them when the clone that requested them
// leaves. A project's file has no other user.
func TestClaimKeepsTheUsersSettings(t *testing.T) {
	p := newPlace(t)
	one, two := p.clone("one"), p.clone("two")
	if err := p.in.Claim(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.in.Dir); err == nil {
		t.Error("a claim to nothing made a folder")
	}
	user, top := p.user("claude"), filepath.Join(p.home, "one")
	project, _ := Project(agent(t, "claude"), top)
	p.install(user, one)
	p.install(project, one)
	for range 2 {
		if err := p.in.Claim(t.Context(), two); err != nil {
			t.Fatal(err)
		}
	}
	if fate := p.remove(user, one); fate != Stays {
		t.Errorf("the user's settings: %s", fate)
	}
	if fate := p.remove(project, one); fate != Goes {
		t.Errorf("the project's settings: %s", fate)
	}
	i, err := p.in.InstalledIn(user, one)
	if err != nil || i.Fate != Goes || i.Others != 1 {
		t.Errorf("%+v, %v", i, err)
	}
	if fate := p.remove(user, AllClones); fate != Goes {
		t.Errorf("for everyone: %s", fate)
	}
}

// Cursor's file names its version and has no groups. It goes again even if a person sorted it.
func TestCursorsFileIsFlat(t *testing.T) {
	p := newPlace(t)
	clone, target, before := p.clone("clone"), p.user("cursor"), p.tree()
	p.install(target, clone)
	text := read(t, target.File)
	var got struct {
		Version int
		Hooks   map[string][]struct {
			Command, Matcher string
			Timeout          int
			Fails            *bool `json:"failClosed"`
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Version != 1 || len(got.Hooks) != len(target.Agent.Deliveries) {
		t.Fatalf("%v: %s", err, text)
	}
	for event, all := range got.Hooks {
		if len(all) != 1 || all[0].Command != Command("/opt/my tools/reverie", "cursor") || all[0].Timeout != 5 || all[0].Fails != nil {
			t.Errorf("%s: %+v", event, all)
		}
	}
	if m := got.Hooks["postToolUse"][0].Matcher; m != "Shell|Write" {
		t.Errorf("after a call: %q", m)
	}
	p.write(target.File, strings.ReplaceAll(text, "\"timeout\": 5", "\"timeout\": 9"), 0o600)
	if fate := p.remove(target, clone); fate != Goes {
		t.Errorf("fate %s", fate)
	}
	if d := cmp.Diff(before, p.tree()); d != "" {
		t.Error(d)
	}
	p.stateless()
}
