package brief

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
)

// All agents read the block of AGENTS.md. It shows the shared memories and names its state, so that
// it can be rendered again. It changes only with these, or branches of the code would conflict. So
// it names the last expiry before it was written, not the time.

// Fault is a fault of a block in a file.
type Fault int

// The faults of a block.
const (
	Faultless    Fault = iota
	NoBlock            // the file has none
	Stateless          // it does not name the state that it shows
	Unknown            // the memory never had the state here
	HandEdited         // it was edited by hand, or torn
	ShowsForeign       // it shows changes by people not trusted here
)

// describe returns a fault in words that continue the file's name, or "".
func (f Fault) describe(branch string, b block.Block) string {
	const again = "; write it again: reverie render agents-md"
	switch f {
	case NoBlock:
		return " has no reverie block"
	case Stateless:
		return ": the block does not name its state" + again
	case Unknown:
		return ": the block shows a state that " + branch + " never had here" + again
	case HandEdited:
		return fmt.Sprintf(": the block was edited by hand or torn (lines %d to %d)", b.Lines[0], b.Lines[1]) + "; to see the edits: reverie render agents-md"
	case ShowsForeign:
		return ": the block shows changes by untrusted people; next: reverie trust, or" + again[1:]
	}
	return ""
}

// stateOf returns the state that a block shows, and a time at which the same memories were live.
func stateOf(b block.Block) (tree gitstore.ID, at time.Time, ok bool) {
	tree = gitstore.ID(b.Attribute("tree"))
	when := b.Attribute("at")
	if when == "" {
		return tree, at, tree != ""
	}
	at, err := time.Parse(time.RFC3339, when)
	return tree, at, tree != "" && err == nil
}

// lastExpiry returns the time of the last expiry before now, or zero.
func lastExpiry(v *record.View, now time.Time) (last time.Time) {
	for _, m := range v.Memories() {
		if !m.Expires.After(now) && m.Expires.After(last) {
			last = m.Expires
		}
	}
	return last
}

// faultOf checks a block in a text. It renders the block again at its own state and time, so later
// or expired memories are no fault. The state must belong to the history of the current one. The
// block must not show a memory that is withheld for its author, then or now. The block records the
// number of otherwise withheld memories and its own labels of stale ones, which cannot be known
// here.
func faultOf(ctx context.Context, r *reader.Reader, now *record.View, b block.Block, text string) (fault Fault, err error) {
	if b.State == block.Absent {
		return NoBlock, nil
	}
	tree, at, ok := stateOf(b)
	if !ok {
		return Stateless, nil
	}
	commit := now.Tip()
	if tree != now.Tree() {
		if commit, err = r.Memory.WithTree(ctx, commit, tree); err != nil {
			return Faultless, err
		}
	}
	if commit == "" {
		return Unknown, nil
	}
	today, err := r.Withheld(ctx, now)
	if err != nil {
		return Faultless, err
	}
	withheld, _ := strconv.Atoi(b.Attribute("withheld"))
	err = r.Book.ViewAt(ctx, string(commit), func(v *record.View) error {
		agents, err := r.ForAgents(ctx, v)
		if err != nil {
			return err
		}
		all, body := everShown(v, agents, at), b.Body(text)
		lines := map[string]bool{} // of what agents were given then
		for _, m := range shared(agents, at) {
			lines[Item{Memory: m, Stale: true}.Line()], lines[Item{Memory: m}.Line()] = true, true
		}
		given := func(it Item) bool {
			if lines[it.Line()] {
				return true
			}
			then, _ := v.Blob(it.ID)
			return same(now, it.ID, then) && len(today.Whose(it.Memory)) == 0
		}
		switch inside := shown(all, body); {
		case renderAgain(all, body, withheld) != body:
			fault = HandEdited
		case slices.ContainsFunc(inside, func(it Item) bool { return !given(it) }):
			fault = ShowsForeign
		}
		return nil
	})
	return fault, err
}

// shared returns the memories that a file for everybody may show at a time.
func shared(v *record.View, now time.Time) []record.Memory {
	return slices.DeleteFunc(v.Memories(), func(m record.Memory) bool { return m.Private || !m.Live(now) })
}

