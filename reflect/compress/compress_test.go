package compress

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"pgregory.net/rapid"
)

// lines returns n lines of a form with one number.
func lines(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form+"\n", i)
	}
	return b.String()
}

// distinct returns n lines that differ in more than digits.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s step of the work goes on here and there\n", strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	return b.String()
}

// checkKept asserts that every line of a shortened text is a marker or occurs in the original, in
// order.
func checkKept(t testing.TB, original, short string) {
	t.Helper()
	rest := original
	for l := range strings.SplitSeq(short, "\n") {
		if IsMarker(l) {
			continue
		}
		_, after, found := strings.Cut(rest, l)
		if !found {
			t.Fatalf("not in the original, or not in order: %q\nshort: %.2000q", l, short)
		}
		rest = after
	}
	if utf8.ValidString(original) && !utf8.ValidString(short) {
		t.Errorf("a rune was cut: %q", short)
	}
	if short != original && (len(original)-len(short) < minSaved/2 || len(short)*100 > len(original)*(mostLeft+5)) {
		t.Errorf("not worth it: %d bytes of %d", len(short), len(original))
	}
}

// checkEnds asserts that the first and last lines about a failure and the last exit code are kept.
func checkEnds(t testing.TB, original, short string) {
	t.Helper()
	var telling []string
	exit := ""
	for l := range strings.Lines(original) {
		l = strings.TrimRight(l, "\r\n")
		if len(l) > manyLong.most {
			return
		}
		if tells(l) == 2 {
			telling = append(telling, l)
		}
		if exits(l) {
			exit = l
		}
	}
	if len(telling) > 0 && (!strings.Contains(short, telling[0]) || !strings.Contains(short, telling[len(telling)-1])) {
		t.Errorf("%q or %q is not in\n%s", telling[0], telling[len(telling)-1], short)
	}
	if !strings.Contains(short, exit) {
		t.Errorf("%q is not in\n%s", exit, short)
	}
}

var actions = []transcript.Action{transcript.Run, transcript.Read, transcript.Edit, transcript.Search, transcript.Fetch, transcript.Task, transcript.Other}

func checkOutput(t testing.TB, action transcript.Action, tool, command, text string) {
	t.Helper()
	short, cut := Output(action, tool, command, text)
	if cut != (short != text) {
		t.Errorf("cut is %v", cut)
	}
	checkKept(t, text, short)
	if r := ruleOf(action, tool, command, text); !r.free && !json.Valid([]byte(text)) {
		checkEnds(t, text, short)
	}
	if again, cut := Output(action, tool, command, short); cut {
		t.Errorf("a second time more goes:\n%s\n---\n%s", short, again)
	}
}

