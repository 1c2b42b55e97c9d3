package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// update makes the tests rewrite screens.txtar.
var update = flag.Bool("update", false, "write the screens that tests compare with")

const screens = "testdata/screens.txtar"

// worldly is a repository with memories in many scripts, and operations that wait.
func worldly(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "web", "a.txt"), "a\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	must(t, dir, "learn", example(t))
	for kind, text := range map[string]string{
		"decision": "データベースの移行は必ず`make migrate`を使い、手作業でスキーマを変更しないこと。本番では、レビューを通った移行だけが実行される。",
		"fact":     "배포는 매주 화요일 오전에 진행되며 긴급 수정은 담당자의 승인을 받아야 한다. 롤백 절차는 문서에 있다.",
		"note":     "Releases get a 🚀 in the changelog, families 👨‍👩‍👧 and flags 🇯🇵🇫🇷 stay as they are, and cafe\u0301 has a combining accent; ＡＰＩ is full width, \u202eodd\u202c is not",
		"pattern":  "See internal/store/very_long_directory_name/another_long_one/and_one_more/README_of_the_store.md before a query is added",
		"workflow": "上线前先运行 `make lint`，再运行全部测试；任何一步失败都不要推送到 main 分支。\n\nCI runs the same linter with the same settings, so what it says here is what it will say there, and a push that fails there costs ten minutes.\n\n" +
			"1. `make lint`, which takes a while the first time because it builds everything that it needs\n2. `make test`\n\n```sh\nmake lint LINT_FLAGS=\"--timeout 10m --config .ci/lint.yaml --new-from-rev origin/main\" && echo fine\n```\n\n日本語の段落も、端末の幅に合わせて折り返されるべきであり、句読点が行頭に来てはならない。",
	} {
		must(t, dir, "remember", "-k", kind, "-p", "web/**", text)
	}
	// a name that is shown, the same wherever the test runs
	lines := filepath.Join(".git", "lines.jsonl")
	write(t, filepath.Join(dir, lines), `{"text":"提交信息使用英文，并且每次提交只包含一个主题；不要把格式化和功能修改混在一起。","kind":"convention"}`+"\n")
	must(t, dir, "import", lines)
	return dir
}

// varying matches text that differs between two runs: ids, commits and times. Its length is
// constant.
var varying = regexp.MustCompile(`\b[0-9a-f]{8,40}\b|\d{4}-\d\d-\d\d(?:[T ][0-9:]+Z?)?`)

func steady(text string) string {
	return varying.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("0", len(s)) })
}

