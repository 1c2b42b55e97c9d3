package reflect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Transcripts with a long text, by format: OUT marks its place, as JSON.
var longTexts = []struct {
	format transcript.Format
	lines  string
}{
	{transcript.Claude, `{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cat log"}}]}}
{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":OUT}]}}`},
	{transcript.Claude, `{"type":"user","sessionId":"s","message":{"role":"user","content":OUT}}`},
	{transcript.Claude, `{"type":"assistant","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}]}}
{"type":"assistant","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":OUT}]}}`},
	{transcript.Claude, `{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"a","content":OUT}}]}}`},
	{transcript.Codex, `{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":OUT}]}}`},
	{transcript.Gemini, `{"sessionId":"s","projectHash":"x","startTime":"2026-01-02T03:04:05Z"}
{"id":"m","type":"gemini","content":OUT}`},
	{transcript.OpenCode, `{"info":{"id":"s"},"messages":[{"info":{"id":"m","role":"assistant","sessionID":"s"},"parts":[{"id":"p","type":"text","text":OUT}]}]}`},
	{transcript.OpenCode, `{"type":"message.updated","properties":{"info":{"id":"m","role":"assistant","sessionID":"s"}}}
{"type":"message.part.updated","properties":{"part":{"id":"p","messageID":"m","sessionID":"s","type":"text","text":""}}}
{"type":"message.part.delta","properties":{"sessionID":"s","messageID":"m","partID":"p","field":"text","delta":HEAD}}
{"type":"message.part.delta","properties":{"sessionID":"s","messageID":"m","partID":"p","field":"text","delta":TAIL}}`},
	{transcript.JSONL, `{"agent":"x","started_at":"2026-01-02T03:04:05Z","messages":[{"index":0,"role":"assistant","content":OUT}]}`},
}

// ingestLong stores a session with a long text and returns every byte of the folder.
func ingestLong(t *testing.T, format transcript.Format, lines, text string, at int) []byte {
	t.Helper()
	dir := t.TempDir()
	s := Sessions{Dir: dir, Scanner: redact.New()}
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	at = min(at, len(text))
	doc := strings.NewReplacer("OUT", quote(text), "HEAD", quote(text[:at]), "TAIL", quote(text[at:])).Replace(lines) + "\n"
	if format == transcript.Aider {
		doc = text
	}
	if in, err := s.Ingest(context.Background(), strings.NewReader(doc), format, nil); err != nil || len(in.Sessions) != 1 {
		t.Fatalf("%s: %v, %d sessions", format, err, len(in.Sessions))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	all, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNothingSecretIsLeftAtACut puts a token at each place around each cut of each format.
func TestNothingSecretIsLeftAtACut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const secret = "Zq8Lk2Vn5Rw1Tb7Xc4Md9Ph6Jf3Gs0YaUeBi"
	token := "ghp_" + secret
	sizes := []int{60 << 10, 1<<20 + 200<<10}
	for _, size := range sizes {
		var fill strings.Builder
		for i := 0; fill.Len() < size; i++ {
			fmt.Fprintf(&fill, "%07d\n", i)
		}
		filler := fill.String()
		keep := (transcript.MaxText - 48) / 2
		step, formats := 8, longTexts // of 36 characters
		places := []int{keep, len(filler) - keep, 128 << 10}
		if size > 1<<20 {
			step, formats = 12, longTexts[:1]
			places = []int{keep, len(filler) - keep, 512 << 10, len(filler) - 512<<10}
		}
		for _, place := range places {
			for at := place - len(token) - 8; at <= place+8; at += step {
				if at < 1 || at+len(token) >= len(filler) {
					continue
				}
				text := filler[:at-1] + " " + token + "\n" + filler[at+len(token)+1:]
				for _, c := range formats {
					all := ingestLong(t, c.format, c.lines, text, place)
					for i := range len(secret) - 6 {
						if bytes.Contains(all, []byte(secret[i:i+6])) {
							t.Fatalf("%s: %q of a token at %d of %d is kept: %.80s", c.format, secret[i:i+6], at, len(filler), c.lines)
						}
					}
				}
			}
		}
	}
}

// TestLongTextsOfSecrets uses texts that are long because of their secrets, and one without lines.
func TestLongTextsOfSecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var all strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	first := "" // of each token: none may remain
	for all.Len() < 3<<20/2 {
		secret := ""
		for range 36 {
			secret += string(letters[r.IntN(len(letters))])
		}
		all.WriteString("ghp_" + secret + " ")
		first += secret[:6] + " "
	}
	parts := map[string]bool{}
	for part := range strings.FieldsSeq(first) {
		parts[part] = true
	}
	for _, c := range longTexts[:1] {
		kept := ingestLong(t, c.format, c.lines, all.String(), 70000)
		for i := range len(kept) - 6 {
			if parts[string(kept[i:i+6])] {
				t.Fatalf("%s: a token is kept: %.80s", c.format, kept[i:])
			}
		}
	}
}

func TestAiderAnswersAreCutWithoutSecrets(t *testing.T) {
	const secret = "Zq8Lk2Vn5Rw1Tb7Xc4Md9Ph6Jf3Gs0YaUeBi"
	for at := 0; at < 120; at += 5 { // lines before the one that fills the passage
		doc := "# aider chat started at 2026-01-02 03:04:05\n\n#### go  \n\n" + strings.Repeat("0123456789abcde\n", 2044+at) +
			"ghp_" + secret + "\n" + strings.Repeat("0123456789abcde\n", 9000)
		all := ingestLong(t, transcript.Aider, "", doc, 0)
		for i := range len(secret) - 6 {
			if bytes.Contains(all, []byte(secret[i:i+6])) {
				t.Fatalf("%q is kept, %d lines", secret[i:i+6], at)
			}
		}
	}
}
