package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
)

// loopJSON is a loop in an answer.
type loopJSON struct {
	worktree.State
	Dir      string           `json:"dir"`     // top of its work tree
	Holder   *worktree.Holder `json:"holder"`  // the process that carries it on; null if none does
	Commits  []string         `json:"commits"` // that agents made themselves
	Runs     []runsJSON       `json:"runs"`    // what was made in a sandbox and the host would obey
	Live     *worktree.Live   `json:"live"`    // of the phase that runs; null if none does
	Foreign  bool             `json:"foreign"` // a fetch brought it: it is shown, and nothing of it is run
	Findings struct {
		Open   int `json:"open"`
		Blocks int `json:"blocking"`
		Fixed  int `json:"fixed"`
		Waived int `json:"waived"`
	} `json:"findings"`
	unseen string // the commit by hand that nobody has looked at
}

func (w *workspace) loopJSON(ctx context.Context, name string) (loopJSON, error) {
	var j loopJSON
	l, err := worktree.Open(w.Repo, name, w.Scanner).Load(ctx)
	if err != nil {
		return j, err
	}
	place, err := worktree.PlaceOf(w.Repo, l.State, w.Scanner)
	if err != nil {
		return j, err
	}
	j.State, j.Dir, j.Commits = l.State, place.Dir, list(place.Commits())
	j.Runs, j.Foreign, j.unseen = runsOf(l.Findings), !l.Own, w.unseen(ctx, l.State)
	if j.Holder = worktree.Held(ctx, w.Repo, name); j.Holder != nil && !l.State.Phase.Over() {
		j.Live = liveOf(w.Repo, l.State, maxLiveJSON)
	}
	for _, f := range l.Findings {
		switch f.State {
		case worktree.OpenFinding:
			j.Findings.Open++
		case worktree.Fixed:
			j.Findings.Fixed++
		case worktree.Waived:
			j.Findings.Waived++
		}
		if l.State.Settings.Blocks(f) {
			j.Findings.Blocks++
		}
	}
	return j, nil
}

// maxLiveJSON is how much of what a running command printed is in an answer, in bytes.
const maxLiveJSON = 8 << 10

// liveOf is what is seen of the phase at which a loop is, with at most so many bytes of text; nil if nothing is.
func liveOf(repo *git.Repo, s worktree.State, most int) *worktree.Live {
	l := worktree.LiveOf(repo, s.Name)
	if l == nil || l.Phase != s.Phase || l.Iteration != s.Iteration {
		return nil
	}
	l.Text = worktree.LastLines(l.Text, most)
	return l
}

// runLoopStatus tells about one loop, or all of them.
func runLoopStatus(ctx context.Context, env *Env, name string, o loopOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.watch {
		return explainLoop(w.watchLoop(ctx, name))
	}
	if name != "" {
		_, l, err := w.openLoop(ctx, name)
		if err != nil {
			return err
		}
		j, err := w.loopJSON(ctx, l.State.Name)
		if err != nil || env.JSON {
			if err == nil {
				err = env.Object(j)
			}
			return err
		}
		w.tellLoop(ctx, j, func() {})
		if lines := w.lastLines(j.Live, shownLines); len(lines) > 0 {
			w.env.Print("\n%s\n", strings.Join(lines, "\n"))
		}
		return nil
	}
	all, bad, err := w.allLoops(ctx)
	if err != nil {
		return err
	}
	if len(all)+len(bad) == 0 {
		env.Say("there is no loop here; start one: reverie loop start PLAN --agent NAME --audit CMD")
	}
	var rows [][]string
	for _, j := range all {
		if env.JSON {
			if err := env.Object(j); err != nil {
				return err
			}
			continue
		}
		cells := loopCells(j)
		rows = append(rows, slices.Insert(cells, 1, plural.Ago(env.Now().Sub(j.Changed))))
	}
	for _, line := range columns(rows) {
		env.Print("%s\n", line)
	}
	return w.tellSpoiltLoops(bad)
}

// spoiltLoop is a loop whose record cannot be read.
type spoiltLoop struct {
	name string
	err  error
}

// allLoops are the loops of the repository, what changed last first, and those whose records cannot be read, by name.
func (w *workspace) allLoops(ctx context.Context) (all []loopJSON, bad []spoiltLoop, err error) {
	names, err := worktree.List(ctx, w.Repo)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		j, err := w.loopJSON(ctx, n)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			bad = append(bad, spoiltLoop{n, err})
		default:
			all = append(all, j)
		}
	}
	slices.SortStableFunc(all, func(a, b loopJSON) int { return b.Changed.Compare(a.Changed) })
	return all, bad, nil
}

