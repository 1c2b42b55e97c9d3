package derived

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadBelievesWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	want := map[string][]string{"a": {"one", "two\n"}}
	Write(path, want)
	var got map[string][]string
	if !Read(path, &got) || !cmp.Equal(want, got) {
		t.Fatal(cmp.Diff(want, got))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// printf '%s' '{"a":["one","two\n"]}' | sha256sum | cut -c1-16
	if sum := `"e0fa9bb487168eb9"`; string(text) != `{"a":["one","two\n"]}`+"\n"+sum+"\n" {
		t.Errorf("the file is %q", text)
	}
	for i := range text {
		spoilt := []byte(string(text))
		spoilt[i] ^= 1
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if Read(path, &got) {
			t.Errorf("believed with byte %d changed: %q", i, spoilt)
		}
		if err := os.WriteFile(path, text[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if Read(path, &got) {
			t.Errorf("believed with %d bytes of %d", i, len(text))
		}
	}
	if Read(filepath.Join(t.TempDir(), "none"), &got) {
		t.Error("believed a file that is not there")
	}
}

// Read ignores content that does not fit the value's type, even with a correct checksum.
func TestReadRefusesAnotherShape(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	Write(path, []string{"a"})
	var number struct{ N int }
	if Read(path, &number) {
		t.Error("a list was read as an object")
	}
	Write(path, func() {}) // no JSON: the file stays as it was
	if text, _ := os.ReadFile(path); !strings.HasPrefix(string(text), `["a"]`) {
		t.Errorf("the file is %q", text)
	}
}
