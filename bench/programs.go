package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
)

// program is a peer that keeps sessions or statements beside git.
type program struct {
	command, title string // command is also the name of its flag
	compare        func(*match)
	path           string
}

var programs = []program{{"entire", "Entire", (*match).entire, ""}, {"git-bug", "git-bug", (*match).gitBug, ""}, {"bd", "beads", (*match).beads, ""}}

func (p *program) choose(path string) (err error) {
	p.path, err = exec.LookPath(path)
	return err
}

// match compares ours with one peer.
type match struct {
	*bench
	set string // title and version of the peer
}

// present lists the numbers of old sessions or statements beside which things are measured.
var present = []int{0, 1000}

// beside compares with the chosen programs, without network, telemetry, daemons and the user's
// settings. It reports whether there is one.
func (b *bench) beside() bool {
	chosen := slices.DeleteFunc(slices.Clone(programs), func(p program) bool { return p.path == "" })
	if len(chosen) == 0 {
		return false
	}
	b.begin()
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR"} {
		os.Unsetenv(name)
	}
	home, bin := filepath.Join(b.dir, "home"), filepath.Join(b.dir, "bin")
	b.must(os.Mkdir(home, 0o755))
	for name, value := range map[string]string{"HOME": home, "PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "ENTIRE_TELEMETRY_OPTOUT": "1", "BEADS_NO_DAEMON": "1"} {
		os.Setenv(name, value)
	}
	for _, p := range chosen {
		text, err := os.ReadFile(p.path)
		b.must(err)
		b.must(os.Chmod(b.write("bin/"+p.command, string(text)), 0o755))
		p.compare(&match{b, p.title + " " + version(p.path)})
	}
	return true
}

// version returns the commit or the version that Go wrote into a program.
func version(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "of unknown version"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value[:min(8, len(setting.Value))]
		}
	}
	return info.Main.Version
}

// versus shows ours divided by theirs. The peer is better if the intervals do not overlap.
func (m *match) versus(what string, ours, theirs row.Timing) {
	f := row.Ratio(m.set, what, ours, theirs, "rounds")
	f.Behind = f.Range != nil && f.Range.Low > 1
	m.show(f, "")
}

func (m *match) both(what string, ours, theirs sample) {
	o, t := ours.median(), theirs.median()
	m.versus(what+", cpu", o.cpu, t.cpu)
	m.versus(what+", wall", o.wall, t.wall)
}

// gitBug compares storing and finding a statement. git fast-import writes the old ones in git-bug's
// form, and git-bug indexes them before.
func (m *match) gitBug() {
	identity := []string{"git-bug", "user", "create", "--non-interactive", "-n", "Bench", "-e", "bench@example.org"}
	for _, n := range present {
		dir := m.repo(fmt.Sprintf("git-bug-%d", n))
		m.once(dir, bugs(m.output(dir, identity[0], identity[1:]...), n), "git", "fast-import", "--quiet")
		m.must(os.RemoveAll(filepath.Join(dir, ".git/git-bug"))) // its cache; ls makes it again
		if got := strings.Count(m.output(dir, "git-bug", "ls", "--format", "id")+"\n", "\n"); got != max(1, n) {
			m.must(fmt.Errorf("git-bug has %d of %d", got, n))
		}
		m.statements(n, func(text, body string) lab.Cost {
			return m.once(dir, nil, "git-bug", "add", "--non-interactive", "-t", text, "-m", body).Cost
		}, func(words string) lab.Result {
			return m.once(dir, nil, "git-bug", append([]string{"ls"}, strings.Fields(words)...)...)
		})
	}
	m.footprints([][]string{{m.bin, "-q", "init"}, identity}, nil)
}