// tellSpoiltLoops names the loops whose records cannot be read, and is an error if there are any. Why they cannot is not said to an agent: it
// quotes what anybody may have written who can push.
func (w *workspace) tellSpoiltLoops(bad []spoiltLoop) error {
	if len(bad) == 0 {
		return nil
	}
	for _, l := range bad {
		if w.Shields() {
			w.env.Warn("the record of the loop %s cannot be read", term.Visible(l.name))
		} else {
			w.env.Warn("the record of the loop %s cannot be read: %s", term.Visible(l.name), term.OneLine(l.err.Error(), 600))
		}
	}
	name := term.Visible(bad[0].name)
	return exit.New(exit.Failed, fmt.Errorf("%s cannot be read", term.Count(len(bad), "loop", "loops")),
		"to take a record away: git update-ref -d "+worktree.Refs+name+"; then what else is kept of it: reverie loop remove "+name)
}

// loopLine is a loop in one line.
func loopLine(j loopJSON) string { return strings.Join(loopCells(j), "  ") }

// loopCells are the parts of a loop's line: its name, its phase, its iteration, and what else there is to say.
func loopCells(j loopJSON) []string {
	what := string(j.Phase)
	if j.Phase == worktree.Stopped {
		what = "stopped: " + string(j.Reason)
	}
	cells := []string{term.Visible(j.Name), term.Visible(what), "iteration " + iterationOf(j)}
	if j.Findings.Open > 0 {
		cells = append(cells, term.Count(j.Findings.Open, "finding open", "findings open"))
	}
	switch {
	case j.Foreign:
		cells = append(cells, "not begun here")
	case j.Phase.Over() || j.Holder != nil:
	case j.unseen != "":
		cells = append(cells, "a commit waits to be looked at")
	case j.waits():
		cells = append(cells, "waits for a commit")
	default:
		cells = append(cells, "nobody carries it on")
	}
	return cells
}