// Shared returns the memories that the block shows: shared ones that agents are given here.
// withheld counts the others.
func Shared(ctx context.Context, r *reader.Reader, v *record.View, now time.Time) (given []Item, withheld int, err error) {
	agents, err := r.ForAgents(ctx, v)
	if err != nil {
		return nil, 0, err
	}
	caveats, err := r.Caveats(ctx, agents)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range shared(agents, now) {
		if s := caveats(m); !s.Withheld {
			given = append(given, Item{Memory: m, Stale: s.Stale})
		}
	}
	return given, ids(everShown(v, agents, now)) - len(given), nil
}

// everShown returns the memories that a file for everybody may show, sorted by id, where agents are
// given those of another view. A memory that differs there is in it twice, the version for agents
// first.
func everShown(v, agents *record.View, now time.Time) []record.Memory {
	all := shared(agents, now)
	if agents != v {
		for _, m := range shared(v, now) {
			if a, ok := agents.Blob(m.ID); !ok || !same(v, m.ID, a) {
				all = append(all, m)
			}
		}
		slices.SortStableFunc(all, func(a, b record.Memory) int { return strings.Compare(a.ID, b.ID) })
	}
	return all
}

// same reports whether a memory of a view has a content.
func same(v *record.View, id string, blob gitstore.ID) bool {
	now, ok := v.Blob(id)
	return ok && now == blob
}

// ids counts the memories of some versions, which are sorted by id.
func ids(all []record.Memory) int {
	return len(slices.CompactFunc(slices.Clone(all), func(a, b record.Memory) bool { return a.ID == b.ID }))
}

// shown returns the memories that a rendered text shows.
func shown(all []record.Memory, body string) []Item {
	lines := map[string]bool{}
	for line := range strings.Lines(body) {
		lines[line] = true
	}
	var inside []Item
	seen := map[string]bool{}
	for _, m := range all {
		for _, stale := range []bool{true, false} {
			if it := (Item{Memory: m, Stale: stale}); !seen[m.ID] && lines[it.Line()] {
				inside, seen[m.ID] = append(inside, it), true
			}
		}
	}
	return inside
}

// renderAgain renders memories as a body was rendered that left some of them out as withheld.
// Without any, those that did not fit are found again; else the body itself tells which they are,
// and their number has to be right.
func renderAgain(all []record.Memory, body string, withheld int) string {
	inside := shown(all, body)
	if withheld != 0 {
		return Markdown(inside, 0, ids(all)-len(inside)-withheld)
	}
	var items []Item
	for i, m := range all {
		it := Item{Memory: m}
		if at := slices.IndexFunc(inside, func(it Item) bool { return it.ID == m.ID }); at >= 0 {
			it = inside[at]
		}
		if i == 0 || all[i-1].ID != m.ID {
			items = append(items, it)
		}
	}
	return Markdown(items, MaxBody, 0)
}

// maxBlock keeps the block well inside the 32 KiB that one client reads of such a file, in bytes.
// 256 of these are for the marker lines (190 at most) and the line that counts the memories left
// out.
const (
	maxBlock = 16 << 10
	MaxBody  = maxBlock - 256
)

func headingOf(k record.Kind) string {
	switch k {
	case record.Constraint:
		return "Constraints"
	case record.Convention:
		return "Conventions"
	case record.Decision:
		return "Decisions"
	case record.Workflow:
		return "Workflows"
	case record.Failure:
		return "Known failures"
	case record.Pattern:
		return "Patterns"
	case record.Fact:
		return "Facts"
	case record.Preference:
		return "Preferences"
	case record.Note:
		return "Notes"
	}
	return ""
}

// Lines of a rendered text that are no memories: the first follows the number of those without
// room.
const (
	leftLine   = " more are not shown here: `reverie list`.\n"
	nothingYet = "Nothing yet.\n"
)

