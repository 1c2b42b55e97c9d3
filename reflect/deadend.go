package reflect

import (
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Dead ends: a dependency or a line of configuration was tried, a command failed with it, it was
// removed, and the command passed. The failure disproved it; a trial without an outcome is no
// memory. If the command had failed the same way before, the trial is disproved as a remedy,
// whether or not the command ever passed.

// A trial is an addition that may be removed again.
type trial struct {
	act      int
	pack     string // a dependency by name, without its version
	version  string // "vitest@3" as asked for
	file     string // the edited configuration file, as the agent named it
	was, now string // its line before and after; was is empty for a new line
	failed   int    // act that failed with it, -1 if none did
	back     string // the version it went back to
	undone   bool
	vain     bool // it failed with the same error before the trial
}

// maxTrials bounds the trials followed at once.
const maxTrials = 32

// findDeadEnds follows trials until they are removed and the command passes.
func findDeadEnds(v *view) []finding {
	var out []finding
	var trials []trial
	for i, a := range v.acts {
		if a.edit {
			for t := range trials {
				trials[t].undone = trials[t].undone || trials[t].undoneByEdit(v, a)
			}
			trials = append(trials, v.configTrials(i)...)
		} else if a.outcome == transcript.Failed {
			for t := range trials {
				if !trials[t].undone && trials[t].failed < 0 && worthFixing(a.step) && a.step.portable() {
					trials[t].failed = i
					trials[t].vain = v.failedSo(trials[t].act, i)
				}
			}
		} else if added, removed := packages(a.step); len(added)+len(removed) > 0 || restores(a.step) {
			for t := range trials {
				trials[t].takeBack(a.step, added, removed)
			}
			for _, p := range added {
				trials = append(trials, trial{act: i, pack: name(p), version: p, failed: -1})
			}
		} else if a.outcome == transcript.OK { // with a trial in place, it is no dead end
			tested := func(t trial) bool { return t.failed >= 0 && sameJob(v.acts[t.failed].step, a.step) }
			dead := slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return !tested(t) || !t.undone })
			trials = slices.DeleteFunc(trials, tested)
			out = append(out, v.disproved(dead, i)...)
		}
		if len(trials) > maxTrials {
			trials = trials[len(trials)-maxTrials:]
		}
	}
	trials = slices.DeleteFunc(trials, func(t trial) bool { return !t.undone || !t.vain })
	return append(out, v.disproved(trials, -1)...)
}

// failedSo reports whether the job of a failed act had failed with the same error before act put.
func (v *view) failedSo(put, failed int) bool {
	sig := v.sign(failed)
	for i, a := range v.acts[:put] {
		if a.outcome == transcript.Failed && !a.edit && sig.text != "" && a.step.key == v.acts[failed].step.key && v.sign(i).text == sig.text {
			return true
		}
	}
	return false
}

// disproved makes the candidates of removed trials, before the job passed at act ok if that is not
// negative. The first that broke the job is the dead end; the others were useless remedies.
func (v *view) disproved(dead []trial, ok int) []finding {
	var out []finding
	first := slices.IndexFunc(dead, func(t trial) bool { return !t.vain })
	if first >= 0 {
		if c, found := v.deadEnd(dead[first], slices.Delete(slices.Clone(dead), first, first+1), ok); found {
			return []finding{{Candidate: c}}
		}
		return nil
	}
	for _, t := range dead {
		if c, found := v.deadEnd(t, nil, ok); found {
			out = append(out, finding{Candidate: c})
		}
	}
	return out
}

// takeBack marks a trial as undone by a command that removes it, names another version, or restores
// files.
func (t *trial) takeBack(s step, added, removed []string) {
	if t.undone || t.failed < 0 {
		return
	}
	for _, p := range added {
		if t.pack != "" && name(p) == t.pack && p != t.version {
			t.undone, t.back = true, p
		}
	}
	for _, p := range removed {
		t.undone = t.undone || t.pack != "" && name(p) == t.pack
	}
	if !restores(s) {
		return
	}
	for _, w := range s.words[2:] {
		base := path.Base(shell.Unquote(w))
		switch {
		case t.file != "" && (base == path.Base(t.file) || w == "."):
			t.undone = true
		case t.pack != "" && (w == "." || base == "go.mod" || base == "package.json" || base == "Cargo.toml" || base == "pyproject.toml" || base == "Gemfile"):
			t.undone = true
		}
	}
}