func TestOutput(t *testing.T) {
	log := "starting\n" + lines(200, "worker %d: job done") + "worker 7: ERROR: disk full\n" + lines(200, "worker %d: job done") + "exit status 3\nbye\n"
	source := "package a\n" + strings.Repeat("\tx := 1\n", 100) + "func important() {}\n" + strings.Repeat("\ty := 2\n", 100) + "}\n"
	numbered := ""
	for i, l := range strings.Split(strings.TrimSpace(source), "\n") {
		numbered += fmt.Sprintf("%6d\t%s\n", i+1, l)
	}
	var items, mixed []string
	for i := range 400 {
		items = append(items, fmt.Sprintf(`{"id":%d,"state":"ok"}`, i))
		mixed = append(mixed, items[i])
	}
	mixed[200] = `{"id":200,"reason":"quota"}`
	mixed[300] = `{"id":300,"state":"failed"}`
	java := "Exception in thread main\n" + lines(80, "\tat com.example.Deep.call(Deep.java:%d)") + "Caused by: java.io.IOException: refused\n" + lines(80, "\tat com.example.Wire.send(Wire.java:%d)")
	tests := []struct {
		name          string
		action        transcript.Action
		tool, command string
		text          string
		want, lacks   []string
		most          int // bytes
	}{
		{"lines that are alike", transcript.Run, "bash", "make", log, []string{"starting", "worker 7: ERROR: disk full", "exit status 3", "bye", "[… 198 lines left out]"}, nil, 400},
		{"first and last error far from the ends", transcript.Run, "bash", "make",
			distinct(40) + "a.go:1: error: first\n" + distinct(300) + "b.go:2: error: last\n" + distinct(40), []string{"error: first", "error: last"}, nil, 4000},
		{"a file's declarations", transcript.Read, "Read", "", source, []string{"package a", "func important() {}"}, nil, 1200},
		{"numbered lines", transcript.Read, "Read", "", numbered, []string{"\tfunc important() {}"}, nil, 3000},
		{"cat is reading", transcript.Run, "bash", "cd x && cat a.go", source, []string{"func important() {}"}, nil, 1200},
		{"finds of two files", transcript.Search, "Grep", "", lines(100, "a/b.go:%d: found") + lines(100, "c-d.go:%d: found"),
			[]string{"a/b.go:0: found", "a/b.go:4: found", "c-d.go:0: found", "[… 95 lines left out]"}, []string{"a/b.go:50:"}, 500},
		{"names that were searched for", transcript.Search, "Grep", "", lines(500, "src/file%d.ts"), []string{"src/file29.ts", "[… 467 lines left out]"}, nil, 800},
		{"names", transcript.Search, "Glob", "", lines(500, "src/file%d.ts"), []string{"src/file0.ts", "src/file29.ts", "src/file499.ts", "[… 467 lines left out]"}, []string{"src/file30.ts"}, 800},
		{"names by a shell", transcript.Run, "bash", "git ls-files", lines(500, "src/file%d.ts"), []string{"[… 467 lines left out]"}, nil, 800},
		{"items", transcript.Other, "mcp", "", "[" + strings.Join(items, ",") + "]", []string{`{"id":0,`, `{"id":7,`, `{"id":399,`, "[… 388 items left out]"}, []string{`{"id":8,`}, 600},
		{"odd items", transcript.Other, "mcp", "", "[" + strings.Join(mixed, ",") + "]", []string{`{"id":200,"reason":"quota"}`, `{"id":300,"state":"failed"}`}, []string{`{"id":8,`}, 700},
		{"items on lines", transcript.Run, "bash", "gh api x", "[\n  " + strings.Join(items, ",\n  ") + "\n]\n", []string{"\n  {\"id\":7,", "\n  {\"id\":399,"}, []string{`"id":8,`}, 700},
		{"items within", transcript.Other, "mcp", "", `{"total":400,"rows":[` + strings.Join(items, ",") + `],"next":null}`, []string{`"total":400`, `"next":null`, "388 items left out"}, nil, 1000},
		{"a difference", transcript.Run, "bash", "git diff", "commit 1\nAuthor: Ada\n\n    say why\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,200 +1,200 @@\n" + strings.Repeat(" same old line of the file\n", 100) + "-was error\n+is\n" + strings.Repeat(" same old line of the file\n", 100),
			[]string{"Author: Ada\n\n    say why", "diff --git", "@@ -1,200", "-was error", "+is"}, nil, 600},
		{"stacks", transcript.Run, "bash", "mvn test", java, []string{"Exception in thread main", "Caused by: java.io.IOException: refused", "Deep.java:0", "Wire.java:79"}, []string{"Deep.java:40"}, 700},
		{"a report", transcript.Task, "Task", "", "# Found\n" + distinct(80) + "## Why\nThe cache must never be shared, because keys collide.\n" + distinct(80), []string{"# Found", "## Why", "must never be shared"}, nil, 2500},
		{"one long line", transcript.Run, "bash", "curl x", strings.Repeat("x", 20000) + " error: broken " + strings.Repeat("y", 20000), []string{"error: broken", " bytes left out]"}, nil, 2500},
		{"a bar", transcript.Run, "bash", "wget x", "begin\n" + strings.Repeat("\r  1% [>    ]", 500) + "\r100% [====>]\nsaved\n", []string{"begin", "100% [====>]", "saved"}, nil, 100},
		{"instructions", transcript.Other, "skill", "", "---\nname: release\n---\n" + distinct(100) + "You must tag before you push.\n" + distinct(100), []string{"name: release", "You must tag before you push."}, nil, 2500},
		{"a log", transcript.Run, "bash", "kubectl logs x", lines(30, "2026-11-02T10:00:%02dZ INFO start") + distinct(60) + "2026-11-02T10:01:00Z ERROR pool is gone\n" + distinct(60), []string{"ERROR pool is gone"}, nil, 2500},
		{"CJK", transcript.Run, "bash", "make", strings.Repeat("编译中，请稍候。", 300) + "\n错误：找不到文件\n" + distinct(100), []string{"错误：找不到文件"}, nil, 6000},
		{"short", transcript.Run, "bash", "make", distinct(20), []string{distinct(20)}, []string{"left out"}, 3000},
		{"an error in colour", transcript.Run, "bash", "make", distinct(60) + "\x1b[31merror\x1b[0m: red\n" + distinct(60), []string{"\x1b[31merror\x1b[0m: red"}, nil, 2500},
		{"no errors", transcript.Run, "bash", "make", distinct(60) + "0 errors, no failures here\n" + distinct(60), nil, []string{"0 errors"}, 2500},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			short, _ := Output(test.action, test.tool, test.command, test.text)
			for _, w := range test.want {
				if !strings.Contains(short, w) {
					t.Errorf("%q is not in\n%s", w, short)
				}
			}
			for _, w := range test.lacks {
				if strings.Contains(short, w) {
					t.Errorf("%q is in\n%s", w, short)
				}
			}
			if len(short) > test.most {
				t.Errorf("%d bytes of %d, want at most %d:\n%s", len(short), len(test.text), test.most, short)
			}
			checkOutput(t, test.action, test.tool, test.command, test.text)
		})
	}
}

