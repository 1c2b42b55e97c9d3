package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Limits of recognition: the input examined for one JSON document, and the lines, and their bytes
// in total, held while no record is recognised.
const (
	peekSize      = 256 << 10
	maxFirstLines = 200
	maxFirstBytes = 4 << 20
)

// peek returns the beginning of the input, and an error if it cannot be a transcript.
func peek(br *bufio.Reader) ([]byte, error) {
	head, err := br.Peek(peekSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, bom))
	first := text[:min(len(text), 4096)]
	switch {
	case len(text) == 0 && len(head) < peekSize:
		return nil, ErrEmpty
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, fmt.Errorf("%w: UTF-16 text: convert it to UTF-8", ErrBinary)
	case bytes.HasPrefix(head, []byte("SQLite format 3")):
		return nil, fmt.Errorf("%w: an SQLite database: export the session first (opencode export ID)", ErrBinary)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, fmt.Errorf("%w: gzip: decompress it first", ErrBinary)
	case bytes.IndexByte(first, 0) >= 0 && first[0] != '{' && first[0] != '[':
		return nil, ErrBinary
	}
	return text, nil
}

// detectDocument returns the format of a transcript that is one JSON document, by its beginning. It
// returns "" for JSONL and unknown text.
func detectDocument(head []byte) Format {
	if len(head) == 0 {
		return ""
	}
	if head[0] == '[' { // the messages alone, as from OpenCode's client
		if keys := topKeys(bytes.TrimSpace(head[1:])); keys.has("info", "parts") || keys.has("info") && !keys.whole {
			return OpenCode
		}
		return ""
	}
	keys := topKeys(head)
	switch {
	case keys.has("info") && (keys.has("messages") || !keys.whole) && !keys.has("type"):
		return OpenCode
	case keys.has("sessionId", "messages") && !keys.has("agent") && !keys.oneOfMany(head),
		keys.has("sessionId", "projectHash") && !keys.whole:
		return Gemini
	}
	return ""
}

// keys holds the keys of the JSON object at the start of a text, with short values.
type keys struct {
	value map[string][]byte
	whole bool // the object ends within the text
	size  int  // bytes of the object, if whole
}

func (k keys) has(names ...string) bool {
	for _, n := range names {
		if _, found := k.value[n]; !found {
			return false
		}
	}
	return true
}

func (k keys) text(name string) string {
	var s string
	if json.Unmarshal(k.value[name], &s) != nil {
		return ""
	}
	return s
}

// oneOfMany reports whether another record follows the object.
func (k keys) oneOfMany(head []byte) bool {
	return k.whole && len(bytes.TrimSpace(head[k.size:])) > 0
}

// topKeys reads the keys of the object at the start of b, as far as b goes.
func topKeys(b []byte) keys {
	k := keys{value: map[string][]byte{}}
	r := bytes.NewReader(b)
	d := &document{r: bufio.NewReaderSize(r, 16), max: 1 << 10}
	key := ""
	err := d.object(func(name string) error {
		key = name
		k.value[key] = nil
		raw, err := d.value()
		if errors.Is(err, ErrLineTooLong) {
			return nil
		}
		k.value[key] = bytes.Clone(raw)
		return err
	})
	k.whole = err == nil
	k.size = len(b) - r.Len() - d.r.Buffered()
	return k
}

// firstLine is a line held until the format is known.
type firstLine struct {
	n int
	b []byte
}

// firstLines finds the format, unless f names it, and returns the lines read on the way.
func (r *run) firstLines(lines *lineReader, f Format) ([]firstLine, error) {
	if f != Auto && f != "" {
		r.stats.Format = f
		return nil, nil
	}
	var first []firstLine
	var why error
	held := 0
	for len(first) < maxFirstLines && held < maxFirstBytes {
		b, err := r.nextLine(lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		first = append(first, firstLine{lines.n, bytes.Clone(b)})
		held += len(b)
		if f := detectLine(b); f != "" {
			r.stats.Format = f
			return first, nil
		}
		if why == nil {
			var v struct{}
			if err := decode(b, &v); err != nil {
				why = fmt.Errorf("line %d: %w", lines.n, err)
			}
		}
	}
	if why == nil {
		why = r.firstBad
	}
	if why != nil {
		return nil, fmt.Errorf("%w: %w; want one of %s", ErrUnknownFormat, why, formatList(Formats[1:]))
	}
	return nil, fmt.Errorf("%w: JSON, but not a record of %s", ErrUnknownFormat, formatList(Formats[1:]))
}

var (
	claudeTypes = pattern.NewWords(`user assistant system summary attachment file-history-snapshot queue-operation progress last-prompt custom-title
		ai-title permission-mode mode`)
	codexTypes = pattern.NewWords("session_meta response_item event_msg turn_context compacted world_state")
	codexItems = pattern.NewWords(`message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call
		web_search_call`)
	copilotType = pattern.New(`^(?:session|user|assistant|tool|hook|system|permission|subagent|skill)\.[a-z_.]+$`)
	geminiTypes = pattern.NewWords("user gemini info error warning")
)

// detectLine returns the format of a JSONL record, or "".
func detectLine(b []byte) Format {
	k := topKeys(bytes.TrimSpace(b))
	if !k.whole {
		return ""
	}
	kind := k.text("type")
	switch {
	case k.has("data", "id", "timestamp") && copilotType.MatchString(kind):
		return Copilot
	case k.has("provenance", "sessionId", "uuid"):
		return Qwen
	case k.has("agent", "messages"), k.has("messages", "started_at"):
		return JSONL
	case k.has("hook", "input"), k.has("type", "properties"), k.has("type", "sessionID", "part"):
		return OpenCode
	case k.has("payload") && codexTypes.Has(kind), k.has("record_type"), codexItems.Has(kind) && !k.has("sessionId"),
		!k.has("type") && k.has("id", "timestamp") && (k.has("instructions") || k.has("git")):
		return Codex
	case k.has("$set"), k.has("$rewindTo"), k.has("sessionId", "projectHash"), k.has("sessionId", "startTime"),
		geminiTypes.Has(kind) && k.has("id", "timestamp") && !k.has("message"):
		return Gemini
	case claudeTypes.Has(kind) && (k.has("message") || k.has("uuid") || k.has("sessionId") || k.has("session_id") ||
		k.has("leafUuid") || k.has("messageId")), kind != "" && k.has("sessionId"):
		return Claude
	}
	return ""
}
