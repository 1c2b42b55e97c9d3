package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/upkeep"
	"github.com/urfave/cli/v2"
)

type purgeOptions struct {
	purge.Request
	dryRun, yes bool
	push        string
}

func purgeCommand(env *Env) *cli.Command {
	var o purgeOptions
	return &cli.Command{
		Name:      "purge",
		Usage:     "erase a text or a memory from history and state",
		ArgsUsage: "PATTERN|ID|-",
		Description: "Rewrites history; other clones follow at their next sync. The erased text is not kept anywhere.\n" +
			"With -, it reads the text from standard input, so that no shell history keeps it. An id needs at least 8\n" +
			"digits here. To retire a memory and keep its history: reverie forget.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "record `WHY` in the commit; it must not repeat the erased text", Destination: &o.Reason},
			&cli.BoolFlag{Name: "regexp", Usage: "treat PATTERN as a regular expression (RE2)", Destination: &o.Expression},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
			&cli.StringFlag{Name: "push", Usage: "replace the branch of `REMOTE` too; without PATTERN, after an earlier purge", Destination: &o.push},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 || c.NArg() == 0 && o.push == "" {
				return exit.Usage(`quote it: reverie purge "two words"`, "purge takes one text or one id")
			}
			if o.What = c.Args().First(); c.NArg() == 1 && o.What == "" {
				return exit.Usage("", "an empty text matches everything")
			}
			return runPurge(c.Context, env, o)
		},
	}
}

// purgeJSON is the answer of purge.
type purgeJSON struct {
	purge.Found
	Records []string       `json:"records"` // ids of what says that it was purged
	Done    bool           `json:"done"`
	Pushed  string         `json:"pushed,omitempty"` // the remote
	Left    []purge.Remedy `json:"left"`             // what else may hold it
}

func newPurgeJSON(w *workspace, f purge.Found) purgeJSON {
	return purgeJSON{Found: f, Records: []string{}, Left: purge.Remedies(f.Left, w.State)}
}

func runPurge(ctx context.Context, env *Env, o purgeOptions) error {
	w, err := env.openToDecide(ctx, "purge")
	if err != nil {
		return err
	}
	if o.What == "-" {
		if o.What, err = whole(env); err != nil {
			return err
		}
		if o.What == "" {
			return exit.Usage("reverie purge --yes - < FILE", "there is no text to purge on standard input")
		}
	}
	var remote *git.Remote
	if o.push != "" {
		if remote, err = w.Repo.Remote(ctx, o.push, w.Branch()); err == nil {
			err = remote.NoPush
		}
		if err != nil {
			return share.ExplainRemote(err)
		}
	}
	done := newPurgeJSON(w, purge.NothingFound())
	goes := true
	var t purge.Target
	if o.What != "" {
		if t, err = o.Target(ctx, w.Book); err == nil {
			goes, err = showAndAsk(ctx, w, t, o, &done)
		}
	}
	if err == nil && goes {
		err = carryOut(ctx, w, t, o, remote, &done)
	}
	if err != nil && !done.Done && len(done.Left) == 0 {
		return err
	}
	return errors.Join(tellPurge(w, done), err)
}

