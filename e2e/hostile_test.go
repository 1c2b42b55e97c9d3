package e2e

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// treeEntry is a line of a tree, valid or not.
type treeEntry struct{ mode, name, id string }

// object writes an object without checking its content.
func object(t *testing.T, dir, kind string, data []byte) string {
	t.Helper()
	cmd := exec.Command("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hash-object: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// rawTree writes a tree of entries in git's order, including duplicates.
func rawTree(t *testing.T, dir string, entries ...treeEntry) string {
	t.Helper()
	key := func(e treeEntry) string {
		if e.mode == "40000" {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortStableFunc(entries, func(a, b treeEntry) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.id)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\x00%s", e.mode, e.name, id)
	}
	return object(t, dir, "tree", b.Bytes())
}

// entriesOf returns the entries of an existing tree.
func entriesOf(t *testing.T, dir, rev string) []treeEntry {
	t.Helper()
	var all []treeEntry
	for line := range strings.SplitSeq(git(t, dir, "ls-tree", rev), "\n") {
		head, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		all = append(all, treeEntry{strings.TrimPrefix(fields[0], "0"), name, fields[2]})
	}
	return all
}

// hostileTrees are trees that a remote may send. Each makes a root tree from the present one. says
// is the text that the refusal must contain, or empty if the tree is accepted.
var hostileTrees = []struct {
	name, says string
	make       func(t *testing.T, dir string, root []treeEntry) []treeEntry
}{
	{"parent folder", `".."`, top("40000", "..", aFolder)},
	{"this folder", `"."`, top("40000", ".", aFolder)},
	{"file that is the parent", `".."`, top("100644", "..", aFile)},
	{"parent folder below", `memories/..`, inMemories("40000", "..", aFolder)},
	{"git directory", `".git"`, top("40000", ".git", aFolder)},
	{"git directory in capitals", `".GIT"`, top("40000", ".GIT", aFolder)},
	{"git directory of HFS", `.g`, top("40000", ".g\u200cit", aFolder)},
	{"git directory of NTFS", `git~1`, top("40000", "git~1", aFolder)},
	{"git directory as a stream", `.git::`, top("40000", ".git::$INDEX_ALLOCATION", aFolder)},
	{"git directory below", `memories/.git`, inMemories("40000", ".git", aFolder)},
	{"separator in a name", `../evil`, top("100644", "../evil", aFile)},
	{"backslash in a name", `evil`, top("100644", `..\evil`, aFile)},
	{"absolute name", `/etc/`, top("100644", "/etc/evil", aFile)},
	{"control bytes", `evil`, top("100644", "evil\x1b[2J", aFile)},
	{"line feed", `evil`, top("100644", "evil\nname", aFile)},
	{"no UTF-8", `evil`, top("100644", "evil\xff\xfe", aFile)},
	{"empty name", `""`, top("100644", "", aFile)},
	{"long name", `nnnn`, top("100644", strings.Repeat("n", 300), aFile)},
	{"symbolic link", `link`, top("120000", "link", func(t *testing.T, dir string) string { return object(t, dir, "blob", []byte("/etc/passwd")) })},
	{"symbolic link for a memory", `memories/aa/`, memory("120000", "/etc/passwd")},
	{"submodule", `sub`, top("160000", "sub", func(t *testing.T, dir string) string { return git(t, dir, "rev-parse", "HEAD") })},
	{"executable file", `memories/aa/`, memory("100755", "+++\n")},
	{"strange mode", `memories/aa/`, memory("100666", "+++\n")},
	{"padded mode", `padded`, top("040000", "padded", aFolder)},
	{"the same name twice", `twice`, func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		return append(root, treeEntry{"100644", "twice", aFile(t, dir)}, treeEntry{"100644", "twice", object(t, dir, "blob", []byte("other\n"))})
	}},
	{"a file and a folder of one name", `memories`, top("100644", "memories", aFile)},
	{"file over the limit", `memories/aa/`, memory("100644", strings.Repeat("x", 300<<10))},
	{"file that no reader takes", `aaaaaaaaaaaaaaaa-evil.md": more bytes`, memory("100644", strings.Repeat("x", 65<<20))},
	{"deep nesting", `d/d/d`, top("40000", "d", func(t *testing.T, dir string) string {
		id := aFolder(t, dir)
		for range 200 {
			id = rawTree(t, dir, treeEntry{"40000", "d", id})
		}
		return id
	})},
	{"newer format", `newer Reverie`, replaced("reverie.toml", "format = 99\n")},
	{"settings that do not parse", `reverie.toml`, replaced("reverie.toml", "format = = 1\n")},
	{"settings that loosen", `reverie.toml`, replaced("reverie.toml", "format = 1\nmemory.ref = \"refs/heads/main\"\n")},
	{"no settings", `reverie.toml`, func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		return slices.DeleteFunc(root, func(e treeEntry) bool { return e.name == "reverie.toml" })
	}},
	{"settings that are a folder", `reverie.toml`, func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		root = slices.DeleteFunc(root, func(e treeEntry) bool { return e.name == "reverie.toml" })
		return append(root, treeEntry{"40000", "reverie.toml", aFolder(t, dir)})
	}},
	{"folder that is missing", `memories/ab`, inMemories("40000", "ab", func(*testing.T, string) string { return strings.Repeat("ab", 20) })},
	{"file that is missing", `cdcdcd`, func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		folder := rawTree(t, dir, treeEntry{"100644", memoryName, strings.Repeat("cd", 20)})
		return inMemories("40000", "aa", func(*testing.T, string) string { return folder })(t, dir, root)
	}},
	{"folder that is a file", `memories/ab`, inMemories("40000", "ab", aFile)},
	{"file that is a folder", `is a tree, not a file`, func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		folder := rawTree(t, dir, treeEntry{"100644", memoryName, aFolder(t, dir)})
		return inMemories("40000", "aa", func(*testing.T, string) string { return folder })(t, dir, root)
	}},
	// Files that are merely no memories are accepted, and check names them.
	{"memory with a zero byte", "", memory("100644", "+++\nkind = \"fact\"\x00\n+++\nnothing\n")},
	{"memory of garbage", "", memory("100644", "\xff\xfe\x00garbage")},
	{"memory of another id", "", memory("100644", "+++\nkind = \"fact\"\nid = \"bbbbbbbbbbbbbbbb\"\nstatus = \"active\"\nsource = \"2026-11-20T14:03:05Z human - written\"\npaths = []\nref = \"\"\ntags = []\n+++\nAnother.\n")},
	{"conflict markers", "", memory("100644", "<<<<<<< ours\n+++\n=======\n>>>>>>> theirs\n")},
}

