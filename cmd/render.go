package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

type renderOptions struct {
	view  string // agents-md or memory-md
	file  string
	check bool
	force bool             // what was edited by hand goes
	done  func(renderJSON) // takes what would be the answer in JSON; nil writes it
}

func renderCommand(env *Env) *cli.Command {
	var o renderOptions
	return &cli.Command{
		Name:      "render",
		Usage:     "write memories as Markdown",
		ArgsUsage: "agents-md|memory-md",
		Description: "agents-md keeps one block between two marker lines and leaves every other byte of the file alone.\n" +
			"It records the state it shows, so learning more does not make it stale; --check tells an edited or torn block.\n" +
			"A block that was edited by hand since it was written is left as it is, unless --force says that it shall go.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "another `FILE` than the setting agents.file", Destination: &o.file},
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 1 if the file's block is not what it should be", Destination: &o.check},
			&cli.BoolFlag{Name: "force", Usage: "overwrite a block that was edited by hand; with --file, write outside this work tree", Destination: &o.force},
		},
		Action: func(c *cli.Context) error {
			o.view = c.Args().First()
			if c.NArg() != 1 || o.view != "agents-md" && o.view != "memory-md" {
				return exit.Usage("reverie render agents-md", "render wants agents-md or memory-md")
			}
			if o.view == "memory-md" && (o.check || o.force || o.file != "") {
				return exit.Usage("reverie render memory-md >FILE", "render memory-md writes to standard output: it takes no --file, no --check and no --force")
			}
			return env.Paged(c.Context, func() error { return runRender(c.Context, env, o) })
		},
	}
}

func runRender(ctx context.Context, env *Env, o renderOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.view == "memory-md" {
		return w.view(ctx, func(v *record.View) error {
			w.tellBad(v)
			given, _, err := w.given(ctx, v, env.Now())
			if err != nil {
				return err
			}
			text := renderMemories(given, 0, 0)
			if env.JSON {
				return env.Object(map[string]string{"text": text})
			}
			if env.Screen {
				env.Indent("", strings.TrimSuffix(text, "\n"))
			} else {
				env.Print("%s", text)
			}
			return nil
		})
	}
	file := env.path(o.file)
	if o.file == "" {
		if w.Repo.WorkTree == "" {
			return exit.New(exit.Failed, errors.New("render agents-md: a bare repository has no AGENTS.md"), "name a file: reverie render agents-md --file FILE")
		}
		file = w.agentsFile()
	}
	to, err := w.destination(file)
	if err != nil {
		return err
	}
	if !to.inside && !o.check {
		if !o.force || o.file == "" {
			return to.refuse()
		}
		if err := w.WantPerson("render agents-md --force"); err != nil {
			return err
		}
	}
	old, err := os.ReadFile(to.real)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("render: %w", err)
	}
	b := block.Find(string(old))
	if b.State != block.OK && b.State != block.Absent {
		return b.Refuse(file)
	}
	if o.check {
		return w.checkBlock(ctx, file, b, string(old))
	}
	return w.view(ctx, func(v *record.View) error {
		w.tellBad(v)
		now := env.Now().UTC().Truncate(time.Second) // as precise as the block tells it
		given, kept, err := w.given(ctx, v, now)
		if err != nil {
			return err
		}
		held, err := w.Held(ctx, v)
		if err != nil {
			return err
		}
		w.tellHidden(len(slices.DeleteFunc(held, func(h reader.Held) bool { return h.Private || h.Given != nil })))
		body := renderMemories(given, maxBody, 0)
		current := b.State == block.OK && b.Body(string(old)) == body
		if !current {
			if o.force && edited(b, string(old)) {
				if err := w.WantPerson("render agents-md --force"); err != nil {
					return err
				}
			}
			if !o.force && edited(b, string(old)) {
				added, gone, err := w.handEdits(ctx, v, b, string(old), given)
				if err != nil {
					return err
				}
				if len(added)+len(gone) > 0 {
					return w.refuseEdited(file, added, gone)
				}
			}
			attributes := fmt.Sprintf("v1 tree=%s at=%s sum=%s", v.Tree(), now.Format(time.RFC3339), derived.Sum([]byte(body)))
			if kept > 0 {
				attributes += fmt.Sprintf(" withheld=%d", kept)
			}
			if err := to.write([]byte(b.Put(string(old), attributes, body))); err != nil {
				return fmt.Errorf("render: %w", err)
			}
		}
		switch {
		case env.JSON && o.done != nil:
			o.done(renderJSON{file, !current})
		case env.JSON:
			return env.Object(renderJSON{file, !current})
		case current:
			env.Say("%s is up to date", file)
		default:
			env.Say("wrote %s", file)
		}
		return nil
	})
}

