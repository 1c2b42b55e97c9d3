package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// onlooker is a tail and its view.
type onlooker struct {
	*tail
	t    *testing.T
	repo *git.Repo
}

func newOnlooker(t *testing.T) onlooker {
	repo := &git.Repo{CommonDir: t.TempDir()}
	dir := filepath.Join(repo.CommonDir, "reverie", "loops", "one")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return onlooker{newTail(dir, redact.New(), State{Phase: Coding, Iteration: 2}, noon), t, repo}
}

// sees returns the view as others see it now.
func (o onlooker) sees() *Live {
	o.t.Helper()
	o.keep(noon)
	l := LiveOf(o.repo, "one")
	if l == nil {
		o.t.Fatal("nothing is seen")
	}
	if !utf8.ValidString(l.Text+l.Rest) || len(l.Text) > MaxLive || l.Text != "" && !strings.HasSuffix(l.Text, "\n") || strings.Contains(l.Rest, "\n") {
		o.t.Fatalf("seen is %d bytes %.80q … and %q", len(l.Text), l.Text, l.Rest)
	}
	return l
}

func TestLiveShowsWholeLinesAndWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []string
		text  string
		rest  string
		lines int
	}{
		{"nothing", nil, "", "", 0},
		{"lines", []string{"one\ntwo\n"}, "one\ntwo\n", "", 2},
		{"the word at hand is held back", []string{"one\ntwo thr"}, "one\n", "two ", 1},
		{"until it is whole", []string{"one\ntwo thr", "ee\n"}, "one\ntwo three\n", "", 2},
		{"line ends of Windows", []string{"one\r", "\ntwo\r\n"}, "one\ntwo\n", "", 2},
		{"a bar that goes back", []string{" 10 %\r 20 %", "\r 30 % done\nnext\n"}, " 30 % done\nnext\n", "", 2},
		{"a bar at hand", []string{" 10 % \r 20 % "}, "", " 20 % ", 0},
		{"control bytes stay what they are", []string{"a\x1b[31mb\x00\n"}, "a\x1b[31mb\x00\n", "", 1},
		{"no UTF-8", []string{"a\xffb\n"}, "a\ufffdb\n", "", 1},
		{"a character in two parts", []string{"提\xe4\xba", "\xa4\n"}, "提交\n", "", 1},
	} {
		o := newOnlooker(t)
		for _, p := range c.parts {
			o.Write([]byte(p))
		}
		got := o.sees()
		want := &Live{Phase: Coding, Iteration: 2, Began: got.Began, Heard: noon, Lines: c.lines, Text: c.text, Rest: c.rest}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// However the output is split, and whenever it is viewed, no part of a secret is visible.
func TestLiveShowsNoSecretInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 20) + "-----END PRIVATE KEY-----\n"
	for name, c := range map[string]struct{ text, secret string }{
		"a token":                      {"first line\nexport TOKEN=" + token + " and more\nlast line\n", token},
		"a token at the end":           {"pushing to https://ada:" + token + "@example.org/x.git\n", token},
		"a long line":                  {strings.Repeat("word ", 2000) + token + strings.Repeat(" word", 20000) + "\n", token},
		"over the cut":                 {strings.Repeat("w", maxLine-30) + " " + token + " more\n", token},
		"over the end of what is kept": {strings.Repeat("w ", maxOpen/2-10) + token + " more\n", token},
		"a key of many lines":          {"here it is\n" + key + "that was it\n", "MIIEvQIBADANBgkqhkiG9w0BAQ"},
	} {
		for _, size := range []int{1, 7, 1000, 1 << 20} {
			if size < 1000 && len(c.text) > 4000 {
				continue
			}
			o := newOnlooker(t)
			for rest := c.text; rest != ""; {
				n := min(size, len(rest))
				o.Write([]byte(rest[:n]))
				rest = rest[n:]
				if l := o.sees(); strings.Contains(l.Text+l.Rest, c.secret[:12]) {
					t.Fatalf("%s in pieces of %d: seen is %.300q %q", name, size, l.Text, l.Rest)
				}
			}
			if l := o.sees(); l.Text == "" || l.Rest != "" {
				t.Errorf("%s: %q, %q", name, l.Text, l.Rest)
			}
		}
	}
}

