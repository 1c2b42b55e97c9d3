package prompts

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const own = "for me\n=== system ===\nSay what is new.\n=== user ===\nEvents:\n{{events}}\nGo.\n"

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOwnPromptIsAskedInstead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "reflect.md", strings.ReplaceAll(own, "\n", "\r\n"))
	write(t, dir, "README.md", "what I changed")
	write(t, dir, "notes.txt", "and why")
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Overridden(); !slices.Equal(got, []string{"reflect"}) {
		t.Errorf("overridden: %q", got)
	}
	in := Reflect{Lines: []Line{{4, "user", "{{known}}"}}}
	mine, err := s.Reflect(in)
	if err != nil {
		t.Fatal(err)
	}
	if mine.System != "Say what is new." || !strings.HasPrefix(mine.User, "Events:\nBEGIN events ") ||
		!strings.Contains(mine.User, "\n[4] user: {{known}}\nEND events ") || !strings.HasSuffix(mine.User, "\nGo.") {
		t.Errorf("%q\n%q", mine.System, mine.User)
	}
	builtin, err := Set{}.Reflect(in)
	if err != nil {
		t.Fatal(err)
	}
	if mine.Hash == builtin.Hash || string(mine.Schema) != string(builtin.Schema) || mine.Longest != builtin.Longest {
		t.Error("the hash is to change with the text, and nothing else")
	}
	in.Lines[0].Text = "other data"
	if other, _ := s.Reflect(in); other.Hash != mine.Hash {
		t.Error("the hash changed with the data")
	}
	write(t, dir, "reflect.md", strings.Replace(own, "Go.", "Go!", 1))
	if s, err = Load(dir); err != nil {
		t.Fatal(err)
	}
	if edited, _ := s.Reflect(in); edited.Hash == mine.Hash {
		t.Error("the hash did not change with the user part")
	}
	if audit, _ := s.Audit(Audit{Diff: "x"}); audit.System != builtinAudit(t).System {
		t.Error("a prompt that the folder does not have changed")
	}
}

func TestHashIsOfEverythingButTheData(t *testing.T) {
	first := Set{}.named("reflect")
	for name, change := range map[string]func(*prompt){
		"name":      func(p *prompt) { p.name = "dream" },
		"system":    func(p *prompt) { p.system += "!" },
		"user":      func(p *prompt) { p.user = append(slices.Clone(p.user), line{"Go.", false}) },
		"less user": func(p *prompt) { p.user = p.user[1:] },
		"data":      func(p *prompt) { p.user = slices.Clone(p.user); p.user[1] = line{p.user[1].text, !p.user[1].block} },
		"schema":    func(p *prompt) { p.raw = []byte("{}") },
	} {
		p := *first
		change(&p)
		if p.sum() == first.hash {
			t.Errorf("the hash is the same with another %s", name)
		}
	}
}

func builtinAudit(t *testing.T) Rendered {
	r, err := Set{}.Audit(Audit{Diff: "x"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoFolderOverridesNothing(t *testing.T) {
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		s, err := Load(dir)
		if err != nil || len(s.Overridden()) > 0 {
			t.Errorf("%q: %v, %q", dir, err, s.Overridden())
		}
		samples(t, s)
	}
}

func TestBadOwnPromptIsNamed(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"no parts", "reflect.md", "hello\n", `reflect.md:1: the line "=== system ===" is missing`},
		{"empty", "reflect.md", "", `reflect.md:1: the line "=== system ===" is missing`},
		{"no user part", "reflect.md", "=== system ===\nx\n", `reflect.md:2: the line "=== user ===" is missing`},
		{"user part first", "reflect.md", "=== user ===\n{{events}}\n=== system ===\nx\n", `reflect.md:1: "=== user ===" is not expected here`},
		{"two user parts", "reflect.md", own + "=== user ===\n", `reflect.md:8: "=== user ===" is not expected here`},
		{"empty system part", "reflect.md", "=== system ===\n\n=== user ===\n{{events}}\n", `reflect.md:4: the system part is empty`},
		{"unknown data", "reflect.md", own + "{{secrets}}\n", `reflect.md:8: there is no {{secrets}}; there are {{events}}, {{session}}, {{known}}`},
		{"data of another prompt", "reflect.md", own + "{{diff}}\n", `reflect.md:8: there is no {{diff}}`},
		{"data twice", "reflect.md", own + "{{events}}\n", `reflect.md:8: {{events}} stands twice`},
		{"data within a line", "reflect.md", own + "see {{known}}\n", `reflect.md:8: {{ is for data, which stands alone on a line of the user part`},
		{"data in the system part", "reflect.md", "=== system ===\n{{events}}\n" + own, `reflect.md:2: {{ is for data`},
		{"a program", "reflect.md", own + "{{range .Lines}}\n", `reflect.md:8: there is no {{range .Lines}}`},
		{"without its data", "reflect.md", "=== system ===\nx\n=== user ===\n{{known}}\n", `reflect.md:4: the user part lacks {{events}}`},
		{"not UTF-8", "audit.md", "=== system ===\nx\xff\n", `audit.md:2: not UTF-8`},
		{"too long", "dream.md", strings.Repeat("x", MaxFile+1), `dream.md: longer than 32768 bytes`},
		{"misspelt", "refelct.md", own, `refelct.md: there is no prompt of that name; there are reflect, dream, distill, audit, contradiction`},
		{"a schema", "reflect.json", "{}", `reflect.json: the schema of an answer cannot be replaced`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.file, c.text)
			_, err := Load(dir)
			if err == nil || !strings.HasPrefix(err.Error(), dir+string(filepath.Separator)+c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "x.md")
	write(t, filepath.Dir(elsewhere), "x.md", own)
	for name, put := range map[string]func(file string) error{
		"folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"symlink": func(file string) error {
			if runtime.GOOS == "windows" {
				t.Skip("links need a right there")
			}
			return os.Symlink(elsewhere, file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, "reflect.md")); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "reflect.md: not a regular file") {
				t.Error(err)
			}
		})
	}
}

func TestNothingIsAskedAboutNothing(t *testing.T) {
	var s Set
	for name, ask := range map[string]func() (Rendered, error){
		"reflect":       func() (Rendered, error) { return s.Reflect(Reflect{Known: []string{"x"}}) },
		"dream":         func() (Rendered, error) { return s.Dream(Dream{}) },
		"distill":       func() (Rendered, error) { return s.Distill(Distill{}) },
		"audit":         func() (Rendered, error) { return s.Audit(Audit{Plan: "x", Diff: "\n"}) },
		"code":          func() (Rendered, error) { return s.Code(Code{Memory: "x"}) },
		"contradiction": func() (Rendered, error) { return s.Contradiction(Contradiction{Statements: make([]Known, 1)}) },
	} {
		if r, err := ask(); err == nil || !strings.HasPrefix(err.Error(), "ask "+name+": ") {
			t.Errorf("%s: %v, %q", name, err, r.User)
		}
	}
}
