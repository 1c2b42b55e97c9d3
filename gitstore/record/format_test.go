package record

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var born = time.Date(2026, 11, 20, 14, 3, 5, 0, time.UTC)

func pnpm() Memory {
	return New(Memory{
		Kind: Convention, Text: "Use pnpm, never npm, in web/.",
		Body:   "`npm install` writes a lock file that CI rejects.",
		Source: Source{Time: born, By: "opencode/ses_4b1d", Commit: "9c1e2f3", How: Said},
		Paths:  []string{"web/**"}, Tags: []string{"build"},
	})
}

// The expected bytes are the documented form, typed by hand.
func TestMemoryFormat(t *testing.T) {
	m := pnpm()
	want := `+++
kind = "convention"
id = "` + m.ID + `"
status = "active"
source = "2026-11-20T14:03:05Z opencode/ses_4b1d 9c1e2f3 said"
paths = ["web/**"]
ref = ""
tags = ["build"]
+++
Use pnpm, never npm, in web/.

` + "`npm install`" + ` writes a lock file that CI rejects.
`
	if diff := cmp.Diff(want, string(m.Format())); diff != "" {
		t.Error(diff)
	}
	if want := "memories/" + m.ID[:2] + "/" + m.ID + "-use-pnpm-never-npm-in-web.md"; m.Path() != want {
		t.Errorf("path %s, want %s", m.Path(), want)
	}
}

// printf 'text\0use pnpm, never npm, in web/\n' | sha256sum | cut -c1-16
func TestIDIsWhatASecondImplementationComputes(t *testing.T) {
	if got, want := newID("", "Use pnpm, never npm,  in web/.", ""), "40b5c2ded2325584"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	// printf 'ref\0mem0:17' | sha256sum | cut -c1-16
	if got, want := newID("mem0:17", "whatever", "x"), "99ca24862a5ce2ef"; got != want {
		t.Errorf("id of a ref %s, want %s", got, want)
	}
}

func TestHandEditedMemoryIsAcceptedAndFormattedStably(t *testing.T) {
	m := pnpm()
	cases := map[string]string{
		"order, comment and spaces": "+++\n# mine\ntags=['build' , \"a\"]\nsource = \"2026-11-20T14:03:05Z opencode/ses_4b1d 9c1e2f3 said\"\nkind   = \"convention\"\n+++\n\n\nUse  pnpm.\n\n\nWhy.\n\n",
		"CRLF and BOM":              "\ufeff+++\r\nkind = \"convention\"\r\nsource = \"2026-11-20T14:03:05Z human - written\"\r\n+++\r\nUse pnpm.\r\nWhy.\r\n",
		"one path without brackets": "+++\nkind = \"fact\"\npaths = \"web/**\"\nsource = \"2026-11-20T14:03:05Z human - written\"\n+++\nUse pnpm.",
		"keys not known here":       "+++\nkind = \"fact\"\nmood = \"good\"\nlevel = [1, 2]\nsource = \"2026-11-20T14:03:05Z human - written\"\n+++\nUse pnpm.",
		"a date without quotes":     "+++\nkind = \"fact\"\nexpires = 2027-01-31\nsource = \"2026-11-20T14:03:05Z human - written\"\n+++\nUse pnpm.",
		"a fence in the text":       "+++\nkind = \"fact\"\nsource = \"2026-11-20T14:03:05Z human - written\"\n+++\nTOML fences:\n\n\\+++\n\\\\+++\n",
		"contested":                 "+++\nkind = \"fact\"\nstatus = \"contested\"\nsource = \"2026-11-20T14:03:05Z human - written\"\n+++\nA.\n\nwhy A\n+++\nB.\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMemory(m.Path(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			once := got.Format()
			again, err := ParseMemory(m.Path(), once)
			if err != nil {
				t.Fatalf("%v in\n%s", err, once)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("formatting changed it:\n%s", diff)
			}
			if diff := cmp.Diff(string(once), string(again.Format())); diff != "" {
				t.Errorf("not stable:\n%s", diff)
			}
			if strings.Contains(text, "mood") && !strings.Contains(string(once), "mood = 'good'\n") {
				t.Errorf("unknown key lost:\n%s", once)
			}
		})
	}
}

