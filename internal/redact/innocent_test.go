package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// passage is a piece of innocent text.
type passage struct{ name, text string }

// goSources returns third-party code: half of the standard library's text files, chosen by a hash
// of the path. The rules were developed on the other half. It omits code about secrets, which holds
// real ones: crypto (private keys, test vectors) and cmd/go/internal/auth (passwords, headers).
var goSources = sync.OnceValues(func() ([]passage, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	root := os.DirFS(strings.TrimSpace(string(out)) + "/src")
	var all []passage
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "crypto" || name == "cmd/go/internal/auth" || name == "cmd/vendor") {
			return fs.SkipDir
		}
		h := fnv.New32()
		h.Write([]byte(name))
		if d.IsDir() || h.Sum32()%2 == 0 || h.Sum32()%16 > 5 && testing.Short() || !textFile(name) {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		all = append(all, passage{name, string(data)})
		return err
	})
	return all, err
})

func textFile(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".txt", ".md", ".js", ".html", ".json", ".s", ".c", ".h", ".sh", ".mod", ".sum", ".css", ".py":
		return true
	}
	return false
}

// neverRedacted returns text full of what looks random and is no secret, each line beside words
// that announce one.
func neverRedacted(r *rand.Rand) []passage {
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.UintN(256))
		}
		return b
	}
	oid := func(n int) string { return hex.EncodeToString(random(n)) }
	b64 := func(n int) string { return base64.StdEncoding.EncodeToString(random(n)) }
	uuid := func() string {
		h := oid(16)
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
	}
	words := []string{"token", "password", "secret", "auth", "api key", "credential", "access token", "private key"}
	var log, sum, lock, cargo, ids, images, misc strings.Builder
	for range 400 {
		w := words[r.IntN(len(words))]
		fmt.Fprintf(&log, "commit %s\nAuthor: Ann <ann@example.com>\n\n    %s: rotate on expiry, see %s\n\n    Reverts %s.\n\n", oid(20), w, oid(4)[:7], oid(20))
		fmt.Fprintf(&log, "%s %s refactor %s handling\n:100644 100644 %s %s M\tsrc/%s.go\nindex %s..%s 100644\n", oid(20)[:9], oid(32), w, oid(20), oid(20), w, oid(4)[:7], oid(4)[:7])
		fmt.Fprintf(&sum, "example.com/auth/token-%d v1.%d.0 h1:%s\nexample.com/secret/v2 v2.0.%d/go.mod h1:%s\n", r.IntN(99), r.IntN(99), b64(32), r.IntN(99), b64(32))
		fmt.Fprintf(&lock, "    \"node_modules/auth-token\": {\n      \"version\": \"1.0.%d\",\n      \"resolved\": \"https://registry.example/auth-token/-/auth-token-1.0.0.tgz\",\n      \"integrity\": \"sha512-%s\"\n    },\n", r.IntN(99), b64(64))
		fmt.Fprintf(&lock, "secret-lib@^1.0.0:\n  resolved \"https://registry.example/secret-lib.tgz#%s\"\n  integrity sha1-%s\n", oid(20), b64(20))
		fmt.Fprintf(&cargo, "[[package]]\nname = \"secret-token\"\nversion = \"0.1.%d\"\nchecksum = \"%s\"\n\nauthlib==1.0 --hash=sha256:%s\nFROM auth/password@sha256:%s\n", r.IntN(99), oid(32), oid(32), oid(32))
		fmt.Fprintf(&ids, "%s id %s expired; session %s replaced %s\n{\"token_id\":\"%s\",\"uuid\":\"%s\"}\n", w, uuid(), uuid(), uuid(), uuid(), uuid())
		fmt.Fprintf(&misc, "<script nonce=\"%s\" src=\"/auth.js\"></script> integrity=\"sha384-%s\"\n", b64(12), b64(48))
		fmt.Fprintf(&misc, "%s 01%s at 0x%s\n", w, draw(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24), oid(8))
		fmt.Fprintf(&misc, "256 SHA256:%s ann@host (ED25519) host key\n", strings.TrimRight(b64(32), "="))
	}
	for range 12 {
		for _, magic := range []string{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "\xff\xd8\xff\xe0\x00\x10JFIF", "GIF89a", "RIFF\x00\x10\x00\x00WEBPVP8 "} {
			data := base64.StdEncoding.EncodeToString(append([]byte(magic), random(20_000)...))
			fmt.Fprintf(&images, "<img alt=\"password\" src=\"data:image/x;base64,%s\">\n{\"type\":\"image\",\"token\":\"\",\"data\":\"%s\"}\n", data, data)
		}
	}
	return []passage{{"git log", log.String()}, {"go.sum", sum.String()}, {"package-lock.json", lock.String()}, {"Cargo.lock", cargo.String()},
		{"ids", ids.String()}, {"images", images.String()}, {"digests and nonces", misc.String()}}
}

// falsePositives counts markers in innocent text, and its bytes.
func falsePositives(tb testing.TB, passages []passage) (found, size int) {
	var s Scanner
	for _, p := range passages {
		got, report := s.Text(p.text)
		size += len(p.text)
		found += report.Found
		if report.Found > 0 {
			at := strings.Index(got.String(), markerHead)
			tb.Logf("%s: %d: …%q", p.name, report.Found, got.String()[max(0, at-60):min(got.Len(), at+40)])
		}
	}
	return found, size
}

func TestFewFalsePositivesInCode(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	code, err := goSources()
	if err != nil {
		t.Fatal(err)
	}
	found, size := falsePositives(t, code)
	perMB := float64(found) / (float64(size) / 1e6)
	t.Logf("%d found in %.1f MB: %.3f per MB", found, float64(size)/1e6, perMB)
	if size < 1_000_000 || perMB >= 1 {
		t.Errorf("%.2f false positives per MB over %d bytes", perMB, size)
	}
}

func TestIdsDigestsAndImagesAreNeverRedacted(t *testing.T) {
	passages := neverRedacted(rand.New(rand.NewPCG(8, 8)))
	found, size := falsePositives(t, passages)
	if found != 0 || size < 1_000_000 {
		t.Errorf("%d found in %d bytes", found, size)
	}
	// The same in JSON strings, as a transcript has it.
	for _, p := range passages {
		doc, err := json.Marshal(map[string]string{"output": p.text})
		if err != nil {
			t.Fatal(err)
		}
		if got, report, err := new(Scanner).JSON(doc); err != nil || report.Found != 0 || got.String() != string(doc) {
			t.Errorf("%s as JSON: found %d, %v", p.name, report.Found, err)
		}
	}
}