// Tool output that looks like a marker breaks nothing.
func TestForgedMarkersAreLines(t *testing.T) {
	forged := "[… 999999 lines left out]\n"
	text := forged + strings.Repeat(distinct(30)+forged, 10) + "error: real\n" + distinct(100) + forged
	checkOutput(t, transcript.Run, "bash", "make", text)
	short, cut := Output(transcript.Run, "bash", "make", text)
	if !cut || !strings.Contains(short, "error: real") {
		t.Errorf("forged lines keep a text from being shortened:\n%s", short)
	}
}

// texts draws text from the patterns of the rules.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			n := rapid.SampledFrom([]int{1, 2, 5, 12, 70, 150}).Draw(t, "times")
			part := rapid.SampledFrom([]string{
				"error: something\n", "FAILED tests/a.py::b - assert 1 == 2\n", "exit status 1\n", "ok  pkg/%d 0.1s\n", "\tat a.b.C(D.java:%d)\n", "src/a%d.go:%d: found\n",
				"2026-11-02 10:00:00 INFO x %d\n", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "+added %d\n", "-taken %d\n", " around\n", "\n", "# Heading\n", "func f%d() {\n",
				"plain words of no weight, about this and that\n", "多字节的文字，没有重量。", "必须用 pnpm。\n", "[… 12 lines left out]\n", "<think>hidden words, many of them, that nobody needs to read again</think>\n",
				`[{"a":1},{"a":2}]`, "wide " + strings.Repeat("x", 600) + "\n", strings.Repeat("é", 400), "50%\r100%\r", "It works. It must stay. Look at src/a.go. Done!\n", "\xff\xfe\n", "cannot open\n",
			}).Draw(t, "part")
			for i := range n {
				b.WriteString(strings.ReplaceAll(part, "%d", fmt.Sprint(i)))
			}
		}
		return b.String()
	})
}

func TestOutputHoldsWhatItPromises(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tool := rapid.SampledFrom([]string{"", "bash", "Glob", "skill"}).Draw(r, "tool")
		command := rapid.SampledFrom([]string{"", "make", "cat x", "rg y", "ls", "git diff"}).Draw(r, "command")
		checkOutput(rapidTB{t, r}, rapid.SampledFrom(actions).Draw(r, "action"), tool, command, texts().Draw(r, "text"))
	})
}

// rapidTB fails the current check, not the whole test.
type rapidTB struct {
	testing.TB
	r *rapid.T
}

func (t rapidTB) Helper()                           {}
func (t rapidTB) Errorf(format string, args ...any) { t.r.Errorf(format, args...) }
func (t rapidTB) Fatalf(format string, args ...any) { t.r.Fatalf(format, args...) }

func FuzzOutput(f *testing.F) {
	f.Add(0, "make", distinct(90)+"error: x\n"+lines(90, "ok %d"))
	f.Add(1, "", "[1,2,[3,{\"a\":[]}],\"\\\"]\"]")
	f.Add(3, "rg x", lines(90, "a.go:%d:x")+"\n")
	f.Add(0, "git diff", "diff --git a/x b/x\n@@\n"+strings.Repeat("+é\n", 300))
	f.Add(6, "", strings.Repeat("\r", 300)+"\xff"+strings.Repeat("误", 300))
	f.Fuzz(func(t *testing.T, action int, command, text string) {
		checkOutput(t, actions[uint(action)%uint(len(actions))], "", command, text)
		for _, short := range []string{said(text, false), said(text, true), middle(text, 400)} {
			checkKept(t, text, short)
		}
		if once := said(text, false); said(once, false) != once {
			t.Errorf("prose is shortened again: %q", once)
		}
		for _, r := range []*rule{fault, task, generic} {
			r = r.quarter()
			short := shortenBy(text, func(string) *rule { return r })
			checkKept(t, text, short)
			if again := shortenBy(short, func(string) *rule { return r }); again != short {
				t.Errorf("a second time more goes: %q", again)
			}
		}
	})
}

