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
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/worktree"
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
		Usage:     "remove a text, or a memory, for good: from history, sessions and everywhere else of ours",
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
				return usage(`quote it: reverie purge "two words"`, "purge wants one text or one id")
			}
			if o.what = c.Args().First(); c.NArg() == 1 && o.what == "" {
				return usage("", "an empty text is everywhere")
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

// leftover is a place that is not ours, or not ours alone.
type leftover struct {
	What string `json:"what"`
	Next string `json:"next,omitempty"` // what to do about it
}

func runPurge(ctx context.Context, env *Env, o purgeOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.wantsPerson("purge"); err != nil {
		return err
	}
	if o.what == "-" {
		if o.what, err = env.whole(); err != nil {
			return err
		}
		if o.what == "" {
			return usage("as in: reverie purge --yes - < FILE", "there is no text to purge on standard input")
		}
	}
	var remote *purgeRemote
	if o.push != "" {
		if remote, err = w.purgeRemote(ctx, o.push); err != nil {
			return err
		}
	}
	done := newPurgeJSON()
	goes := true
	var t target
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
func (w *workspace) carryOut(ctx context.Context, t target, o purgeOptions, remote *purgeRemote, done *purgeJSON) error {
	unlock, err := w.repo.LockSync(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var last *purged
	if o.what != "" {
		last, err = w.purge(ctx, t, o, done)
	}
	if err == nil && remote != nil {
		err = remote.push(ctx, done)
	}
	if last != nil {
		err = errors.Join(err, w.finishPurge(ctx, done, last))
	}
	return err
}

// whole reads all of standard input, without its last line feed. No answer can be read after it.
func (env *Env) whole() (string, error) {
	const most = 1 << 20 // bytes
	data, err := io.ReadAll(io.LimitReader(env.In, most+1))
	if err == nil && len(data) > most {
		err = usage("", "the text on standard input has more than %d bytes", most)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
}

// tellPurge gives the answer: for a person, what was shown before is not said again.
func (w *workspace) tellPurge(done purgeJSON) error {
	env := w.env
	if env.JSON {
		return env.object(done)
	}
	if done.Pushed != "" {
		env.print("pushed       %s\n", visible(done.Pushed))
	}
	for _, l := range done.Left {
		env.print("still there  %s\n", visible(l.What))
		if l.Next != "" {
			env.print("             %s\n", visible(l.Next))
		}
	}
	return nil
}

// target says what an argument means: hex digits that name a memory are that memory, all else is a text.
func (w *workspace) target(ctx context.Context, o purgeOptions) (target, error) {
	t := target{texts: []string{o.what}}
	switch {
	case o.regexp:
		re, err := regexp.Compile(o.what)
		if err != nil {
			return t, usage("the syntax is that of RE2", "%v", err)
		}
		if re.MatchString("") {
			return t, usage("", "%q matches everywhere", o.what)
		}
		t = target{re: re}
	case hexDigits(o.what):
		id, err := w.memoryToPurge(ctx, o.what)
		if err != nil {
			return t, err
		}
		if id != "" {
			t = target{memory: id}
		}
	}
	if t.re == nil && t.memory == "" && utf8.RuneCountInString(o.what) < shortText {
		return t, usage("as a regular expression it is taken: reverie purge --regexp", "a text of fewer than %d characters stands everywhere", shortText)
	}
	t.prepare()
	if o.reason != "" && t.inMessage(o.reason, t.texts) {
		return t, usage("say why without saying what", "the reason holds what is to be purged")
	}
	return t, nil
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
	err = w.book.View(ctx, func(v *record.View) error {
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
		err = usage(fmt.Sprintf("for the memory give more of its id; for the text: reverie purge --regexp %s", digits), "%s is a text, and begins the id of a memory", digits)
	}
	if id == "" && record.ValidID(digits) {
		id = digits
	}
	return id, err
}

// showAndAsk shows what would go, and reports whether it is to go.
func (w *workspace) showAndAsk(ctx context.Context, t target, o purgeOptions, done *purgeJSON) (goes bool, err error) {
	p, err := w.planPurge(ctx, t, nil)
	if err != nil {
		return false, err
	}
	if len(p.tips()) == 0 {
		if _, err := w.memory.Tip(ctx); err != nil {
			return false, err
		}
	}
	if err := p.refuse(w, o); err != nil {
		return false, err
	}
	told := newPurgeJSON()
	if err := w.describePurge(ctx, p, &told); err != nil {
		return false, err
	}
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
	nothing := !p.found() && len(p.state) == 0
	if !nothing && !o.yes && !w.ask("Remove all of this for good?", "n") {
		return false, &failure{exitPerson, errors.New("purge: nothing was removed"), "to go ahead: reverie purge --yes, with the same words"}
	}
	*done = told
	return true, nil
}

// purge does it. The caller holds the lock of LockSync.
func (w *workspace) purge(ctx context.Context, t target, o purgeOptions, done *purgeJSON) (*purged, error) {
	last, err := w.applyPurge(ctx, t, nil, o.reason, done)
	if err != nil {
		return last, err
	}
	all, err := w.readRemotes()
	if err != nil {
		return last, err
	}
	return last, w.dropProposals(all, done)
}

// refuseAll refuses a text that stands in every memory there is, unless a person at a terminal means just that.
func (w *workspace) refuseAll(ctx context.Context, p *purgePlan) error {
	if p.memory != "" || p.re != nil {
		return nil
	}
	n := 0
	err := w.book.View(ctx, func(v *record.View) error {
		all := v.Memories()
		if !slices.ContainsFunc(all, func(m record.Memory) bool { return p.memories[m.ID] == 0 }) {
			n = len(all)
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		return nil
	}
	if err != nil || n < 2 || w.ask(fmt.Sprintf("Every memory holds it, all %d. Is that what you mean?", n), "n") {
		return err
	}
	return &failure{exitPerson, fmt.Errorf("purge: every memory holds it, all %d: nothing was removed", n), "if that is meant, write it as a regular expression: reverie purge --regexp"}
}

// refuse returns an error where a purge would leave no store, or where its reason tells what goes.
func (p *purgePlan) refuse(w *workspace, o purgeOptions) error {
	if p.config {
		return &failure{exitPerson, fmt.Errorf("purge: reverie.toml on %s holds it, and no store is one without that file", w.branch()), "take it out there by a commit of your own, then purge"}
	}
	if o.reason != "" && p.inMessage(o.reason, p.texts) {
		return usage("say why without saying what", "the reason holds what is to be purged")
	}
	return nil
}

// describePurge fills in what would go.
func (w *workspace) describePurge(ctx context.Context, p *purgePlan, done *purgeJSON) error {
	rw, err := w.rewriting(ctx, p)
	if err != nil {
		return err
	}
	defer rw.Close()
	for _, id := range slices.Sorted(maps.Keys(p.memories)) {
		done.Memories = append(done.Memories, purgedMemory{id, p.memories[id]})
	}
	for top, ids := range p.kinds {
		done.Files[top] = len(ids)
	}
	done.Messages = len(p.messages)
	for old, new := range rw.New {
		if old != new {
			done.Commits++
		}
	}
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if id := rw.New[id(r)]; id != "" && string(id) != r.ID || p.dirty[r.Name] {
				done.Refs = append(done.Refs, r.Name)
			}
		}
	}
	for _, f := range p.state {
		switch {
		case f.how == yours:
			done.Left = append(done.Left, leftover{"your settings of this clone hold it: " + cloneFile(w.state), "edit that file"})
		case strings.HasPrefix(f.path, "sessions/"):
			done.Sessions = append(done.Sessions, strings.TrimPrefix(f.path, "sessions/"))
		default:
			done.State = append(done.State, f.path)
		}
	}
	for _, name := range p.loops {
		done.Loops = append(done.Loops, strings.TrimPrefix(name, worktree.Refs))
	}
	made, err := w.leftInLoops(ctx, p)
	if err != nil {
		return err
	}
	done.Left = append(done.Left, made...)
	for _, m := range slices.Sorted(maps.Keys(p.also)) {
		done.Left = append(done.Left, leftover{"memory " + m + " says the same in its text", "reverie purge " + m})
	}
	return nil
}

// showPurge tells a person what would go: by number and id, never by its words.
func (w *workspace) showPurge(d purgeJSON) {
	line := func(name, format string, args ...any) {
		w.env.lay(13, styled{"", pad(name, 12) + " " + visible(fmt.Sprintf(format, args...))})
	}
	for _, m := range d.Memories {
		line("memory", "%s, %s", m.ID, count(m.Versions, "version", "versions"))
	}
	for _, top := range slices.Sorted(maps.Keys(d.Files)) {
		if top != record.MemoryDir {
			line(top, "%s", count(d.Files[top], "file", "files"))
		}
	}
	if d.Messages > 0 {
		line("messages", "%s", count(d.Messages, "message of a commit quotes it", "messages of commits quote it"))
	}
	if d.Commits > 0 {
		line("history", "%s new ids", count(d.Commits, "commit gets", "commits get"))
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
		w.env.say("nothing of ours here holds it")
	}
}