// columns are rows as lines: the first four cells of each stand below those of the others, two spaces apart.
func columns(rows [][]string) (lines []string) {
	var width [4]int
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(width))] {
			width[i] = max(width[i], displaywidth.String(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				if i < len(width) {
					b.WriteString(strings.Repeat(" ", width[i]-displaywidth.String(cell)))
				}
				b.WriteString("  ")
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}

// waits reports whether a loop is where it should be without a process.
func (j loopJSON) waits() bool {
	return !j.Foreign && j.ByHand() && j.Phase == worktree.Coding && j.Holder == nil
}

func iterationOf(j loopJSON) string {
	if j.Settings.MaxIterations > 0 {
		return fmt.Sprintf("%d/%d", j.Iteration, j.Settings.MaxIterations)
	}
	return fmt.Sprint(j.Iteration)
}

// tellLoop shows one loop: how it stands, what between writes, and what it was started with.
func (w *workspace) tellLoop(ctx context.Context, j loopJSON, between func()) {
	const width = 10
	row := func(name, value string) {
		if value != "" {
			w.env.Row(width, name, value)
		}
	}
	row("name", j.Name)
	row("title", j.Title)
	row("phase", string(j.Phase)+w.since(j.Live))
	row("reason", strings.TrimSuffix(string(j.Reason)+": "+term.OneLine(j.Detail, 600), ": "))
	row("iteration", iterationOf(j))
	switch {
	case j.Failing != nil:
		row("verified", "no: "+term.Visible(j.Failing.String()))
	case j.Verified:
		row("verified", "the plan's commands passed")
	}
	row("findings", fmt.Sprintf("%d open (%d blocking), %d fixed, %d waived", j.Findings.Open, j.Findings.Blocks, j.Findings.Fixed, j.Findings.Waived))
	for _, f := range j.Runs {
		row("look at", term.Visible(f.File+"  "+term.OneLine(f.Why, 200)+"  "+f.Finding))
	}
	row("errors", fmt.Sprintf("%d of %d, %s of %d", j.Errors, j.Settings.MaxErrors, term.Count(j.Stalls, "stall", "stalls"), j.Settings.MaxStalls))
	if j.Foreign {
		row("process", "none: "+worktree.ErrForeign.Error()+"; to take its record away: reverie loop remove "+j.Name)
	} else if j.Holder == nil && !j.Phase.Over() {
		row("process", w.howOn(ctx, j.State, ""))
	}
	between()
	row("audits", fmt.Sprint(j.Audits))
	row("spent", time.Duration(j.Spent*float64(time.Second)).Round(time.Second).String())
	row("changed", plural.Ago(w.env.Now().Sub(j.Changed)))
	row("branch", strings.TrimPrefix(j.Branch, "refs/heads/"))
	row("base", fmt.Sprintf("%.12s", j.Base))
	row("tip", fmt.Sprintf("%.12s", j.Tip))
	row("dir", j.Dir)
	if sandboxed(j.Settings) {
		row("sandbox", fmt.Sprintf("%s, image %.19s", j.Settings.Sandbox, j.Settings.Image))
	}
	row("coder", strings.TrimSpace(j.Settings.Agent+" "+strings.Join(j.Settings.Command, " ")))
	row("audit", j.Settings.Audit+j.Settings.AuditAgent)
	if j.Holder != nil {
		row("process", fmt.Sprintf("%d on %s since %s", j.Holder.PID, j.Holder.Host, j.Holder.Since.Local().Format(time.DateTime)))
	}
}

// since is for how long a phase has run, and how long nothing was heard of it.
func (w *workspace) since(l *worktree.Live) string {
	if l == nil {
		return ""
	}
	now := w.env.Now()
	return fmt.Sprintf(" for %s, silent for %s", passed(now.Sub(l.Began)), passed(now.Sub(l.Heard)))
}

func passed(d time.Duration) string { return max(0, d).Round(time.Second).String() }

// shownLines is how many lines of a running command status shows.
const shownLines = 10

// lastLines are the last lines that the running command printed, at most so many, set in by two spaces.
func (w *workspace) lastLines(l *worktree.Live, most int) []string {
	if l == nil || l.Text+l.Rest == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(l.Text+l.Rest, "\n"), "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		lines[i] = "  " + w.env.cut(2, line)
	}
	return lines
}

// cut is a line that was printed for what a screen has left beside used cells; whole where there is no screen.
func (env *Env) cut(used int, line string) string {
	line = strings.TrimRight(term.Visible(strings.ReplaceAll(line, "\t", "    ")), " ")
	if !env.Screen {
		return line
	}
	return term.Truncate(line, max(term.MinMeasure, env.Width-used))
}

// follow tells the lines that were printed since it was called last, set in by two spaces.
func (w *workspace) follow(seen *worktree.Live, now *worktree.Live) {
	if now == nil {
		return
	}
	if !now.Began.Equal(seen.Began) {
		*seen = worktree.Live{Began: now.Began}
	}
	fresh := now.Lines - seen.Lines
	lines := slices.Collect(strings.Lines(now.Text))
	if gone := fresh - len(lines); gone > 0 {
		w.env.Print("  [… %s …]\n", term.Count(gone, "line", "lines"))
	}
	for _, line := range lines[max(0, len(lines)-fresh):] {
		w.env.Print("  %s\n", strings.TrimRight(visibleLines(line), " \n"))
	}
	seen.Lines = now.Lines
}

// watchEvery is how often a loop is looked at.
const watchEvery = time.Second

// watchLoop tells each step of a loop and what its commands print until it ends, and ends as it does.
func (w *workspace) watchLoop(ctx context.Context, name string) error {
	record, l, err := w.openLoop(ctx, name)
	if err != nil {
		return err
	}
	last, waited := "", 0
	var seen worktree.Live
	for {
		if l, err = record.Load(ctx); err != nil {
			return err
		}
		j, err := w.loopJSON(ctx, l.State.Name)
		if err != nil {
			return err
		}
		if line := loopLine(j); line != last && !l.State.Phase.Over() && (j.Holder != nil || j.waits()) {
			last = line
			if w.env.JSON {
				err = w.env.Object(j)
			} else {
				w.env.Print("%s\n", line)
			}
			if err != nil {
				return err
			}
		}
		if !w.env.JSON {
			w.follow(&seen, liveOf(w.Repo, l.State, worktree.MaxLive))
		}
		switch {
		case l.State.Phase.Over():
			return w.tellEnd(ctx, l.State)
		case j.Holder == nil && !j.waits():
			if waited++; waited > 10 { // one that was just started in the background is not there yet
				return exit.New(exit.Failed, fmt.Errorf("nobody carries the loop %s on", l.State.Name), "reverie loop resume "+l.State.Name)
			}
		default:
			waited = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}
