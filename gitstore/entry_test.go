package gitstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"sort"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/reverie-memory/reverie/internal/git"
	"pgregory.net/rapid"
)

// A tree of well-formed entries survives byte for byte, and parsing anything else fails without a
// panic.
func FuzzTree(f *testing.F) {
	repo := &git.Repo{ObjectFormat: "sha1"}
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
		again, err := parseTree(repo.ObjectFormat.NewTree(lines(entries)).Data, 20)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries, then %d: %v", len(entries), len(again), err)
		}
		if once := repo.ObjectFormat.NewTree(lines(again)).Data; !bytes.Equal(once, repo.ObjectFormat.NewTree(lines(entries)).Data) {
			t.Error("not stable")
		}
	})
}

// Trees and commits have the same bytes and ids as go-git's.
func TestTreesAndCommitsAreAsGoGitEncodesThem(t *testing.T) {
	repo := &git.Repo{ObjectFormat: "sha1"}
	same := func(t *rapid.T, ours git.Object, encode func(plumbing.EncodedObject) error) {
		theirs := &plumbing.MemoryObject{}
		if err := encode(theirs); err != nil {
			t.Fatal(err)
		}
		r, _ := theirs.Reader()
		if data, _ := io.ReadAll(r); !bytes.Equal(data, ours.Data) || theirs.Hash().String() != ours.ID {
			t.Fatalf("%s\n%q\n%q", theirs.Hash(), ours.Data, data)
		}
	}
	id := rapid.Custom(func(t *rapid.T) ID {
		return ID(hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "id")))
	})
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		var theirs object.Tree
		for _, name := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-c.0-]{1,4}|[^/\x00]{1,9}`), rapid.ID).Draw(t, "names") {
			e := entry{mode: rapid.SampledFrom([]string{modeFile, modeTree, "100755", "120000", "160000"}).Draw(t, "mode"), name: name, id: id.Draw(t, "of")}
			entries = append(entries, e)
			mode, err := filemode.New(e.mode)
			if err != nil {
				t.Fatal(err)
			}
			theirs.Entries = append(theirs.Entries, object.TreeEntry{Name: name, Mode: mode, Hash: plumbing.NewHash(string(e.id))})
		}
		sort.Sort(object.TreeEntrySorter(theirs.Entries))
		same(t, repo.ObjectFormat.NewTree(lines(entries)), theirs.Encode)

		who := git.Identity{Name: rapid.StringMatching(`[A-Z][a-z]{0,5} ?[^<>\n\x00]{0,5}`).Draw(t, "name"), Email: rapid.StringMatching(`[a-z@.]{0,12}`).Draw(t, "email")}
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "minutes east"))
		when := time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "seconds"), 0).In(zone)
		c := object.Commit{Author: object.Signature{Name: who.Name, Email: who.Email, When: when}, TreeHash: plumbing.NewHash(string(id.Draw(t, "tree"))),
			Message: Commit{Subject: rapid.String().Draw(t, "subject"), Body: rapid.String().Draw(t, "body")}.text()}
		c.Committer = c.Author
		var parents []string
		for _, p := range rapid.SliceOfN(id, 0, 3).Draw(t, "parents") {
			parents, c.ParentHashes = append(parents, string(p)), append(c.ParentHashes, plumbing.NewHash(string(p)))
		}
		ours := repo.ObjectFormat.NewCommit(who, when, c.TreeHash.String(), parents, c.Message)
		same(t, ours, c.Encode)
		read, err := parseCommit(ours.Data)
		if err != nil || string(read.tree) != c.TreeHash.String() || len(read.parents) != len(parents) || read.message != c.Message || read.email != who.Email {
			t.Errorf("%+v, %v", read, err)
		}
	})
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
