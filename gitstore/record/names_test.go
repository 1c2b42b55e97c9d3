package record

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"Orders are stored through SaveOrder in store/orders.go.": "SaveOrder?",
		"`MaxRetries` is 5":                             "MaxRetries",
		"Charge() must never be called twice":           "Charge()",
		"Use store.Save, or (util.load()).":             "store.Save? util.load()",
		"user_id and MAX_RETRIES, __init__ too":         "user_id MAX_RETRIES",
		"`Charge` and `make` and `go` and `go test`":    "Charge? make?",
		"`Charge(ctx, order)` and `std::mem::swap`":     "Charge() std.mem.swap?",
		"parseHTTP's answer; DBConn; “loadAll”":         "parseHTTP? DBConn? loadAll?",
		"The IDs of the APIs, PDFs and URLs; TODO: CPU": "",
		"Ordinary Words, e.g. these, i.e. file(s)":      "",
		"See https://example.com/aB_c or me@someHost.x": "",
		"example.com has Node.js, v1.2 and and/or":      "",
	} {
		var got []string
		for _, n := range (Memory{Text: text}).Names() {
			s := strings.Join(append(n.Of, n.Text), ".")
			if n.Called {
				s += "()"
			}
			if n.Loose {
				s += "?"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestFilesOfAStatement(t *testing.T) {
	m := Memory{Text: "Orders (store/orders.go:12), `not/this.go`, ./a/b.c and the Makefile; see https://x.y/z. Profiles end."}
	if diff := cmp.Diff([]string{"store/orders.go:12", "./a/b.c", "Makefile"}, m.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestDefiningLines(t *testing.T) {
	for line, want := range map[string]bool{
		"func (s *Store) Save(o Order) error {": true,
		"\tSave = 5":                            true,
		"const Save = 5":                        true,
		"export async function Save(o) {":       true,
		"public static int Save(int n) {":       true,
		"class Save extends Model {":            true,
		"def Save(self):":                       true,
		"Save: 5":                               true,
		"Save(o) {":                             true,
		"// Save is slow":                       false,
		"func other() { Save() }":               false,
		"func Pay(s Save) {":                    false,
		"func (s Save) Pay() {":                 false,
		"const x = Save":                        false,
		"class Other extends Save {":            false,
		"if Save == 5 {":                        false,
		"Save == 5":                             false,
		"Save(o)":                               false,
		"SaveAll = 5":                           false,
	} {
		if _, defined, _ := FindName([]byte("x\n"+line+"\n"), Name{Text: "Save"}); defined != want {
			t.Errorf("%s: %v", line, defined)
		}
	}
	type form struct{ called, loose bool }
	for n, want := range map[form]string{
		{called: true}: "y = Save(o)", {}: "Save it", {loose: true}: "",
	} {
		line, _, ok := FindName([]byte("Save it\ny = Save(o)\n"), Name{Text: "Save", Called: n.called, Loose: n.loose})
		if ok != (want != "") || ok && line != want {
			t.Errorf("%+v: %q, %v", n, line, ok)
		}
	}
}
