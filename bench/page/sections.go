package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/bench/recall/judge"
	"github.com/reverie-memory/reverie/reflect/eval"
)

// A section measures one thing by one command, on the project's own data or on each given set.
type section struct {
	key, title, about string
	set               string // its data; "" if the command has them
	env, command      []string
	own               string // the project's data, for the last argument
	read              func([]byte) ([]figure.Figure, error)
}

const ownSearch, ownLearning = "gitstore/recall/testdata/labelled", "reflect/testdata/labelled"

// sections lists the page in its order.
func sections() []section {
	search := []string{"go", "run", "./bench/recall", "-json"}
	peers := []string{"go", "run", "-C", "bench/peers", ".", "-json"}
	form := func(command []string, form string) []string { return append(slices.Clone(command), "-form", form) }
	const found = "A share of the right documents among the first 1, 5 or 10 (recall), averaged over the queries. Search without a model."
	const beside = "Other search engines on the same documents and queries, in the same run; bench/peers/README.md has their set-up. " +
		"\"Ours − it\" is the mean of the differences query by query."
	const locomoElsewhere = " The data are CC BY-NC 4.0. Published by others at session level, with embedding models and not measured here: " +
		"MemPalace recall@10 of 60.3 (all-MiniLM) and 88.9 (hybrid), n = 1,986; Hebb Mind 91.4 (all-MiniLM), 94.1 (bge-large) and 95.8 (with a reranker), n = 1,978."
	programs := []string{"go", "run", "./bench", "-json"}
	const ratios = "Ratios are ours divided by theirs: medians over cold processes that alternate in the same rounds, without network and telemetry. A count is ours, with theirs beside it. "
	const entire = ratios + "Both handle one session of Claude Code in a repository of 1,000 files: a prompt, a turn of 20 KB with one edit, and the commit. " +
		"Entire stores a snapshot of the changed files at the end of the turn, and the whole transcript at the commit. " +
		"Reverie queues the events, links the commit to the session, and gives memories at the start and at the prompt. It learns in the background; a row adds that work to all five steps. " +
		"The transcript has the line for which Entire's Stop hook waits up to 3 s, so that wait is left out. Old sessions are copies of Entire's first checkpoint, and learned sessions of the same size. " +
		"Objects of git are not counted as files. Reverie's agent hooks serve every repository and lie in the home folder; Entire's lie in the work tree."
	const gitBug = ratios + "Each process stores one statement of 400 characters, or finds it by two words. git-bug writes git objects and a bleve index, and waits for the disk with the index alone. " +
		"Reverie waits with all that it writes, removes secrets, and looks for contradictions. Installing is init, and git-bug's first identity. git-bug has no command that uninstalls."
	const beads = ratios + "Each process stores one statement of 400 characters. beads writes a row of SQLite and exports all rows to a file of the work tree; its daemon is off. " +
		"This version searches titles alone, so search is not compared. Installing is init with git hooks. beads has no command that uninstalls."
	const cost = "Medians over cold processes, beside plain git or a bare Go program in the same run."
	const yearSessions = "800" // about ten minutes
	const year = "Three people with four clones: sessions teach, people remember, edit, forget and purge, clones sync, git collects garbage. " +
		"Twelve times, git fsck and check --deep examine every clone, and a model that shares no code with the product says what it must hold. " +
		"Processor time is the median of the last quarter, with all processes that a command starts; a curve has the median of each twelfth. " +
		"A year of 2,000 sessions takes too long for this page, so it has " + yearSessions + "."
	return []section{
		{key: "cost", title: "Cost beside plain git, and sizes", about: cost, command: []string{"go", "run", "./bench", "-json"}, read: figures},
		{key: "recall", title: "Search: the project's labelled set", about: found, command: search, own: ownSearch, read: figures},
		{key: "recall-locomo", title: "Search: LoCoMo", about: found + locomoElsewhere, set: "locomo", command: form(search, judge.LoCoMo), read: figures},
		{key: "recall-longmemeval", title: "Search: LongMemEval", about: found, set: "longmemeval", command: form(search, judge.LongMemEval), read: figures},
		{key: "recall-devmembench", title: "Search: DevMemBench", about: found, set: "devmembench", command: form(search, judge.DevMemBench), read: figures},
		{key: "recall-more", title: "Search: another labelled set", about: found, set: "recall", command: search, read: figures},
		{key: "peers", title: "Search beside others: the project's labelled set", about: beside, command: peers, own: "../../" + ownSearch, read: figures},
		{key: "peers-locomo", title: "Search beside others: LoCoMo", about: beside, set: "locomo", command: form(peers, judge.LoCoMo), read: figures},
		{key: "peers-longmemeval", title: "Search beside others: LongMemEval", about: beside, set: "longmemeval", command: append(form(peers, judge.LongMemEval), "-every", "5"), read: figures},
		{key: "peers-devmembench", title: "Search beside others: DevMemBench", about: beside, set: "devmembench", command: form(peers, judge.DevMemBench), read: figures},
		{key: "peers-more", title: "Search beside others: another labelled set", about: beside, set: "recall", command: peers, read: figures},
		{key: "entire", title: "Beside Entire: hooks, commits and installation", about: entire, set: "entire", command: append(slices.Clone(programs), "-entire"), read: figures},
		{key: "git-bug", title: "Beside git-bug: storing and finding a statement", about: gitBug, set: "git-bug", command: append(slices.Clone(programs), "-git-bug"), read: figures},
		{key: "beads", title: "Beside beads: storing a statement", about: beads, set: "beads", command: append(slices.Clone(programs), "-bd"), read: figures},
		{key: "learning", title: "Learning: the project's labelled sessions", about: "Statements that the detectors keep of labelled sessions, without a model. The detectors were tuned on these.",
			command: []string{"go", "run", "./cmd/reverie", "eval", "--json"}, own: ownLearning, read: evalFigures},
		{key: "learning-more", title: "Learning: another labelled folder", about: "The same on sessions labelled by others.", set: "learning",
			command: []string{"go", "run", "./cmd/reverie", "eval", "--json"}, read: evalFigures},
		{key: "replay", title: "Failures that an earlier lesson covers", about: "Real sessions replayed in order; go run ./bench/replay -h defines the counts. Failures of one class depend on each other, so intervals over failures are too narrow.", set: "replay",
			command: []string{"go", "run", "./bench/replay", "-json"}, read: figures},
		{key: "updates", title: "Drift: later instructions replace earlier ones", about: "Labelled dialogues; the comment of bench/updates/main.go defines the counts.", set: "updates",
			command: []string{"go", "run", "./bench/updates", "-json"}, read: figures},
		{key: "vista", title: "Poisoning and drift: the journeys of VISTA Bench", about: "VISTA Bench by Ken Huang et al., CC BY 4.0. " +
			"Its journeys score an agent's route, so the replay adapts them: a memory has no route, the earlier value of an update is made up, and facts are typed. " +
			"The comment of bench/journeys/main.go has the details. Every third journey is replayed. Few wordings and values are different, so intervals over journeys are too narrow.",
			set: "vista", command: []string{"go", "run", "./bench/journeys", "-json", "-every", "3"}, read: figures},
		{key: "year", title: "A team's year against a model", about: year, command: []string{"go", "run", "./bench/year", "-json", "-sessions", yearSessions}, read: figures},
		{key: "year-upgrade", title: "A year with an upgrade", about: "The same with 100 sessions and four examinations; one of the clones works with an earlier program for the first half.", set: "old",
			command: []string{"go", "run", "./bench/year", "-json", "-sessions", "100", "-checks", "4", "-old"}, read: figures},
		{key: "kills", title: "Kills, faults and writers", about: "The tests that kill processes, fail system calls and let writers race, in full numbers and without real agents. Time is wall time; the last column is the test's own count.",
			env: []string{"REVERIE_E2E=1"}, command: []string{"go", "test", "-json", "-count=1", "-timeout", "30m", "-run", "Killed|Fault|Writers|NothingIsLost",
				"-skip", "Clients|Docker", "./gitstore", "./cmd", "./e2e"}, read: testFigures},
	}
}