// carryOut purges while no sync runs.
func carryOut(ctx context.Context, w *workspace, t purge.Target, o purgeOptions, remote *git.Remote, told *purgeJSON) error {
	unlock, err := w.Repo.State().LockSync(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := upkeep.Purgeable(w.Clone)
	if err != nil {
		return err
	}
	done, err := o.Run(ctx, c, t, remote)
	w.tellCommitted(done.Notes...)
	for _, l := range done.Lanes {
		switch {
		case l.Current:
			w.env.Say("%s already has the %s as it is here", remote.Name, l.Name)
		case l.Replaced:
			w.env.Say("replaced the %s of %s", l.Name, remote.Name)
		}
		for _, line := range l.Said {
			w.env.Say("%s says: %s", remote.Name, w.env.Clean(line))
		}
	}
	if done.Needless && err == nil {
		w.env.Say("%s has nothing that was purged here: nothing was pushed", remote.Name)
	}
	if done.Replaced {
		told.Pushed = remote.Name
	}
	told.Done, told.Records = done.Complete, append(told.Records, done.Records...)
	told.Left = append(told.Left, purge.Remedies(done.Left, w.State)...)
	return err
}

// whole reads all of standard input, without its last line feed. No answer can be read after it.
func whole(env *Env) (string, error) {
	const most = 1 << 20 // bytes
	data, err := io.ReadAll(io.LimitReader(env.In, most+1))
	if err == nil && len(data) > most {
		err = exit.Usage("", "the text on standard input has more than %d bytes", most)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
}

// tellPurge gives the answer: for a person, what was shown before is not said again.
func tellPurge(w *workspace, done purgeJSON) error {
	env := w.env
	for i, l := range done.Left {
		done.Left[i].Next = hint.OfOwn(env.own, l.Next)
	}
	if env.JSON {
		return env.Object(done)
	}
	if done.Pushed != "" {
		env.Print("pushed       %s\n", term.Visible(done.Pushed))
	}
	for _, l := range done.Left {
		env.Print("still there  %s\n", term.Visible(l.What))
		if l.Next != "" {
			env.Print("             %s\n", term.Visible(l.Next))
		}
	}
	return nil
}

// showAndAsk shows what would go, and reports whether it is to go.
func showAndAsk(ctx context.Context, w *workspace, t purge.Target, o purgeOptions, done *purgeJSON) (goes bool, err error) {
	c, err := upkeep.Purgeable(w.Clone)
	if err != nil {
		return false, err
	}
	p, found, err := o.Prepare(ctx, c, t)
	if err != nil {
		return false, err
	}
	told := newPurgeJSON(w, found)
	if !w.env.JSON {
		showPurge(w, found)
	}
	if o.dryRun {
		*done = told
		return false, nil
	}
	if err := refuseAll(ctx, w, p); err != nil {
		return false, err
	}
	if !found.Nothing && !o.yes && !w.env.Ask("Remove all of this for good?", "n") {
		return false, exit.New(exit.NeedsPerson, errors.New("purge: nothing was removed"), "to go ahead: reverie purge --yes, with the same words")
	}
	*done = told
	return true, nil
}

// refuseAll refuses a text that stands in every memory there is, unless a person at a terminal
// means just that.
func refuseAll(ctx context.Context, w *workspace, p *purge.Plan) error {
	n, err := p.EveryMemory(ctx)
	if err != nil || n < 2 || w.env.Ask(fmt.Sprintf("All %d memories contain it. Purge them all?", n), "n") {
		return err
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("purge: all %d memories contain it: nothing was removed", n), "to purge them all, write it as a regular expression: reverie purge --regexp")
}

// showPurge tells a person what would go: by number and id, never by its words.
func showPurge(w *workspace, d purge.Found) {
	line := func(name, format string, args ...any) {
		w.env.Lay(13, term.Span("", term.Pad(name, 12)+" "+term.Visible(fmt.Sprintf(format, args...))))
	}
	for _, m := range d.Memories {
		newest := ""
		if m.Kept {
			newest = "; the newest one stays"
		}
		line("memory", "%s, %s%s", m.ID, plural.Count(m.N, "version", "versions"), newest)
	}
	for _, top := range slices.Sorted(maps.Keys(d.Files)) {
		if top != record.MemoryDir {
			line(top, "%s", plural.Count(d.Files[top], "file", "files"))
		}
	}
	if d.Messages > 0 {
		line("messages", "%s", plural.Count(d.Messages, "message of a commit quotes it", "messages of commits quote it"))
	}
	if d.Commits > 0 {
		line("history", "%s new ids", plural.Count(d.Commits, "commit gets", "commits get"))
	}
	for _, r := range d.Refs {
		line("ref", "%s", r)
	}
	for _, l := range d.Loops {
		line("loop", "%s, its record: the plan or the state holds it", l)
	}
	for _, s := range d.Sessions {
		line("session", "%s", s)
	}
	for _, s := range d.State {
		line("file", "reverie/%s", s)
	}
	if len(d.Refs)+len(d.Sessions)+len(d.State) == 0 {
		w.env.Say("Reverie holds it nowhere here")
	}
	tellGoing(w.env, d)
}

// tellGoing names the texts in force that go although they do not hold what is purged, and the
// command that keeps each under another id.
func tellGoing(env *Env, d purge.Found) {
	for _, m := range d.Memories {
		if m.Text != "" {
			env.Warn("%s goes whole, with a newest text that does not hold it: %s", m.ID[:8], term.VisibleLines(m.Text))
			env.Warn("to keep that, afterwards: reverie remember -k %s %s", m.Newest.Kind, hooks.Quote(term.Visible(m.Newest.Text)))
		}
	}
}