const memoryName = "aaaaaaaaaaaaaaaa-evil.md"

func aFile(t *testing.T, dir string) string { return object(t, dir, "blob", []byte("evil\n")) }
func aFolder(t *testing.T, dir string) string {
	return rawTree(t, dir, treeEntry{"100644", "config", aFile(t, dir)})
}

type maker = func(t *testing.T, dir string, root []treeEntry) []treeEntry

func top(mode, name string, id func(*testing.T, string) string) maker {
	return func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		return append(root, treeEntry{mode, name, id(t, dir)})
	}
}

// inMemories puts an entry into the folder memories.
func inMemories(mode, name string, id func(*testing.T, string) string) maker {
	return func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		folder := append(entriesOf(t, dir, "reverie/memory:memories"), treeEntry{mode, name, id(t, dir)})
		root = slices.DeleteFunc(root, func(e treeEntry) bool { return e.name == "memories" })
		return append(root, treeEntry{"40000", "memories", rawTree(t, dir, folder...)})
	}
}

// memory puts one file in a memory's place.
func memory(mode, text string) maker {
	return inMemories("40000", "aa", func(t *testing.T, dir string) string {
		return rawTree(t, dir, treeEntry{mode, memoryName, object(t, dir, "blob", []byte(text))})
	})
}

func replaced(name, text string) maker {
	return func(t *testing.T, dir string, root []treeEntry) []treeEntry {
		root = slices.DeleteFunc(root, func(e treeEntry) bool { return e.name == name })
		return append(root, treeEntry{"100644", name, object(t, dir, "blob", []byte(text))})
	}
}

// A remote may send any tree. Either the tree is refused with a message that names the entry, and
// ours stays, or it is accepted and check names it. Its objects are here in either case, as after
// any fetch.
func TestHostileTreeIsRefusedByName(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	behind := newRepo(t)
	must(t, behind, "remember", "what both know")
	base := git(t, behind, "rev-parse", "reverie/memory")
	ahead := copyDir(t, behind)
	must(t, ahead, "remember", "what only this clone knows")
	for n, c := range hostileTrees {
		for i, dir := range []string{behind, ahead} {
			if !full && i != n%2 { // every tree, in one of both histories
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", c.name, []string{"behind", "ahead"}[i]), func(t *testing.T) {
				if c.says == "" {
					dir = copyDir(t, dir)
				}
				root := rawTree(t, dir, c.make(t, dir, entriesOf(t, dir, base))...)
				commit := object(t, dir, "commit", fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s\ncommitter %[3]s\n\nevil\n", root, base, eve))
				if c.says == "" {
					comesAlong(t, dir, reverie(t, dir, "merge", commit))
					return
				}
				refused(t, dir, c.says, "merge", commit)
			})
		}
	}
}