// undoneByEdit reports whether an edit restores the text that the trial removed, or removes its
// addition.
func (t *trial) undoneByEdit(v *view, a act) bool {
	if t.file == "" || t.failed < 0 {
		return false
	}
	e := &v.events[a.call]
	for _, p := range e.Paths {
		if path.Base(p) == path.Base(t.file) {
			return !strings.Contains(e.New, t.now) &&
				(t.was != "" && strings.Contains(e.New, t.was) || t.was == "" && strings.Contains(e.Old, t.now))
		}
	}
	return false
}

// configTrials returns the line that an edit of a configuration file added or replaced.
func (v *view) configTrials(i int) []trial {
	a := v.acts[i]
	e := &v.events[a.call]
	if len(e.Paths) != 1 || !v.configEdit(a) || e.Old == "" {
		return nil
	}
	was, now := changedLines(e.Old, e.New)
	if len(was) > 1 || len(now) != 1 {
		return nil
	}
	t := trial{act: i, file: e.Paths[0], now: now[0], failed: -1}
	if len(was) == 1 {
		t.was = was[0]
	}
	if len(t.was) > 80 || len(t.now) > 80 || len(t.now) < 4 || redacted.MatchString(t.was+t.now) || !configLine(t.was) || !configLine(t.now) {
		return nil
	}
	return []trial{t}
}

