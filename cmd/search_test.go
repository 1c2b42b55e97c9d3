package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/setup/doctor"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/reader"
)

// A command waits for its answer, however much there is to index first. Only a hook does not wait,
// and says so.
func TestOnlyHooksDoNotWaitForTheIndex(t *testing.T) {
	r := newRepo(t)
	w := at(t, r.Dir, noon)
	source := record.Source{Time: noon, By: "human", How: record.Written}
	err := w.Book.Update(t.Context(), func(tx *record.Tx) error {
		for i := range reader.MaxIndexed {
			m := record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Shelf %d holds nothing", i), Source: source})
			tx.Write(record.Branch, m.Path(), m.Format())
		}
		m := record.New(record.Memory{Kind: record.Constraint, Text: "Never run terraform destroy on kestrel-prod", Source: source})
		tx.Write(record.Branch, m.Path(), m.Format())
		tx.Describe(gitstore.Commit{Subject: "test: add"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "run terraform destroy on kestrel-prod"
	index := filepath.Join(r.Dir, ".git", "reverie", reader.CatalogFile)
	unindexed := func() {
		if err := recall.Drop(index); err != nil {
			t.Fatal(err)
		}
	}
	ask := brief.Request{For: brief.Prompt, Session: "claude/s1", Query: prompt, Record: true}
	ask.Limits.Docs = reader.MaxIndexed
	unindexed()
	in, err := brief.Give(t.Context(), w.Reader, ask)
	if err != nil || in.Text != "" || !errors.Is(in.Behind, recall.ErrBehind) {
		t.Errorf("a hook gets %q, behind: %v, %v", in.Text, in.Behind, err)
	}
	hook := func() (out, talk string) {
		cmd := exec.Command("reverie", "hook", "claude", "UserPromptSubmit")
		cmd.Dir = r.Dir
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s2","hook_event_name":"UserPromptSubmit","cwd":%q,"prompt":%q}`, r.Dir, prompt))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err, stderr.String())
		}
		return string(text), stderr.String()
	}
	lock, err := job.TryLock(w.State, job.Worker) // so that none starts
	if lock == nil || err != nil {
		t.Fatal(lock, err)
	}
	defer lock.Close()
	if out, talk := hook(); strings.Contains(out, "terraform") || !strings.Contains(talk, recall.ErrBehind.Error()) {
		t.Errorf("the hook gives %q and says %q", out, talk)
	}
	unindexed()
	out := reverie(t, r.Dir, "context", "--for", "prompt", "--session", "claude/s3", "--record", "--query", prompt)
	if !strings.Contains(out, "Never run terraform destroy") {
		t.Errorf("context --record gives %q", out)
	}
	if out, talk := hook(); !strings.Contains(out, "Never run terraform destroy") || talk != "" {
		t.Errorf("with the index there the hook gives %q and says %q", out, talk)
	}
}

// An index that cannot be kept costs every search the same work: doctor and the worker say so, and
// a search does with -v.
func TestIndexThatIsNotKeptIsTold(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "Lacquer the widget")
	index := filepath.Join(r.Dir, ".git", "reverie", reader.CatalogFile)
	w := at(t, r.Dir, noon)
	if err := w.RefreshIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := doctor.CheckIndex(t.Context(), w.Reader); f.State != doctor.OK {
		t.Errorf("doctor says %+v", f)
	}
	if err := recall.Drop(index); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(index, "theirs"), 0o700); err != nil { // a stranger's folder
		t.Fatal(err)
	}
	if err := w.RefreshIndex(t.Context()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("the worker says %v", err)
	}
	if f := doctor.CheckIndex(t.Context(), w.Reader); f.State != doctor.Broken || !strings.Contains(f.Detail, "not a regular file") {
		t.Errorf("doctor says %+v", f)
	}
	for _, verbose := range []bool{false, true} {
		env, out, talk := asking(r.Dir, nil)
		env.Verbose = verbose
		if err := env.with(t.Context(), func(w *workspace) error {
			return runRecall(t.Context(), w, "lacquer", recallOptions{Question: reader.Question{Limit: 10}})
		}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "Lacquer the widget") || strings.Count(talk.String(), "not a regular file") != map[bool]int{true: 1}[verbose] {
			t.Errorf("verbose %v: %q, %q", verbose, out, talk)
		}
	}
}
