package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A partial clone lets git fetch missing objects by itself, by any program of the remote's
// settings. Only the user's own settings may allow that.
func TestMissingObjectRunsNoProgramOfTheRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	c := newCanaries(t)
	server := unauthorized(t)
	for i, set := range [][]string{
		{"remote.origin.url=..", "remote.origin.uploadpack=%"},
		{"remote.origin.url=ext::%", "protocol.ext.allow=always"},
		{"remote.origin.url=good:", "url.ext::%.insteadOf=good:", "protocol.ext.allow=always"},
		{"remote.origin.url=ssh://nobody@127.0.0.1:1/x", "core.sshCommand=%"},
		{"remote.origin.url=git://127.0.0.1:1/x", "core.gitProxy=%"},
		{"remote.origin.url=%", "remote.origin.vcs=ext", "protocol.ext.allow=always"},
		{"remote.origin.url=" + server, "credential.helper=%"},
		{"remote.origin.url=" + server, "credential." + server + ".helper=!%"},
		{"remote.origin.url=" + server, "core.askPass=%"},
		// remote.origin.promisor alone
		{"remote.origin.url=..", "remote.origin.uploadpack=%", "extensions.partialClone="},
		// and that in another file
		{"remote.origin.url=..", "remote.origin.uploadpack=%", "included"},
	} {
		if !full && i%3 != 0 {
			continue
		}
		name, program := strings.Join(set, " "), c.named(fmt.Sprintf("set%d", i))
		dir := newRepo(t)
		must(t, dir, "remember", "what is missing later")
		path := pathOf(must(t, dir, "list", "--json"))
		id := git(t, dir, "rev-parse", "reverie/memory:"+path)
		for _, kv := range append([]string{"core.repositoryFormatVersion=1", "extensions.partialClone=origin", "remote.origin.promisor=true"}, set...) {
			key, value, _ := strings.Cut(kv, "=")
			if key == "included" {
				git(t, dir, "config", "--unset", "extensions.partialClone")
				git(t, dir, "config", "--unset", "remote.origin.promisor")
				write(t, filepath.Join(dir, ".git", "more"), "[remote \"origin\"]\n\tpromisor = true\n")
				key, value = "include.path", "more"
			}
			git(t, dir, "config", strings.ReplaceAll(key, "%", program), strings.ReplaceAll(value, "%", program))
		}
		remove(t, filepath.Join(dir, ".git", "objects", id[:2], id[2:]))
		// from which it would be restored
		if err := os.RemoveAll(filepath.Join(dir, ".git", "reverie", "recent")); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"list"}, {"check", "--deep"}, {"log", "-p"}, {"remember", "more of it"}} {
			a := reverie(t, dir, args...)
			if names := c.sang(); len(names) > 0 {
				t.Errorf("%s: reverie %s ran it", name, args)
			}
			if !strings.Contains(a.out+a.err, id) && !strings.Contains(a.out+a.err, path) {
				t.Errorf("%s: nothing names what is missing: %s", name, a)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, "git", "cat-file", "-p", id)
		cmd.Dir, cmd.WaitDelay = dir, time.Second
		_ = cmd.Run()
		cancel()
		if len(c.sang()) == 0 {
			t.Errorf("%s: plain git does not run it either", name)
		}
	}
}

// unauthorized returns the address of a server that requires a login.
func unauthorized(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
