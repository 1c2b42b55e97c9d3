package share

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

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

// A proposal names its model and input, and reveals nothing of a memory that stays here.
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

// outsideCode returns the text outside fences and code spans, by CommonMark's rules for list items.
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
