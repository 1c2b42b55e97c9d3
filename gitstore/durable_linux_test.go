package gitstore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// All objects of a commit must be on disk before the ref names it, and the ref before Update
// returns. strace records the system calls.
func TestEverythingIsSyncedBeforeTheRefMoves(t *testing.T) {
	strace := needStrace(t)
	r := testrepo.New(t)
	create(t, r)
	log := filepath.Join(t.TempDir(), "log")
	writer := command("append", r.Dir, "memories/3f/one", "1")
	cmd := exec.Command(strace, append([]string{"-f", "-y", "-s", "4096", "-o", log, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat,write"}, writer.Args...)...)
	cmd.Env = writer.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	calls := readCalls(string(text))
	moved := slices.IndexFunc(calls, func(c call) bool { return c.name == "rename" && strings.HasSuffix(c.to, "/refs/heads/reverie/memory") })
	acked := slices.IndexFunc(calls, func(c call) bool { return c.name == "write" && strings.Contains(c.line, `"memories/3f/one-0.md\n"`) })
	if moved < 0 || acked < moved {
		t.Fatalf("the ref moves at %d, the answer is at %d:\n%s", moved, acked, text)
	}
	objects := 0
	for i, c := range calls[:moved] {
		if c.name != "rename" || !strings.Contains(c.from, "/tmp_obj_") {
			continue
		}
		objects++
		if !synced(calls[:i], c.from) {
			t.Errorf("renamed before it was synced: %s", c.line)
		}
		if !synced(calls[i:moved], filepath.Dir(c.to)) {
			t.Errorf("its folder was not synced before the ref moved: %s", c.line)
		}
	}
	// A file two folders down: a blob, three trees, a commit.
	if objects != 5 {
		t.Errorf("%d objects written, want 5", objects)
	}
	if !synced(calls[:moved], "/reverie/refs%2Fheads%2Freverie%2Fmemory.lock") {
		t.Error("the new value of the ref was not synced before the rename")
	}
	if !synced(calls[moved:acked], "/refs/heads/reverie") {
		t.Error("the ref's folder was not synced before the answer")
	}
}

func needStrace(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("REVERIE_E2E") != "" {
			t.Fatal("strace is needed where REVERIE_E2E is set")
		}
		t.Skip("strace is not installed; REVERIE_E2E=1 makes it necessary")
	}
	return strace
}

// call is one line of strace.
type call struct{ name, from, to, line string }

var (
	quoted   = regexp.MustCompile(`"([^"]*)"`)
	openFile = regexp.MustCompile(`\(\d+<([^>]*)>`)
	callName = regexp.MustCompile(`^\d+\s+(?:<\.\.\. )?(\w+)`)
)

func readCalls(text string) []call {
	var calls []call
	for line := range strings.Lines(text) {
		m := callName.FindStringSubmatch(line)
		if m == nil || strings.Contains(line, "resumed>") {
			continue
		}
		c := call{name: m[1], line: strings.TrimSpace(line)}
		switch {
		case strings.HasPrefix(c.name, "rename"), strings.HasPrefix(c.name, "link"):
			if paths := quoted.FindAllStringSubmatch(line, 2); len(paths) == 2 {
				c.name, c.from, c.to = c.name[:4], paths[0][1], paths[1][1]
				if c.name == "rena" {
					c.name = "rename"
				}
			}
		case c.name == "fsync" || c.name == "fdatasync":
			if m := openFile.FindStringSubmatch(line); m != nil {
				c.from = m[1]
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// synced reports whether a call syncs the file whose path ends in path.
func synced(calls []call, path string) bool {
	return slices.ContainsFunc(calls, func(c call) bool {
		return (c.name == "fsync" || c.name == "fdatasync") && strings.HasSuffix(c.from, path)
	})
}