// Screens are compared as a whole: that shows lines that a terminal would fold, and crooked
// columns.
func TestScreens(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := worldly(t)
	id := strings.Fields(must(t, dir, "list", "-k", "workflow"))[0]
	want := &txtar.Archive{}
	if !*update {
		var err error
		if want, err = txtar.ParseFile(screens); err != nil {
			t.Fatal(err)
		}
	}
	var got []txtar.File
	for _, columns := range []int{80, 40, 200} {
		for _, args := range [][]string{{"list"}, {"recall", "run make"}, {"show", id}, {"review"}} {
			s := screen{columns, 24, []string{"NO_COLOR=1", "GIT_PAGER=cat"}}
			a := s.run(t, dir, "s\ns\n", args...)
			if a.code != 0 {
				t.Errorf("%s", a)
			}
			shown := strings.ReplaceAll(a.out, "[y,n,e,u,s,q,?] ", "[y,n,e,u,s,q,?] s\n") // as it is echoed
			for line := range strings.Lines(shown) {
				if strings.HasSuffix(line, " \n") {
					t.Errorf("%q: a space at the end of %q", args, line)
				}
			}
			if real := inTmux(t, s, dir, args); real != "" && real != foldCode(shown, columns) {
				t.Errorf("%q at %d columns: a terminal shows something else: %s", args, columns, cmp.Diff(foldCode(shown, columns), real))
			}
			got = append(got, txtar.File{Name: fmt.Sprintf("%s %d", args[0], columns), Data: []byte(steady(shown))})
		}
	}
	if *update {
		if err := os.WriteFile(screens, txtar.Format(&txtar.Archive{Comment: []byte("What commands show on terminals of some widths; go test ./e2e -run Screens -update\n"), Files: got}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range got {
		if i >= len(want.Files) {
			if !*update {
				t.Errorf("%s is not in %s", f.Name, screens)
			}
			continue
		}
		if diff := cmp.Diff(string(want.Files[i].Data), string(f.Data)); want.Files[i].Name != f.Name || diff != "" {
			t.Errorf("%s: %s", f.Name, diff)
		}
	}
}

// foldCode folds what alone may be longer than a line, as a terminal does: the line of code in
// worldly.
func foldCode(shown string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(shown) {
		for code := strings.HasPrefix(line, "make lint LINT"); code && len(line) > columns+1; line = line[columns:] {
			b.WriteString(line[:columns] + "\n")
		}
		b.WriteString(line)
	}
	return b.String()
}

// inTmux returns a command's screen in a real terminal, or "" without tmux.
func inTmux(t *testing.T, s screen, dir string, args []string) string {
	t.Helper()
	s.rows = 200
	if _, err := exec.LookPath("tmux"); err != nil && !full {
		return ""
	}
	x := startTmux(t, s, dir, args)
	for asked := 1; ; asked++ { // each question of review
		shown := x.wait(endMark, fmt.Sprintf("(%d/", asked))
		if before, _, found := strings.Cut(shown, endMark); found {
			return before
		}
		x.call("send-keys", "s", "Enter")
	}
}

// tmux is a real terminal in which a command runs.
type tmux struct {
	t      *testing.T
	path   string
	socket string
	env    []string
}

// endMark is shown when the command has ended, followed by its exit code.
const endMark = "\u2588end"

// startTmux runs a command in a terminal of that size. Without tmux it skips the test, and fails it
// in the full run.
func startTmux(t *testing.T, s screen, dir string, args []string) *tmux {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil && !full {
		t.Skip("there is no tmux")
	} else if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "tmux") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	x := &tmux{t, path, filepath.Join(folder, "s"), append(notAnAgents(os.Environ()), s.env...)}
	const script = `trap : INT; cd "$1"; shift; "$@"; printf '` + endMark + `%s' $?; read wait`
	x.call(append([]string{"new-session", "-d", "-x", fmt.Sprint(s.columns), "-y", fmt.Sprint(s.rows), "sh", "-c", script, "sh", dir, binary}, args...)...)
	t.Cleanup(func() {
		x.call("kill-server")
		os.RemoveAll(folder)
	})
	return x
}

// press sends keys, waits for each text, and returns the screen with the last one.
func (x *tmux) press(keys string, texts ...string) (shown string) {
	x.t.Helper()
	for _, key := range strings.Fields(keys) {
		x.call("send-keys", key)
	}
	for _, text := range texts {
		shown = x.wait(text)
	}
	return shown
}

func (x *tmux) call(args ...string) string {
	x.t.Helper()
	cmd := exec.Command(x.path, append([]string{"-u", "-f", "/dev/null", "-S", x.socket}, args...)...)
	cmd.Env = x.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// wait waits until the screen shows one of some texts, and returns the screen.
func (x *tmux) wait(texts ...string) string {
	x.t.Helper()
	return x.until(fmt.Sprintf("shows any of %q", texts), func(shown string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(shown, text) })
	})
}

// gone waits until the screen no longer shows a text.
func (x *tmux) gone(text string) {
	x.t.Helper()
	x.until(fmt.Sprintf("loses %q", text), func(shown string) bool { return !strings.Contains(shown, text) })
}

func (x *tmux) until(what string, ok func(shown string) bool) (shown string) {
	x.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if shown = x.call("capture-pane", "-p"); ok(shown) {
			return shown
		}
	}
	x.t.Fatalf("the terminal never %s:\n%s", what, shown)
	return ""
}
