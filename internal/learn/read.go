package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A model reads sessions after the detectors studied them. It takes minutes instead of
// milliseconds, so the detectors' reflections are kept first. Each finished reading is kept at
// once, so an interruption loses one question.

// Pass is one pass of a model over sessions.
type Pass struct {
	*Learner
	Model *prompts.Model
	Set   prompts.Set
	Keep  func(reflect.Reading) error // keeps a reading; it may be called again
	Dry   bool                        // keeps nothing, not even that a session gave no result
}

// Readings sums up a pass.
type Readings struct {
	Read int // sessions
	Left int // sessions that the pass did not reach
}

// maxUnusable is the number of consecutive unusable answers after which a pass gives the model up.
const maxUnusable = 5

// Over reads sessions one after the other and keeps each reading. It reports a session without a
// usable answer and goes on. If something other than a session ends the pass early, Over reports
// that and returns no error, except for ctx's end.
func (p Pass) Over(ctx context.Context, names []string) (Readings, error) {
	var all Readings
	unusable := openUnusable(p.State, readingsFile, p.Model)
	defer func() { p.Note(Step{N: len(names), All: len(names)}) }()
	inARow := 0
	for i, name := range names {
		all.Left = len(names) - i
		p.Note(Step{i, len(names), name})
		purges := purge.Mark(p.State)
		hash, got, err := p.read(ctx, name)
		if err == nil {
			err = purge.Since(p.State, purges)
		}
		switch {
		case ctx.Err() != nil:
			return all, ctx.Err()
		case errors.Is(err, reflect.ErrUnusable):
			if !p.Dry {
				if err := unusable.add(p.Learner, hash); err != nil {
					return all, err
				}
			}
			if inARow++; inARow == maxUnusable {
				p.Note(GaveUp{p.Model.Name, err})
				return all, nil
			}
			p.Note(Unusable{name, err})
			continue
		case errors.Is(err, errSession):
			p.Note(Passed{err})
			continue
		case errors.Is(err, door.ErrSpent):
			return all, p.noteSpent(ctx, err)
		case errors.Is(err, errModel):
			p.Note(NotAsked{err})
			return all, nil
		case err != nil:
			return all, err
		}
		inARow = 0
		if got.Left > 0 {
			p.Note(NoRoom{name, got.Left, got.Parts})
		}
		if err := p.Keep(got); err != nil {
			return all, err
		}
		all.Read++
	}
	all.Left = 0
	return all, nil
}

var (
	// errModel marks an error of the model or its server that the next session would meet too.
	errModel = errors.New("no answer")
	// errSession marks an error of one session.
	errSession = errors.New("the session is passed over")
)

// read has the model read one session. hash identifies the session's events.
func (p Pass) read(ctx context.Context, name string) (hash string, got reflect.Reading, err error) {
	kept, events, err := p.Sessions.Load(name)
	if err != nil {
		return "", got, fmt.Errorf("%w: %w", errSession, err)
	}
	if client := p.Model.Client; client != "" && kept.Client != client {
		return "", got, fmt.Errorf("%w: %s/%s: %s is asked about its own sessions only", errSession, kept.Client, kept.ID, p.Model.Name)
	}
	base := reflect.Study(kept.Session, events)
	known, err := p.KnownAbout(ctx, kept.Session, events, p.Model.Client == "")
	if err != nil {
		return base.Hash, got, err
	}
	asking := *p.Model
	asking.Ask = func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		a, err := p.Model.Ask(ctx, r)
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, door.ErrSpent):
		case model.BadAnswer(err):
			err = fmt.Errorf("%w: %w", reflect.ErrUnusable, err)
		default:
			err = fmt.Errorf("%w: %w", errModel, err)
		}
		return a, err
	}
	got, err = reflect.Read(ctx, &asking, p.Set, kept.Session, events, base, known)
	if errors.Is(err, reflect.ErrNoRoom) {
		err = fmt.Errorf("%w: %w", errModel, err)
	}
	return base.Hash, got, err
}

// KeepReading writes a reading to the journal, unless a purge came after the mark, because it may
// quote purged text.
func (l *Learner) KeepReading(ctx context.Context, got reflect.Reading, purges string) error {
	fresh, err := l.KeepReflections(ctx, []record.Reflection{got.Reflection}, purges)
	switch {
	case err != nil:
		return err
	case len(fresh) == 0:
		l.Note(Held{got})
	default:
		l.Note(Read{got})
	}
	return nil
}

const (
	maxKnown   = 20      // memories listed so that a model does not find them again
	maxWaiting = 10      // pending operations listed for the same reason
	maxText    = 4 << 10 // bytes by which these are searched: a person's words, and commands
)

// KnownAbout returns the statements of memories nearest to the words of a session's user and to the
// commands that ran, and those of pending operations on the same topic, marked as waiting. private
// adds those that stay in this clone, and pending ones that rest on other clients' sessions.
func (l *Learner) KnownAbout(ctx context.Context, s transcript.Session, events []transcript.Event, private bool) ([]string, error) {
	said, ran := reflect.Topics(s, events, maxText)
	known, err := l.Known(ctx, said, maxKnown, private)
	if err != nil {
		return nil, ifMemory(err)
	}
	var byCommand []string
	if ran != "" {
		if byCommand, err = l.Known(ctx, ran, maxKnown, private); err != nil {
			return nil, ifMemory(err)
		}
	}
	// The first of each list are the nearest.
	var all []string
	for i := range max(len(known), len(byCommand)) {
		for _, list := range [][]string{known, byCommand} {
			if i < len(list) && len(all) < maxKnown && !slices.Contains(all, list[i]) {
				all = append(all, list[i])
			}
		}
	}
	waiting, err := waitingAbout(ctx, l, s.Client, said+"\n"+ran, private)
	return append(all, waiting...), err
}

