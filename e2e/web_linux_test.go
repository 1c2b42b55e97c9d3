package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveWeb starts the server of a repository's pages and returns its link.
func serveWeb(t *testing.T, dir string) (link string) {
	t.Helper()
	server := exec.Command(binary, "web", "--no-open")
	server.Dir, server.Stderr = dir, os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("after an interrupt: %v", err)
		}
	})
	link, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(link)
}

// A person searches, reads and decides in a real Chromium; hostile texts and other pages do
// nothing; axe finds no serious fault; an export works from disk and from a server.
func TestWebInChromium(t *testing.T) {
	parts := os.Getenv("REVERIE_BROWSER")
	if parts == "" {
		t.Skip("REVERIE_BROWSER does not name a folder with Playwright: .ci/browser installs it and prints it")
	}
	dir := fresh(t)
	must(t, dir, "remember", "-k", "convention", "-t", "tools", "Use pnpm in web")
	id := strings.TrimSpace(must(t, dir, "-q", "remember", "-k", "fact", "The port is 8080"))
	must(t, dir, "edit", id, "The port is 9090")
	evil := func(name string) string {
		return name + ` "'><img src=x onerror=hurt(1)><script>hurt=2</script></textarea><svg/onload=alert(3)> javascript:alert(4) ` + "\u202e"
	}
	lines := func(texts ...string) string {
		var b strings.Builder
		for _, text := range texts {
			line, err := json.Marshal(map[string]any{"text": text, "body": evil("body"), "kind": "note"})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
		file := filepath.Join(t.TempDir(), "lines.jsonl")
		write(t, file, b.String())
		return file
	}
	must(t, dir, "import", "--accept", lines(evil("statement"), strings.Repeat("x", 900)))
	tree := filepath.Join(t.TempDir(), "memory")
	git(t, dir, "worktree", "add", "-q", tree, "reverie/memory")
	contested := filepath.Join(tree, "memories", "cc", "cc00000000000000.md")
	if err := os.MkdirAll(filepath.Dir(contested), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, contested, "+++\nid = \"cc00000000000000\"\nkind = \"note\"\nstatus = \"contested\"\nsource = \"2026-11-02T10:00:00Z human - written\"\n+++\n\nDeploy on Mondays\n\n+++\n\nDeploy on Tuesdays\n")
	git(t, tree, "add", ".")
	git(t, tree, "commit", "-q", "-m", evil("subject"))
	session := filepath.Join(t.TempDir(), "s.jsonl")
	said, err := json.Marshal(map[string]any{"type": "user", "uuid": "u1", "sessionId": "5f0c1e2a-0000-4000-8000-000000000001", "timestamp": "2026-11-02T10:00:00.000Z", "cwd": dir,
		"message": map[string]any{"role": "user", "content": evil("title") + strings.Repeat("y", 1<<20)}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, session, string(said)+"\n")
	must(t, dir, "ingest", session)
	must(t, dir, "import", lines("Run the linter before a commit", "Ask before a migration", "The staging database is read only", evil("proposal")))
	site := filepath.Join(t.TempDir(), "site")
	must(t, dir, "web", "--export", site)
	learned := fresh(t)
	for _, name := range []string{"claude-code", "codex"} {
		example, err := filepath.Abs(filepath.Join("..", "examples", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		must(t, learned, "learn", example)
	}
	proposals := filepath.Join(t.TempDir(), "proposals.jsonl")
	write(t, proposals, `{"text":"Ask before a migration of the database.","kind":"constraint"}
{"text":"The staging database is read only.","body":"Migrations run against a copy.","kind":"fact","tags":["database"]}
`)
	must(t, learned, "import", proposals)
	must(t, learned, "context", "--record", "--session", "claude/next")
	pictures := os.Getenv("REVERIE_PICTURES")
	if pictures == "" {
		pictures = t.TempDir()
	}

	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	drive := exec.CommandContext(ctx, "node", filepath.Join("testdata", "web.mjs"), parts, serveWeb(t, dir), serveWeb(t, learned), site, pictures)
	out, err := drive.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	left := must(t, dir, "list")
	if !strings.Contains(left, "Typed in the browser") {
		t.Error(left)
	}
	if n := strings.Count(must(t, dir, "--json", "review"), "\n"); n != 1 {
		t.Errorf("%d operations are left, want 1", n)
	}
}

// With 10,000 memories every page answers within 200 ms, once the index is made.
func TestWebIsFastAtTenThousand(t *testing.T) {
	if !full {
		t.Skip("it takes long")
	}
	dir := fresh(t)
	var lines strings.Builder
	kinds := []string{"fact", "convention", "failure", "decision"}
	for i := range 10000 {
		fmt.Fprintf(&lines, "{\"text\":\"Part %d of the planner waits for replica %d\",\"body\":\"%s\",\"kind\":%q,\"tags\":[\"t%d\"]}\n", i, i*7%9973, strings.Repeat("queue worker cache token ", 20), kinds[i%4], i%50)
	}
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	write(t, file, lines.String())
	must(t, dir, "-q", "import", "--accept", file)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get := func(address string) (at string, page []byte, took time.Duration) {
		began := time.Now()
		r, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		page, err = io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 {
			t.Fatalf("%s: %s %v", address, r.Status, err)
		}
		return r.Request.URL.String(), page, time.Since(began)
	}
	root, page, _ := get(serveWeb(t, dir))
	id := regexp.MustCompile(`memory/[0-9a-f]{16}`).Find(page)
	if id == nil {
		t.Fatal("no memory is listed")
	}
	for _, path := range []string{"", "?page=100", "?q=planner+replica+4321", "?q=replica+tag:t7&kind=fact", "?state=all", "?state=withheld", "?state=stale", "?state=retired&q=planner", string(id),
		"inbox", "conflicts", "trust", "sessions", "loops", "growth"} {
		_, _, best := get(root + path)
		first := best
		for range 9 { // other work may disturb some
			_, _, took := get(root + path)
			if best = min(best, took); best < 100*time.Millisecond {
				break
			}
		}
		t.Logf("%-30q %v, the first time %v", path, best, first)
		if best > 200*time.Millisecond {
			t.Errorf("%q takes %v", path, best)
		}
	}
}

// The server ends with an interrupt, and with the process that started it.
func TestWebEndsWithItsParent(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	serveWeb(t, dir) // its cleanup interrupts it
	parent := exec.Command("sh", "-c", `"$0" web --no-open & echo $!; wait`, binary)
	parent.Dir = dir
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 2 { // the process and the link
		if !lines.Scan() {
			t.Fatal("no line")
		}
	}
	parent.Process.Signal(syscall.SIGKILL)
	began, ended := time.Now(), make(chan bool)
	go func() {
		for lines.Scan() {
		}
		close(ended) // nothing holds the pipe
	}()
	select {
	case <-ended:
		t.Logf("it ended after %v", time.Since(began))
	case <-time.After(10 * time.Second):
		t.Error("it goes on without its parent")
	}
	parent.Wait()
}
