package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// setOf writes a set's files and returns its folder.
func setOf(t *testing.T, corpus, queries string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{CorpusFile: corpus, QueriesFile: queries} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	s, err := Read(setOf(t,
		"\ufeff"+`{"id":"a","group":"g","title":"One","text":"two","paths":["x/**"],"tags":["t"],"kind":"fact","time":7}`+"\n\n"+`{"id":"a","text":"same id, other group"}`+"\n",
		`{"id":"1","group":"g","text":"q","rel":{"a":2},"class":"c","split":"dev"}`+"\n"+`{"id":"2","text":"nothing","rel":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "small" || s.Memories() != 2 || len(s.Labelled()) != 1 || len(s.Foreign()) != 1 {
		t.Errorf("%+v", s)
	}
	if q := s.Labelled()[0]; q.Rel["a"] != 2 || q.Class != "c" || q.Split != "dev" {
		t.Errorf("%+v", q)
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	const m, q = `{"id":"a","text":"x","time":50}`, `{"id":"1","text":"x","rel":{"a":1}}`
	for name, test := range map[string]struct{ corpus, queries, want string }{
		"no json":           {m + "\n{", q, "corpus.jsonl:2: unexpected end of JSON input"},
		"another type":      {m, `{"id":1}`, "queries.jsonl:1: json: cannot unmarshal number"},
		"no id":             {`{"text":"x"}`, q, "corpus.jsonl:1: id: is missing"},
		"no text":           {m + "\n" + `{"id":"b","text":" "}`, q, "corpus.jsonl:2: text: is empty"},
		"id twice":          {m + "\n\n" + m, q, `corpus.jsonl:3: id: "a" stands on an earlier line`},
		"query twice":       {m, q + "\n" + q, `queries.jsonl:2: id: "1" stands on an earlier line`},
		"unknown memory":    {m, `{"id":"1","text":"x","rel":{"b":1}}`, `queries.jsonl:1: rel: "b" is no memory of group "" in corpus.jsonl`},
		"unknown group":     {m, `{"id":"1","group":"h","text":"x"}`, `queries.jsonl:1: group: no memory of corpus.jsonl is in "h"`},
		"grade of zero":     {m, `{"id":"1","text":"x","rel":{"a":0}}`, `queries.jsonl:1: rel: the grade 0 of "a" is not above 0`},
		"right, but hidden": {m, `{"id":"1","text":"x","rel":{"a":1},"exclude":["a"]}`, `queries.jsonl:1: rel: "a" is right and yet taken out`},
		"right, but later":  {m, `{"id":"1","text":"x","rel":{"a":1},"before":50}`, `queries.jsonl:1: rel: "a" is right and yet taken out`},
		"nothing in it":     {m, "\n", "queries.jsonl: unexpected EOF: no lines"},
	} {
		_, err := Read(setOf(t, test.corpus, test.queries))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "corpus.jsonl") {
		t.Errorf("an empty folder: %v", err)
	}
}