func numbered(events ...transcript.Event) []transcript.Event {
	for i := range events {
		events[i].N = i + 10
	}
	return events
}

func call(id string, a transcript.Action, text string, paths ...string) transcript.Event {
	e := transcript.Event{Kind: transcript.Call, Action: a, Tool: string(a), CallID: id, Text: text, Paths: paths}
	if a == transcript.Run {
		e.Command, e.Text = text, ""
	}
	return e
}

func result(id string, a transcript.Action, text string) transcript.Event {
	return transcript.Event{Kind: transcript.Result, Action: a, Tool: string(a), CallID: id, Text: text, Outcome: transcript.OK}
}

func shell(id, command, text string) transcript.Event {
	e := result(id, transcript.Run, text)
	e.Command = command
	return e
}

var noZones = Options{Head: -1, Tail: -1}

func TestSession(t *testing.T) {
	long := distinct(9)
	failed := result("e", transcript.Edit, "old text not found")
	failed.Outcome = transcript.Failed
	edit := call("e", transcript.Edit, "", "a.go")
	edit.Old, edit.New = distinct(60), "short"
	exit := 1
	bad := result("f", transcript.Run, "first\n"+distinct(60)+"error: one\n"+distinct(60)+"error: two\n"+distinct(20))
	bad.Outcome, bad.Exit, bad.Command = transcript.Failed, &exit, "go test"
	tests := []struct {
		name   string
		events []transcript.Event
		at     int // the event looked at
		want   string
	}{
		{"typed words stay", []transcript.Event{{Kind: transcript.User, Origin: transcript.Typed, Text: strings.Repeat("x", MaxTyped)}}, 0, strings.Repeat("x", MaxTyped)},
		{"overlong typed words are cut in the middle", []transcript.Event{{Kind: transcript.User, Origin: transcript.Typed, Text: strings.Repeat("x", 9000)}}, 0,
			strings.Repeat("x", 2730) + "\n[… 4905 bytes left out]\n" + strings.Repeat("x", 1365)},
		{"reasoning goes", []transcript.Event{{Kind: transcript.Reasoning, Text: long}}, 0, fmt.Sprintf("[… %d bytes of reasoning left out]", len(long))},
		{"injected text goes", []transcript.Event{{Kind: transcript.User, Origin: transcript.Injected, Text: long}}, 0, fmt.Sprintf("[… %d bytes of injected text left out]", len(long))},
		{"what is shorter than its marker stays", []transcript.Event{{Kind: transcript.Reasoning, Text: "Hm."}}, 0, "Hm."},
		{"thoughts within prose go", []transcript.Event{{Kind: transcript.Assistant, Text: "<think>" + long + "</think>\nIt is the cache."}}, 0, fmt.Sprintf("[… %d bytes left out]\nIt is the cache.", len(long)+15)},
		{"reminders within outputs go", []transcript.Event{result("x", transcript.Read, "a\n<system-reminder>"+long+"</system-reminder>\n")}, 0, fmt.Sprintf("a\n[… %d bytes left out]\n", len(long)+35)},
		{"a repeated output is a reference", []transcript.Event{call("a", transcript.Run, "make"), result("a", transcript.Run, long), call("b", transcript.Run, "make"), result("b", transcript.Run, long)}, 3,
			"[… the same output as in event 11 left out]"},
		{"its first stays", []transcript.Event{call("a", transcript.Run, "make"), result("a", transcript.Run, long), call("b", transcript.Run, "make"), result("b", transcript.Run, long)}, 1, long},
		{"another command is no repetition", []transcript.Event{call("a", transcript.Run, "make"), result("a", transcript.Run, long), call("b", transcript.Run, "make x"), result("b", transcript.Run, long)}, 3, long},
		{"a file read twice is", []transcript.Event{call("a", transcript.Read, "", "/w/a.go"), result("a", transcript.Read, long), call("b", transcript.Read, "", "/w/a.go"), result("b", transcript.Read, long)}, 3,
			"[… the same output as in event 11 left out]"},
		{"but not when it was edited", []transcript.Event{call("a", transcript.Read, "", "/w/a.go"), result("a", transcript.Read, long), call("e", transcript.Edit, "", "a.go"),
			call("b", transcript.Read, "", "/w/a.go"), result("b", transcript.Read, long)}, 4, long},
		{"nor when somebody edited, nobody knows what", []transcript.Event{call("a", transcript.Read, "", "/w/a.go"), result("a", transcript.Read, long), call("e", transcript.Edit, ""),
			call("b", transcript.Read, "", "/w/a.go"), result("b", transcript.Read, long)}, 4, long},
		{"nor for a shell that reads", []transcript.Event{call("a", transcript.Run, "cat a.go"), shell("a", "cat a.go", long), call("e", transcript.Edit, "", "b.go"),
			call("b", transcript.Run, "cat a.go"), shell("b", "cat a.go", long)}, 4, long},
		{"a test that still fails so is a repetition", []transcript.Event{call("a", transcript.Run, "make"), shell("a", "make", long), call("e", transcript.Edit, "", "b.go"),
			call("b", transcript.Run, "make"), shell("b", "make", long)}, 4, "[… the same output as in event 11 left out]"},
		{"what was cut before is no repetition", []transcript.Event{call("a", transcript.Run, "make"), result("a", transcript.Run, long+"[… 9 bytes left out …]\n"), call("b", transcript.Run, "make"),
			result("b", transcript.Run, long+"[… 9 bytes left out …]\n")}, 3, long + "[… 9 bytes left out …]\n"},
		{"an edit stays", []transcript.Event{{Kind: transcript.Call, Action: transcript.Edit, Text: distinct(200)}}, 0, distinct(200)},
		{"an answered question stays", []transcript.Event{{Kind: transcript.Result, Action: transcript.Other, Tool: "AskUserQuestion", Text: distinct(200)}}, 0, distinct(200)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events := numbered(test.events...)
			before, _ := json.Marshal(events)
			out := Session(events, noZones)
			if diff := cmp.Diff(test.want, out[test.at].Text); diff != "" {
				t.Error(diff)
			}
			if after, _ := json.Marshal(events); string(after) != string(before) {
				t.Error("the events themselves were changed")
			}
			if whole := Session(events, Options{}); test.events[0].Origin == "" && !strings.Contains(test.name, "reminders") && cmp.Diff(events, whole) != "" {
				t.Error("the beginning of a session was changed")
			}
		})
	}
	out := Session(numbered(edit, failed, bad), noZones)
	if len(out[0].Old) > maxInput+100 || out[0].New != "short" || !strings.HasPrefix(edit.Old, out[0].Old[:100]) {
		t.Errorf("the input of a call that failed: %q, %q", out[0].Old, out[0].New)
	}
	if out[2].Exit == nil || *out[2].Exit != 1 || out[2].Command != "go test" || len(out[2].Text) > 1500 {
		t.Errorf("an old failure: %v", out[2])
	}
	checkEnds(t, bad.Text, out[2].Text)
}

