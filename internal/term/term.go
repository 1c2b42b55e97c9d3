// Package term shows text to people: it fits lines to a screen, colours them, asks questions, pages
// long answers, and makes hostile characters visible. Begin with Process and Terminal. Only package
// cmd uses it; packages below return their results.
package term

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/unseen"
	"golang.org/x/term"
)

// Terminal is the input and output of a command. Out gets the answer; Err gets the messages. Quiet
// silences say, but never warn. Text from outside passes visible before a terminal sees it. The
// zero value of all fields except In, Out and Err suits pipes. A Terminal serves one goroutine.
type Terminal struct {
	In          io.Reader
	Out, Err    io.Writer
	Interactive bool // In, Out and Err belong to a person's terminal
	Screen      bool // Out is a terminal: lines are fitted to Width
	Width       int  // of the terminal, in cells
	Height      int  // of the terminal, in lines: longer answers go through a pager; 0 means never
	JSON        bool
	Quiet       bool
	Verbose     bool
	Colour      bool

	// dates warnings, for a log; nil leaves them undated
	Stamp func() time.Time
	// removes secrets from warnings; nil knows patterns alone
	Scanner *redact.Scanner
	Program func(context.Context) (pager string, err error) // names git's pager; nil means no pager

	lines *bufio.Reader // of In, for answers to questions
}

// Process returns the terminal of this process. Only an interactive one that is not dumb has a
// Height.
func Process() Terminal {
	t := Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Width: 80}
	t.Screen = term.IsTerminal(int(os.Stdout.Fd()))
	t.Interactive = t.Screen && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	dumb := os.Getenv("TERM") == "dumb"
	t.Colour = t.Screen && os.Getenv("NO_COLOR") == "" && !dumb
	height := 24
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 && h > 0 {
		t.Width, height = w, h
	}
	if t.Interactive && !dumb {
		t.Height = height
	}
	return t
}

// To returns a copy of t that reads and writes elsewhere, with its own lines of answers.
func (t *Terminal) To(in io.Reader, out, talk io.Writer) Terminal {
	to := *t
	to.In, to.Out, to.Err, to.lines = in, out, talk, nil
	return to
}

// Say prints a message line, unless Quiet.
func (t *Terminal) Say(format string, args ...any) {
	if !t.Quiet {
		t.Talk("reverie: ", fmt.Sprintf(format, args...))
	}
}

// Warn prints a message line even with --quiet.
func (t *Terminal) Warn(format string, args ...any) {
	when := ""
	if t.Stamp != nil {
		when = t.Stamp().Format(time.DateTime) + " "
	}
	t.Talk(when+"reverie: ", t.Clean(fmt.Sprintf(format, args...)))
}

// Clean removes secrets from a failure message, which may repeat text of git, a server or a file.
func (t *Terminal) Clean(text string) string {
	clean, _ := t.Scanner.Text(text)
	return clean.String()
}

// TellError writes the end of a command as one JSON object on a message line.
func (t *Terminal) TellError(code int, message, hint string) {
	type ending struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	enc := json.NewEncoder(t.Err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]ending{"error": {code, t.Clean(message), hint}})
}

// Talk writes a message line, fitted to the terminal if it goes to one.
func (t *Terminal) Talk(lead, text string) {
	fit := Terminal{Screen: t.Screen && t.Interactive, Width: t.Width}
	_, _ = io.WriteString(t.Err, fit.Fitted(t.Width, len(lead), "", []Styled{{"", lead + Visible(text)}}))
}

// Print writes to the answer.
func (t *Terminal) Print(format string, args ...any) { fmt.Fprintf(t.Out, format, args...) }

// Object writes one JSON object on a line of the answer.
func (t *Terminal) Object(v any) error {
	enc := json.NewEncoder(t.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Styles of the answer, as escape sequences.
const (
	Bold  = "\x1b[1m"
	Dim   = "\x1b[2m"
	Green = "\x1b[32m"
	Red   = "\x1b[31m"
	Plain = "\x1b[0m"
)

func (t *Terminal) Paint(colour, text string) string {
	if !t.Colour || text == "" {
		return text
	}
	return colour + text + Plain
}

// Visible is unseen.Visible: it shows characters that could move the cursor.
func Visible(s string) string { return unseen.Visible(s) }

// Ask asks a person a yes-or-no question and returns the answer. Enter means preset, "y" or "n".
// Another word repeats the question; without a person the answer is no.
func (t *Terminal) Ask(question, preset string) bool {
	if !t.Interactive {
		return false
	}
	choice := "[y/N]"
	if preset == "y" {
		choice = "[Y/n]"
	}
	fit := Terminal{Screen: t.Screen, Width: t.Width}
	text := fit.Fitted(t.Width, 2, "", []Styled{{"", Visible(question) + " " + choice}})
	for {
		_, _ = io.WriteString(t.Err, strings.TrimSuffix(text, "\n")+" ")
		line, err := t.Line()
		if err != nil {
			return false
		}
		switch strings.ToLower(cmp.Or(line, preset)) {
		case "y", "yes":
			return true
		case "n", "no":
			return false
		}
	}
}

// Line reads one line from a person, without its end. It gives up when the command is interrupted.
func (t *Terminal) Line() (string, error) {
	if t.lines == nil {
		t.lines = bufio.NewReader(t.In)
	}
	line, err := t.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}

// Choose asks a person for one of keys, which are letters. Any other answer is met with help.
func Choose(t *Terminal, prompt, keys, help string) (string, error) {
	for {
		_, _ = io.WriteString(t.Err, prompt)
		answer, err := t.Line()
		if answer = strings.ToLower(answer); err != nil || len(answer) == 1 && strings.Contains(keys, answer) {
			return answer, err
		}
		t.Say("%s", help)
	}
}

// Raw writes text byte for byte, but makes it visible if Out is a terminal.
func (t *Terminal) Raw(text string) {
	to := t.Out
	if out, ok := to.(*Output); ok {
		to = out.To
	}
	if f, ok := to.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		text = Visible(text)
	}
	_, _ = io.WriteString(t.Out, text)
}

// Whole prints lines for a person to copy as they are, unless t is quiet: never broken, without a
// lead.
func Whole(t *Terminal, lines string) {
	if !t.Quiet {
		_, _ = io.WriteString(t.Err, Visible(lines)+"\n")
	}
}

// EditFile opens an editor on a temporary file of that name and text, until done accepts the new
// text or returns an error. words are the editor and its options.
func EditFile(ctx context.Context, words []string, name string, text []byte, done func([]byte) (bool, error)) error {
	dir, err := os.MkdirTemp("", "reverie-edit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	for {
		run := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
		run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := run.Run(); err != nil {
			return fmt.Errorf("editor %s: %w; nothing was changed", words[0], err)
		}
		edited, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if ok, err := done(edited); ok || err != nil {
			return err
		}
	}
}