// bugs returns n statements as input of git fast-import. The name of one is the hash of its text.
func bugs(author string, n int) []byte {
	lines, _ := lab.Lines[struct{ Text, Body string }](bytes.NewReader(statements(n)))
	const since = 1767225600 // in January 2026
	var b bytes.Buffer
	for i, l := range lines {
		op := fmt.Sprintf(`{"type":1,"timestamp":%d,"nonce":"%s","title":"%s","message":"%s","files":null}`, since+i,
			base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%020d", i)), l.Text, l.Body)
		fmt.Fprintf(&b, "commit refs/bugs/%x\ncommitter Bench <bench@example.org> %d +0000\ndata 0\n", sha256.Sum256([]byte(op)), since+i)
		ops := fmt.Sprintf(`{"author":{"id":"%s"},"ops":[%s]}`, author, op)
		fmt.Fprintf(&b, "M 100644 inline ops\ndata %d\n%s\n", len(ops), ops)
		for _, name := range []string{"version-4", fmt.Sprintf("create-clock-%d", i+2), fmt.Sprintf("edit-clock-%d", i+2)} {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata 0\n\n", name)
		}
	}
	return b.Bytes()
}

// beads compares storing a statement. This version has no search in texts.
func (m *match) beads() {
	for _, n := range present {
		dir := m.repo(fmt.Sprintf("beads-%d", n))
		m.once(dir, nil, "bd", "init", "-q", "-p", "b")
		lines, _ := lab.Lines[struct{ Text, Body string }](bytes.NewReader(statements(n)))
		var b bytes.Buffer
		for i, l := range lines {
			line, _ := json.Marshal(map[string]any{"id": fmt.Sprintf("b-%d", i+1), "title": l.Text, "description": l.Body, "status": "open", "priority": 2,
				"issue_type": "task", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"})
			b.Write(append(line, '\n'))
		}
		m.once(dir, b.Bytes(), "bd", "import")
		if got := strings.Count(m.output(dir, "bd", "list", "--json"), `"id"`); got != n {
			m.must(fmt.Errorf("beads has %d of %d", got, n))
		}
		m.statements(n, func(text, body string) lab.Cost { return m.once(dir, nil, "bd", "create", text, "-d", body).Cost }, nil)
	}
	m.footprints([][]string{{m.bin, "-q", "init", "--git-hooks"}, {"bd", "init", "-q", "-p", "b"}}, nil)
}

// statements compares storing one statement and then finding it, with n others present. A nil find
// leaves the finding out.
func (m *match) statements(n int, add func(text, body string) lab.Cost, find func(words string) lab.Result) {
	dir := m.store(fmt.Sprintf("statements-%s-%d", m.set, n), n)
	text := func(i int) string { return fmt.Sprintf("The zebra%d of the gateway uses port %d", i, 4000+i) }
	body := strings.Repeat("It does so because the retry of the planner needs it. ", 6)
	var stored, found, theyStored, theyFound sample
	for i := range m.rounds + 1 { // the first round counts for nothing
		words := fmt.Sprintf("zebra%d port", i)
		stored = append(stored, m.once(dir, nil, m.bin, "-q", "remember", text(i)+"\n\n"+body).Cost)
		theyStored = append(theyStored, add(text(i), body))
		if find == nil {
			continue
		}
		ours, theirs := m.once(dir, nil, m.bin, "-q", "recall", words), find(words)
		for _, r := range []lab.Result{ours, theirs} {
			if !strings.Contains(r.Out, fmt.Sprintf("zebra%d ", i)) {
				m.must(fmt.Errorf("%s not found in: %s", words, r.Out))
			}
		}
		found, theyFound = append(found, ours.Cost), append(theyFound, theirs.Cost)
	}
	name := fmt.Sprintf(", %d present", n)
	m.both("storing one statement"+name, stored[1:], theyStored[1:])
	if find != nil {
		m.both("finding one statement"+name, found[1:], theyFound[1:])
	}
}

// footprints counts the files that installing adds or changes, and those that are not as before
// after uninstalling. The first command of each pair is ours. Both meet a git hook and agents'
// settings of the user's own.
func (m *match) footprints(install, uninstall [][]string) {
	var installed, left [2][3][]string
	home := os.Getenv("HOME")
	defer os.Setenv("HOME", home)
	for i := range 2 {
		place := fmt.Sprintf("%s-place-%d", strings.Fields(m.set)[0], i)
		const settings = "{\n \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]},\n \"model\": \"opus\"\n}\n"
		m.write(place+"/home/.claude/settings.json", settings)
		m.write(place+"/repo/.claude/settings.json", settings)
		repo := m.repo(place + "/repo")
		m.once(repo, nil, "git", "add", ".")
		m.once(repo, nil, "git", "commit", "-qm", "settings")
		m.must(os.Chmod(m.write(place+"/repo/.git/hooks/post-commit", "#!/bin/sh\ntrue\n"), 0o755))
		os.Setenv("HOME", filepath.Join(m.dir, place, "home"))
		look := func() map[string][32]byte {
			files, err := footprint(filepath.Join(m.dir, place))
			m.must(err)
			return files
		}
		before := look()
		m.once(repo, nil, install[i][0], install[i][1:]...)
		installed[i] = changed(before, look())
		if uninstall != nil {
			m.once(repo, nil, uninstall[i][0], uninstall[i][1:]...)
			left[i] = changed(before, look())
		}
	}
	for k, area := range areas {
		m.count("files that installing adds or changes in "+area.name, installed[0][k], installed[1][k])
		if uninstall != nil {
			m.count("files not as before after uninstalling in "+area.name, left[0][k], left[1][k])
		}
	}
}

// count shows how many files ours has, with both lists. The peer is better if it has fewer.
func (m *match) count(what string, ours, theirs []string) {
	list := func(files []string) string {
		text := fmt.Sprint(len(files))
		if len(files) > 0 {
			text += " (" + strings.Join(files[:min(3, len(files))], ", ")
			if len(files) > 3 {
				text += ", …"
			}
			text += ")"
		}
		return text
	}
	m.show(row.Figure{Set: m.set, Name: what, Value: float64(len(ours)), N: 1, Of: "run", Beside: "ours " + list(ours) + ", theirs " + list(theirs),
		Behind: len(ours) > len(theirs)}, "")
}