func TestLiveIsBounded(t *testing.T) {
	o := newOnlooker(t)
	for n := range 10000 {
		o.Write([]byte(strings.Repeat(string(rune('a'+n%26)), 80) + "\n"))
	}
	o.Write([]byte("x"))
	l := o.sees()
	if l.Lines != 10000 || len(l.Text) < MaxLive-81 || !strings.HasSuffix(l.Text, strings.Repeat(string(rune('a'+9999%26)), 80)+"\n") {
		t.Errorf("%d lines, %d bytes, %.90q", l.Lines, len(l.Text), l.Text)
	}
	for line := range strings.Lines(l.Text) {
		if len(line) != 81 {
			t.Fatalf("a line is cut: %q", line)
		}
	}

	long := strings.Repeat("提", 1<<20/3) + " end\n"
	o.Write([]byte("\nbefore\n" + long[:1000]))
	o.Write([]byte(long[1000:] + "after\n"))
	lines := strings.Split(strings.TrimSuffix(o.sees().Text, "\n"), "\n")
	if n := len(lines); lines[n-3] != "before" || lines[n-1] != "after" || len(lines[n-2]) > maxLine+40 || !strings.HasSuffix(lines[n-2], "提 [… a line of 1048579 bytes]") {
		t.Errorf("of a line of 1 MB is shown %q", lines[n-2])
	}
	if cap(o.open) > 2*maxOpen || cap(o.whole) > 8*scanned {
		t.Errorf("%d and %d bytes are held", cap(o.open), cap(o.whole))
	}
}

// The view of a phase exists while the phase runs, is readable by its user only, and is then
// removed.
func TestLiveLastsAsLongAsThePhase(t *testing.T) {
	b := newBench(t, nil)
	var phases []Phase
	path := filepath.Join(b.place.folder, liveFile)
	work := func(turn Turn) (Outcome, error) {
		turn.Live.Write([]byte("at work in " + string(turn.Loop.State.Phase) + "\n"))
		for { // the watch looks again and again
			l := LiveOf(b.repo, "one")
			if l == nil || l.Text == "" {
				time.Sleep(look / 10)
				continue
			}
			if l.Text != "at work in "+string(l.Phase)+"\n" || l.Iteration != 1 || l.Lines != 1 || l.Heard.Before(l.Began) {
				t.Errorf("seen is %+v", l)
			}
			phases = append(phases, l.Phase)
			break
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		return Outcome{Passed: true}, nil
	}
	b.lease().Release() // makes the folder
	if err := os.WriteFile(path, []byte(`{"phase":"coding","text":"of one that was killed"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := b.run(work, work, work); s.Phase != Done {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]Phase{Coding, Verifying, Auditing}, phases); d != "" {
		t.Error(d)
	}
	for _, name := range []string{liveFile, liveTemp} {
		if _, err := os.Lstat(filepath.Join(b.place.folder, name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	if l := LiveOf(b.repo, "one"); l != nil {
		t.Errorf("seen is %+v", l)
	}
}

func TestLiveShowsNoLineOfAKey(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var line, past strings.Builder
	for i := range 64 {
		line.WriteByte("q7ZkT2mWx9RbLf4HsVc8"[(i*7+i/20)%20])
	}
	for _, tt := range []struct{ name, before string }{
		{"after its beginning", "     1→-----BEGIN RSA PRIV" + "ATE KEY-----\n"},
		{"whose beginning is out of sight", "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + strings.Repeat("a line of a build\n", 900)},
		{"without its beginning", ""},
	} {
		o := newOnlooker(t)
		past.Reset()
		for part := range strings.Lines(tt.before + "    12→" + line.String() + "\n") {
			o.Write([]byte(part))
			past.WriteString(o.sees().Text)
		}
		if strings.Contains(past.String(), line.String()[:12]) {
			t.Errorf("%s: a line of the key was seen: %.200q", tt.name, past.String())
		}
	}
}
