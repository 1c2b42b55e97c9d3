package e2e

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mostMemory bounds the extra memory of a command beside a bomb, in bytes.
const mostMemory = 300 << 20

// plainObject writes an object straight into a repository: git itself would refuse some, or take
// its time.
func plainObject(t *testing.T, dir, kind string, size int64, data io.Reader) string {
	t.Helper()
	sum := sha1.New()
	file, err := os.CreateTemp(dir, "bomb")
	if err != nil {
		t.Fatal(err)
	}
	z, _ := zlib.NewWriterLevel(file, zlib.BestSpeed)
	w := io.MultiWriter(sum, z)
	fmt.Fprintf(w, "%s %d\x00", kind, size)
	if _, err := io.Copy(w, data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	id := hex.EncodeToString(sum.Sum(nil))
	path := filepath.Join(dir, "objects", id[:2], id[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		t.Fatal(err)
	}
	file.Close()
	return id
}

// row returns one entry of a tree.
func row(mode, name, id string) string {
	raw, _ := hex.DecodeString(id)
	return mode + " " + name + "\x00" + string(raw)
}

func treeObject(t *testing.T, dir string, rows ...string) string {
	t.Helper()
	text := strings.Join(rows, "")
	return plainObject(t, dir, "tree", int64(len(text)), strings.NewReader(text))
}

// wide returns a folder of many entries with one content.
func wide(t *testing.T, dir, mode, suffix, id string, entries int) string {
	t.Helper()
	raw, _ := hex.DecodeString(id)
	each := len(mode) + 1 + 8 + len(suffix) + 1 + len(raw)
	r, w := io.Pipe()
	go func() {
		var b bytes.Buffer
		for i := range entries {
			fmt.Fprintf(&b, "%s %08x%s\x00%s", mode, i, suffix, raw)
			if b.Len() > 1<<16 || i == entries-1 {
				w.Write(b.Bytes())
				b.Reset()
			}
		}
		w.Close()
	}()
	return plainObject(t, dir, "tree", int64(each)*int64(entries), r)
}

// deep nests a folder in others, each of which has the next under several names.
func deep(t *testing.T, dir, id string, levels int, names ...string) string {
	t.Helper()
	for range levels {
		rows := make([]string, len(names))
		for i, name := range names {
			rows[i] = row("40000", name, id)
		}
		id = treeObject(t, dir, rows...)
	}
	return id
}

var tenNames = strings.Fields("d0 d1 d2 d3 d4 d5 d6 d7 d8 d9")

// zeros returns a blob of size zero bytes, which packs to a thousandth.
func zeros(t *testing.T, dir string, size int64) string {
	t.Helper()
	return plainObject(t, dir, "blob", size, io.LimitReader(zeroReader{}, size))
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// bombs are trees whose few objects unpack to more than any memory. Each puts one into a repository
// and returns its mode and id; big ones run only in full runs.
var bombs = []struct {
	name  string
	big   bool
	files bool // it is in the files, not in the trees
	make  func(t *testing.T, dir string) (id string)
}{
	{"ten objects", false, false, func(t *testing.T, dir string) string {
		blob := plainObject(t, dir, "blob", 5, strings.NewReader("boom\n"))
		var rows []string
		for _, name := range tenNames {
			rows = append(rows, row("100644", name, blob))
		}
		return deep(t, dir, treeObject(t, dir, rows...), 9, tenNames...)
	}},
	{"two names, thirty levels", false, false, func(t *testing.T, dir string) string {
		blob := plainObject(t, dir, "blob", 5, strings.NewReader("boom\n"))
		return deep(t, dir, treeObject(t, dir, row("100644", "f", blob)), 29, "a", "b")
	}},
	{"empty folders", false, false, func(t *testing.T, dir string) string {
		return deep(t, dir, treeObject(t, dir), 9, tenNames...)
	}},
	{"long names", false, false, func(t *testing.T, dir string) string {
		blob := plainObject(t, dir, "blob", 5, strings.NewReader("boom\n"))
		long := strings.Repeat("x", 250)
		id := wide(t, dir, "100644", long[:200], blob, 20_000)
		return deep(t, dir, id, 25, long)
	}},
	{"entries that are passed over", false, false, func(t *testing.T, dir string) string {
		blob := plainObject(t, dir, "blob", 5, strings.NewReader("boom\n"))
		return deep(t, dir, wide(t, dir, "120000", "", blob, 1000), 4, tenNames...)
	}},
	{"three thousand levels", false, false, func(t *testing.T, dir string) string {
		blob := plainObject(t, dir, "blob", 5, strings.NewReader("boom\n"))
		return deep(t, dir, treeObject(t, dir, row("100644", "f", blob)), 3000, "d", "e")
	}},
	{"ten million entries", true, false, func(t *testing.T, dir string) string {
		return wide(t, dir, "100644", "", plainObject(t, dir, "blob", 5, strings.NewReader("boom\n")), 10_000_000)
	}},
	{"half a million entries", false, false, func(t *testing.T, dir string) string {
		return wide(t, dir, "100644", "", plainObject(t, dir, "blob", 5, strings.NewReader("boom\n")), 500_000)
	}},
	{"a gigabyte, a thousand times", true, true, func(t *testing.T, dir string) string {
		return wide(t, dir, "100644", "-x.md", zeros(t, dir, 1<<30), 1000)
	}},
	{"files that fit, very often", false, true, func(t *testing.T, dir string) string {
		return wide(t, dir, "100644", "-x.md", zeros(t, dir, 256<<10), 4000)
	}},
}

// A pull request, or a remote's branch, contains a bomb: every command ends soon, in little memory,
// and merges nothing.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	for _, b := range bombs {
		if b.big && !full {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			dir, bare := newRepo(t), filepath.Join(t.TempDir(), "bare.git")
			git(t, "", "init", "-q", "--bare", bare)
			git(t, dir, "remote", "add", "origin", bare)
			git(t, dir, "push", "-q", "origin", "HEAD:main")
			must(t, dir, "-q", "remember", "Orders are kept in Postgres")
			must(t, dir, "-q", "sync", "--yes")
			before := git(t, dir, "rev-parse", "reverie/memory")
			id := b.make(t, bare)
			places := []string{"memories", "reflections", "skills", "zz", "purged", ""}
			if !full {
				places = []string{"memories", "zz"}
			}
			for i, place := range places {
				head := graft(t, bare, before, place, id)
				if b.big && i > 0 { // git has shown once how it fetches the bomb
					bring(t, bare, dir)
				}
				git(t, bare, "update-ref", "refs/heads/reverie/memory", head)
				begin := within
				if b.big { // git itself unpacks fetched objects once
					begin = func(t *testing.T, dir string, args ...string) answer { return reverie(t, dir, args...) }
				}
				sync := begin(t, dir, "sync", "--yes")
				if sync.code == 0 {
					t.Errorf("below %q: sync takes it: %s", place, sync)
				}
				git(t, bare, "update-ref", "refs/heads/reverie/memory", before)
				// In a clone that fetched the pull request.
				bring(t, bare, dir)
				for _, args := range [][]string{{"check", "--diff", before + "..." + head}, {"check", "--diff", before + ".." + head}, {"merge", head}} {
					if a := within(t, dir, args...); a.code == 0 {
						t.Errorf("below %q: %v takes it: %s", place, args, a)
					}
				}
				within(t, dir, "check", "--diff", head+".."+head) // the base has it too
				// Content that a later commit removes is still in history.
				clean := commitOf(t, dir, git(t, dir, "rev-parse", before+"^{tree}"), head)
				for _, args := range [][]string{{"check", "--diff", before + "..." + clean}, {"merge", clean}} {
					a := within(t, dir, args...)
					// for files, the newest state counts
					if a.code == 0 && (!b.files || b.big && args[0] == "check") {
						t.Errorf("below %q, taken back: %v takes it: %s", place, args, a)
					}
				}
				if now := git(t, dir, "rev-parse", "reverie/memory"); now != before {
					git(t, dir, "update-ref", "refs/heads/reverie/memory", before)
				}
				// After a plain git merge of it, readers end too.
				for _, ref := range []string{"refs/heads/reverie/memory", "refs/reverie/journal", "refs/reverie/inbox"} {
					was, _ := tryGit(dir, "rev-parse", "--verify", "-q", ref)
					git(t, dir, "update-ref", ref, head)
					os.RemoveAll(filepath.Join(dir, ".git", "reverie", "cache"))
					for _, args := range [][]string{{"list", "--all"}, {"check"}, {"recall", "orders"}, {"context"}, {"status"}, {"review"}} {
						within(t, dir, args...)
					}
					hook(t, dir)
					if was == "" {
						git(t, dir, "update-ref", "-d", ref)
					} else {
						git(t, dir, "update-ref", ref, was)
					}
				}
				if !full {
					break
				}
			}
			if a := must(t, dir, "list"); !strings.Contains(a, "Postgres") {
				t.Errorf("what was there is gone: %s", a)
			}
			must(t, dir, "sync", "--yes")
		})
	}
}