type renderJSON struct {
	File    string `json:"file"`
	Written bool   `json:"written"` // false: it was up to date
}

type renderCheckJSON struct {
	File    string `json:"file"`
	Current bool   `json:"current"`
}

// checkBlock tells whether the block is what was rendered into it.
func (w *workspace) checkBlock(ctx context.Context, file string, b block.Block, text string) error {
	var wrong string
	err := w.view(ctx, func(now *record.View) (err error) {
		wrong, err = w.blockFault(ctx, now, b, text)
		return err
	})
	if err != nil {
		return err
	}
	if w.env.JSON {
		if err := w.env.Object(renderCheckJSON{file, wrong == ""}); err != nil {
			return err
		}
	}
	if wrong == "" {
		w.env.Say("%s is as it was rendered", file)
		return nil
	}
	w.env.Warn("%s%s", file, wrong)
	return exit.Silent
}

// blockFault says what is wrong with a block, or "". It renders again at the state and the time that
// the block names, so neither what was learned since nor what expired since is a fault. The state must be one of the
// history of the state now, and nothing may be shown that is withheld here for its author, then and now. What else was
// withheld where it was written, and what was stale there, cannot be known here: of the first the block has the
// number, and of the second its own word.
func (w *workspace) blockFault(ctx context.Context, now *record.View, b block.Block, text string) (fault string, err error) {
	const anew = "; write it anew: reverie render agents-md"
	if b.State == block.Absent {
		return " has no reverie block", nil
	}
	tree := gitstore.ID(b.Attribute("tree"))
	at, err := time.Parse(time.RFC3339, b.Attribute("at"))
	if tree == "" || err != nil {
		return ": the block does not name the state and the time it shows" + anew, nil
	}
	commit := now.Tip()
	if tree != now.Tree() {
		if commit, err = w.Memory.WithTree(ctx, commit, tree); err != nil {
			return "", err
		}
	}
	if commit == "" {
		return ": the block shows a state that " + w.Branch() + " never had here" + anew, nil
	}
	today, err := w.Withheld(ctx, now)
	if err != nil {
		return "", err
	}
	withheld, _ := strconv.Atoi(b.Attribute("withheld"))
	err = w.Book.ViewAt(ctx, string(commit), func(v *record.View) error {
		agents, err := w.ForAgents(ctx, v)
		if err != nil {
			return err
		}
		all, body := everShown(v, agents, at), b.Body(text)
		lines := map[string]bool{} // of what agents were given then
		for _, m := range shared(agents, at) {
			lines[brief.Item{Memory: m, Stale: true}.Line()], lines[brief.Item{Memory: m, Stale: false}.Line()] = true, true
		}
		given := func(it brief.Item) bool {
			if lines[it.Line()] {
				return true
			}
			then, _ := v.Blob(it.ID)
			return same(now, it.ID, then) && len(today.Whose(it.Memory)) == 0
		}
		switch inside := shown(all, body); {
		case renderAgain(all, body, withheld) != body:
			fault = fmt.Sprintf(": the block was edited by hand or torn (lines %d to %d)", b.Lines[0], b.Lines[1]) + "; what was edited is told by: reverie render agents-md"
		case slices.ContainsFunc(inside, func(it brief.Item) bool { return !given(it) }):
			fault = ": the block shows what people not trusted here have changed; next: reverie trust, or" + anew[1:]
		}
		return nil
	})
	return fault, err
}

