package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// source is a transcript made line by line as it is read, so that the test holds none of it.
type source struct {
	line func(i int) string // "" at the end
	i    int
	rest string
}

func (s *source) Read(b []byte) (int, error) {
	if s.rest == "" {
		if s.rest = s.line(s.i); s.rest == "" {
			return 0, io.EOF
		}
		s.i++
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// peakHeap runs read and returns by how much the live heap grew at most, looked at after a
// collection at every so many events, in bytes.
func peakHeap(read func(look func())) int64 {
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	start, peak, calls := live(), int64(0), 0
	read(func() {
		if calls++; calls%2000 == 1 {
			peak = max(peak, live()-start)
		}
	})
	return max(peak, live()-start)
}

// The budget is 64 MB for a transcript of 20 MB; what streams stays far below it.
func TestLongTranscriptsAreReadInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const size, budget, streamed = 20 << 20, 64 << 20, 12 << 20
	filler := strings.Repeat("all work and no play ", 150) // 3 KB
	quoted := fmt.Sprintf("%q", filler)
	lines := size / (len(filler) + 200)
	claude := func(i int) string {
		switch {
		case i == lines:
			return ""
		case i%3 == 0:
			return claudeUser(fmt.Sprint("prompt ", i, filler), fmt.Sprintf(`"uuid":"u%d"`, i)) + "\n"
		case i%3 == 1:
			return claudeCall(fmt.Sprint("t", i), "Bash", `{"command":"make"}`) + "\n"
		}
		return claudeResult(fmt.Sprint("t", i-1), filler, false, fmt.Sprintf(`"uuid":"r%d"`, i)) + "\n"
	}
	opencode := func(i int) string {
		switch i {
		case 0:
			return ocMessageLine("a", "assistant", "") + "\n"
		case lines:
			return ""
		}
		return ocPartLine(fmt.Sprint("p", i), "a", `"type":"text","text":`+quoted) + "\n"
	}
	document := func(i int) string {
		switch i {
		case 0:
			return `{"sessionId":"g","projectHash":"h","startTime":"2026-01-01T00:00:00Z","messages":[` + "\n"
		case lines:
			return geminiLine("last", "user", `"end"`, "") + "]}\n"
		case lines + 1:
			return ""
		}
		return geminiLine(fmt.Sprint("m", i), "user", quoted, "") + ",\n"
	}
	export := func(i int) string {
		switch i {
		case 0:
			return `{"info":{"id":"s","directory":"/w"},"messages":[` + "\n"
		case lines:
			return `{"info":{"id":"last","role":"user"},"parts":[]}]}` + "\n"
		case lines + 1:
			return ""
		}
		return fmt.Sprintf(`{"info":{"id":"m%d","role":"user"},"parts":[{"id":"p","type":"text","text":%s}]},`+"\n", i, quoted)
	}
	tests := []struct {
		name   string
		line   func(int) string
		format Format
		limit  int64
	}{
		{"claude", claude, Claude, streamed},
		{"opencode export", export, OpenCode, streamed},
		{"opencode events", opencode, OpenCode, budget},
		{"gemini document", document, Gemini, budget},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events := 0
			peak := peakHeap(func(look func()) {
				stats, err := Decode(context.Background(), &source{line: test.line}, Auto, Sink{
					Session: func(Session) error { return nil },
					Event:   func(Event) error { events++; look(); return nil },
					Done:    func(Session) error { return nil },
				})
				if err != nil || stats.Skipped > 0 || stats.Format != test.format {
					t.Fatal(stats, err)
				}
			})
			if events < lines-2 {
				t.Errorf("%d events from %d lines", events, lines)
			}
			t.Logf("%d events, live heap at most %.1f MB", events, float64(peak)/(1<<20))
			if peak > test.limit {
				t.Errorf("live heap grew by %d bytes, want at most %d", peak, test.limit)
			}
		})
	}
}

