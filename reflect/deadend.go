package reflect

import (
	"path"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Dead ends: a dependency or a line of configuration was tried, a command failed with it,
// it was taken back, and the command passed. The failure is what disproved it; a trial
// without an outcome is not a memory.

// A trial is something put in that may be taken back.
type trial struct {
	act      int
	pack     string // a dependency by name, without its version
	version  string // "vitest@3" as asked for
	file     string // the configuration file edited, as the agent named it
	was, now string // its line before and after
	failed   int    // act that failed with it, -1 if none did
	back     string // the version it went back to
	undone   bool
}

// maxTrials bounds how many trials are followed at once.
const maxTrials = 32

// findDeadEnds follows what was tried until it is taken back and the command passes.
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
				}
			}
		} else if added, removed := packages(a.step); len(added)+len(removed) > 0 || restores(a.step) {
			for t := range trials {
				trials[t].takeBack(a.step, added, removed)
			}
			for _, p := range added {
				trials = append(trials, trial{act: i, pack: name(p), version: p, failed: -1})
			}
		} else if a.outcome == transcript.OK {
			rest := trials[:0]
			told := false // the first of several trials is the one disproved, the others were remedies
			for _, t := range trials {
				switch {
				case t.failed < 0 || !sameJob(v.acts[t.failed].step, a.step):
					rest = append(rest, t)
				case t.undone:
					if c, found := v.deadEnd(t, i); found && !told {
						out = append(out, finding{Candidate: c})
						told = true
					}
				default: // it passed with the trial in place: no dead end
				}
			}
			trials = rest
		}
		if len(trials) > maxTrials {
			trials = trials[len(trials)-maxTrials:]
		}
	}
	return out
}

// takeBack marks a trial undone by a command that removes it, names another version, or
// restores files.
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
		base := path.Base(unquote(w))
		switch {
		case t.file != "" && (base == path.Base(t.file) || w == "."):
			t.undone = true
		case t.pack != "" && (w == "." || base == "go.mod" || base == "package.json" || base == "Cargo.toml" || base == "pyproject.toml" || base == "Gemfile"):
			t.undone = true
		}
	}
}

// undoneByEdit tells whether an edit puts back what the trial took out.
func (t *trial) undoneByEdit(v *view, a act) bool {
	if t.file == "" || t.failed < 0 {
		return false
	}
	e := &v.events[a.call]
	for _, p := range e.Paths {
		if path.Base(p) == path.Base(t.file) {
			return t.was != "" && strings.Contains(e.New, t.was) && !strings.Contains(e.New, t.now)
		}
	}
	return false
}

// configTrials are the lines an edit of a configuration file replaced one for one.
func (v *view) configTrials(i int) []trial {
	a := v.acts[i]
	e := &v.events[a.call]
	if len(e.Paths) != 1 || !v.configEdit(a) || e.Old == "" || strings.Contains(strings.TrimSpace(e.Old), "\n") || strings.Contains(strings.TrimSpace(e.New), "\n") {
		return nil
	}
	was, now := strings.TrimSpace(e.Old), strings.TrimSpace(e.New)
	if was == now || len(was) > 80 || len(now) > 80 || len(now) < 4 || redacted.MatchString(was+now) {
		return nil
	}
	return []trial{{act: i, file: e.Paths[0], was: was, now: now, failed: -1}}
}

// deadEnd makes the candidate of a trial that was taken back before act ok passed.
func (v *view) deadEnd(t trial, ok int) (record.Candidate, bool) {
	f := v.acts[t.failed]
	sig := v.sign(t.failed)
	if sig.text == "" || redacted.MatchString(sig.text) {
		return record.Candidate{}, false
	}
	fails := "`" + show(f.step, "") + "` fails with \"" + plain(sig.text) + "\""
	c := record.Candidate{Kind: record.Failure, How: record.Seen}
	if t.pack != "" {
		c.Text = "`" + t.version + "` does not work here: " + fails + "; it was taken out again."
		if t.back != "" {
			c.Text = "`" + t.version + "` does not work here: " + fails + "; stay on `" + t.back + "`."
		}
		c.Topic = t.pack
	} else {
		file := path.Base(t.file)
		c.Text = "`" + plain(t.now) + "` in " + file + " does not work: " + fails + "; it went back to `" + plain(t.was) + "`."
		c.Topic = strings.Join(contentWords(file+" "+t.was), " ")
		c.Paths = []string{relative(t.file, v.session.Dir)}
	}
	c.Body = "Tried in one session: the command failed with it, it was taken back, and the command passed again."
	tried := v.acts[t.act]
	if tried.edit {
		c.Evidence = append(c.Evidence, v.quote(tried.call, t.now))
	} else {
		c.Evidence = append(c.Evidence, v.quoteCommand(tried))
	}
	c.Evidence = append(c.Evidence, v.quoteLine(f, sig.line), v.quoteCommand(v.acts[ok]))
	return c, true
}

// packages returns the dependencies a command adds and removes by name, as written.
func packages(s step) (added, removed []string) {
	w := s.words
	verb := ""
	for i := 1; i < len(w); i++ {
		a := unquote(w[i])
		switch {
		case verb == "":
			switch a {
			case "add", "install", "require", "get":
				verb = "add"
			case "remove", "uninstall", "rm":
				verb = "remove"
			case "--filter", "-F", "-C", "--prefix", "-w", "--workspace":
				i++
			case "pip", "workspace", "global", "-m":
			default:
				if !strings.HasPrefix(a, "-") && a != "web" && w[0] != "yarn" && w[0] != "pnpm" && w[0] != "npm" {
					return nil, nil
				}
			}
		case a == "--group" || a == "-r" || a == "-e" || a == "--extra" || a == "-c" || a == "--filter" || a == "-F" || a == "-C" || a == "--prefix" || a == "--package" || a == "-p":
			i++
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, ".") || strings.HasPrefix(a, "/") || isAssignment(a):
		case verb == "add":
			added = append(added, a)
		default:
			removed = append(removed, a)
		}
	}
	if !packageTool[path.Base(w[0])] || verb == "" {
		return nil, nil
	}
	return added, removed
}

var packageTool = set("npm pnpm yarn bun pip pip3 uv poetry pdm cargo go gem composer")

// name is a dependency without its version.
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

// restores tells whether a command puts files back as git has them.
func restores(s step) bool {
	return s.words[0] == "git" && len(s.words) > 2 && (s.words[1] == "checkout" || s.words[1] == "restore")
}

// sameJob tells whether b is a, or a without some of its words.
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

// plain is text that can stand in a statement between quotation marks or backticks.
func plain(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "`", "'"), `"`, "'")
}
