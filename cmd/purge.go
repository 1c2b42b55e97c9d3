package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type purgeOptions struct {
	what, reason string
	regexp       bool
	dryRun, yes  bool
	push         string
}

func purgeCommand(env *Env) *cli.Command {
	var o purgeOptions
	return &cli.Command{
		Name:      "purge",
		Usage:     "erase a text or a memory from history and state",
		ArgsUsage: "PATTERN|ID|-",
		Description: "History is rewritten, and other clones follow at their next sync. Nothing that goes is kept anywhere.\n" +
			"With - the text is read from standard input, so that no shell keeps it.\n" +
			"An id has at least 8 of its digits here. To take a memory out of force and keep its history: reverie forget.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "`WHY`, for the commit; it must not tell what goes", Destination: &o.reason},
			&cli.BoolFlag{Name: "regexp", Usage: "PATTERN is a regular expression (RE2)", Destination: &o.regexp},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would go", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
			&cli.StringFlag{Name: "push", Usage: "replace the branch of `REMOTE` too; alone, after an earlier purge", Destination: &o.push},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 || c.NArg() == 0 && o.push == "" {
				return exit.Usage(`quote it: reverie purge "two words"`, "purge wants one text or one id")
			}
			if o.what = c.Args().First(); c.NArg() == 1 && o.what == "" {
				return exit.Usage("", "an empty text is everywhere")
			}
			return runPurge(c.Context, env, o)
		},
	}
}

// purgeJSON is the answer of purge.
type purgeJSON struct {
	Memories []purgedMemory `json:"memories"`
	Files    map[string]int `json:"files"`    // contents that go, by their folder in a store
	Messages int            `json:"messages"` // of commits
	Commits  int            `json:"commits"`  // that get new ids
	Refs     []string       `json:"refs"`     // that are rewritten
	Sessions []string       `json:"sessions"` // files that are removed
	Loops    []string       `json:"loops"`    // whose records go whole
	State    []string       `json:"state"`    // other files that are cleaned or removed
	Records  []string       `json:"records"`  // ids of what says that it was purged
	Done     bool           `json:"done"`
	Pushed   string         `json:"pushed,omitempty"` // the remote
	Left     []leftover     `json:"left"`             // what else may hold it
}

// newPurgeJSON has lists where nothing is found, not null.
func newPurgeJSON() purgeJSON {
	return purgeJSON{Memories: []purgedMemory{}, Files: map[string]int{}, Refs: []string{}, Sessions: []string{}, Loops: []string{}, State: []string{}, Records: []string{}, Left: []leftover{}}
}

type purgedMemory struct {
	ID       string `json:"id"`
	Versions int    `json:"versions"`
}

func runPurge(ctx context.Context, env *Env, o purgeOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("purge"); err != nil {
		return err
	}
	if o.what == "-" {
		if o.what, err = env.whole(); err != nil {
			return err
		}
		if o.what == "" {
			return exit.Usage("as in: reverie purge --yes - < FILE", "there is no text to purge on standard input")
		}
	}
	var remote *git.Remote
	if o.push != "" {
		if remote, err = w.Repo.Remote(ctx, o.push, w.Branch()); err != nil {
			return share.ExplainRemote(err)
		}
	}
	done := newPurgeJSON()
	goes := true
	var t purge.Target
	if o.what != "" {
		if t, err = w.target(ctx, o); err == nil {
			goes, err = w.showAndAsk(ctx, t, o, &done)
		}
	}
	if err == nil && goes {
		err = w.carryOut(ctx, t, o, remote, &done)
	}
	if err != nil && !done.Done && len(done.Left) == 0 {
		return err
	}
	return errors.Join(w.tellPurge(done), err)
}

