package gitstore

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
)

// A tree of well-formed entries comes back byte for byte, and whatever does not parse is refused
// without a panic.
func FuzzTree(f *testing.F) {
	id := bytes.Repeat([]byte{7}, 20)
	f.Add(append([]byte("100644 a\x00"), id...))
	f.Add(append(append([]byte("100644 a.b\x00"), id...), append([]byte("40000 a\x00"), id...)...))
	f.Add([]byte("40000 \x00"))
	f.Add(append([]byte("120000 .git\x00"), id...))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data, 20)
		if err != nil {
			return
		}
		for i := range entries {
			if e := &entries[i]; e.bad == "" && badName(e.name) != "" {
				t.Errorf("%q is let through", e.name)
			}
		}
		again, err := parseTree(formatTree(entries), 20)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries, then %d: %v", len(entries), len(again), err)
		}
		if once := formatTree(again); !bytes.Equal(once, formatTree(entries)) {
			t.Error("not stable")
		}
	})
}

// go-git decodes the trees and commits that we encode.
func TestGoGitDecodesOurTreesAndCommits(t *testing.T) {
	repo := &git.Repo{ObjectFormat: "sha1"}
	blob := ID(repo.NewObject(git.Blob, []byte("x")).ID)
	tree := repo.NewObject(git.Tree, formatTree([]entry{
		{mode: modeFile, name: "a.md", id: blob}, {mode: modeTree, name: "a", id: blob}, {mode: modeFile, name: "a-b", id: blob},
	}))
	var got object.Tree
	if err := got.Decode(memory(t, plumbing.TreeObject, tree.Data)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range got.Entries {
		names = append(names, e.Mode.String()+" "+e.Name)
	}
	if diff := cmp.Diff([]string{"0100644 a-b", "0100644 a.md", "0040000 a"}, names); diff != "" {
		t.Error(diff)
	}
	when := time.Date(2026, 11, 20, 14, 3, 5, 0, time.FixedZone("", 5*3600+1800))
	who := git.Identity{Name: "Ann Author", Email: "ann@example.com"}
	message := Commit{Subject: "s", Body: "b"}.text()
	data := formatCommit(ID(tree.ID), []ID{blob}, who, when, message)
	var c object.Commit
	if err := c.Decode(memory(t, plumbing.CommitObject, data)); err != nil {
		t.Fatal(err)
	}
	if c.TreeHash.String() != tree.ID || len(c.ParentHashes) != 1 || !c.Author.When.Equal(when) || c.Committer.Name != who.Name || c.Message != message {
		t.Errorf("%+v", c)
	}
	ours, err := parseCommit(data)
	if err != nil || ours.tree != ID(tree.ID) || cmp.Diff([]ID{blob}, ours.parents) != "" || ours.message != message {
		t.Errorf("%+v, %v", ours, err)
	}
}

func memory(t *testing.T, kind plumbing.ObjectType, data []byte) plumbing.EncodedObject {
	t.Helper()
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	if _, err := o.Write(data); err != nil {
		t.Fatal(err)
	}
	return o
}

func FuzzCommit(f *testing.F) {
	f.Add([]byte("tree 1\nparent 2\nauthor a <b> 1 +0000\n\nsubject\n"))
	f.Add([]byte("tree 1\ngpgsig -----BEGIN\n tree 2\n \n -----END\n\nx"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(data)
		if (err == nil) != (c.tree != "") {
			t.Errorf("tree %q, %v", c.tree, err)
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add("one\ntwo", "body\x1b", "Key", "v\nKey: w")
	f.Fuzz(func(t *testing.T, subject, body, key, value string) {
		text := Commit{Subject: subject, Body: body, Trailers: []Trailer{{key, value}}}.text()
		for _, c := range text {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == '\u202e' || c == '\u200b' {
				t.Errorf("%q holds %q", text, c)
			}
		}
		if line, _, _ := bytes.Cut([]byte(text), []byte("\n")); len(bytes.TrimSpace(line)) == 0 {
			t.Errorf("%q has no subject", text)
		}
	})
}

func TestTreeThatEndsEarlyIsRefused(t *testing.T) {
	whole := append([]byte("100644 a\x00"), bytes.Repeat([]byte{7}, 20)...)
	for i := 1; i < len(whole); i++ {
		if _, err := parseTree(whole[:i], 20); err == nil {
			t.Errorf("%d bytes were taken for a tree", i)
		}
	}
	if _, err := parseCommit(nil); err == nil || errors.Is(err, ErrCorrupt) {
		t.Errorf("an empty commit: %v", err)
	}
}
