package tinymodel

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// A real server decides whether these files are right, in the tests of internal/ollama.

func TestModelsAreTheSameEachTime(t *testing.T) {
	seen := map[string]bool{}
	for name, make := range map[string]func() []byte{"text": Text, "random": RandomText, "vectors": Vectors} {
		file := make()
		if !bytes.Equal(file, make()) {
			t.Errorf("%s: another one each time", name)
		}
		if !bytes.HasPrefix(file, []byte("GGUF\x03\x00\x00\x00")) || len(file) > 1<<20 || seen[string(file)] {
			t.Errorf("%s: %d bytes that begin with %q", name, len(file), file[:8])
		}
		seen[string(file)] = true
	}
}

func TestWordsAreUnique(t *testing.T) {
	sorted := slices.Sorted(slices.Values(words))
	if len(slices.Compact(sorted)) != len(words) || slices.ContainsFunc(words, func(w string) bool { return len(w) < 2 }) {
		t.Error("a word is there twice, or is a letter: servers end themselves at such a model")
	}
}

// TestFormat reads a file by hand, following the format's description.
func TestFormat(t *testing.T) {
	var g gguf
	g.set("k", uint32(7))
	g.tensor("w", []float32{1, 2, 3}, 3)
	g.tensor("v", []float32{4}, 1)
	le := binary.LittleEndian
	want := slices.Concat([]byte("GGUF\x03\x00\x00\x00"), le.AppendUint64(nil, 2), le.AppendUint64(nil, 1),
		[]byte("\x01\x00\x00\x00\x00\x00\x00\x00k\x04\x00\x00\x00\x07\x00\x00\x00"),
		[]byte("\x01\x00\x00\x00\x00\x00\x00\x00w\x01\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		[]byte("\x01\x00\x00\x00\x00\x00\x00\x00v\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00"))
	// 24 + 17 + 2×33 = 107 bytes, rounded up to a multiple of 32
	want = append(want, make([]byte, 128-len(want))...)
	want = append(want, "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40"...)
	want = append(want, make([]byte, 20)...)
	want = append(want, "\x00\x00\x80\x40"...)
	want = append(want, make([]byte, 28)...)
	if got := g.bytes(); !bytes.Equal(want, got) {
		t.Errorf("%x\nwant\n%x", got, want)
	}
}

func TestCreate(t *testing.T) {
	var calls []string
	var request map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.Path)
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/api/create":
			if err := json.Unmarshal(body, &request); err != nil {
				t.Error(err)
			}
			if request["model"] == "bad" {
				w.WriteHeader(400)
			}
		default:
			if r.Method == http.MethodHead {
				w.WriteHeader(404)
			} else if string(body) != "file" {
				t.Errorf("sent %q", body)
			}
		}
	}))
	defer s.Close()
	if err := Create(t.Context(), s.URL, "m", []byte("file"), map[string]any{"parser": "p"}); err != nil {
		t.Fatal(err)
	}
	// printf file | sha256sum
	const digest = "sha256:3b9c358f36f0a31b6ad3e14f309c7cf198ac9246e8316f9ce543d5b19ac02b80"
	if want := []string{"HEAD /api/blobs/" + digest, "POST /api/blobs/" + digest, "POST /api/create"}; !slices.Equal(calls, want) {
		t.Errorf("%q", calls)
	}
	if request["parser"] != "p" || request["files"].(map[string]any)["model.gguf"] != digest {
		t.Errorf("%v", request)
	}
	if err := Create(t.Context(), s.URL, "bad", []byte("file"), nil); err == nil {
		t.Error("a refusal is no error")
	}
}
