package cmd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// TestImportAsksAServer imports from opencode-mem's server three times: what changes there is to be
// changed, what is gone to be retired, and nothing doubled.
func TestImportAsksAServer(t *testing.T) {
	t.Setenv("OPENCODE_MEM_TOKEN", "sesame")
	r := testrepo.New(t)
	items := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("x-opencode-mem-token") != "sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"success":true,"data":{"items":[%s],"page":1,"totalPages":1}}`, items)
	}))
	defer server.Close()
	item := func(id, text, place string) string {
		return fmt.Sprintf(`{"type":"memory","id":%q,"content":%q,"memoryType":"decision","createdAt":"2026-01-31T15:04:05Z","userEmail":"a@example.com"%s}`, id, text, place)
	}
	here := fmt.Sprintf(`,"projectPath":%q`, r.Dir)
	steps := []struct{ items, want string }{
		{item("a", "One.", here) + "," + item("b", "Two.", here) + "," + item("c", "Mine.", "") + "," + item("d", "Theirs.", `,"projectPath":"/elsewhere"`),
			`"added":3,"changed":0,"known":0,"refused":0,"others":1,"left":0,"bad":0}`},
		{item("a", "One.", here) + "," + item("b", "Two.", here) + "," + item("c", "Mine.", ""), `"added":0,"changed":0,"known":3,"refused":0,"others":0,`},
		{item("a", "One, changed.", here) + "," + item("c", "Mine.", ""), `"added":0,"changed":1,"known":1,"refused":0,"waiting":1,`},
	}
	// one store
	named := []string{server.URL, server.URL + "/", strings.Replace(server.URL, "127.0.0.1", "LOCALHOST", 1)}
	for n, s := range steps {
		items = s.items
		if got := answer(t, r.Dir, "", "import", "--from", "opencode-mem", named[n], "--accept"); !strings.Contains(got, s.want) {
			t.Errorf("import %d: %s, want %s", n+1, got, s.want)
		}
	}
	for _, private := range []string{"export", "export --private"} {
		out := answer(t, r.Dir, "", strings.Fields(private)...)
		if strings.Contains(out, "Mine.") != (private == "export --private") || strings.Contains(out, "example.com") || strings.Contains(out, "Theirs") {
			t.Errorf("%s: %s", private, out)
		}
	}
	if got := answer(t, r.Dir, "", "review"); strings.Count(got, `"op":"retire"`) != 1 || !strings.Contains(got, "It is gone from opencode-mem.") {
		t.Errorf("review: %s", got)
	}
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	items = item(secret, "One.", here) + "," + item(secret, "Another.", here)
	if got := answer(t, r.Dir, "", "import", "--from", "opencode-mem", server.URL, "--probe"); strings.Contains(got, secret) {
		t.Errorf("probe: %s", got)
	}
	if got := answer(t, r.Dir, "", "import", "--from", "opencode-mem", server.URL, "--dry-run"); !strings.Contains(got, `"added":1,`) {
		t.Errorf("one key twice: %s", got)
	}
	if code, talk := fails(t, r.Dir, "import", "--from", "opencode-mem", "http://192.0.2.1:4747"); code != exit.Failed || !strings.Contains(talk, "not this machine") {
		t.Errorf("another machine: %d %s", code, talk)
	}
}
