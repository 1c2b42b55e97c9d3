package recall

import (
	"strings"
	"testing"
)

func TestWithoutPositions(t *testing.T) {
	for text, want := range map[string]string{
		"gitstore/recall/query.go:14":                 "gitstore/recall/query.go",
		"gitstore/recall/query.go:14: undefined: x":   "gitstore/recall/query.go: undefined: x",
		"cmd/root.go:10:5, cmd/a.go:1-3 and b.go:7.":  "cmd/root.go, cmd/a.go and b.go.",
		"at main (/app/src/a.ts:10:5)":                "at main (/app/src/a.ts)",
		"see web/a.ts#L10, web/b.ts#L10-L12":          "see web/a.ts, web/b.ts",
		"https://example.com/x/a.go#L10C2-L11":        "https://example.com/x/a.go",
		"src/App.cs(14,5): error CS1002":              "src/App.cs: error CS1002",
		"Program.cs(14): error":                       "Program.cs: error",
		"src/a.ts(14)":                                "src/a.ts",
		`C:\src\a.go:14`:                              `C:\src\a.go`,
		"Makefile:12: *** missing separator":          "Makefile: *** missing separator",
		".golangci.yml:3":                             ".golangci.yml",
		"`a.go:14`":                                   "`a.go`",
		"文件a.go:14有错":                                 "文件a.go有错",
		"dial tcp 127.0.0.1:5433: connection refused": "",
		"https://example.com:443/a":                   "",
		"example.com:443 db.internal:5432":            "",
		"localhost:8080 redis:7 library/redis:7":      "",
		"12:30:45 v1.2:3":                             "",
		"os.Exit(1) items.at(2)":                      "",
		"a.go:14x a.go:14/b a.go:14_c":                "",
		"std::vector::at":                             "",
		"issue #14 a:1 (14)":                          "",
		"a.go:123456789":                              "",
		"a.go: 14 #L3 :4":                             "",
		"":                                            "",
	} {
		if want == "" {
			want = text
		}
		if got := withoutPositions(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWhere(t *testing.T) {
	at := Where{Tops: []string{"/home/ada/app", "/srv/link"}, Dir: "cmd/sub"}
	for name, want := range map[string]string{
		"a.go": "cmd/sub/a.go", "./a.go:14": "cmd/sub/a.go", "../a.go": "cmd/a.go", "../..": "", ".": "cmd/sub", `..\web\a.ts`: "cmd/web/a.ts",
		"/home/ada/app/web/a.ts": "web/a.ts", "/srv/link/web/": "web", "/home/ada/app": "", "../../../app": "outside", "/home/ada/apple": "outside", "/etc/hosts": "outside",
		"../../cmd/sub": "cmd/sub", "/home/ada/app/../x": "outside",
	} {
		got, ok := at.Path(name)
		if !ok {
			got = "outside"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	windows := Where{Tops: []string{"C:/src/app"}}
	for text, want := range map[string]string{
		"look at /home/ada/app/cmd/root.go:14 please": "look at cmd/root.go:14 please",
		"(/srv/link/a.go) file:///home/ada/app/b.go":  "(a.go) b.go",
		`"/home/ada/app/a.go",/home/ada/app/b.go`:     `"a.go",b.go`,
		"/home/ada/apple/a.go /mnt/home/ada/app/a.go": "",
		"cd /home/ada/app && make":                    "",
		"../home/ada/app/a.go":                        "",
		"path:/home/ada/app/web":                      "path:web",
	} {
		if want == "" {
			want = text
		}
		if got := at.relative(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := windows.relative(`error in c:\src\app\cmd\root.go(3): x`); got != "error in cmd/root.go(3): x" {
		t.Errorf("%q", got)
	}
	if got := (Where{Tops: []string{"/", ""}}).relative("/a/b"); got != "/a/b" {
		t.Errorf("%q", got)
	}
}

func TestQueryIsAskedFromSomewhere(t *testing.T) {
	at := Where{Tops: []string{"/home/ada/app"}, Dir: "cmd"}
	for query, want := range map[string]string{"path:./root.go": "cmd/root.go", "path:../web": "web", "path:web": "web", "path:.": "cmd", "path:/home/ada/app/web/a.ts:3": "web/a.ts", "path:./*.go": "cmd/*.go"} {
		q, err := at.Parse(query)
		if err != nil || strings.Join(q.Paths, " ") != want {
			t.Errorf("%s: %q, want %s; %v", query, q.Paths, want, err)
		}
	}
	if _, err := at.Parse("path:../../x"); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("%v", err)
	}
	if q, err := at.Parse("why is /home/ada/app/cmd/root.go:14 slow"); err != nil || q.Text != "why is cmd/root.go slow" {
		t.Errorf("%q %v", q.Text, err)
	}
}

func FuzzPositions(f *testing.F) {
	f.Add("a.go:1:2 b.go#L3 /home/ada/app/c.cs(4,5)", "/home/ada/app")
	f.Add("\xff/a.b:1\xfe", "\xff")
	f.Fuzz(func(t *testing.T, text, top string) {
		bare := withoutPositions(text)
		if len(bare) > len(text) || len((Where{Tops: []string{top}}).relative(text)) > len(text) {
			t.Errorf("%q grew", text)
		}
	})
}
