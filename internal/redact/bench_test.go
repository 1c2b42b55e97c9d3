package redact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// transcript returns n lines like those of an agent's transcript, most of them with code, one in
// fifty with a secret.
func transcript(tb testing.TB, n int) string {
	code, err := goSources()
	if err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 9))
	secrets := plantedSecrets(r)
	var b strings.Builder
	for i := range n {
		p := code[r.IntN(len(code))]
		from := r.IntN(len(p.text) + 1)
		text := p.text[from:min(len(p.text), from+4000)]
		if i%50 == 0 {
			s := secrets[r.IntN(len(secrets))]
			text += carriers[r.IntN(len(carriers))].write(r, s)
		}
		line, err := json.Marshal(map[string]any{"type": "tool_result", "uuid": fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i),
			"message": map[string]any{"content": text, "usage": map[string]int{"input_tokens": i}}})
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// BenchmarkCorpus prints recall over the secrets in their carriers, false positives per MB of
// innocent code and text, and the speed of Text on a transcript.
func BenchmarkCorpus(b *testing.B) {
	m := measureRecall(b, 2)
	code, err := goSources()
	if err != nil {
		b.Fatal(err)
	}
	innocent := append(neverRedacted(rand.New(rand.NewPCG(8, 8))), code...)
	found, size := 0, 0
	for _, p := range innocent {
		_, report := new(Scanner).Text(p.text)
		found, size = found+report.Found, size+len(p.text)
	}
	text := transcript(b, 3000)
	var s Scanner
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Text(text)
	}
	b.ReportMetric(m.structured.rate(), "recall-structured")
	b.ReportMetric(m.overall.rate(), "recall-overall")
	b.ReportMetric(float64(found)/(float64(size)/1e6), "false-positives/MB")
}

func BenchmarkText(b *testing.B) {
	text := transcript(b, 3000)
	lines := strings.SplitAfter(text, "\n")
	var s Scanner
	many := New(func() (values []string) {
		for i := range 200 {
			values = append(values, fmt.Sprintf("literal-%d-plum", i))
		}
		return values
	}()...)
	b.Run("by line", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, line := range lines {
				s.Text(line)
			}
		}
	})
	b.Run("by line, 200 literals", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, line := range lines {
				many.Text(line)
			}
		}
	})
	b.Run("JSON by line", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, line := range lines[:len(lines)-1] {
				if _, _, err := s.JSON([]byte(line)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// hostilePieces returns texts that are slow when repeated: every trigger and format with possible
// continuations. § marks a drawn value.
func hostilePieces() []string {
	filed.once.Do(file)
	pieces := []string{"-----BEGIN PRIV" + "ATE KEY-----\n", "-----END PRIV" + "ATE KEY-----\n", "A", strings.Repeat("QUJD", 16) + "\n", "[redacted:", "[redacted:literal]",
		"\\", "\\\\\"", "\x1b[0m", "cookie: a=b; ", "hunter2 password=hunter2 ", "\"password\":\"\\\"", "=", "\n", "eyJh" + "bGciOiJIUzI1NiJ9.", "token for "}
	for i := range filed.triggers {
		for _, tail := range []string{"", " ", "=", "=\"", " is ", "|", " -p ", "=§ ", ",§\n"} {
			pieces = append(pieces, filed.triggers[i].text+tail)
		}
	}
	for _, f := range formats() {
		pieces = append(pieces, f.prefix, f.prefix+"a1B2")
	}
	return pieces
}

// BenchmarkHostile repeats each piece, and prints the slowest with their speeds at four times the
// size. Superlinear work would show there.
func BenchmarkHostile(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	speed := func(piece string, size int) float64 {
		var text strings.Builder
		for text.Len() < size {
			text.WriteString(strings.ReplaceAll(piece, "§", draw(r, alphanumeric, 24)))
		}
		best := time.Hour
		for range 2 {
			start := time.Now()
			new(Scanner).Text(text.String())
			best = min(best, time.Since(start))
		}
		return float64(text.Len()) / 1e6 / best.Seconds()
	}
	type result struct {
		piece string
		speed float64
	}
	for b.Loop() {
		var all []result
		for _, piece := range hostilePieces() {
			all = append(all, result{piece, speed(piece, 16<<10)})
		}
		slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.speed, b.speed) })
		slowest := all[0].speed
		for _, r := range all[:12] {
			long := speed(r.piece, 1<<20)
			b.Logf("%-28q %6.1f MB/s at 16 KiB, %6.1f at 1 MiB, %6.1f at 4 MiB", r.piece, r.speed, long, speed(r.piece, 4<<20))
			slowest = min(slowest, long)
		}
		b.ReportMetric(slowest, "slowest-MB/s")
	}
}
