package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// Sessions that a transcript holds before it breaks off are kept and told, and the break is a
// failure.
func TestIngestKeepsWhatCameBeforeAnError(t *testing.T) {
	r := newRepo(t)
	example, err := os.ReadFile("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var text []byte // more than is read to tell the format
	for n := range 30 {
		other := bytes.ReplaceAll(example, []byte("4b91b8f5"), fmt.Appendf(nil, "%08d", n))
		text = append(text, bytes.ReplaceAll(other, []byte(`"uuid": "`), fmt.Appendf(nil, `"uuid": "%d`, n))...)
	}
	var out, talk bytes.Buffer
	env := &Env{Terminal: term.Terminal{In: io.MultiReader(bytes.NewReader(text), iotest.ErrReader(errors.New("torn"))), Out: &out, Err: &talk, Width: 80}, Now: time.Now}
	code := Run(context.Background(), env, []string{"reverie", "-C", r.Dir, "ingest", "-"})
	if code != exit.Failed || !strings.Contains(talk.String(), "ingest -: ") || !strings.Contains(talk.String(), "torn") {
		t.Errorf("exit code %d, says %q", code, &talk)
	}
	if !strings.HasPrefix(out.String(), "claude/00000000") {
		t.Errorf("answers %q, says %q", &out, &talk)
	}
}