// graft makes a commit on top of another whose tree has an entry at a place; "" means the whole
// tree.
func graft(t *testing.T, dir, parent, place, id string) string {
	t.Helper()
	if place == "" {
		return commitOf(t, dir, id, parent)
	}
	var rows []string
	done := false
	for line := range strings.Lines(git(t, dir, "ls-tree", parent)) {
		head, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fields := strings.Fields(head)
		if name >= place && !done {
			rows, done = append(rows, row("40000", place, id)), true
		}
		if name != place {
			rows = append(rows, row(strings.TrimPrefix(fields[0], "0"), name, fields[2]))
		}
	}
	if !done {
		rows = append(rows, row("40000", place, id))
	}
	return commitOf(t, dir, treeObject(t, gitDir(t, dir), rows...), parent)
}

func gitDir(t *testing.T, dir string) string {
	return git(t, dir, "rev-parse", "--absolute-git-dir")
}

func commitOf(t *testing.T, dir, tree, parent string) string {
	t.Helper()
	text := fmt.Sprintf("tree %s\nparent %s\nauthor M <m@example.com> 1800000000 +0000\ncommitter M <m@example.com> 1800000000 +0000\n\nx\n", tree, parent)
	return plainObject(t, gitDir(t, dir), "commit", int64(len(text)), strings.NewReader(text))
}

