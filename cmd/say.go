package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Talking to people. stdout is the answer and stderr is the talk: say and hint are talk and
// fall silent under --quiet; errors never do. Everything that may come from outside passes
// visible before a terminal sees it.

// say prints one line of talk.
func (env *Env) say(format string, args ...any) {
	if !env.Quiet {
		env.talk("reverie: ", fmt.Sprintf(format, args...))
	}
}

// warn prints one line that even --quiet lets through.
func (env *Env) warn(format string, args ...any) {
	when := ""
	if env.background { // it goes to a log
		when = env.Now().Format(time.DateTime) + " "
	}
	env.talk(when+"reverie: ", env.clean(fmt.Sprintf(format, args...)))
}

// clean takes secrets out of what is told of a failure: it may repeat what git, a server or a file said.
func (env *Env) clean(text string) string {
	var scan *redact.Scanner
	if env.opened != nil {
		scan = env.opened.scanner
	}
	clean, _ := scan.Text(text)
	return clean.String()
}

// tellError writes how a command ended as one JSON object on a line of the talk.
func (env *Env) tellError(code int, message, hint string) {
	type ending struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	enc := json.NewEncoder(env.Err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]ending{"error": {code, env.clean(message), hint}})
}

// talk writes a line of talk, fitted to the terminal where it goes to one.
func (env *Env) talk(lead, text string) {
	fit := Env{Screen: env.Screen && env.Interactive, Width: env.Width}
	_, _ = io.WriteString(env.Err, fit.fitted(env.Width, len(lead), "", []styled{{"", lead + visible(text)}}))
}

// print writes to the answer.
func (env *Env) print(format string, args ...any) { fmt.Fprintf(env.Out, format, args...) }

// object writes one JSON object on a line of the answer.
func (env *Env) object(v any) error {
	enc := json.NewEncoder(env.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Colours of the answer; empty when there are none.
const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	green = "\x1b[32m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

func (env *Env) paint(colour, text string) string {
	if !env.Colour || text == "" {
		return text
	}
	return colour + text + plain
}

// visible makes characters that could move a cursor, hide text or turn it round readable as
// themselves. Tabs and line feeds stay.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteString("^" + string(r+'@'))
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\u200d' || r == '\ufe0f': // joins emoji
		return false
	}
	return unseen.Control(r) || r == unicode.ReplacementChar
}

// count is "1 memory", "2 memories".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// format2 is a number with two digits after the point.
func format2(f float64) string { return fmt.Sprintf("%.2f", f) }

// ask puts a yes-or-no question to a person. Enter is the answer named by preset; where there
// is no person the answer is no.
func (w *workspace) ask(question, preset string) bool {
	if !w.env.Interactive {
		return false
	}
	choice := "[y/N]"
	if preset == "y" {
		choice = "[Y/n]"
	}
	fmt.Fprintf(w.env.Err, "%s %s ", visible(question), choice)
	line, err := w.env.line()
	if err != nil {
		return false
	}
	if line == "" {
		line = preset
	}
	return strings.HasPrefix(strings.ToLower(line), "y")
}
