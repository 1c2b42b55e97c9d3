package transfer_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"pgregory.net/rapid"
)

// forms are the formats to write and read back.
var forms = []struct {
	name  string
	write func(*bytes.Buffer, []transfer.Line) error
	read  func([]byte) iter.Seq[transfer.Numbered]
}{
	{"jsonl", func(b *bytes.Buffer, lines []transfer.Line) error {
		for _, l := range lines {
			if err := json.NewEncoder(b).Encode(l); err != nil {
				return err
			}
		}
		return nil
	}, func(data []byte) iter.Seq[transfer.Numbered] { return transfer.ReadJSONL(bytes.NewReader(data)) }},
	{"json", func(b *bytes.Buffer, lines []transfer.Line) error {
		return json.NewEncoder(b).Encode(append([]transfer.Line{}, lines...))
	}, transfer.ReadJSON},
	{"markdown", func(b *bytes.Buffer, lines []transfer.Line) error { return transfer.WriteMarkdown(b, lines) },
		func(data []byte) iter.Seq[transfer.Numbered] { return transfer.ReadMarkdown(string(data)) }},
}

// generated draws a memory that survives its own text form.
func generated(t *rapid.T) record.Memory {
	word := rapid.StringMatching(`[a-zé三#\[\]"\\:-]{1,8}`)
	words := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "words"), " ") })
	hard := rapid.SampledFrom([]string{"# one", "## Facts (3)", `\## Facts (3)`, "### [0123456789abcdef] other", `\\### [0123456789abcdef] other`,
		"#### [or] another", "- kind: \"fact\"", "+++", "```", "", "  indented", "- id: x", "| a | b |"})
	body := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(words, hard), 0, 6).Draw(t, "body"), "\n")
	})
	m := record.Memory{
		Text: words.Draw(t, "text"), Body: body.Draw(t, "body"),
		Kind:   rapid.SampledFrom(record.Kinds).Draw(t, "kind"),
		Status: rapid.SampledFrom([]record.Status{record.Active, record.Contested, record.Retired}).Draw(t, "status"),
		Source: record.Source{
			Time:   time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "time"), 0).UTC(),
			By:     rapid.SampledFrom([]string{"human", "claude/4b91", "import/om"}).Draw(t, "by"),
			Commit: rapid.SampledFrom([]string{"", "9c1e2f3"}).Draw(t, "commit"),
			How:    rapid.SampledFrom([]record.How{record.Said, record.Seen, record.Model, record.Written}).Draw(t, "how"),
		},
		Paths: rapid.SliceOfN(words, 0, 3).Draw(t, "paths"), Tags: rapid.SliceOfN(words, 0, 3).Draw(t, "tags"),
		Ref:   rapid.SampledFrom([]string{"", "", "a:1", "b/2"}).Draw(t, "ref"),
		Topic: rapid.SampledFrom([]string{"", "build tool"}).Draw(t, "topic"), Branch: rapid.SampledFrom([]string{"", "topic", "topic 0123456789abcdef 1123456789abcdef -"}).Draw(t, "branch"),
		Supersedes: rapid.SampledFrom([][]string{nil, {"0123456789abcdef", "1123456789abcdef"}}).Draw(t, "supersedes"),
		Anchors:    rapid.SampledFrom([][]string{nil, {`web/a.go@0123456789abcdef "const a = \"b\""`}}).Draw(t, "anchors"),
		Extra:      rapid.SampledFrom([][]record.Field{nil, {{Key: "weight", Value: "3"}}}).Draw(t, "extra"),
	}
	if rapid.Bool().Draw(t, "expires") {
		m.Expires = m.Source.Time.Add(time.Hour)
	}
	if m.Status == record.Contested {
		m.Variants = []record.Variant{{Text: words.Draw(t, "variant"), Body: body.Draw(t, "its body")}}
	}
	m = record.New(m)
	if m.Ref == "" && rapid.Bool().Draw(t, "edited") { // its id and path are those of an earlier text
		born := record.New(record.Memory{Text: words.Draw(t, "earlier")})
		m.ID, m.Slug = born.ID, born.Slug
	}
	held, err := record.ParseMemory(m.Path(), m.Format())
	if err != nil {
		t.Skip("no memory: ", err)
	}
	return held
}