// bring copies the loose objects of one repository into another.
func bring(t *testing.T, bare, dir string) {
	t.Helper()
	for _, path := range files(t, filepath.Join(bare, "objects")) {
		rel, _ := filepath.Rel(bare, path)
		to := filepath.Join(dir, ".git", rel)
		if exists(to) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(path, to); err != nil {
			t.Fatal(err)
		}
	}
}

// within runs reverie, and compares its memory with the limit. A deadline ends a hang.
func within(t *testing.T, dir string, args ...string) answer {
	t.Helper()
	return measured(t, exec.Command(binary, args...), dir)
}

// hook runs the hook at the beginning of an agent's session.
func hook(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(binary, "hook", "claude")
	cmd.Stdin = strings.NewReader(payload(dir, "s", "SessionStart", map[string]any{"source": "startup"}))
	if a := measured(t, cmd, dir); a.code != 0 {
		t.Errorf("a hook fails: %s", a)
	}
	gone(t, dir, patience)
}

// measured runs a command whose output may be long. The output goes to a file, because the system
// counts this process's memory as the child's, too.
func measured(t *testing.T, cmd *exec.Cmd, dir string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience/2)
	defer cancel()
	var said [2]*os.File
	for i := range said {
		var err error
		if said[i], err = os.CreateTemp(t.TempDir(), "said"); err != nil {
			t.Fatal(err)
		}
		defer said[i].Close()
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, said[0], said[1]
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	began := time.Now()
	err := cmd.Wait()
	stop()
	var text [2]string
	for i := range said {
		head := make([]byte, 2000)
		n, _ := said[i].ReadAt(head, 0)
		text[i] = string(head[:n])
	}
	a := answer{args: cmd.Args, out: text[0], err: text[1]}
	if ctx.Err() != nil {
		t.Fatalf("hangs: %s", a)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if used > mostMemory && !underRace {
		t.Errorf("%d MiB: %s", used>>20, a)
	}
	t.Logf("%.1f s, %d MiB, code %d: %s: %.160s", time.Since(began).Seconds(), used>>20, cmd.ProcessState.ExitCode(), strings.Join(cmd.Args[1:min(3, len(cmd.Args))], " "), a.err)
	return a.ended(t, err)
}