// Markdown renders memories, the most binding kinds first, then by id, so that new memories do not
// reorder it. limit is in bytes, with line ends counted as two. A last line counts the memories
// that do not fit, plus left. The output is deterministic.
func Markdown(memories []Item, limit, left int) string {
	var b strings.Builder
	b.WriteString("## What this repository remembers\n\nKept by Reverie as reference data: verify before you rely on it. `reverie show ID` tells where a statement comes from.\n")
	room := limit - size(b.String())
	for _, k := range record.Kinds {
		heading := "\n### " + headingOf(k) + "\n\n"
		for _, m := range memories {
			if m.Kind != k {
				continue
			}
			text := heading + m.Line()
			if limit > 0 && size(text) > room {
				left++
				continue
			}
			room -= size(text)
			b.WriteString(text)
			heading = ""
		}
	}
	switch {
	case len(memories) == 0 && left <= 0:
		b.WriteString("\n" + nothingYet)
	case left != 0:
		fmt.Fprintf(&b, "\n%d%s", left, leftLine)
	}
	return b.String()
}

// size returns the length of a text with two-byte line ends.
func size(s string) int { return len(s) + strings.Count(s, "\n") }

// edited reports whether a block has another body than it was written with, by the sum in its begin
// line. Without a sum it says no.
func edited(b block.Block, text string) bool {
	sum := b.Attribute("sum")
	return b.State == block.OK && sum != "" && sum != derived.Sum([]byte(b.Body(text)))
}