func ifMemory(err error) error {
	if clone.NoMemory(err) {
		return nil
	}
	return err
}

// waitingAbout returns the statements of pending operations on the topic of a text about a client's
// session. Without private they rest on that client's sessions alone. It leaves out words that a
// person said in passing, since a model may word them better.
func waitingAbout(ctx context.Context, l *Learner, client, text string, private bool) (waiting []string, err error) {
	others := func(s record.Sighting) bool { return s.Client != client }
	may := func(o record.Operation) bool {
		return private || !o.Private && !o.Memory.Private && len(o.Sightings) > 0 && !slices.ContainsFunc(o.Sightings, others)
	}
	err = l.View(ctx, func(v *record.View, _ clone.Team) error {
		waiting = nil
		pending, err := v.Inbox().Operations()
		for _, o := range pending {
			states := (o.Op == record.Add || o.Op == record.Edit || o.Op == record.Merge) && !dream.OnlyInPassing(o)
			if states && may(o) && len(waiting) < maxWaiting && reflect.SameTopic(o.Memory.Text, text) {
				waiting = append(waiting, reflect.Waiting+o.Memory.Text)
			}
		}
		return l.Tolerate(err)
	})
	return waiting, ifMemory(err)
}

// Budget returns the daily budget of questions to models for one clone.
func Budget(c *clone.Clone, m config.Model) door.Budget {
	return door.Budget{Path: filepath.Join(c.State, "model.json"), Calls: m.Calls, Tokens: m.Tokens, Time: time.Duration(m.Seconds) * time.Second, Now: c.Now}
}

// noteSpent reports that the budget is spent: once a day in the background, and always to a person.
func (l *Learner) noteSpent(ctx context.Context, spent error) error {
	c, err := l.Settings(ctx)
	if err != nil {
		return err
	}
	first, err := Budget(l.Clone, c.Model).TellOnce(ctx)
	if first || !l.Background {
		l.Note(Spent{spent})
	}
	return err
}

// Unread returns the names of kept sessions that m has not read in their present state with the
// prompt of set, oldest first. It omits those with two unusable answers from m, and those of which
// an agent is not asked. A nil m means any model, asked as the settings say.
func (l *Learner) Unread(ctx context.Context, m *prompts.Model, set prompts.Set) ([]string, error) {
	kept := l.sessions()
	ids := map[string]bool{}
	err := l.View(ctx, func(v *record.View, _ clone.Team) (err error) {
		ids, err = v.Journal().ReflectionIDs()
		return err
	})
	if err != nil && !clone.NoMemory(err) {
		return nil, err
	}
	by := record.Reflection{}
	client := ""
	if m == nil {
		s, err := l.Settings(ctx)
		if err != nil {
			return nil, err
		}
		client = config.Agent(s.Model.Reads())
	} else {
		client, by.Model, by.Digest = m.Client, m.Name, m.Digest
		if by.Prompt, err = reflect.PromptHash(set); err != nil {
			return nil, err
		}
	}
	read := map[string]bool{}
	for id := range ids {
		read[record.ReadOf(id)] = true
	}
	unusable := openUnusable(l.State, readingsFile, m)
	var names []string
	for _, k := range kept {
		by.Client, by.Session, by.Hash = k.Client, k.ID, k.Hash
		was := ids[by.ID()]
		if m == nil {
			was = read[by.ID()]
		}
		if k.Hash != "" && !was && !unusable.enough(k.Hash) && (client == "" || k.Client == client) {
			names = append(names, k.Name())
		}
	}
	return names, nil
}

// unusable records the questions with unusable answers, so that a model is not asked forever.
type unusable struct {
	Model  string         `json:"model"`  // digest; another model starts with an empty list
	Failed map[string]int `json:"failed"` // hash of a session's events, or name of a dream → attempts

	file string
}

const (
	readingsFile = "unread.json"
	dreamsFile   = "undreamt.json" // another model may dream
	maxAttempts  = 2
	maxFailed    = 10_000 // longer lists are dropped
)

// openUnusable reads the record of a model in a file, or of the last one if m is nil.
func openUnusable(state, name string, m *prompts.Model) *unusable {
	u := &unusable{file: name}
	data, err := file.Read(filepath.Join(state, name), 4<<20)
	if err != nil || json.Unmarshal(data, u) != nil || m != nil && u.Model != m.Digest || len(u.Failed) > maxFailed {
		*u = unusable{file: name}
		if m != nil {
			u.Model = m.Digest
		}
	}
	if u.Failed == nil {
		u.Failed = map[string]int{}
	}
	return u
}

// enough reports whether a question failed too often to be asked again.
func (u *unusable) enough(question string) bool { return u.Failed[question] >= maxAttempts }

// add counts a failed attempt.
func (u *unusable) add(l *Learner, question string) error {
	u.Failed[question]++
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return l.Repo.State().Write(u.file, data, false)
}

// GivenUp counts the sessions about which a model, or the last one if m is nil, is not asked again.
func GivenUp(state string, m *prompts.Model) int {
	u, n := openUnusable(state, readingsFile, m), 0
	for question := range u.Failed {
		if u.enough(question) {
			n++
		}
	}
	return n
}
