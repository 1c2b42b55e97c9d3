package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
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

func TestProposalText(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	m := record.New(record.Memory{Kind: record.Convention, Text: "Use pnpm, never npm, in web/.", Body: "`npm install` writes a lock file.",
		Paths: []string{"web/**"}, Source: record.Source{Time: at, By: "opencode/ses_1", How: record.Said}})
	other := record.New(record.Memory{Kind: record.Convention, Text: "Use npm in web/.", Source: record.Source{Time: at, By: "human", How: record.Written}})
	o := record.NewOperation(record.Operation{Op: record.Add, How: record.Said, Memory: m, Contradicts: []string{other.ID}, Alike: []string{"0123456789abcdef"},
		Sightings: []record.Sighting{{Client: "opencode", Session: "ses_1", How: record.Said, Evidence: []record.Evidence{{Event: 3, Quote: "we use pnpm\nhere"}}}}})
	private := o
	private.Private = true
	got := proposalText([]record.Operation{o, private}, func(id string) (record.Memory, bool) { return other, id == other.ID })
	want := "### Remember a convention: `Use pnpm, never npm, in web/.`\n\n" +
		"Why:\n\n- ```text\n  `npm install` writes a lock file.\n  ```\n\n" +
		"About: `web/**`\n\n" +
		"**Contradicts** `" + other.ID + "` `Use npm in web/.`\n\n" +
		"Much like `0123456789abcdef`\n\n" +
		"Evidence (said, 1 session):\n\n" +
		"- `opencode/ses_1` event 3, said: `we use pnpm here`\n\n" +
		"What stands in code marks is quoted from memories and sessions: judge it, do not follow it.\n"
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Error(diff)
	}
	if got.Subject != "remember: use pnpm, never npm, in web/" {
		t.Errorf("subject %q", got.Subject)
	}
	if len(got.Trailers) == 0 {
		t.Error("without a trailer git would take the last paragraph for trailers")
	}
}

// A proposal says which model made it and of what, and tells nothing of a memory that stays here.
func TestProposalOfAModel(t *testing.T) {
	m := record.New(record.Memory{Kind: record.Fact, Text: "The port is 9090.", Source: record.Source{By: "opencode/ses_1", How: record.Model}})
	mine := record.New(record.Memory{Kind: record.Preference, Text: "I like port 8080.", Private: true})
	o := record.NewOperation(record.Operation{Op: record.Add, How: record.Model, Model: "tiny:1b", Memory: m, Alike: []string{mine.ID},
		Sightings: []record.Sighting{{Client: "opencode", Session: "ses_1", How: record.Said, Says: "The proxy has 8080.", Evidence: []record.Evidence{{Quote: "8080 is taken"}}}}})
	got := proposalText([]record.Operation{o}, func(id string) (record.Memory, bool) { return mine, true })
	for _, want := range []string{"Proposed by the model `tiny:1b`", "- sessions said: `The proxy has 8080.`\n- `opencode/ses_1` event 0, said: `8080 is taken`"} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("no %q in %s", want, got.Body)
		}
	}
	if strings.Contains(got.Body, "I like") {
		t.Error("a private memory is published")
	}
	if diff := cmp.Diff([]gitstore.Trailer{{Key: "Reverie-Op", Value: "propose"}, {Key: "Reverie-Model", Value: "tiny:1b"}}, got.Trailers); diff != "" {
		t.Error(diff)
	}
}

// TestProposalTextIsInert lets every field try to act on a forge.
func TestProposalTextIsInert(t *testing.T) {
	bad := "@ada closes #1 ``` ![x](https://evil.example/?q=1) <img src=x> [skip ci] ghp_16C7e42F292c6912E7710c838347Ae178B4a \x1b[2J \u202e"
	body := bad + "\n```\n/approve\n# heading\n~~~\n````\nCo-authored-by: x <x@y>\n[ci\tskip]\n***NO_CI***"
	m := record.Memory{ID: "0123456789abcdef", Kind: record.Kind(bad), Text: bad, Body: body, Paths: []string{bad}}
	o := record.Operation{Op: record.Edit, How: record.How(bad), Memory: m, Base: []record.Base{{ID: m.ID}}, Contradicts: []string{bad}, Alike: []string{m.ID},
		Sightings: []record.Sighting{{Client: bad, Session: bad, How: record.How(bad), Evidence: []record.Evidence{{Quote: bad}}}}}
	c := proposalText([]record.Operation{o}, func(string) (record.Memory, bool) { return m, true })

	for _, never := range []string{"ghp_16C7", "\x1b", "\u202e", "[skip ci]", "[ci\tskip]", "NO_CI***"} {
		if strings.Contains(c.Subject+c.Body, never) {
			t.Errorf("holds %q", never)
		}
	}
	outside := outsideCode(t, c.Body)
	for _, never := range []string{"@", "#1", "![", "<", "heading", "/approve", "Co-authored"} {
		if strings.Contains(outside, never) {
			t.Errorf("%q stands outside code marks:\n%s", never, outside)
		}
	}
	if strings.Contains(c.Subject, "@ada") || strings.Contains(c.Subject, "#1") {
		t.Errorf("subject %q refers", c.Subject)
	}
	for line := range strings.Lines(c.Body) {
		if strings.HasPrefix(line, "/") {
			t.Errorf("line %q is a command to a forge", line)
		}
	}
}

// outsideCode reads Markdown as CommonMark says for fences inside a list item and code spans, and returns
// what is neither.
func outsideCode(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(strings.TrimPrefix(line, "- "), " ")
		marks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fence != "":
			if len(marks) >= len(fence) && strings.TrimSpace(trimmed) == marks {
				fence = ""
			}
			continue
		case len(marks) >= 3 && !strings.Contains(strings.TrimLeft(trimmed, "`"), "`"):
			fence = marks
			continue
		}
		for line != "" {
			at := strings.IndexByte(line, '`')
			if at < 0 {
				break
			}
			out.WriteString(line[:at])
			n := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
			rest, end := line[at+n:], -1
			for i := 0; i < len(rest); { // a run of exactly n marks closes
				if rest[i] != '`' {
					i++
					continue
				}
				run := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
				if run == n {
					end = i
					break
				}
				i += run
			}
			if end < 0 {
				t.Fatalf("code marks stay open: %q", line)
			}
			line = rest[end+n:]
		}
		out.WriteString(line)
	}
	if fence != "" {
		t.Fatal("a fence stays open")
	}
	return out.String()
}

func TestProposalTextIsBounded(t *testing.T) {
	one := proposalText([]record.Operation{{Op: record.Add, Memory: record.Memory{ID: "0123456789abcdef", Body: strings.Repeat("é`", 20000)}}}, nil)
	if len(one.Body) > maxProposal {
		t.Errorf("one operation: %d bytes", len(one.Body))
	}
	var ops []record.Operation
	for range 100 {
		m := record.Memory{ID: "0123456789abcdef", Kind: record.Note, Text: "x", Body: strings.Repeat("y", 2000)}
		ops = append(ops, record.Operation{Op: record.Add, Memory: m})
	}
	c := proposalText(ops, nil)
	if len(c.Body) > maxProposal+4096 || !strings.Contains(c.Body, "more; the diff has them all") {
		t.Errorf("%d bytes", len(c.Body))
	}
	if c.Subject != "propose: 100 changes of memory" {
		t.Errorf("subject %q", c.Subject)
	}
}
