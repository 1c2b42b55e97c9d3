package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/install"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A file that is spoilt after all was planned is refused alone: what was written before it is not denied.
func TestInstallSaysNothingWasChangedOnlyWhereNothingWas(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"} {
		t.Setenv(name, "")
	}
	m, err := install.ThisMachine()
	if err != nil {
		t.Fatal(err)
	}
	w := at(t, testrepo.New(t).Dir, noon)
	in := agentInstall{program: "/opt/reverie", installer: install.Installer{Dir: m.StateDir()}}
	for _, name := range []string{"claude", "gemini"} {
		a, _ := hooks.Find(name)
		target, _ := m.User(a)
		c, err := in.installer.Plan(target, in.program)
		if err != nil {
			t.Fatal(err)
		}
		in.changes = append(in.changes, c)
	}
	spoilt := in.changes[1].File
	if os.MkdirAll(filepath.Dir(spoilt), 0o700) != nil || os.WriteFile(spoilt, []byte("{"), 0o600) != nil {
		t.Fatal("write")
	}
	done, err := w.installAgents(t.Context(), in)
	if err == nil || len(done) != 1 || !done[0].Changed {
		t.Fatalf("%+v %v", done, err)
	}
	if text := err.Error(); strings.Contains(text, "nothing was changed") || !strings.Contains(text, spoilt) {
		t.Error(text)
	}
}
