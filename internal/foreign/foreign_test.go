package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"
)

// database creates one by the tools' own statements, and closes it.
func database(t *testing.T, path string, statements ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func at(text string) time.Time { return moment(text) }

const trueMem = `CREATE TABLE IF NOT EXISTS memory_units (
	id TEXT PRIMARY KEY,
	session_id TEXT,
	store TEXT NOT NULL,
	classification TEXT NOT NULL,
	summary TEXT NOT NULL,
	source_event_ids TEXT NOT NULL,
	project_scope TEXT,
	content_hash TEXT,

	created_at TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	strength REAL NOT NULL DEFAULT 0.5,
	decay_rate REAL NOT NULL,
	tags TEXT,
	status TEXT NOT NULL DEFAULT 'active',
	embedding BLOB,
	FOREIGN KEY (session_id) REFERENCES sessions(id)
)`

func unit(id, kind, text, scope, tags, status string) string {
	if scope = "'" + scope + "'"; scope == "''" {
		scope = "NULL"
	}
	return fmt.Sprintf(`INSERT INTO memory_units (id, store, classification, summary, source_event_ids, project_scope, created_at, updated_at, decay_rate, tags, status)
		VALUES ('%s', 'ltm', '%s', '%s', '[]', %s, '2026-01-31T15:04:05.678Z', '', 0.1, '%s', '%s')`, id, kind, text, scope, tags, status)
}

func TestTrueMemGivesThisProjectAndTheUser(t *testing.T) {
	home, tree := t.TempDir(), t.TempDir()
	database(t, filepath.Join(home, ".true-mem", "memory.db"), "PRAGMA journal_mode = WAL", trueMem,
		unit("1", "preference", "Short answers.", "", `["style"]`, "active"),
		unit("2", "decision", "Use <private>token</private> SQLite.", filepath.Join(tree, "sub"), "", "pinned"),
		unit("3", "decision", "Use Oracle.", tree+"-other", "", "active"),
		unit("4", "semantic", "Old.", tree, "", "decayed"),
		unit("5", "semantic", "<private>all of it</private>", tree, "", "active"),
	)
	got, err := Read(context.Background(), "true-mem", Query{Home: home, Dirs: []string{tree}})
	if err != nil {
		t.Fatal(err)
	}
	want := Found{Place: filepath.Join(home, ".true-mem", "memory.db"), Usual: true, Store: got.Store, Others: 1, Left: 2, Items: []Item{
		{Key: "1", Text: "Short answers.", Kind: "preference", Tags: []string{"style"}, Created: at("2026-01-31T15:04:05Z"), User: true},
		{Key: "2", Text: "Use [private] SQLite.", Kind: "decision", Created: at("2026-01-31T15:04:05Z")},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLCMGivesRootsAndResumes(t *testing.T) {
	tree := t.TempDir()
	database(t, filepath.Join(tree, ".lcm", "lcm.db"),
		`CREATE TABLE sessions (session_id TEXT PRIMARY KEY, title TEXT, session_directory TEXT, deleted INTEGER NOT NULL DEFAULT 0)`,
		`CREATE TABLE resumes (session_id TEXT PRIMARY KEY, note TEXT NOT NULL, updated_at INTEGER NOT NULL,
			FOREIGN KEY (session_id) REFERENCES sessions(session_id) ON DELETE CASCADE)`,
		`CREATE TABLE summary_nodes (node_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, level INTEGER NOT NULL, summary_text TEXT NOT NULL, created_at INTEGER NOT NULL)`,
		`CREATE TABLE summary_state (session_id TEXT PRIMARY KEY, root_node_ids_json TEXT NOT NULL)`,
		`INSERT INTO sessions VALUES ('a', 'x', '`+tree+`', 0), ('b', 'y', '/elsewhere', 0), ('c', 'z', NULL, 1)`,
		`INSERT INTO summary_nodes VALUES ('leaf', 'a', 0, 'a part', 1), ('root', 'a', 1, 'the whole', 1769871845000), ('far', 'b', 0, 'another project', 1), ('gone', 'c', 0, 'deleted', 1)`,
		`INSERT INTO summary_state VALUES ('a', '["root"]'), ('b', '["far"]'), ('c', '["gone"]')`,
		`INSERT INTO resumes VALUES ('a', 'go on here', 1769871845000)`)
	got, err := Read(context.Background(), "opencode-lcm", Query{Dirs: []string{tree}})
	if err != nil {
		t.Fatal(err)
	}
	when := at("2026-01-31T15:04:05Z")
	want := Found{Place: filepath.Join(tree, ".lcm", "lcm.db"), Usual: true, Store: got.Store, Others: 1, Left: 1, Items: []Item{
		{Key: "root", Text: "the whole", Kind: "note", Tags: []string{"summary"}, Created: when},
		{Key: "resume/a", Text: "go on here", Kind: "note", Tags: []string{"resume"}, Created: when},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSimpleMemoryReadsBothVersions(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "2026-01-31.logfmt"), `ts=2026-01-31T15:04:05.000Z type=decision scope=database content="Use \"SQLite\", in C:\new.
# not a heading
ts is a word" issue=#12 tags=db,storage
ts=2026-01-31T15:04:05.000Z type=decision scope=database content="The same moment."
ts=never type=context scope=x content="no time"
`)
	write(t, filepath.Join(dir, "2026-02-01.logfmt"), `id=mem_0123456789abcdef0123 title="Use SQLite, and..." created_at=2026-02-01T00:00:00.000Z updated_at=2026-02-02T00:00:00.000Z ts=2026-02-02T00:00:00.000Z type=learning scope=general content="Use SQLite,\nand nothing \\else."
`+"\nid=mem_1 ts=2026-02-01 action=deleted content=\"gone\"\n")
	write(t, filepath.Join(dir, "deletions.logfmt"), `ts=2026-02-01T00:00:00Z action=deleted original_ts=2026-01-01T00:00:00Z type=decision scope=x content="Deleted." reason="wrong"`+"\n")
	got, err := Read(context.Background(), "simple-memory", Query{Place: dir})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Items[:2] { // a hash, and the second one's with a number
		got.Items[i].Key = strings.TrimLeft(got.Items[i].Key, "0123456789abcdef")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(context.Background(), "simple-memory", Query{Place: link}); err != nil || again.Store != got.Store || got.Store == "" {
		t.Errorf("by a link it is %q, else %q: %v", again.Store, got.Store, err)
	}
	want := Found{Place: dir, Store: got.Store, Left: 1, Bad: 1, Items: []Item{
		{Key: "", Text: "Use \"SQLite\", in C:\\new.\n# not a heading\nts is a word", Kind: "decision", Tags: []string{"db", "storage", "database", "#12"}, Created: at("2026-01-31T15:04:05Z")},
		{Key: "-2", Text: "The same moment.", Kind: "decision", Tags: []string{"database"}, Created: at("2026-01-31T15:04:05Z")},
		{Key: "mem_0123456789abcdef0123", Text: "Use SQLite,\nand nothing \\else.", Kind: "learning", Tags: []string{"general"}, Created: at("2026-02-01T00:00:00Z")},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpenCodeMemWalksAllPages(t *testing.T) {
	home, tree := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".opencode-mem", ".auth-token"), "sesame\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("x-opencode-mem-token") != "sesame":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path != "/api/memories" || r.URL.Query().Get("includePrompts") != "false":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("page") == "1":
			fmt.Fprintf(w, `{"success":true,"data":{"items":[{"type":"memory","id":"m1","content":"One.","memoryType":"architecture","tags":["a"],
				"createdAt":"2026-01-31T15:04:05.000Z","userEmail":"a@example.com","projectPath":%q},{"type":"prompt","id":"p1","content":"do it"}],"page":1,"totalPages":2}}`, tree)
		default:
			fmt.Fprint(w, `{"success":true,"data":{"items":[{"type":"memory","id":"m2","content":"Two.","createdAt":1769871845000,"gitRepoUrl":"https://example.com/a/b.git"},
				{"type":"memory","id":"m3","content":"Three.","projectPath":"/elsewhere"},{"type":"memory","id":"m4","content":"Four."}],"page":2,"totalPages":2}}`)
		}
	}))
	defer server.Close()
	q := Query{Place: server.URL, Home: home, Dirs: []string{tree}, Remotes: []string{"git@example.com:a/b"}}
	got, err := Read(context.Background(), "opencode-mem", q)
	if err != nil {
		t.Fatal(err)
	}
	when := at("2026-01-31T15:04:05Z")
	want := Found{Place: server.URL, Store: got.Store, Others: 1, Left: 1, Items: []Item{
		{Key: "m1", Text: "One.", Kind: "architecture", Tags: []string{"a"}, Created: when},
		{Key: "m2", Text: "Two.", Created: when},
		{Key: "m4", Text: "Four.", User: true},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	q.Remote = true // and then this machine's token is not sent
	if _, err := Read(context.Background(), "opencode-mem", q); err == nil || !strings.Contains(err.Error(), "another token") {
		t.Errorf("with another machine allowed: %v", err)
	}
}

// TestOnlyThisMachineIsAsked uses an address of documentation, RFC 5737: refused before anything is
// sent.
func TestOnlyThisMachineIsAsked(t *testing.T) {
	_, err := Read(context.Background(), "opencode-mem", Query{Place: "http://192.0.2.1:4747", Home: t.TempDir()})
	if !errors.Is(err, errElsewhere) {
		t.Errorf("another machine: %v", err)
	}
}

func TestServerCannotLeadElsewhere(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) },
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"success":true,"data":{"items":[],"totalPages":9}}`)
		},
		"failed": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"success":false,"error":"no"}`) },
		"html":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>`) },
	} {
		server := httptest.NewServer(answer)
		if _, err := Read(context.Background(), "opencode-mem", Query{Place: server.URL, Home: t.TempDir()}); err == nil {
			t.Errorf("%s: no error", name)
		}
		server.Close()
	}
	if asked {
		t.Error("a redirection was followed")
	}
}

func TestStoresThatAreNone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "text.db"), strings.Repeat("not a database\n", 20))
	database(t, filepath.Join(dir, "other.db"), "CREATE TABLE summaries (id TEXT)")
	for _, test := range []struct {
		tool, place string
		want        error
	}{
		{"true-mem", "gone.db", ErrNone}, {"opencode-lcm", "gone.db", ErrNone}, {"simple-memory", "gone", ErrNone},
		{"true-mem", "text.db", nil}, {"true-mem", "other.db", ErrFormat}, {"opencode-lcm", "other.db", ErrFormat}, {"true-mem", ".", ErrFormat},
	} {
		_, err := Read(context.Background(), test.tool, Query{Place: filepath.Join(dir, test.place)})
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s at %s: %v, want %v", test.tool, test.place, err, test.want)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a <private>b</private> c":                         "a [private] c",
		"a <Private >b <private>c</private> d</private> e": "a [private] e",
		"a <private>b":         "a [private]",
		"a </private> b":       "a  b",
		"a \x00\xff b":         "a \uFFFD\uFFFD b",
		"<private>a</private>": "[private]",
		"x <private>1</private> y <private>2</private> <b>z</b>  ": "x [private] y [private] <b>z</b>",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestOM(t *testing.T) {
	markdown := "# Memory Export\n\nExported on 2026-02-01\n\n## Conventions (1)\n\n### [7] - Created 2026-01-31\n\nUse pnpm.\n\n# why\n## Contexts of use\n### [x]\n\n" +
		"## Contexts (1)\n\n### [8] - Created 2026-01-30\n\nThe API is old.\n"
	for _, test := range []struct {
		name, text string
		isOM       bool
		want       []Item
	}{
		{"markdown", markdown, true, []Item{
			{Key: "7", Text: "Use pnpm.\n\n# why\n## Contexts of use\n### [x]", Kind: "convention", Created: at("2026-01-31")},
			{Key: "8", Text: "The API is old.", Kind: "context", Created: at("2026-01-30")}}},
		{"json", `[{"id":7,"projectId":"p","scope":"mystery","content":"Use pnpm.","filePath":"web/a.ts","accessCount":3,"lastAccessedAt":null,"createdAt":1769871845000,"updatedAt":1769871845000},
			{"id":8,"scope":"decision","content":"x","filePath":null}]`, true, []Item{
			{Key: "7", Text: "Use pnpm.", Kind: "mystery", Paths: []string{"web/a.ts"}, Created: at("2026-01-31T15:04:05Z")},
			{Key: "8", Text: "x", Kind: "decision"}}},
		{"anything", "# Notes\n\nOnly text.\n", false, []Item{{Text: "# Notes\n\nOnly text.", Kind: "context"}}},
		{"none", "[]", false, nil},
	} {
		if got := IsOM(test.text); got != test.isOM {
			t.Errorf("%s: IsOM is %v", test.name, got)
		}
		got, err := OM(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got.Items); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	if IsOM(`[{"text":"ours","content":"x"}]`) || IsOM(`{"content":"x"}`) {
		t.Error("ours is taken for theirs")
	}
	if _, err := OM(`[{"scope":"context"},{"content":"x"}]`); err == nil || !strings.Contains(err.Error(), "element 1: content") {
		t.Error(err)
	}
}

func FuzzLogfmt(f *testing.F) {
	f.Add(`ts=2026-01-31T15:04:05.000Z type=decision content="a \"b\"\`, true)
	f.Fuzz(func(t *testing.T, text string, escapes bool) {
		for _, e := range entries(text) {
			simpleItem(logfmt(e, escapes))
		}
	})
}
