package reflect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// FuzzRead gives any bytes for an answer. Nothing panics, the model is asked twice at most, and
// accepted candidates have the form that checkReading requires.
func FuzzRead(f *testing.F) {
	good := item("Gateway tests hang unless the mock clock is on.", 0, "the gateway tests hang unless the mock clock is on")
	f.Add([]byte(replyOf(good)))
	f.Add([]byte(replyOf(good, with(good, func(c *prompts.ReflectCandidate) { c.Evidence[0].Event = 8 }))))
	f.Add([]byte(replyOf(item("Run `MOCK_CLOCK=1 go test ./gateway` for the gateway.", 6, "MOCK_CLOCK=1 go test ./gateway"))))
	f.Add([]byte(replyOf()))
	f.Add([]byte("null"))
	f.Add([]byte(`{"candidates":[{"how":"said"}]}`))
	f.Add([]byte("```json\n{}\n```"))
	events := taught.events()
	base := Study(readSession, events)
	before, err := base.Format()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		m := says(string(answer))
		got, err := Read(context.Background(), m.model(16<<10), prompts.Set{}, readSession, events, base, nil)
		if len(m.asked) > 2 {
			t.Errorf("asked %d times", len(m.asked))
		}
		if after, ferr := base.Format(); ferr != nil || !bytes.Equal(before, after) {
			t.Fatalf("the detectors' reflection was changed: %v\n%s", ferr, after)
		}
		if err != nil {
			if !errors.Is(err, ErrUnusable) {
				t.Error(err)
			}
			return
		}
		checkReading(t, events, base, got)
	})
}

// FuzzCandidate gives any texts in a well-formed answer, which FuzzRead seldom does.
func FuzzCandidate(f *testing.F) {
	f.Add("Gateway tests hang unless the mock clock is on.", "", 0, "the gateway tests hang unless", "gateway/**")
	f.Add("Run `MOCK_CLOCK=1 go test ./gateway` for the gateway.", "As `go test` shows.", 6, "MOCK_CLOCK=1  go\ntest ./gateway", "gateway")
	f.Add("The gateway says `deadline exceeded`.", "See https://evil.example/.", 3, "retry_test.go:41: deadline exceeded after 30s in gateway", "../x")
	f.Add("Gateway\u202e clocks \x1b[31m are \xff real.", "\x00", 5, "great", "\\")
	events := taught.events()
	base := Study(readSession, events)
	f.Fuzz(func(t *testing.T, text, body string, event int, quote, path string) {
		c := item(text, event, quote)
		c.Body, c.Paths = body, []string{path}
		got, err := Import(prompts.Set{}, readSession, events, base, json.RawMessage(replyOf(c)), "fuzz")
		if err != nil {
			if !errors.Is(err, ErrUnusable) {
				t.Error(err)
			}
			return
		}
		checkReading(t, events, base, got)
		for _, c := range got.Reflection.Candidates[len(base.Candidates):] {
			for _, p := range c.Paths {
				if strings.HasPrefix(p, "/") || strings.Contains(p, "..") {
					t.Errorf("path %q", p)
				}
			}
			for _, e := range c.Evidence {
				// Equal except for white space, or a part of it if the event has colours.
				whole := strings.Join(strings.Fields(e.Quote), " ") == strings.Join(strings.Fields(quote), " ")
				if !whole && len(quote) <= record.MaxQuote && !strings.Contains(events[e.Event].Text, "\x1b") {
					t.Errorf("quote %q became %q", quote, e.Quote)
				}
			}
		}
	})
}