// setNames lists the names that -set takes.
func setNames() (names []string) {
	for _, s := range sections() {
		if s.set != "" {
			names = append(names, s.set)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A part is a section with its data.
type part struct {
	Key, Title, About string
	Command           string // as a person types it
	Data              string
	Missing           string // why it was not measured
	Failed            string // why its command failed
	Figures           []figure.Figure
	Took              time.Duration // of the command

	env, argv []string
	read      func([]byte) ([]figure.Figure, error)
}

// parts returns one part for each set that the section is given, or one that lacks its data.
func (s section) parts(sets map[string][]string) (all []part) {
	base := part{Key: s.key, Title: s.title, About: s.about, env: s.env, argv: s.command, read: s.read}
	written := strings.Join(append(slices.Clone(s.env), quoted(s.command)...), " ")
	if s.set == "" {
		if s.own != "" {
			base.argv, written = append(slices.Clone(s.command), s.own), written+" "+s.own
		}
		base.Command = written
		return []part{base}
	}
	for _, path := range sets[s.set] {
		p := base
		p.argv, p.Command, p.Data = append(slices.Clone(s.command), path), written+" PATH/"+filepath.Base(path), identity(path)
		all = append(all, p)
	}
	if len(all) == 0 {
		base.Missing = "its data were not given: -set " + s.set + "=PATH"
		base.Command = written + " PATH"
		all = append(all, base)
	}
	return all
}

// quoted quotes words for a shell.
func quoted(words []string) []string {
	words = slices.Clone(words)
	for i, w := range words {
		if strings.ContainsAny(w, "| *") {
			words[i] = "'" + w + "'"
		}
	}
	return words
}

// measure runs the command. Figures printed before it failed count.
func (p *part) measure(ctx context.Context, run runner) {
	begun := time.Now()
	out, failed := run(ctx, p.env, p.argv)
	p.Took = time.Since(begun)
	var err error
	p.Figures, err = p.read(out)
	if err == nil && len(p.Figures) == 0 {
		err = errors.New("it printed no figure")
	}
	if err = cmp.Or(failed, err); err != nil {
		p.Failed = err.Error()
	}
}

func figures(out []byte) ([]figure.Figure, error) {
	return lab.Lines[figure.Figure](bytes.NewReader(out))
}

// evalFigures reads the rows of reverie eval.
func evalFigures(out []byte) (all []figure.Figure, err error) {
	rows, err := lab.Lines[eval.Row](bytes.NewReader(out))
	for _, r := range rows {
		share := func(name string, right, of int, unit string) {
			all = append(all, figure.Share(r.Name, name, right, of, unit))
		}
		share("precision", r.Right, r.Right+r.Wrong, "statements found")
		share("recall", r.Right, r.Right+r.Missed, "statements wanted")
		for _, c := range r.Classes {
			share("recall of "+c.Name, c.Right, c.Of, "statements wanted")
		}
		for _, c := range r.Policy {
			share("precision, "+c.Name, c.Right, c.Of, "statements found")
		}
	}
	return all, err
}

// testFigures reads the events of go test -json: the time and the last words of each test.
func testFigures(out []byte) (all []figure.Figure, err error) {
	events, err := lab.Lines[struct {
		Action, Package, Test, Output string
		Elapsed                       float64
	}](bytes.NewReader(out))
	said := map[string]string{}
	for _, e := range events {
		key := e.Package + " " + e.Test
		top, _, _ := strings.Cut(e.Test, "/")
		switch {
		case e.Action == "output" && strings.Contains(e.Output, "_test.go:"):
			_, text, _ := strings.Cut(e.Output, "_test.go:")
			_, text, _ = strings.Cut(text, ": ")
			said[e.Package+" "+top] = strings.TrimSpace(text)
		case e.Test == "" && e.Action == "fail":
			err = cmp.Or(err, fmt.Errorf("%s failed", e.Package))
		case e.Test == "" || e.Test != top || !slices.Contains([]string{"pass", "fail", "skip"}, e.Action):
		default:
			f := figure.Figure{Set: strings.TrimPrefix(e.Package, "github.com/reverie-memory/reverie/"), Name: e.Test, Value: e.Elapsed, Unit: "s", N: 1, Of: "run",
				Beside: said[key], Aim: "passes", Missed: e.Action != "pass"}
			if e.Action == "skip" {
				f.Beside = "skipped: " + f.Beside
			}
			all = append(all, f)
		}
	}
	return all, err
}