// Only what is held counts against the memory for held texts: not what was replaced, nor what was
// handed over.
func TestReplacedTextsMakeRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const updates = 1100 // 28 MB
	filler := strings.Repeat("word ", 5<<10)
	times := func(first, line, last string) func(int) string {
		line += "\n"
		return func(i int) string {
			switch {
			case i == 0:
				return first + "\n"
			case i <= updates:
				return line
			case i == updates+1:
				return last + "\n"
			}
			return ""
		}
	}
	part := func(id string) string {
		return ocPartLine(id, "a", fmt.Sprintf(`"type":"text","text":%q`, filler))
	}
	message := func(id string) string { return geminiLine(id, "gemini", fmt.Sprintf("%q", filler), "") }
	exported := func(id string) string {
		return fmt.Sprintf(`{"info":{"id":%q,"role":"assistant"},"parts":[{"id":"p","type":"text","text":%q}]}`, id, filler)
	}
	for name, line := range map[string]func(int) string{
		"opencode events": times(ocMessageLine("a", "assistant", ""), part("p"), part("q")),
		"opencode export": times(`{"info":{"id":"s"},"messages":[`, exported("m")+",", exported("n")+"]}"),
		"gemini":          times(geminiHeaderLine, message("m"), message("n")),
	} {
		t.Run(name, func(t *testing.T) {
			last := 0
			_, err := Decode(context.Background(), &source{line: line}, Auto, Sink{
				Session: func(Session) error { return nil },
				Event:   func(e Event) error { last = len(e.Text); return nil },
				Done:    func(Session) error { return nil },
			})
			if err != nil || last != len(filler) {
				t.Errorf("the last text has %d bytes, want %d; %v", last, len(filler), err)
			}
		})
	}
}

// A line of 1 GB is skipped, not held: at no time may more be allocated than a small part of it.
func TestALineOfAGigabyteIsSkipped(t *testing.T) {
	const chunks = 1 << 10
	chunk := strings.Repeat("x", 1<<20)
	input := &source{line: func(i int) string {
		switch {
		case i == 0:
			return claudeUser("one", "") + "\n" + `{"type":"user","text":"`
		case i <= chunks:
			return chunk
		case i == chunks+1:
			return "\n" + claudeUser("two", "") + "\n"
		}
		return ""
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := decodeAll(t, input, Auto)
	runtime.ReadMemStats(&after)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if d := diff([]string{"user/typed: one", "user/typed: two"}, got.one(t)); d != "" {
		t.Error(d)
	}
	if d := diff([]string{"2: too long: 1073741848 bytes, the most read is 16777216"}, got.bad); d != "" {
		t.Error(d)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
		t.Errorf("%d bytes allocated in all", used)
	}
}

func TestAnElementTooLongIsSkipped(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	input := &source{line: func(i int) string {
		switch {
		case i == 0:
			return `{"info":{"id":"s"},"messages":[{"info":{"id":"a","role":"user"},"parts":[{"id":"p","type":"text","text":"`
		case i <= 20:
			return chunk
		case i == 21:
			return `"}]},` + "\n" + `{"info":{"id":"b","role":"user"},"parts":[{"id":"q","type":"text","text":"two"}]}]}`
		}
		return ""
	}}
	got := decodeAll(t, input, Auto)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if d := diff([]string{"user/typed: two"}, got.one(t)); d != "" {
		t.Error(d)
	}
	if len(got.bad) != 1 || !strings.HasPrefix(got.bad[0], "1: too long: ") {
		t.Errorf("bad: %v", got.bad)
	}
}

func TestLinesAreReadWithTheirNumbers(t *testing.T) {
	long := strings.Repeat("y", 99)
	l := newLines("a\r\n\nb"+long+"\nc\n"+long+"\n\r\nlast", 20)
	var got []string
	for {
		b, err := l.next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, ErrLineTooLong) {
			b = []byte("too long")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s", l.n, b))
	}
	if d := diff([]string{"1 a", "2 ", "3 too long", "4 c", "5 too long", "6 ", "7 last"}, got); d != "" {
		t.Error(d)
	}
}
