package share

import (
	"strings"
	"testing"
)

func TestCompareURL(t *testing.T) {
	const hub = "https://github.com/ada/engine/compare/reverie/memory...reverie/proposal/1?expand=1"
	const lab = "/-/merge_requests/new?merge_request%5Bsource_branch%5D=reverie%2Fproposal%2F1&merge_request%5Btarget_branch%5D=reverie%2Fmemory"
	tests := map[string]string{
		"https://github.com/ada/engine.git":                       hub,
		"https://github.com/ada/engine":                           hub,
		"https://github.com/ada/engine/":                          hub,
		"https://ada:ghp_0123456789@GitHub.com/ada/engine.git":    hub,
		"git@github.com:ada/engine.git":                           hub,
		"github.com:ada/engine":                                   hub,
		"git@github.com:/ada/engine.git":                          hub,
		"ssh://git@github.com/ada/engine.git":                     hub,
		"ssh://git@ssh.github.com:443/ada/engine.git":             hub,
		"git+ssh://git@github.com:22/ada/engine":                  hub,
		"git://github.com/ada/engine.git":                         hub,
		"https://github.example.org:8443/ada/engine":              "https://github.example.org:8443/ada/engine/compare/reverie/memory...reverie/proposal/1?expand=1",
		"https://gitlab.com/group/sub/deep/engine.git":            "https://gitlab.com/group/sub/deep/engine" + lab,
		"git@gitlab.example.org:group/engine.git":                 "https://gitlab.example.org/group/engine" + lab,
		"ssh://git@gitlab.example.org:2222/group/sub/engine.git":  "https://gitlab.example.org/group/sub/engine" + lab,
		"http://oauth2:secret@gitlab.local:8080/group/engine.git": "http://gitlab.local:8080/group/engine" + lab,
		"git@bitbucket.org:ada/engine.git":                        "https://bitbucket.org/ada/engine/pull-requests/new?source=reverie%2Fproposal%2F1&dest=reverie%2Fmemory",
		"https://codeberg.org/ada/engine.git":                     "https://codeberg.org/ada/engine/compare/reverie/memory...reverie/proposal/1",
		"https://gitea.example.org/ada/engine":                    "https://gitea.example.org/ada/engine/compare/reverie/memory...reverie/proposal/1",
		"ssh://git@forgejo.example.org:2200/ada/engine.git":       "https://forgejo.example.org/ada/engine/compare/reverie/memory...reverie/proposal/1",
		"https://github.com/ada/a%20b%23c.git":                    "https://github.com/ada/a%20b%23c/compare/reverie/memory...reverie/proposal/1?expand=1",

		"":                                 "",
		"/srv/git/github.com/engine.git":   "",
		"../github.com/ada/engine":         "",
		"file:///srv/github.com/a/b":       "",
		`C:\github.com\ada\engine`:         "",
		"C:/github.com/ada/engine":         "",
		"./x@github.com:ada/engine":        "",
		"ext::ssh github.com %S /x/y":      "",
		"ext::https://github.com/a/b":      "",
		"github::ada/engine":               "",
		"https://github.com/engine":        "",
		"https://github.com/ada/../engine": "",
		"https://example.org/ada/engine":   "",
		"git@github.com:ada/en\x1bgine":    "",
		"https://github.com\\@evil/a/b":    "",
	}
	for remote, want := range tests {
		got := compareURL(remote, "reverie/memory", "reverie/proposal/1")
		if got != want {
			t.Errorf("compareURL(%q)\n got %s\nwant %s", remote, got, want)
		}
		if strings.Contains(got, "ghp_") || strings.Contains(got, "secret") || strings.Contains(got, "@") {
			t.Errorf("compareURL(%q) tells credentials: %s", remote, got)
		}
	}
	got := compareURL("git@github.com:a/b", "reverie/memory", "reverie/100%#?&")
	if want := "https://github.com/a/b/compare/reverie/memory...reverie/100%25%23%3F&?expand=1"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