// shared are the memories that a file for everybody may show at the time now.
func shared(v *record.View, now time.Time) []record.Memory {
	return slices.DeleteFunc(v.Memories(), func(m record.Memory) bool { return m.Private || !m.Live(now) })
}

// item is a memory as a rendered text shows it.
type item struct {
	record.Memory
	stale bool
}

// given are the shared memories that agents are given here, and the number of those that are withheld.
func (w *workspace) given(ctx context.Context, v *record.View, now time.Time) (given []brief.Item, withheld int, err error) {
	agents, err := w.ForAgents(ctx, v)
	if err != nil {
		return nil, 0, err
	}
	standings, err := w.Caveats(ctx, agents)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range shared(agents, now) {
		if s := standings(m); !s.Withheld {
			given = append(given, brief.Item{Memory: m, Stale: s.Stale})
		}
	}
	return given, ids(everShown(v, agents, now)) - len(given), nil
}

// everShown are the memories that a file for everybody may show where agents are given those of another view, sorted by id: a memory that was changed since
// is there twice, as agents are given it first.
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

// ids is how many memories some versions, sorted by id, are of.
func ids(all []record.Memory) int {
	return len(slices.CompactFunc(slices.Clone(all), func(a, b record.Memory) bool { return a.ID == b.ID }))
}

// shown are those of some memories that a rendered text shows.
func shown(all []record.Memory, body string) []brief.Item {
	lines := map[string]bool{}
	for line := range strings.Lines(body) {
		lines[line] = true
	}
	var inside []brief.Item
	seen := map[string]bool{}
	for _, m := range all {
		for _, stale := range []bool{true, false} {
			if it := (brief.Item{Memory: m, Stale: stale}); !seen[m.ID] && lines[it.Line()] {
				inside, seen[m.ID] = append(inside, it), true
			}
		}
	}
	return inside
}

// renderAgain renders all as a body was rendered, of which withheld memories were kept. When none was, what did
// not fit is worked out again; else the body says by itself which they are, and their number has to be right.
func renderAgain(all []record.Memory, body string, withheld int) string {
	inside := shown(all, body)
	if withheld != 0 {
		return renderMemories(inside, 0, ids(all)-len(inside)-withheld)
	}
	var items []brief.Item
	for i, m := range all {
		it := brief.Item{Memory: m}
		if at := slices.IndexFunc(inside, func(it brief.Item) bool { return it.ID == m.ID }); at >= 0 {
			it = inside[at]
		}
		if i == 0 || all[i-1].ID != m.ID {
			items = append(items, it)
		}
	}
	return renderMemories(items, maxBody, 0)
}

// maxBlock keeps the block well inside the 32 KiB that one client reads of such a file, in bytes.
// Of these, 256 are for the marker lines (190 at most) and the line that counts what is left out.
const (
	maxBlock = 16 << 10
	maxBody  = maxBlock - 256
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

// Lines of a rendered text that are no memories: how many have no room, behind their number, and that there are none.
const (
	leftLine   = " more are not shown here: `reverie list`.\n"
	nothingYet = "Nothing yet.\n"
)

// renderMemories writes memories as Markdown, the most binding kinds first, in the order of
// ids, which does not move when others come. With a limit in bytes, line ends counted as two, what
// does not fit is counted in one more line, beside left. The same memories always give the same bytes.
func renderMemories(memories []brief.Item, limit, left int) string {
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

// size is the length of a text in a file whose line ends have two bytes.
func size(s string) int { return len(s) + strings.Count(s, "\n") }
