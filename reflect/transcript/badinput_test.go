package transcript

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnreadableInputSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		name, input string
		format      Format
		err         error
		says        string
	}{
		{"empty", "", Auto, ErrEmpty, "empty transcript"},
		{"blank", " \n\r\n\t", Auto, ErrEmpty, "empty transcript"},
		{"only a BOM", "\xef\xbb\xbf", Auto, ErrEmpty, "empty transcript"},
		{"binary", "\x7fELF\x02\x01\x00\x00", Auto, ErrBinary, "binary data, not a transcript"},
		{"gzip", "\x1f\x8b\x08\x00", Auto, ErrBinary, "gzip: decompress it first"},
		{"database", "SQLite format 3\x00", Auto, ErrBinary, "export the session first"},
		{"UTF-16", "\xff\xfe{\x00", Auto, ErrBinary, "UTF-16 text: convert it to UTF-8"},
		{"prose", "# Notes\nhello\n", Auto, ErrUnknownFormat, "line 1: not JSON"},
		{"other JSON lines", "{\"a\":1}\n{\"b\":2}\n", Auto, ErrUnknownFormat, "not a record of opencode, claude, codex, gemini, copilot, qwen, aider, specstory, jsonl"},
		{"other JSON document", "{\n \"a\": 1\n}\n", Auto, ErrUnknownFormat, "a JSON document, but not one of opencode"},
		{"cut off at once", `{"type":"user","sessionId":"s","mess`, Auto, ErrUnknownFormat, "line 1: cut off in the middle of a JSON value"},
		{"no such format", "{}", "cursor", ErrUnknownFormat, `"cursor": want auto, opencode, claude, codex, gemini, copilot, qwen, aider, specstory, jsonl`},
		{"not the format asked for", `{"a":1}`, Claude, ErrUnknownFormat, "no claude session in it; the first bad line: line 1: type: missing"},
		{"a document of another format", geminiDocument, OpenCode, ErrUnknownFormat, "not opencode, it looks like gemini"},
		{"a document where lines belong", geminiDocument, Claude, ErrUnknownFormat, "not claude, it looks like gemini"},
		{"broken document", `{"sessionId":"x","projectHash":"h","messages":[}`, Gemini, ErrUnknownFormat, "no gemini session in it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeAll(t, strings.NewReader(test.input), test.format)
			if !errors.Is(got.err, test.err) || !strings.Contains(got.err.Error(), test.says) {
				t.Errorf("error %v, want %v with %q", got.err, test.err, test.says)
			}
			if len(got.sessions) > 0 {
				t.Errorf("sessions %v", got.sessions)
			}
		})
	}
}

func TestBadLinesAreNamedAndTheRestIsRead(t *testing.T) {
	good := claudeUser("one", "")
	lines := []string{good, good[:40], "", "not json", "[1]", `{"type":"user","sessionId":"s1"}`, `{"sessionId":"s1"}`,
		strings.Replace(good, "one", "b\xffd", 1), claudeUser("two", ""), good[:len(good)-5]}
	want := []string{
		"2: cut off in the middle of a JSON value",
		"4: not JSON from byte 2 on",
		"5: found a JSON array where an object belongs",
		"6: message.content: missing",
		"7: type: missing",
		"8: wrong UTF-8 replaced",
		"10: cut off in the middle of a JSON value",
	}
	for name, ending := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			got := decodeAll(t, strings.NewReader("\xef\xbb\xbf"+strings.Join(lines, ending)), Auto)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if d := cmp.Diff(want, got.bad); d != "" {
				t.Error(d)
			}
			if d := diff([]string{"user/typed: one", "user/typed: b\uFFFDd", "user/typed: two"}, got.one(t)); d != "" {
				t.Error(d)
			}
			if s := got.stats; s.Lines != 10 || s.Skipped != 6 || s.Replaced != 1 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestABadFirstLineDoesNotHideTheFormat(t *testing.T) {
	got := decodeText(t, Auto, `{"type":"user","mess`, claudeUser("hi", ""))
	if d := diff([]string{"user/typed: hi"}, got.one(t)); d != "" {
		t.Error(d)
	}
}

// Hostile ids must not become parts of paths.
func TestIDsAreSafe(t *testing.T) {
	got := decodeText(t, Claude, `{"type":"user","sessionId":"../../evil","message":{"role":"user","content":"x"}}`)
	if id := got.sessions[0].begin.ID; id != SafeID("../../evil") || strings.ContainsAny(id, "/\\") || strings.Contains(id, "..") {
		t.Errorf("id %q", id)
	}
}

func TestDecodeStopsWhenTold(t *testing.T) {
	input := strings.Repeat(claudeUser("x", "")+"\n", 100)
	stop := errors.New("enough")
	sink := func(stage string) Sink {
		fail := func(at string) error {
			if at == stage {
				return stop
			}
			return nil
		}
		return Sink{
			Session: func(Session) error { return fail("session") },
			Event:   func(Event) error { return fail("event") },
			Done:    func(Session) error { return fail("done") },
		}
	}
	for _, stage := range []string{"session", "event", "done"} {
		if _, err := Decode(context.Background(), strings.NewReader(input), Auto, sink(stage)); !errors.Is(err, stop) {
			t.Errorf("%s: error %v", stage, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancelling := sink("")
	cancelling.Event = func(Event) error { cancel(); return nil }
	if stats, err := Decode(ctx, strings.NewReader(input), Auto, cancelling); !errors.Is(err, context.Canceled) || stats.Events > 1 {
		t.Errorf("after cancel: %+v, %v", stats, err)
	}
	broken := io.MultiReader(strings.NewReader(claudeUser("x", "")+"\n"), failingReader{})
	if got := decodeAll(t, broken, Auto); !errors.Is(got.err, errDisk) {
		t.Errorf("error %v", got.err)
	}
}

var errDisk = errors.New("disk on fire")

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errDisk }
