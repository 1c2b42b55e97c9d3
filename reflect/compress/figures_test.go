package compress

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// read returns the sessions of a transcript.
func read(t testing.TB, name string) (all [][]transcript.Event) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var events []transcript.Event
	_, err = transcript.Decode(context.Background(), f, transcript.Auto, transcript.Sink{
		Session: func(transcript.Session) error { events = nil; return nil },
		Event:   func(e transcript.Event) error { events = append(events, e); return nil },
		Done:    func(transcript.Session) error { all = append(all, events); return nil },
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

// synthetic returns typical outputs of tools, each about a quarter of a megabyte.
func synthetic() []struct {
	name    string
	action  transcript.Action
	command string
	text    string
} {
	fill := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	word := func(i int) string {
		return [...]string{"cart", "order", "ledger", "stock", "route", "token", "probe"}[i%7]
	}
	return []struct {
		name    string
		action  transcript.Action
		command string
		text    string
	}{
		{"go test -v, two failures", transcript.Run, "go test -v ./...", fill(4000, func(i int) string {
			if i == 700 || i == 3100 {
				return fmt.Sprintf("--- FAIL: Test%s%d (0.00s)\n    %s_test.go:%d: got 1, want 2\n", word(i), i, word(i), i)
			}
			return fmt.Sprintf("=== RUN   Test%s%d\n--- PASS: Test%s%d (0.00s)\n", word(i), i, word(i), i)
		}) + "FAIL\nexit status 1\n"},
		{"a log", transcript.Run, "docker compose logs", fill(3200, func(i int) string {
			level := "INFO"
			if i%400 == 399 {
				level = "ERROR"
			}
			return fmt.Sprintf("2026-11-02T10:%02d:%02dZ %s %s: request %d took %d ms, all is well\n", i/60%60, i%60, level, word(i*i), i, i%97)
		})},
		{"a file", transcript.Read, "", fill(6000, func(i int) string {
			if i%60 == 0 {
				return fmt.Sprintf("func %s%d() error {\n", word(i), i)
			}
			return fmt.Sprintf("\t%s := compute(%d, %q)\n", word(i), i, word(i+1))
		})},
		{"a search", transcript.Search, "", fill(4500, func(i int) string {
			return fmt.Sprintf("internal/%s/file%d.go:%d:\treturn %s(ctx, %d)\n", word(i/100), i/100, i, word(i), i)
		})},
		{"names", transcript.Search, "", fill(6000, func(i int) string { return fmt.Sprintf("packages/%s/src/components/item%d.tsx\n", word(i), i) })},
		{"a JSON array", transcript.Run, "gh api /repos", "[" + strings.TrimSuffix(fill(3500, func(i int) string {
			return fmt.Sprintf(`{"id":%d,"name":%q,"state":"open","labels":["a","b"]},`, i, word(i))
		}), ",") + "]"},
		{"a difference", transcript.Run, "git diff", fill(120, func(i int) string {
			return fmt.Sprintf("diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -1,40 +1,40 @@\n", i, i, i, i) + fill(40, func(j int) string {
				return fmt.Sprintf("%c%s line of a file that is compared %d\n", " +- "[j%4], word(j), j)
			})
		})},
		{"CJK", transcript.Run, "make", fill(4000, func(i int) string { return "正在编译模块" + word(i*i/3) + "，请稍候，马上就好。\n" }) + "错误：找不到模块\n"},
		{"one line", transcript.Fetch, "", strings.Repeat("<div class=x>words and words</div>", 8000)},
	}
}

// longDay returns a session with many turns, whose outputs are prefixes of the synthetic ones, as
// long as an event allows.
func longDay() (events []transcript.Event) {
	put := func(e transcript.Event) {
		e.N = len(events)
		events = append(events, e)
	}
	all := synthetic()
	for i := range 60 {
		s, id := all[i%len(all)], fmt.Sprint(i)
		put(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: fmt.Sprintf("Now look at part %d, and never touch the tests.", i)})
		put(transcript.Event{Kind: transcript.Reasoning, Text: strings.Repeat("I should look at this part first, then at the other. ", 20)})
		put(transcript.Event{Kind: transcript.Call, Action: s.action, CallID: id, Command: s.command, Tool: string(s.action)})
		size := min(len(s.text), 500<<(i%7))
		put(transcript.Event{Kind: transcript.Result, Action: s.action, CallID: id, Command: s.command, Tool: string(s.action), Outcome: transcript.OK, Text: strings.ToValidUTF8(s.text[:size], "")})
		put(transcript.Event{Kind: transcript.Assistant, Text: strings.Repeat("The part looks fine to me, and nothing about it is special. ", 3)})
	}
	return events
}

// TestFigures prints the savings of compression: run it with -v. The bounds are well above the
// measured values; they catch a missing rule.
func TestFigures(t *testing.T) {
	files, err := filepath.Glob("../testdata/labelled/*.json*")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d labelled transcripts, %v", len(files), err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "labels.jsonl" })
	examples, _ := filepath.Glob("../../examples/*.jsonl")
	for _, set := range []struct {
		name  string
		files []string
		more  [][]transcript.Event
	}{{"labelled", files, nil}, {"examples", examples, nil}, {"long day", nil, [][]transcript.Event{longDay()}}} {
		sessions := set.more
		for _, f := range set.files {
			sessions = append(sessions, read(t, f)...)
		}
		before := 0
		for _, events := range sessions {
			before += Size(events)
		}
		for _, o := range []struct {
			name string
			Options
		}{{"defaults", Options{}}, {"no zones", Options{Head: -1, Tail: -1}}, {"limit 4000", Options{Limit: 4000}}} {
			after := 0
			for _, events := range sessions {
				after += Size(Session(events, o.Options))
			}
			t.Logf("%-10s %-12s %4d sessions %8d bytes → %8d (%d %%)", set.name, o.name, len(sessions), before, after, after*100/before)
			if after > before {
				t.Errorf("%s, %s: it grew", set.name, o.name)
			}
		}
	}
	for _, s := range synthetic() {
		began := time.Now()
		short, cut := Output(s.action, "", s.command, s.text)
		took := time.Since(began)
		t.Logf("%-26s %8d bytes → %6d (%.1f %%), %4.0f MB/s", s.name, len(s.text), len(short), float64(len(short))*100/float64(len(s.text)), float64(len(s.text))/1e6/took.Seconds())
		if !cut || len(short) > 16<<10 {
			t.Errorf("%s: %d bytes are left", s.name, len(short))
		}
		checkOutput(t, s.action, "", s.command, s.text)
	}
}

func BenchmarkOutput(b *testing.B) {
	for _, s := range synthetic() {
		b.Run(strings.ReplaceAll(s.name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(s.text)))
			for b.Loop() {
				Output(s.action, "", s.command, s.text)
			}
		})
	}
}

// BenchmarkHostile uses texts designed to be slow: none may be much slower than the others, and
// time is linear.
func BenchmarkHostile(b *testing.B) {
	for name, unit := range map[string]string{"ErrorError": "ErrorError", "exit": "exit ", "zeros": "0 error", "nested": "[[1,2],", "markers": "[… 1 line left out]\n", "open": "<think>", "inline": "x<think>", "returns": "x\r",
		"blanks": "            e", "stops": "a. ", "brackets": "[", "braces": `{"a":`} {
		for _, n := range []int{1 << 18, 1 << 20} {
			text := strings.Repeat(unit, n/len(unit))
			b.Run(fmt.Sprintf("%s-%dK", name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					for _, a := range actions {
						Output(a, "", "", text)
					}
					Session([]transcript.Event{{Kind: transcript.Assistant, Text: text}, {Kind: transcript.Result, Action: transcript.Run, Text: text}}, noZones)
				}
			})
		}
	}
}
