package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A file that is damaged after planning is refused alone. The error does not deny earlier writes.
func TestInstallSaysNothingWasChangedOnlyWhereNothingWas(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"} {
		t.Setenv(name, "")
	}
	c, err := clone.Open(t.Context(), clone.Options{Dir: testrepo.New(t).Dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planAgents(c, func() (string, error) { return "/opt/reverie", nil }, AgentOptions{Names: []string{"claude", "gemini"}})
	if err != nil || len(p.Changes) < 2 {
		t.Fatalf("%+v %v", p.Changes, err)
	}
	last := len(p.Changes) - 1
	spoilt := p.Changes[last].File
	if os.MkdirAll(filepath.Dir(spoilt), 0o700) != nil || os.WriteFile(spoilt, []byte("{"), 0o600) != nil {
		t.Fatal("write")
	}
	done, err := p.Install(t.Context(), c)
	if err == nil || len(done) != last || !done[0].Changed() {
		t.Fatalf("%+v %v", done, err)
	}
	if text := err.Error(); strings.Contains(text, "nothing was changed") || !strings.Contains(text, spoilt) {
		t.Error(text)
	}
}
