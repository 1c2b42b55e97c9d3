package brief

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/derived"
)

// maxHandover bounds the text about another session's stop, in tokens.
const maxHandover = 150

// lastSession tells where the last session on a branch stopped.
type lastSession struct {
	session string // "<client>/<id>", or "" without anything to tell
	own     bool   // it is the asker's: tail is empty for it, but not for others
	tail    string
	until   time.Time // when it is too old
}

// lastSession returns the last session on the branch of the work tree, if it stopped unfinished.
// journal is the commit of the journal.
func (b *maker) lastSession(ctx context.Context, v *record.View, journal string) (l lastSession, err error) {
	age := b.Settings.Config.Handover
	head, branch, _ := b.Repo.Head(ctx)
	if branch == "" || journal == "" || age == 0 || b.asked.Bare {
		return l, nil
	}
	all, err := b.branches(v, journal, age)
	if err != nil {
		return l, err
	}
	last, found := all[branch]
	until := last.Time.Add(age)
	if !found || !last.Open(head) || !b.Now().Before(until) {
		return l, nil
	}
	l.session, l.until = last.Client+"/"+last.Session, until
	if l.own = l.session == b.asked.Session; !l.own {
		l.tail = last.Text
	}
	return l, nil
}

// branchesFile keeps the newest checkpoint of each branch, beside the prepared blocks: a branch
// that is checked out, or a new commit, needs no reading of the others.
const branchesFile = PreparedDir + "/branches"

// branches returns the newest checkpoint of each branch in the months up to an age, with the text
// for another session. A newer state of the journal makes them again.
func (b *maker) branches(v *record.View, journal string, age time.Duration) (map[string]record.Checkpoint, error) {
	var kept struct {
		Format   int
		Journal  string
		Age      time.Duration
		Branches map[string]record.Checkpoint
	}
	path := filepath.Join(b.State, filepath.FromSlash(branchesFile))
	if derived.Read(path, &kept) && kept.Format == contextFormat && kept.Journal == journal && kept.Age == age {
		return kept.Branches, nil
	}
	recent, err := v.Journal().CheckpointsBetween(b.Now().Add(-age), b.Now())
	if err := b.Tolerate(err); err != nil {
		return nil, err
	}
	all := map[string]record.Checkpoint{}
	for _, c := range recent {
		if _, seen := all[c.Branch]; seen {
			continue
		}
		last, _ := record.Latest(recent, c.Branch)
		last.Text, last.Files = handoverTail(last, nickname(last, recent)), nil
		all[c.Branch] = last
	}
	kept.Format, kept.Journal, kept.Age, kept.Branches = contextFormat, journal, age, all
	if b.Started() {
		if _, err := b.Repo.State().Sub(PreparedDir); err == nil {
			b.KeepDerived(path, kept)
		}
	}
	return all, nil
}

// nickname returns a short name of a checkpoint, by which Notebook.Find finds it.
func nickname(c record.Checkpoint, among []record.Checkpoint) string {
	id := c.Session
	for n := min(8, len(id)); n < len(id); n++ {
		if !slices.ContainsFunc(among, func(o record.Checkpoint) bool {
			return o.Client == c.Client && o.Session != c.Session && strings.HasPrefix(o.Session, c.Session[:n])
		}) {
			id = c.Session[:n]
			break
		}
	}
	return fmt.Sprintf("%s/%s#%d", c.Client, id, c.N)
}

// handoverTail returns another session's checkpoint in at most maxHandover tokens: its last
// request, then its open points, a line at a time.
func handoverTail(c record.Checkpoint, name string) string {
	text := fmt.Sprintf("Where the last session on this branch stopped (%s UTC), from its own record; all of it: `reverie checkpoint show %s`",
		c.Time.UTC().Format("2006-01-02 15:04"), Tagless(name))
	var lines []string
	if request := c.Request(); request != "" {
		lines = append(lines, "Last request: "+request)
	}
	for line := range strings.Lines(c.Points()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		fits := false
		for _, width := range []int{200, 100, 50} {
			more := text + "\n" + cut.Marked(Tagless(line), width)
			if fits = pack.Tokens(more) <= maxHandover; fits {
				text = more
				break
			}
		}
		if !fits {
			break
		}
	}
	return text
}

// resumed returns the block for a session that goes on, with its own newest checkpoint if that is
// open. Its transcript has all that it was given: the memories are given again only if they
// changed or a compaction followed.
func (b *maker) resumed(ctx context.Context) (in Injection, err error) {
	err = b.View(ctx, func(v *record.View) error {
		tail := ""
		own, found, err := b.ownCheckpoint(v)
		if err != nil {
			return err
		}
		head, _, _ := b.Repo.Head(ctx)
		if found && own.Open(head) && b.Now().Before(own.Time.Add(b.Settings.Config.Handover)) {
			tail = checkpointTail(own, "stopped")
		}
		if in, _, err = b.block(ctx, v, tail); err != nil {
			return err
		}
		had := b.ledger.lastStart(b.asked.Session)
		if had.base() != in.base() {
			return nil
		}
		whole := in.Hash
		in.Cut[CutGiven], in.Items = len(in.Items), nil
		fill(&in, nil, Parcel{Attributes: attributes(in), Intro: startIntro, Tail: tail})
		if had.Hash == whole || had.Hash == in.Hash {
			in.SetText("")
		}
		return nil
	})
	return in, err
}

// ownCheckpoint returns the newest checkpoint of the asking session.
func (b *maker) ownCheckpoint(v *record.View) (own record.Checkpoint, found bool, err error) {
	if b.asked.Session == "" {
		return own, false, nil
	}
	kept, err := v.Journal().Checkpoints(b.asked.Session)
	if len(kept) > 0 {
		own, found = kept[len(kept)-1], true
	}
	return own, found, b.Tolerate(err)
}

// maxTail bounds the checkpoint that its own session is given, in bytes, once its tags are written
// out.
const maxTail = 5 << 10

// checkpointTail returns a checkpoint in the form for its session, which did something then.
func checkpointTail(c record.Checkpoint, did string) string {
	at := ""
	if c.Commit != "" {
		at = " at " + c.Commit
		if c.Branch != "" {
			at += " on " + Tagless(c.Branch)
		}
	}
	return fmt.Sprintf("Where this session %s (checkpoint %d%s), from its own record:\n\n%s", did, c.N, at, cut.Marked(TaglessLines(c.Text), maxTail))
}