// handEdits returns the lines of a block that no memory explains, and the removed lines whose
// memories still hold. The latter would be shown now. Memories that are new, changed or forgotten
// since count as neither.
func handEdits(ctx context.Context, r *reader.Reader, now *record.View, b block.Block, text string, given []Item) (added, gone []string, err error) {
	body := b.Body(text)
	then, err := renderedThen(ctx, r, now, b)
	if err != nil {
		return nil, nil, err
	}
	ours := maps.Clone(then)
	for line := range strings.Lines(Markdown(given, 0, 0)) {
		ours[line] = true
	}
	for _, k := range record.Kinds {
		ours["### "+headingOf(k)+"\n"] = true
	}
	inside := map[string]bool{}
	cut := false // some did not fit: an absent one may be old
	for line := range strings.Lines(body) {
		inside[line] = true
		left := strings.HasSuffix(line, leftLine)
		cut = cut || left
		if strings.TrimSpace(line) != "" && !ours[line] && !left && line != nothingYet {
			added = append(added, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
		}
	}
	for _, it := range given {
		if line := it.Line(); !cut && then[line] && !inside[line] {
			gone = append(gone, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
		}
	}
	return added, gone, nil
}

// renderedThen returns the memories that a block may have shown when written, as lines, at its own
// state and time. It returns none if that state is not here.
func renderedThen(ctx context.Context, r *reader.Reader, now *record.View, b block.Block) (lines map[string]bool, err error) {
	lines = map[string]bool{}
	tree, at, ok := stateOf(b)
	if !ok {
		return lines, nil
	}
	commit := now.Tip()
	if tree != now.Tree() {
		if commit, err = r.Memory.WithTree(ctx, commit, tree); err != nil || commit == "" {
			return lines, err
		}
	}
	err = r.Book.ViewAt(ctx, string(commit), func(v *record.View) error {
		agents, err := r.ForAgents(ctx, v)
		if err != nil {
			return err
		}
		for _, m := range everShown(v, agents, at) {
			for _, stale := range []bool{true, false} {
				lines[Item{Memory: m, Stale: stale}.Line()] = true
			}
		}
		return nil
	})
	return lines, err
}

// Managed is a file with the managed block, such as AGENTS.md.
type Managed struct {
	Path  string // absolute; empty: the file of the settings
	Force bool   // overwrite a block edited by hand, or a named file outside the work tree
}

// Rendered is the result of Render.
type Rendered struct {
	File    string `json:"file"`
	Written bool   `json:"written"` // false: it was up to date

	Hidden      int      `json:"-"` // memories left out because their authors are not trusted
	Added, Gone []string `json:"-"` // lines that a person changed, so that nothing was written
}

// find locates the file and its block.
func (m Managed) find(r *reader.Reader) (file string, to clone.Destination, err error) {
	if file = m.Path; file == "" {
		if r.Repo.WorkTree == "" {
			return file, to, exit.New(exit.Failed, errors.New("render agents-md: a bare repository has no AGENTS.md"), "name a file: reverie render agents-md --file FILE")
		}
		file = r.AgentsFile()
	}
	to, err = clone.FindDestination(r.Repo, file)
	return file, to, err
}

// readBlock reads a file and finds its block. It refuses a torn block.
func readBlock(file string, to clone.Destination) (text string, b block.Block, err error) {
	data, err := os.ReadFile(to.Real)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", b, fmt.Errorf("render: %w", err)
	}
	text = string(data)
	if b = block.Find(text); b.State != block.OK && b.State != block.Absent {
		return text, b, b.Refuse(file)
	}
	return text, b, nil
}

// Render brings the block of a file up to date. It leaves a block that a person edited, and returns
// the edits with an error. Only a person may force it.
func (m Managed) Render(ctx context.Context, r *reader.Reader) (done Rendered, err error) {
	file, to, err := m.find(r)
	if err != nil {
		return done, err
	}
	done.File = file
	if !to.Inside {
		if !m.Force || m.Path == "" {
			return done, to.Refuse()
		}
		if err := r.WantPerson("render agents-md --force"); err != nil {
			return done, err
		}
	}
	old, b, err := readBlock(file, to)
	if err != nil {
		return done, err
	}
	err = r.View(ctx, func(v *record.View) error {
		reader.ReportBad(r, v)
		now := r.Now().UTC()
		given, kept, err := Shared(ctx, r, v, now)
		if err != nil {
			return err
		}
		held, err := r.Held(ctx, v)
		if err != nil {
			return err
		}
		done.Hidden = len(slices.DeleteFunc(held, func(h reader.Held) bool { return h.Private || h.Given != nil }))
		body := Markdown(given, MaxBody, 0)
		if b.State == block.OK && b.Body(old) == body {
			return nil
		}
		if edited(b, old) {
			if err := m.overwrite(ctx, r, v, b, old, given, &done); err != nil {
				return err
			}
		}
		attributes := "v1 tree=" + string(v.Tree())
		if last := lastExpiry(v, now); !last.IsZero() {
			attributes += " at=" + last.UTC().Format(time.RFC3339)
		}
		attributes += " sum=" + derived.Sum([]byte(body))
		if kept > 0 {
			attributes += fmt.Sprintf(" withheld=%d", kept)
		}
		if err := to.Write([]byte(b.Put(old, attributes, body))); err != nil {
			return fmt.Errorf("render: %w", err)
		}
		done.Written = true
		return nil
	})
	return done, err
}

// overwrite returns an error if a block that a person edited must stay.
func (m Managed) overwrite(ctx context.Context, r *reader.Reader, v *record.View, b block.Block, old string, given []Item, done *Rendered) (err error) {
	if m.Force {
		return r.WantPerson("render agents-md --force")
	}
	if done.Added, done.Gone, err = handEdits(ctx, r, v, b, old, given); err != nil || len(done.Added)+len(done.Gone) == 0 {
		return err
	}
	slices.Sort(done.Added)
	slices.Sort(done.Gone)
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: the block was edited by hand since it was written; nothing was changed", done.File),
		"to keep an edit, make it a memory: reverie remember TEXT, reverie edit ID TEXT, reverie forget ID --reason WHY\n"+
			"or move it out of the block; then: reverie render agents-md --force")
}

// Check returns the fault of the file's block in words that continue the file's name, or "".
func (m Managed) Check(ctx context.Context, r *reader.Reader) (file, fault string, err error) {
	file, to, err := m.find(r)
	if err != nil {
		return file, "", err
	}
	text, b, err := readBlock(file, to)
	if err != nil {
		return file, "", err
	}
	err = r.View(ctx, func(now *record.View) error {
		f, err := faultOf(ctx, r, now, b, text)
		fault = f.describe(r.Branch(), b)
		return err
	})
	return file, fault, err
}