func TestLimitIsReachedStageByStage(t *testing.T) {
	var events []transcript.Event
	for i := range 40 {
		id := fmt.Sprint(i)
		said := strings.Repeat(fmt.Sprintf("I looked at part %d and it seemed fine to me. Nothing of it is special. ", i), 12)
		edit := call("e"+id, transcript.Edit, "", "a.go")
		edit.Old, edit.New = distinct(80), distinct(90)
		events = append(events, transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Text: "Always use pnpm " + id},
			transcript.Event{Kind: transcript.Reasoning, Text: distinct(15)}, call(id, transcript.Run, "make "+id), result(id, transcript.Run, distinct(150)+id),
			transcript.Event{Kind: transcript.Assistant, Text: said}, edit)
	}
	numbered(events...)
	whole, standard := Size(events), Size(Session(events, Options{}))
	last := whole + 1
	for _, limit := range []int{whole, whole * 9 / 10, standard, standard * 9 / 10, standard / 2, 1} {
		out := Session(events, Options{Limit: limit})
		n := Size(out)
		if n > last || limit > 1 && n > limit {
			t.Errorf("limit %d: %d bytes after %d", limit, n, last)
		}
		last = n
		for i, e := range out {
			if e.N != events[i].N || e.Kind != events[i].Kind || e.Kind == transcript.User && e.Text != events[i].Text {
				t.Errorf("limit %d: event %d is %v", limit, i, e)
			}
			checkKept(t, events[i].Old, e.Old)
		}
	}
	if last > whole/9 {
		t.Errorf("at most %d of %d bytes can be left out", whole-last, whole)
	}
	if got := Session(events, Options{Limit: whole}); cmp.Diff(events, got) != "" {
		t.Error("what fits was changed")
	}
}