func TestBadMemoryIsNamedByLineAndField(t *testing.T) {
	at := pnpm().Path()
	good := "source = \"2026-11-20T14:03:05Z human - written\"\n"
	cases := []struct {
		name, path, text string
		line             int
		field, reason    string
	}{
		{"no front matter", at, "Use pnpm.\n", 1, "", "begin with a line"},
		{"not closed", at, "+++\nkind = \"fact\"\n", 1, "", "no second line"},
		{"not TOML", at, "+++\nkind = \"fact\"\nstatus = act ive\n+++\nX\n", 3, "", ""},
		{"unknown kind", at, "+++\n" + good + "kind = \"rule\"\n+++\nX\n", 3, "kind", `"rule" is not one of`},
		{"unknown status", at, "+++\n" + good + "kind = \"fact\"\nstatus = \"gone\"\n+++\nX\n", 4, "status", "not one of active"},
		{"no source", at, "+++\nkind = \"fact\"\n+++\nX\n", 0, "source", "four words"},
		{"source without how", at, "+++\nkind = \"fact\"\nsource = \"2026-11-20T14:03:05Z human - guessed\"\n+++\nX\n", 3, "source", "guessed"},
		{"another id", at, "+++\n" + good + "kind = \"fact\"\nid = \"0000000000000000\"\n+++\nX\n", 4, "id", "never changes"},
		{"paths a number", at, "+++\n" + good + "kind = \"fact\"\npaths = 7\n+++\nX\n", 4, "paths", "not a list"},
		{"a table", at, "+++\n" + good + "kind = \"fact\"\n[more]\na = 1\n+++\nX\n", 0, "more", "table"},
		{"no statement", at, "+++\n" + good + "kind = \"fact\"\n+++\n\n \n", 5, "", "no statement"},
		{"statement too long", at, "+++\n" + good + "kind = \"fact\"\n+++\n\n" + strings.Repeat("x", 1001) + "\n", 6, "", "1001 bytes"},
		{"two variants but active", at, "+++\n" + good + "kind = \"fact\"\n+++\nA\n+++\nB\n", 4, "", "variants"},
		{"not UTF-8", at, "+++\n" + good + "kind = \"fact\"\n+++\nX\xff\n", 5, "", "UTF-8"},
		{"too large", at, strings.Repeat("x", MaxMemory+1), 0, "", "65537 bytes"},
		{"path climbs", "memories/../../evil.md", "", 0, "", "memory's path is"},
		{"wrong folder", strings.Replace(at, "memories/"+at[9:11], "memories/00", 1), "", 0, "", "memory's path is"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseMemory(c.path, []byte(c.text))
			var bad *FormatError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want a *FormatError", err)
			}
			if bad.Path != c.path || bad.Line != c.line || bad.Field != c.field || !strings.Contains(bad.Reason, c.reason) {
				t.Errorf("got %q at line %d field %q, want %q at %d %q", bad.Reason, bad.Line, bad.Field, c.reason, c.line, c.field)
			}
		})
	}
}

func TestConflict(t *testing.T) {
	for text, want := range map[string]int{
		"":                              0,
		"Heading\n=======\ntext\n":      0,
		"a\n<<<<<<< ours\nb\n=======\n": 2,
		"a\nb\n>>>>>>> theirs":          3,
		"||||||| base\n":                1,
		"a <<<<<<< in a line\n":         0,
		"<<<<<<<no blank\n":             0,
		"\\<<<<<<< as text\n":           0,
	} {
		if got := Conflict(text); got != want {
			t.Errorf("%q: line %d, want %d", text, got, want)
		}
	}
}