// For any split of a session, each part fits, and its lines are in order. While there are few
// parts, no line is lost; with more, no person's line, and no fix without its failure.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(minRoom, 4*minRoom).Draw(t, "room")
		var lines []line
		lengths := rapid.SliceOfN(rapid.IntRange(0, 2*minRoom), 0, 60).Draw(t, "lengths")
		for i, n := range lengths {
			l := line{Line: prompts.Line{N: 2 * i, Who: "agent", Text: strings.Repeat("x", n)}}
			if i%3 != 0 && rapid.Bool().Draw(t, "user") {
				l.user, l.Who = true, fromUser
				l.Text = fmt.Sprintf("%d begins%s%[1]d ends", i, l.Text)
			} else if fix := i + rapid.IntRange(1, 9).Draw(t, "fix"); i%3 != 0 && fix%3 == 0 && fix < len(lengths) {
				l.failed, l.mended = true, 2*fix
			}
			lines = append(lines, l)
		}
		parts := split(lines, room)
		kept, left := parted(lines, room)
		if len(kept) > maxParts {
			t.Fatalf("%d parts of %d", len(kept), len(parts))
		}
		next := 0
		for _, part := range parts {
			size := 0
			for i, l := range part {
				size += l.size()
				switch {
				case next < len(lines) && l.N == lines[next].N:
					next++
				case l.failed && next < len(lines) && l.mended >= lines[next].N: // repeated
				case i != 0 || !l.user:
					t.Fatalf("event %d where %d belongs", l.N, lines[min(next, len(lines)-1)].N)
				}
			}
			if size > room {
				t.Fatalf("a part has %d bytes, there is room for %d", size, room)
			}
		}
		if next != len(lines) {
			t.Fatalf("%d of %d lines", next, len(lines))
		}
		in := map[int]bool{}
		for _, part := range kept {
			here := map[int]bool{}
			size := 0
			for _, l := range part {
				size += l.size()
				in[l.N], here[l.N] = true, true
			}
			if size > room {
				t.Fatalf("a part has %d bytes, there is room for %d", size, room)
			}
			for _, l := range lines {
				if l.mended != 0 && here[l.mended] && !here[l.N] {
					t.Fatalf("%d fixes %d, which is in another part", l.mended, l.N)
				}
			}
		}
		for _, l := range lines {
			if l.user && !in[l.N] {
				t.Fatalf("a person's line %d is in no part", l.N)
			}
			if l.mended != 0 && in[l.N] != in[l.mended] {
				t.Fatalf("%d fixes %d, and one of them is in no part", l.mended, l.N)
			}
		}
		if len(in)+left != len(lines) {
			t.Fatalf("%d lines, %d left out, of %d", len(in), left, len(lines))
		}
	})
}

// stretch returns a part of the text that differs from the quote only in white space.
func TestStretch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "ab", "aa", "b", " ", "\n", "\t ", "é", "字", "\u00a0"})
		text := strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "text"), "")
		quote := strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "quote"), "")
		got, ok := stretch(text, quote)
		collapse := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		if want := collapse(quote) != "" && strings.Contains(collapse(text), collapse(quote)); ok != want {
			t.Fatalf("%q in %q: %v", quote, text, ok)
		}
		if ok && (!strings.Contains(text, got) || collapse(got) != collapse(quote)) {
			t.Fatalf("%q in %q gives %q", quote, text, got)
		}
	})
}

// Every line that a person typed is in a question, however long the session and small the context.
// A longer line has both of its ends.
func TestEveryTypedLineIsAskedAbout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s script
		var typed []string
		for i := range rapid.IntRange(1, 90).Draw(t, "turns") {
			n := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 1500)).Draw(t, "words")
			text := fmt.Sprintf("Rule %d opens: %srule %[1]d closes.", i, strings.Repeat("some more words ", n))
			typed = append(typed, text)
			s = append(s, user(text))
			for range rapid.IntRange(0, 3).Draw(t, "steps") {
				s = append(s, agent(strings.Repeat("thinking of it ", rapid.IntRange(1, 200).Draw(t, "thought"))),
					run(fmt.Sprintf("go test ./pkg%d", rapid.IntRange(0, 9).Draw(t, "package")), rapid.IntRange(0, 1).Draw(t, "exit"), strings.Repeat("output\n", rapid.IntRange(1, 300).Draw(t, "output"))))
			}
		}
		m := &prompts.Model{Context: rapid.SampledFrom([]int{4096, 8192}).Draw(t, "context")}
		all, err := Questions(m, prompts.Set{}, readSession, s.events(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var asked strings.Builder
		for _, q := range all {
			asked.WriteString(q.User)
			if n := length(q); n > m.Room(q.Longest) {
				t.Fatalf("a question has %d bytes, there is room for %d", n, m.Room(q.Longest))
			}
		}
		for i, text := range typed {
			if !strings.Contains(asked.String(), fmt.Sprintf("user: Rule %d opens:", i)) || !strings.Contains(asked.String(), fmt.Sprintf("rule %d closes.", i)) {
				t.Fatalf("%d questions lack message %d, %d bytes long", len(all), i, len(text))
			}
		}
	})
}
