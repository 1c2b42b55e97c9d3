package capture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A hook that hangs is logged once, when its time is over, whatever becomes of it then.
func TestHangingHookIsLogged(t *testing.T) {
	r := testrepo.New(t)
	state := filepath.Join(r.Dir, ".git", "reverie")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	call := NewCall([]string{"claude", "Stop"}, time.Now)
	call.at(r.Dir)
	call.Ended(errors.New("gave up after 4s"), LogPatience)
	call.Ended(errors.New("read: it has ended"), LogPatience)
	text, err := os.ReadFile(filepath.Join(state, "log"))
	if lines := strings.Split(string(text), "\n"); err != nil || len(lines) != 2 || !strings.HasSuffix(lines[0], FaultMark+"claude Stop: gave up after 4s") {
		t.Errorf("the log has %q: %v", text, err)
	}
}
