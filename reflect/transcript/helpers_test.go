package transcript

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// session collects Decode's results for one session.
type session struct {
	begin, done Session
	events      []Event
}

// brief returns the session's events, one per line.
func (s session) brief() []string {
	var lines []string
	for _, e := range s.events {
		lines = append(lines, brief(e))
	}
	return lines
}

// brief summarises an event in one line: kind, origin or action, @sub-agent, tool, outcome, exit
// code; then its text, or the content of a call.
func brief(e Event) string {
	head := string(e.Kind)
	for _, s := range []string{string(e.Origin), string(e.Action)} {
		if s != "" {
			head += "/" + s
		}
	}
	if e.Agent != "" {
		head += " @" + e.Agent
	}
	if e.Tool != "" {
		head += " " + e.Tool
	}
	if e.Outcome != "" {
		head += " " + string(e.Outcome)
	}
	if e.Exit != nil {
		head += fmt.Sprint(" ", *e.Exit)
	}
	text := e.Text
	if e.Kind == Call {
		if e.Command != "" {
			text += "$ " + e.Command
		}
		if len(e.Paths) > 0 {
			text += " [" + strings.Join(e.Paths, " ") + "]"
		}
		if e.Old != "" || e.New != "" {
			text += " -" + e.Old + " +" + e.New
		}
		if e.Dir != "" {
			text += " in " + e.Dir
		}
	}
	return head + ": " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "⏎")
}

// diff compares events in brief. A wanted line that ends with … matches any line with that
// beginning.
func diff(want, got []string) string {
	got = slices.Clone(got)
	for i := range min(len(want), len(got)) {
		if start, cut := strings.CutSuffix(want[i], "…"); cut && strings.HasPrefix(got[i], start) {
			got[i] = want[i]
		}
	}
	return cmp.Diff(want, got)
}

// result collects the output of one Decode.
type result struct {
	sessions []session
	bad      []string
	stats    Stats
	err      error
}

// decodeAll runs Decode and checks the properties of every result: calls come in order, events are
// numbered from 0, texts are valid UTF-8 within their limits, ids are safe, counts agree.
func decodeAll(t testing.TB, r io.Reader, f Format) result {
	t.Helper()
	var got result
	open := false
	events := 0
	got.stats, got.err = Decode(context.Background(), r, f, Sink{
		Session: func(s Session) error {
			if open {
				t.Errorf("session %s begins before %s is done", s.ID, got.sessions[len(got.sessions)-1].begin.ID)
			}
			if s.Client == "" || s.ID == "" || SafeID(s.ID) != s.ID || s.Parent != "" && SafeID(s.Parent) != s.Parent {
				t.Errorf("unsafe header: %+v", s)
			}
			open = true
			got.sessions = append(got.sessions, session{begin: s})
			return nil
		},
		Event: func(e Event) error {
			if !open {
				t.Errorf("event outside of a session: %+v", e)
				return nil
			}
			s := &got.sessions[len(got.sessions)-1]
			if e.N != len(s.events) {
				t.Errorf("event %d has N %d", len(s.events), e.N)
			}
			for _, text := range append([]string{e.Text, e.Command, e.Old, e.New, e.Tool, e.CallID, e.Agent, e.Dir}, e.Paths...) {
				if len(text) > MaxText || !utf8.ValidString(text) {
					t.Errorf("event %d: text of %d bytes, valid UTF-8 %v", e.N, len(text), utf8.ValidString(text))
				}
			}
			s.events = append(s.events, e)
			events++
			return nil
		},
		Done: func(s Session) error {
			last := &got.sessions[len(got.sessions)-1]
			if !open || s.ID != last.begin.ID || s.Client != last.begin.Client {
				t.Errorf("%s/%s is done where %s/%s was open", s.Client, s.ID, last.begin.Client, last.begin.ID)
			}
			open = false
			last.done = s
			return nil
		},
		Bad: func(line int, err error) { got.bad = append(got.bad, fmt.Sprintf("%d: %v", line, err)) },
	})
	if open && got.err == nil {
		t.Error("the last session is not done")
	}
	if got.stats.Events != events || got.stats.Sessions != len(got.sessions) {
		t.Errorf("stats %+v, but %d events in %d sessions", got.stats, events, len(got.sessions))
	}
	return got
}

// decodeText is decodeAll for records written in a test; it expects no error.
func decodeText(t testing.TB, f Format, lines ...string) result {
	t.Helper()
	got := decodeAll(t, strings.NewReader(strings.Join(lines, "\n")+"\n"), f)
	if got.err != nil {
		t.Fatal(got.err)
	}
	return got
}

// one returns the events of the only session, in brief.
func (r result) one(t testing.TB) []string {
	t.Helper()
	if len(r.sessions) != 1 {
		t.Fatalf("%d sessions, want 1; bad lines: %v", len(r.sessions), r.bad)
	}
	return r.sessions[0].brief()
}

// sample decodes a file of testdata, recognising its format.
func sample(t testing.TB, name string) result {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	got := decodeAll(t, strings.NewReader(string(b)), Auto)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if len(got.bad) > 0 {
		t.Errorf("bad lines: %v", got.bad)
	}
	return got
}

func sampleLines(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// trimmed removes the space after an empty text at the end of a line.
func trimmed(lines []string) []string {
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// newLines reads lines through a buffer shorter than they are.
func newLines(text string, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(strings.NewReader(text), 16), max: limit}
}