const eve = "Eve <eve@example.com> 1767225601 +0000"

// A remote's ref may not even be a commit, and a name is no option.
func TestWhatIsNoHistoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	must(t, dir, "remember", "what is known")
	git(t, dir, "tag", "-a", "-m", "x", "of-code", "HEAD")
	blob := aFile(t, dir)
	broken := object(t, dir, "commit", []byte("tree "+strings.Repeat("ab", 20)+"\nauthor "+eve+"\ncommitter "+eve+"\n\nevil\n"))
	for rev, says := range map[string]string{
		"HEAD": "reverie.toml", "of-code": "reverie.toml", blob: blob, git(t, dir, "rev-parse", "reverie/memory^{tree}"): "tree",
		broken: "ab", "no/such/ref": "no/such/ref", "--upload-pack=x": "", "a\x1bb": "", strings.Repeat("0", 40): "000000", "..": "", "@{-1}": "",
	} {
		refused(t, dir, says, "merge", "--", rev)
	}
}

// refused runs a command that must be refused with that text, and leave everything unchanged.
func refused(t *testing.T, dir, says string, args ...string) {
	t.Helper()
	list := func() string {
		if !full {
			return ""
		}
		return must(t, dir, "list", "--all")
	}
	tip, listed := git(t, dir, "for-each-ref"), list()
	before := manifest(t, filepath.Dir(dir))
	a := reverie(t, dir, args...)
	if a.code == 0 || a.code == 1 || !strings.Contains(a.err, says) || strings.TrimSpace(a.err) == "" {
		t.Errorf("want a refusal that names %q: %.2000s", says, a)
	}
	if strings.ContainsAny(a.err+a.out, "\x1b\x00") {
		t.Errorf("the message holds control bytes: %q", a.err)
	}
	if now := git(t, dir, "for-each-ref"); now != tip {
		t.Errorf("refs moved from\n%s\nto\n%s", tip, now)
	}
	if now := list(); now != listed {
		t.Errorf("list says\n%s\nnot\n%s", now, listed)
	}
	sameManifest(t, before, manifest(t, filepath.Dir(dir)))
}

// comesAlong requires that a merge succeeds, keeps everything known before, and that check names
// the file.
func comesAlong(t *testing.T, dir string, merge answer) {
	t.Helper()
	if merge.code != 0 {
		t.Fatalf("%s", merge)
	}
	list := reverie(t, dir, "list", "--all")
	if list.code != 0 || !strings.Contains(list.out, "what both know") || !strings.Contains(list.err, memoryName) {
		t.Errorf("%s", list)
	}
	if check := reverie(t, dir, "check"); check.code != 1 || !strings.Contains(check.out, memoryName) {
		t.Errorf("%s", check)
	}
	must(t, dir, "remember", "a next thing")
}

// A remote may send a tree of very many entries, 100,000 in complete runs: that takes time, but not
// forever.
func TestTreeOfManyEntries(t *testing.T) {
	t.Parallel()
	entries := 2_000
	switch {
	case every:
		entries = 100_000
	case full:
		entries = 20_000
	}
	for _, flat := range []bool{false, true} {
		dir := newRepo(t)
		must(t, dir, "remember", "what both know")
		base := git(t, dir, "rev-parse", "reverie/memory")
		blob := aFile(t, dir)
		var many []treeEntry
		for i := range entries {
			many = append(many, treeEntry{"100644", fmt.Sprintf("%016x-many.md", i), blob})
		}
		folder := rawTree(t, dir, many...)
		root := inMemories("40000", "00", func(*testing.T, string) string { return folder })
		if flat {
			root = top("40000", "dreams", func(*testing.T, string) string { return folder })
		}
		tree := rawTree(t, dir, root(t, dir, entriesOf(t, dir, "reverie/memory"))...)
		commit := object(t, dir, "commit", fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s\ncommitter %[3]s\n\nmany\n", tree, base, eve))
		must(t, dir, "merge", commit)
		list := reverie(t, dir, "list")
		if list.code != 0 || !strings.Contains(list.out, "what both know") {
			t.Errorf("%.2000s", list)
		}
		must(t, dir, "remember", "a next thing")
		if !strings.Contains(must(t, dir, "list"), "a next thing") {
			t.Error("the next thing is not listed")
		}
	}
}