func TestEveryFieldComesBack(t *testing.T) {
	for _, form := range forms {
		t.Run(form.name, rapid.MakeCheck(func(t *rapid.T) {
			memories := rapid.SliceOfN(rapid.Custom(generated), 0, 4).Draw(t, "memories")
			if form.name == "markdown" { // sorted by kind
				slices.SortStableFunc(memories, func(a, b record.Memory) int {
					return slices.Index(record.Kinds, a.Kind) - slices.Index(record.Kinds, b.Kind)
				})
			}
			var lines []transfer.Line
			for _, m := range memories {
				lines = append(lines, transfer.Of(m))
			}
			var b bytes.Buffer
			if err := form.write(&b, lines); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, m := range memories {
				want = append(want, m.Path()+"\n"+string(m.Format()))
			}
			var again []transfer.Line
			for l := range form.read(b.Bytes()) {
				if l.Err != nil {
					t.Fatalf("line %d: %v\n%s", l.N, l.Err, b.String())
				}
				m, err := l.Memory("import/test", time.Time{})
				if err != nil {
					t.Fatalf("line %d: %v\n%s", l.N, err, b.String())
				}
				if m.ID == "" || m.Ref != "" { // Plan's part
					m = record.New(m)
				}
				got, again = append(got, m.Path()+"\n"+string(m.Format())), append(again, transfer.Of(m))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s\n%s", diff, b.String())
			}
			var c bytes.Buffer
			if err := form.write(&c, again); err != nil {
				t.Fatal(err)
			}
			if c.String() != b.String() {
				t.Fatal(cmp.Diff(b.String(), c.String()))
			}
		}))
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	tests := []struct{ line, want string }{
		{`{"text":" "}`, "text: is empty"},
		{`{"text":"x","status":"gone"}`, `status: "gone" is not one of active, contested, retired`},
		{`{"text":"x","source":"yesterday"}`, "source: want four words"},
		{`{"text":"x","created":"yesterday"}`, `created: "yesterday" is not a time`},
		{`{"text":"x","expires":"soon"}`, `expires: "soon" is not a time`},
		{`{"text":"x","id":"12"}`, `id: "12" is not 16 hex digits`},
		{`{"text":"x","id":"0123456789abcdef","path":"memories/01/0123456789abcdef/../x.md"}`, "path: "},
		{`{"text":"x","id":"0123456789abcdef","path":"memories/02/0223456789abcdef-x.md"}`, "path: "},
		{`{"text":"x","supersedes":["a"]}`, `supersedes: "a" is not an id`},
		{`{"text":"x","topic":"a\nb"}`, "topic: has more than one line"},
		{`{"text":"x","extra":[{"key":"topic","value":"\"t\""}]}`, "extra: "},
		{`{"text":"x","extra":[{"key":"a = 1\ntopic","value":"\"t\""}]}`, "extra: "},
	}
	for _, test := range tests {
		for l := range transfer.ReadJSONL(strings.NewReader(test.line)) {
			err := l.Err
			if err == nil {
				_, err = l.Memory("import/test", time.Time{})
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", test.line, err, test.want)
			}
		}
	}
}

func TestNumbersOfBadElements(t *testing.T) {
	var got []int
	for l := range transfer.ReadJSON([]byte("[\n{\"text\":\"a\"},\n{\"text\":1},\n{\"text\":\"b\"},\n{\n")) {
		if l.Err != nil {
			got = append(got, l.N)
		}
	}
	if diff := cmp.Diff([]int{3, 5}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadMarkdown(f *testing.F) {
	f.Add("# Memories\n\n## Facts (1)\n\n### [0123456789abcdef] x\n\n- kind: \"fact\"\n\nbody\n#### [or] y\n")
	f.Add("### [0123456789abcdef] x\n- a: {\n")
	f.Fuzz(func(t *testing.T, text string) {
		for l := range transfer.ReadMarkdown(text) {
			if l.Err == nil {
				l.Memory("import/test", time.Time{})
			}
		}
	})
}
