package remotes_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/remotes"
)

func TestFileIsReadAsItWasSaved(t *testing.T) {
	dir := t.TempDir()
	f, err := remotes.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	origin := f.At("origin")
	origin.Agree("memory", "https://ada:secret@forge.example/ada/engine.git")
	origin.Proposals = []remotes.Proposal{
		{Branch: "reverie/proposal/1", Commit: "c1", Base: "b1", Ops: []string{"one", "two"}},
		{Branch: "reverie/proposal/2", Commit: "c2", Base: "b2", Ops: []string{"three"}, Closed: true},
		{Branch: "reverie/proposal/3", Commit: "c3", Base: "b3", Head: "h3", With: "w3"},
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, remotes.Name))
	if err != nil || strings.Contains(string(text), "secret") {
		t.Fatalf("%v: it holds a password: %s", err, text)
	}
	if f, err = remotes.Read(dir); err != nil {
		t.Fatal(err)
	}
	origin = f.At("origin")
	if !origin.Agreed("memory", "https://forge.example/ada/engine.git") || origin.Agreed("journal", "https://forge.example/ada/engine.git") || origin.Agreed("memory", "https://other.example/engine.git") {
		t.Errorf("agreed: %v", origin.Published)
	}
	if got, want := f.Proposed(), map[string]string{"one": "reverie/proposal/1", "two": "reverie/proposal/1"}; !maps.Equal(got, want) {
		t.Errorf("proposed: %v, want %v", got, want)
	}
	own := origin.Own()
	if own == nil || own.Branch != "reverie/proposal/3" || own.Tip() != "h3" || own.On() != "w3" {
		t.Fatalf("our own proposal: %+v", own)
	}
	if first := origin.Proposals[0]; first.Tip() != "c1" || first.On() != "b1" {
		t.Errorf("%+v is at %s on %s", first, first.Tip(), first.On())
	}
	origin.Drop("reverie/proposal/3")
	if origin.Own() != nil || len(origin.Proposals) != 2 {
		t.Errorf("after dropping it: %+v", origin.Proposals)
	}
}

func TestDamagedFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, remotes.Name)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := remotes.Read(dir); err == nil || !strings.HasPrefix(err.Error(), "read "+path+": ") {
		t.Errorf("the error is %v", err)
	}
}