// changedLines returns the differing lines of two texts, without their common beginning and end and
// without surrounding space.
func changedLines(before, after string) (was, now []string) {
	was, now = trimmedLines(before), trimmedLines(after)
	for len(was) > 0 && len(now) > 0 && was[0] == now[0] {
		was, now = was[1:], now[1:]
	}
	for len(was) > 0 && len(now) > 0 && was[len(was)-1] == now[len(now)-1] {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	return was, now
}

func trimmedLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// A dependency is a line of a manifest that requires a package in a version.
var dependency = lazy("^[\"']?(@?[A-Za-z][\\w./@-]*)[\"']?\\s*(?:=|:|==|~=|>=)\\s*(?:\\{.*\\bversion\\s*[=:]\\s*)?[\"']?([\\^~<>=v ]*\\d[\\w.+-]*)[\"']?")

// asDependency returns the package and version that a line of a manifest requires, or "" if it
// names no dependency.
func asDependency(file, line string) (pack, version string) {
	if !manifests.Has(path.Base(file)) {
		return "", ""
	}
	if f := strings.Fields(strings.TrimPrefix(line, "require ")); path.Base(file) == "go.mod" && len(f) > 1 && strings.HasPrefix(f[1], "v") {
		return f[0], f[1]
	}
	m := dependency.FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	return m[1], strings.TrimLeft(m[2], "^~<>= ")
}

var manifests = set("package.json Cargo.toml go.mod pyproject.toml requirements.txt Gemfile composer.json pubspec.yaml")

// deadEnd makes the candidate of a trial that was removed before act ok passed, with the attempts
// to save it.
func (v *view) deadEnd(t trial, remedies []trial, ok int) (record.Candidate, bool) {
	f := v.acts[t.failed]
	tried, was, pack := t.show()
	sig := signAbout(v.events[f.result].Text, pack)
	if sig.text == "" {
		sig = v.sign(t.failed)
	}
	if sig.text == "" || redacted.MatchString(sig.text) {
		return record.Candidate{}, false
	}
	fails := "`" + show(f.step, "") + "` " + v.fails(f, sig)
	c := record.Candidate{Kind: record.Failure, How: record.Seen, Topic: t.pack}
	fate := " does not work here: "
	if t.file != "" {
		c.Topic = strings.Join(contentWords(path.Base(t.file)+" "+tried), " ")
		c.Paths = []string{relative(t.file, v.session.Dir)}
		if pack == "" {
			fate = " in " + path.Base(t.file) + " does not work: "
		}
	}
	if t.vain {
		fate = strings.Replace(strings.Replace(fate, "does not work here", "does not help", 1), "does not work", "does not help", 1)
		fails += " with it and without"
	}
	end := "it was taken out again."
	switch {
	case t.back != "":
		end = "stay on `" + t.back + "`."
	case was != "":
		end = "it went back to `" + was + "`."
	}
	c.Text = "`" + tried + "`" + fate + fails + "; " + end
	c.Body = "Tried in one session: the command failed with it, it was taken back, and the command passed again."
	if t.vain {
		c.Body = "Tried in one session: the command failed with the same error before and with it, and it was taken back."
	}
	put := v.acts[t.act]
	if put.edit {
		c.Evidence = append(c.Evidence, v.quote(put.call, t.now))
	} else {
		c.Evidence = append(c.Evidence, v.quoteCommand(put))
	}
	c.Evidence = append(c.Evidence, v.quoteError(f, sig))
	for _, r := range remedies {
		what, _, _ := r.show()
		if s := v.sign(r.failed); s.text != "" && !redacted.MatchString(s.text) && len(c.Evidence) < maxEvidence-1 {
			c.Body += "\n\n`" + what + "` did not help: it " + v.fails(v.acts[r.failed], s) + "."
			c.Evidence = append(c.Evidence, v.quoteError(v.acts[r.failed], s))
		}
	}
	if ok >= 0 {
		c.Evidence = append(c.Evidence, v.quoteCommand(v.acts[ok]))
	}
	return triggered(c, f, sig), true
}

// show names the trial and its predecessor for a statement: a dependency, pack, with its version,
// or a line of the file.
func (t *trial) show() (tried, was, pack string) {
	if t.pack != "" {
		return plain(t.version), "", t.pack
	}
	pack, version := asDependency(t.file, t.now)
	if pack == "" {
		return plain(strings.TrimRight(t.now, ",;")), plain(strings.TrimRight(t.was, ",;")), ""
	}
	if _, old := asDependency(t.file, t.was); old != "" {
		was = pack + " " + old
	}
	return pack + " " + version, was, pack
}

// packages returns the dependencies that a command adds and removes, as written.
func packages(s step) (added, removed []string) {
	w := s.words
	if len(w) > 2 && w[1] == "-m" && strings.HasPrefix(w[0], "python") {
		w = w[2:]
	}
	verb := ""
	for i := 1; i < len(w); i++ {
		a := shell.Unquote(w[i])
		switch {
		case verb == "":
			switch a {
			case "add", "install", "require", "get":
				verb = "add"
			case "remove", "uninstall", "rm":
				verb = "remove"
			case "--filter", "-F", "-C", "--prefix", "-w", "--workspace", "workspace":
				i++
			case "pip", "global":
			default:
				if !strings.HasPrefix(a, "-") {
					return nil, nil
				}
			}
		case a == "--group" || a == "-r" || a == "-e" || a == "--extra" || a == "-c" || a == "--filter" || a == "-F" || a == "-C" || a == "--prefix" || a == "--package" || a == "-p":
			i++
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, ".") || strings.HasPrefix(a, "/") || strings.HasSuffix(a, ".txt") || shell.IsAssignment(a):
		case verb == "add":
			added = append(added, a)
		default:
			removed = append(removed, a)
		}
	}
	if !packageTool.Has(path.Base(w[0])) || verb == "" {
		return nil, nil
	}
	return added, removed
}

var packageTool = set("npm pnpm yarn bun pip pip3 uv poetry pdm cargo go gem composer")

// name returns a dependency without its version.
func name(p string) string {
	p = strings.Trim(p, `"'`)
	if i := strings.LastIndexByte(p, '@'); i > 0 {
		p = p[:i]
	}
	if i := strings.IndexAny(p, "=<>~!^["); i > 0 {
		p = p[:i]
	}
	return p
}

// restores reports whether a command restores files from git.
func restores(s step) bool {
	return s.words[0] == "git" && len(s.words) > 2 && (s.words[1] == "checkout" || s.words[1] == "restore")
}

// sameJob reports whether b equals a, or a without some of its words.
func sameJob(a, b step) bool {
	if a.dir != b.dir || b.words[0] != a.words[0] {
		return false
	}
	i := 0
	for _, w := range a.words {
		if i < len(b.words) && b.words[i] == w {
			i++
		}
	}
	return i == len(b.words) && (len(b.words) > 1 || len(a.words) == 1)
}

// plain returns text that can be between quotation marks or backticks in a statement.
func plain(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "`", "'"), `"`, "'")
}
