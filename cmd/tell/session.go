package tell

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect"
)

const (
	sessionHead = 75 // cells before the prompt of a session
	promptRoom  = 40 // cells from which a prompt fits beside them
)

// Session writes a kept session and its first prompt, or its title. A narrow screen shows the
// prompt below.
func Session(t *term.Terminal, k reflect.Kept, prompt string) {
	began := "-"
	if !k.Started.IsZero() {
		began = k.Started.Local().Format("2006-01-02 15:04")
	}
	head := fmt.Sprintf("%s  %s  %5d  ", term.Pad(began, 16), term.Pad(term.Visible(k.Name()), 46), k.Events)
	about := cmp.Or(prompt, k.Title)
	if t.Screen && t.Width < sessionHead+promptRoom {
		t.Lay(0, term.Span("", strings.TrimRight(head, " ")))
		head = "    "
	}
	if strings.TrimSpace(head+about) != "" {
		t.Lay(len("2006-01-02 15:04  "), term.Span("", head+t.Brief(displaywidth.String(head), about)))
	}
}