// The last stage drops whole outputs, oldest first, but none of a failed call or about a failure.
func TestLastStageKeepsFailures(t *testing.T) {
	failed := result("b", transcript.Run, "stopped\n"+distinct(3))
	failed.Outcome = transcript.Failed
	events := numbered(result("a", transcript.Run, distinct(3)), failed, result("c", transcript.Run, "error: one\n"+distinct(3)), result("d", transcript.Task, distinct(3)),
		result("e", transcript.Read, distinct(3)), result("f", transcript.Read, distinct(3)))
	gone := func(limit int) (out string) {
		for i, e := range Session(events, Options{Limit: limit}) {
			if e.Text != events[i].Text {
				out += events[i].CallID
			}
		}
		return out
	}
	size := Size(events)
	for limit, want := range map[int]string{size: "", size - 50: "a", size - 100: "ae", 1: "aef"} {
		if got := gone(limit); got != want {
			t.Errorf("limit %d of %d: %q were left out, want %q", limit, size, got, want)
		}
	}
}

// FuzzSession builds sessions from all kinds of events.
func FuzzSession(f *testing.F) {
	f.Add("ua\nrb\n", "x", 0)
	f.Add("TfTfeTfRRg", distinct(90), 1000)
	f.Add("uiarCcSsFfTtOoEeuu", strings.Repeat("错误 error。", 400), 1)
	f.Fuzz(func(t *testing.T, plot, text string, limit int) {
		if len(plot) > 100 {
			return
		}
		var events []transcript.Event
		for _, c := range plot {
			i := len(events)
			e := transcript.Event{N: i, Text: text[i%(len(text)+1):], CallID: string(rune('a' + i/2%5))}
			switch {
			case c == 'u':
				e.Kind, e.Origin = transcript.User, transcript.Typed
			case c == 'i':
				e.Kind, e.Origin = transcript.User, transcript.Injected
			case c == 'd':
				e.Kind, e.Origin = transcript.User, transcript.Delegated
			case c == 'a':
				e.Kind = transcript.Assistant
			case c == 'r':
				e.Kind = transcript.Reasoning
			default:
				e.Kind, e.Action = transcript.Result, actions[uint(c)%uint(len(actions))]
				e.Text = text
				if c%3 == 0 {
					e.Outcome = transcript.Failed
				}
				if c >= 'A' && c <= 'Z' {
					e.Kind, e.Old = transcript.Call, text
				}
			}
			events = append(events, e)
		}
		for _, o := range []Options{{}, noZones, {Limit: limit}, {Limit: 1}} {
			out := Session(events, o)
			if len(out) != len(events) || Size(out) > Size(events) {
				t.Fatalf("%d events, %d bytes of %d", len(out), Size(out), Size(events))
			}
			for i, e := range out {
				if e.N != i || e.Kind != events[i].Kind {
					t.Fatalf("event %d is %v", i, e)
				}
				for _, p := range [][2]string{{events[i].Text, e.Text}, {events[i].Old, e.Old}} {
					if utf8.ValidString(p[0]) && !utf8.ValidString(p[1]) {
						t.Errorf("a rune was cut: %q", p[1])
					}
					rest := p[0]
					for l := range strings.SplitSeq(p[1], "\n") {
						if IsMarker(l) {
							continue
						}
						_, after, found := strings.Cut(rest, l)
						if !found {
							t.Fatalf("not in the original: %q", l)
						}
						rest = after
					}
				}
				if e.Kind == transcript.User && e.Origin == transcript.Typed && len(events[i].Text) <= MaxTyped && e.Text != events[i].Text {
					t.Error("a person's words were cut")
				}
			}
			if o.Limit <= 0 {
				if again := Session(out, o); cmp.Diff(out, again) != "" {
					t.Errorf("a second time: %s", cmp.Diff(out, again))
				}
			}
		}
	})
}