// carryOut purges, pushes, and sees it through, whatever becomes of the parts. Nobody syncs meanwhile.
func (w *workspace) carryOut(ctx context.Context, t purge.Target, o purgeOptions, remote *git.Remote, done *purgeJSON) error {
	unlock, err := w.Repo.LockSync(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	clone, err := w.purgeable()
	if err != nil {
		return err
	}
	var last *purge.Done
	if o.what != "" {
		last, err = w.applyPurge(ctx, clone, t, o.reason, done)
	}
	if err == nil && remote != nil {
		err = w.pushPurge(ctx, clone, remote, done)
	}
	if last != nil {
		left, failed := last.Finish(ctx, done.Pushed)
		done.Left = append(done.Left, w.leftovers(left)...)
		err = errors.Join(err, failed)
	}
	return err
}

// applyPurge takes the target out, and forgets proposals that were made on what was rewritten.
func (w *workspace) applyPurge(ctx context.Context, clone *purge.Clone, t purge.Target, reason string, done *purgeJSON) (*purge.Done, error) {
	last, err := clone.Apply(ctx, t, reason)
	if last == nil {
		return nil, err
	}
	w.tellCommitted(last.Notes...)
	done.Done, done.Records = last.Complete, append(done.Records, last.Records...)
	if err != nil {
		return last, err
	}
	left, err := purge.DropProposals(clone.Remotes, last.New)
	done.Left = append(done.Left, w.leftovers(left)...)
	return last, err
}

// whole reads all of standard input, without its last line feed. No answer can be read after it.
func (env *Env) whole() (string, error) {
	const most = 1 << 20 // bytes
	data, err := io.ReadAll(io.LimitReader(env.In, most+1))
	if err == nil && len(data) > most {
		err = exit.Usage("", "the text on standard input has more than %d bytes", most)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
}

// tellPurge gives the answer: for a person, what was shown before is not said again.
func (w *workspace) tellPurge(done purgeJSON) error {
	env := w.env
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

// target says what an argument means: hex digits that name a memory are that memory, all else is a text.
func (w *workspace) target(ctx context.Context, o purgeOptions) (purge.Target, error) {
	t, text := purge.Text(o.what), true
	switch {
	case o.regexp:
		re, err := regexp.Compile(o.what)
		if err != nil {
			return t, exit.Usage("the syntax is that of RE2", "%v", err)
		}
		if re.MatchString("") {
			return t, exit.Usage("", "%q matches everywhere", o.what)
		}
		t, text = purge.Expression(re), false
	case hexDigits(o.what):
		id, err := w.memoryToPurge(ctx, o.what)
		if err != nil {
			return t, err
		}
		if id != "" {
			t, text = purge.Memory(id), false
		}
	}
	if text && utf8.RuneCountInString(o.what) < shortText {
		return t, exit.Usage("as a regular expression it is taken: reverie purge --regexp", "a text of fewer than %d characters stands everywhere", shortText)
	}
	return t, o.reasonTells(&t)
}

// reasonTells is an error where the reason quotes what goes.
func (o purgeOptions) reasonTells(t *purge.Target) error {
	if o.reason != "" && t.Tells(o.reason) {
		return exit.Usage("say why without saying what", "the reason holds what is to be purged")
	}
	return nil
}

// shortID is how many digits of an id purge wants at least: fewer are too easily a word.
const shortID = 8

// shortText is how many characters a text has at least.
const shortText = 3

func hexDigits(s string) bool {
	return len(s) >= 4 && len(s) <= 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// memoryToPurge is the memory that hex digits name: one that is here, one that an operation would make, or one
// that was purged already, so that the same words never mean something else the second time. A whole id may be of
// history alone. It is empty where they are a text like any other.
func (w *workspace) memoryToPurge(ctx context.Context, digits string) (id string, err error) {
	err = w.Book.View(ctx, func(v *record.View) error {
		m, err := v.Find(digits)
		if errors.Is(err, record.ErrNoMemory) {
			pending, _ := v.Operations()
			var op record.Operation
			op, err = record.FindOperation(pending, digits)
			m = op.Memory
		}
		if errors.Is(err, record.ErrNoMemory) {
			m.ID, err = v.PurgedLike(digits), nil
		}
		id = m.ID
		return err
	})
	switch {
	case errors.Is(err, gitstore.ErrNoStore):
		err = nil
	case len(digits) < shortID && (err == nil && id != "" || errors.Is(err, record.ErrAmbiguous)):
		err = exit.Usage(fmt.Sprintf("for the memory give more of its id; for the text: reverie purge --regexp %s", digits), "%s is a text, and begins the id of a memory", digits)
	}
	if id == "" && record.ValidID(digits) {
		id = digits
	}
	return id, err
}

// showAndAsk shows what would go, and reports whether it is to go.
func (w *workspace) showAndAsk(ctx context.Context, t purge.Target, o purgeOptions, done *purgeJSON) (goes bool, err error) {
	clone, err := w.purgeable()
	if err != nil {
		return false, err
	}
	p, err := clone.Plan(ctx, t)
	if err != nil {
		return false, err
	}
	if p.Empty() {
		if _, err := w.Memory.Tip(ctx); err != nil {
			return false, err
		}
	}
	if err := p.Check(); err != nil {
		return false, err
	}
	if err := o.reasonTells(&p.Target); err != nil {
		return false, err
	}
	found, err := p.Find(ctx)
	if err != nil {
		return false, err
	}
	told := w.describePurge(found)
	if !w.env.JSON {
		w.showPurge(told)
	}
	if o.dryRun {
		*done = told
		return false, nil
	}
	if err := w.refuseAll(ctx, p); err != nil {
		return false, err
	}
	if !found.Nothing && !o.yes && !w.env.Ask("Remove all of this for good?", "n") {
		return false, exit.New(exit.NeedsPerson, errors.New("purge: nothing was removed"), "to go ahead: reverie purge --yes, with the same words")
	}
	*done = told
	return true, nil
}

// refuseAll refuses a text that stands in every memory there is, unless a person at a terminal means just that.
func (w *workspace) refuseAll(ctx context.Context, p *purge.Plan) error {
	n, err := p.EveryMemory(ctx)
	if err != nil || n < 2 || w.env.Ask(fmt.Sprintf("Every memory holds it, all %d. Is that what you mean?", n), "n") {
		return err
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("purge: every memory holds it, all %d: nothing was removed", n), "if that is meant, write it as a regular expression: reverie purge --regexp")
}

// describePurge is the answer as far as it is known before anything goes.
func (w *workspace) describePurge(f purge.Found) purgeJSON {
	told := newPurgeJSON()
	for _, m := range f.Memories {
		told.Memories = append(told.Memories, purgedMemory{m.ID, m.N})
	}
	told.Files, told.Messages, told.Commits = f.Files, f.Messages, f.Commits
	told.Refs, told.Loops, told.State = append(told.Refs, f.Refs...), append(told.Loops, f.Loops...), append(told.State, f.State...)
	for _, path := range f.Sessions {
		told.Sessions = append(told.Sessions, strings.TrimPrefix(path, "sessions/"))
	}
	told.Left = w.leftovers(f.Left)
	return told
}

// showPurge tells a person what would go: by number and id, never by its words.
func (w *workspace) showPurge(d purgeJSON) {
	line := func(name, format string, args ...any) {
		w.env.Lay(13, term.Span("", term.Pad(name, 12)+" "+term.Visible(fmt.Sprintf(format, args...))))
	}
	for _, m := range d.Memories {
		line("memory", "%s, %s", m.ID, term.Count(m.Versions, "version", "versions"))
	}
	for _, top := range slices.Sorted(maps.Keys(d.Files)) {
		if top != record.MemoryDir {
			line(top, "%s", term.Count(d.Files[top], "file", "files"))
		}
	}
	if d.Messages > 0 {
		line("messages", "%s", term.Count(d.Messages, "message of a commit quotes it", "messages of commits quote it"))
	}
	if d.Commits > 0 {
		line("history", "%s new ids", term.Count(d.Commits, "commit gets", "commits get"))
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
		w.env.Say("nothing of ours here holds it")
	}
}
