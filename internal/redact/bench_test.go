package redact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// transcript returns n lines like those of an agent's transcript, most of them with code, one in fifty with a secret.
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

// BenchmarkCorpus prints recall over the secrets in their carriers, false positives per MB of innocent code and
// text, and the speed of Text on a transcript.
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

// BenchmarkHostile scans a megabyte made to be slow: none may be much slower than the others.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range []string{"pass", "password=", "password is ", "token for ", "://a:b@", "-----BEGIN PRIV" + "ATE KEY-----\n", "-----END PRIV" + "ATE KEY-----\n",
		"eyJ", "eyJh·bGci·OiJI·UzI1·NiJ9.", "A", strings.Repeat("QUJD", 16) + "\n", "[redacted:", "[redacted:literal]", "\\", "\\\\\"", "\x1b[0m", "cookie: a=b; ", "%3A%2F%2Fa%3Ab",
		"token 9f8A·q2Lm·Z0pW·x7Kd·T4vRb6 ", "-u a:b ", "curl -u ", "login ", "password='", "hunter2 password=hunter2 ", "\"password\":\"\\\"", "sk-", "=", "\n"} {
		piece = undotted(piece)
		text := strings.Repeat(piece, 1<<20/len(piece))
		b.Run(fmt.Sprintf("%.20q", piece), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				new(Scanner).Text(text)
			}
		})
	}
	b.Run("many secrets", func(b *testing.B) {
		r := rand.New(rand.NewPCG(4, 4))
		var t strings.Builder
		for t.Len() < 1<<20 {
			fmt.Fprintf(&t, "password=aaaaaaaa%s\n", draw(r, lowHex, 12))
		}
		b.SetBytes(int64(t.Len()))
		for b.Loop() {
			new(Scanner).Text(t.String())
		}
	})
}