// A conflict that was committed leaves each text of the file, and no marker in any.
func TestCommittedConflictGivesBothTexts(t *testing.T) {
	m := pnpm()
	m.Body, m.Tags = "", nil
	file := func(old, new string) string { return strings.Replace(string(m.Format()), old, new, 1) }
	conflict := func(ours, theirs string) string {
		return "<<<<<<< HEAD\n" + ours + "\n=======\n" + theirs + "\n>>>>>>> origin/reverie/memory\n"
	}
	tags, paths := "tags = []\n", `paths = ["web/**"]`+"\n"
	retired := conflict("status = \"retired\"", "status = \"active\"")
	for name, c := range map[string]struct {
		text   string
		status Status
		texts  []string
		paths  string
	}{
		"statement": {file(m.Text+"\n", conflict("Use pnpm 9.", "Use pnpm 10.")), Contested, []string{"Use pnpm 10.", "Use pnpm 9."}, "web/**"},
		"body":      {file(m.Text+"\n", m.Text+"\n\n"+conflict("Why: one.", "Why: two.")), Contested, []string{m.Text + "|Why: one.", m.Text + "|Why: two."}, "web/**"},
		"base": {file(m.Text+"\n", "<<<<<<< HEAD\nUse pnpm 9.\n||||||| 9c1e2f3\nUse npm.\n=======\nUse pnpm 10.\n>>>>>>> theirs\n"),
			Contested, []string{"Use pnpm 10.", "Use pnpm 9."}, "web/**"},
		"front matter": {file(paths, conflict(`paths = ["api/**"]`, `paths = ["web/**"]`)), Active, []string{m.Text}, "api/** web/**"},
		"status":       {file("status = \"active\"\n", retired), Retired, []string{m.Text}, "web/**"},
		"one side":     {file(tags, conflict("tags = []", "tags = 7")), Active, []string{m.Text}, "web/**"},
		"a rest":       {file(m.Text+"\n", m.Text+"\n>>>>>>> theirs\n"), Active, []string{m.Text}, "web/**"},
	} {
		got, err := ParseMemory(m.Path(), []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var texts []string
		for _, v := range got.Texts() {
			texts = append(texts, strings.TrimSuffix(v.Text+"|"+v.Body, "|"))
		}
		if diff := cmp.Diff(c.texts, texts); diff != "" || got.Status != c.status || strings.Join(got.Paths, " ") != c.paths {
			t.Errorf("%s: %s %s %s", name, got.Status, got.Paths, diff)
		}
		if again, err := ParseMemory(m.Path(), got.Format()); err != nil || Conflict(string(got.Format())) > 0 || !cmp.Equal(again, got) {
			t.Errorf("%s: written: %v\n%s", name, err, got.Format())
		}
	}
	neither := strings.Replace(file(tags, conflict("tags = 6", "tags = 7")), m.Text, "Use\n=======\nnpm.", 1)
	if _, err := ParseMemory(m.Path(), []byte(neither)); err == nil || !strings.Contains(err.Error(), "conflict markers") {
		t.Errorf("two broken sides: %v", err)
	}
	// each level would double the work
	nested := conflict("a", "b") + strings.Repeat("\ufeff>>>>>>> x\n", 1000)
	if _, err := ParseMemory(m.Path(), []byte(nested)); err == nil {
		t.Error("a nested conflict is a memory")
	}
	m.Body = conflict("one", "two") + "\\" + conflict("three", "four") + "end"
	if got, err := ParseMemory(m.Path(), m.Format()); err != nil || got.Body != m.Body {
		t.Errorf("a text about markers: %v %q", err, got.Body)
	}
}

func FuzzMemory(f *testing.F) {
	f.Add(pnpm().Format())
	f.Add([]byte("+++\nkind = \"fact\"\nstatus = \"contested\"\nsource = \"2026-11-20T14:03:05Z human - written\"\nx = 1\n+++\nA.\n+++ \n\\+++\n"))
	at := pnpm().Path()
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMemory(at, data)
		if err != nil {
			return
		}
		text := m.Format()
		again, err := ParseMemory(at, text)
		if err != nil && len(text) <= MaxMemory {
			t.Fatalf("cannot read what we wrote: %v\n%s", err, text)
		}
		if err != nil {
			return
		}
		if second := again.Format(); string(second) != string(text) {
			t.Fatalf("written again it is another file:\n%s\n--\n%s", text, second)
		}
		before, after := m.textFacts(), again.textFacts()
		if !before.equal(after) {
			t.Fatalf("changed by formatting:\n%s", cmp.Diff(before, after))
		}
		// These fields follow from textFacts.
		m.Text, m.Body, m.Variants, m.Status = again.Text, again.Body, again.Variants, again.Status
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatalf("changed by formatting:\n%s", diff)
		}
	})
}
