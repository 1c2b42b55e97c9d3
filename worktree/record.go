package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Refs is the folder of the loops' records.
const Refs = "refs/reverie/loops/"

// Branches is the folder of the loops' branches.
const Branches = "refs/heads/reverie/loop/"

// Record is the stored form of a loop: a tree of files under the ref Refs + name, each step a
// commit.
//
//	state.json                               State
//	signatures                               proof that state, plan and findings were written here
//	plan.md                                  the plan's text
//	findings/<id>.json                       Finding
//	iterations/<n>/{agent,verify,audit}.txt  the output, redacted; long texts have a gap in the middle
type Record struct {
	Name    string
	store   *gitstore.Store
	repo    *git.Repo
	scanner *redact.Scanner
}

// Open names a loop's record. It does no I/O.
func Open(repo *git.Repo, name string, scanner *redact.Scanner) *Record {
	return &Record{Name: name, store: gitstore.Open(repo, Refs+name), repo: repo, scanner: scanner}
}

// List returns the names of all loops of a repository, in order. It skips refs that no loop can
// have.
func List(ctx context.Context, repo *git.Repo) ([]string, error) {
	refs, err := repo.Refs().List(ctx, strings.TrimSuffix(Refs, "/"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range refs {
		if name := strings.TrimPrefix(r.Name, Refs); validName(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Create creates the record of a new loop. It restarts a loop of that name that stopped before it
// had a work tree. For any other existing loop the error wraps ErrTaken. The caller holds the
// lease.
func (r *Record) Create(ctx context.Context, s State, plan Plan) error {
	s.Format = stateFormat
	text, err := r.encode(s)
	if err != nil {
		return err
	}
	planText, found := r.scanner.Text(plan.Text)
	if found.Found > 0 {
		return fmt.Errorf("the plan holds what looks like a secret (%s): %w; take it out: the record of a loop is kept", rules(found), ErrRefused)
	}
	key := r.key()
	if _, err := r.repo.Refs().Read(ctx, Refs+r.Name); errors.Is(err, git.ErrNoRef) {
		if key, err = r.newKey(); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	blob := func(text redact.Redacted) gitstore.ID {
		return gitstore.ID(r.repo.ObjectFormat.NewObject(git.Blob, text.Bytes()).ID)
	}
	signed, err := r.signatureLines(key, map[string]gitstore.ID{"state.json": blob(text), "plan.md": blob(planText)})
	if err != nil {
		return err
	}
	c := gitstore.Commit{Subject: fmt.Sprintf("starting: %s", s.Title), Scanner: r.scanner, Trailers: []gitstore.Trailer{{Key: "Reverie-Loop", Value: s.Name}}}
	_, err = r.store.Create(ctx, map[string]redact.Redacted{"state.json": text, "plan.md": planText, signatures: signed}, c)
	if !errors.Is(err, gitstore.ErrExists) {
		return err
	}
	_, err = r.store.Update(ctx, c, func(tx *gitstore.Tx) error {
		old, err := r.read(tx.Tree)
		if err != nil {
			return err
		}
		if own, err := r.own(tx.Tree); err != nil {
			return err
		} else if !own || old.Phase != Stopped || old.At != Starting {
			return fmt.Errorf("loop %s: %w", s.Name, ErrTaken)
		}
		if err := tx.Write("state.json", text); err != nil {
			return err
		}
		if err := tx.Write("plan.md", planText); err != nil {
			return err
		}
		return r.sign(tx)
	})
	return err
}

// encode returns a state in stored form. It refuses a state with a secret, because the stored state
// must read back unchanged.
func (r *Record) encode(s State) (redact.Redacted, error) {
	s.Detail = r.cut(s.Detail, bounded, maxSaid).String()
	if s.Failing != nil {
		s.Failing = &Failing{r.cut(s.Failing.Command, bounded, maxSaid).String(), s.Failing.Exit}
	}
	doc, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return redact.Redacted{}, err
	}
	text, found, err := r.scanner.JSON(append(doc, '\n'))
	if err != nil {
		return text, err
	}
	if found.Found > 0 {
		return text, fmt.Errorf("what the loop was started with holds what looks like a secret (%s): %w; give it in the environment", rules(found), ErrRefused)
	}
	return text, nil
}

// cut returns a text in stored form, shortened by short to most bytes. It removes secrets first,
// because half a secret would escape.
func (r *Record) cut(text string, short func(text string, most int) string, most int) redact.Redacted {
	clean, _ := r.scanner.Text(strings.ToValidUTF8(text, "\ufffd"))
	clean, _ = r.scanner.Text(short(clean.String(), most))
	return clean
}

// rules names the kinds of the found secrets.
func rules(found redact.Report) string {
	var names []string
	for name := range found.ByRule {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// read returns the state in a tree.
func (r *Record) read(t *gitstore.Tree) (State, error) {
	var s State
	text, err := t.Read("state.json")
	if err != nil {
		return s, fmt.Errorf("loop %s: state.json: %w", r.Name, err)
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err == nil && head.Format > stateFormat {
		return s, fmt.Errorf("loop %s: state.json has format %d, and this version reads %d: a newer Reverie began it", r.Name, head.Format, stateFormat)
	}
	s.Settings.Backoff = DefaultSettings().Backoff // of a record from before this setting
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("loop %s: state.json: %w", r.Name, err)
	}
	s.Name = r.Name // whatever a foreign record says
	return s, nil
}

// Loop is the content of a record at one moment.
type Loop struct {
	State    State
	Plan     Plan
	Findings []Finding // ordered by the iteration that first saw them
	Own      bool      // all of it was written here, see LoadOwn
}

// Load reads the record. The error wraps ErrNoLoop if it does not exist.
func (r *Record) Load(ctx context.Context) (Loop, error) {
	var l Loop
	err := r.store.View(ctx, func(t *gitstore.Tree) error {
		var err error
		l, err = r.load(t)
		return err
	})
	if errors.Is(err, gitstore.ErrNoStore) || err != nil && !validName(r.Name) {
		return l, fmt.Errorf("%s: %w", r.Name, ErrNoLoop)
	}
	return l, err
}

func (r *Record) load(t *gitstore.Tree) (l Loop, err error) {
	if l.State, err = r.read(t); err != nil {
		return l, err
	}
	text, err := t.Read("plan.md")
	if err != nil {
		return l, fmt.Errorf("loop %s: plan.md: %w", r.Name, err)
	}
	if l.Plan, err = parsePlan(string(text)); err != nil {
		return l, fmt.Errorf("loop %s: %w", r.Name, err)
	}
	if l.Findings, err = r.findings(t); err != nil {
		return l, err
	}
	l.Own, err = r.own(t)
	return l, err
}

func (r *Record) findings(t *gitstore.Tree) ([]Finding, error) {
	var all []Finding
	err := t.Walk("findings", func(name string, id gitstore.ID) error {
		text, err := t.Read(name)
		if err != nil {
			return err
		}
		var f Finding
		if err := json.Unmarshal(text, &f); err != nil {
			return fmt.Errorf("loop %s: %s: %w", r.Name, name, err)
		}
		all = append(all, f)
		return nil
	})
	slices.SortStableFunc(all, func(a, b Finding) int { return a.First - b.First })
	return all, err
}

// Output returns the output of an iteration's phase in its last try, or "".
func (r *Record) Output(ctx context.Context, iteration int, phase Phase) (string, error) {
	var text []byte
	err := r.store.View(ctx, func(t *gitstore.Tree) (err error) {
		text, err = t.Read(outputPath(iteration, phase))
		return err
	})
	if errors.Is(err, gitstore.ErrNotFound) {
		return "", nil
	}
	return string(text), err
}

func outputPath(iteration int, phase Phase) string {
	name := map[Phase]string{Coding: "agent", Verifying: "verify", Auditing: "audit"}[phase]
	return path.Join("iterations", fmt.Sprint(iteration), name+".txt")
}

// Step is an event with the data stored beside the new state.
type Step struct {
	Event Event
	// of the current phase, or of a failed try; "": the stored text stays
	Output string
	// new and changed ones; may be nil. It may be called more than once
	Findings func(known []Finding, before State) []Finding
	// completes the event with the findings known then; may be nil
	Then func(e *Event, known []Finding)
}

// Take takes a step: it applies Next and stores all data in one commit. Only the holder of the
// lease may call it. The error wraps ErrForeign if the record is no longer ours.
func (r *Record) Take(ctx context.Context, step Step, now time.Time) (State, error) {
	var after State
	c := gitstore.Commit{Scanner: r.scanner}
	_, err := r.store.Update(ctx, c, func(tx *gitstore.Tx) error {
		before, err := r.read(tx.Tree)
		if err != nil {
			return err
		}
		if err := r.mustOwn(tx.Tree); err != nil {
			return err
		}
		e := step.Event
		known, err := r.findings(tx.Tree)
		if err != nil {
			return err
		}
		if step.Findings != nil {
			if known, err = r.addFindings(tx, known, step.Findings(known, before)); err != nil {
				return err
			}
		}
		if step.Then != nil {
			step.Then(&e, known)
		}
		if after, err = Next(before, e); err != nil {
			return err
		}
		after.Changed = now.UTC().Truncate(time.Second)
		text, err := r.encode(after)
		if err != nil {
			return err
		}
		if err := tx.Write("state.json", text); err != nil {
			return err
		}
		if step.Output != "" && slices.Contains([]Phase{Coding, Verifying, Auditing}, before.Phase) {
			if err := tx.Write(outputPath(before.Iteration, before.Phase), r.cut(step.Output, gapped, maxOutput)); err != nil {
				return err
			}
		}
		if err := r.sign(tx); err != nil {
			return err
		}
		c.Subject = Subject(before, after, e)
		c.Trailers = []gitstore.Trailer{{Key: "Reverie-Loop", Value: r.Name}, {Key: "Reverie-Tip", Value: after.Tip}}
		tx.SetCommit(c)
		return nil
	})
	return after, err
}

// addFindings writes new and changed findings, and returns all that are known then.
func (r *Record) addFindings(tx *gitstore.Tx, known, found []Finding) ([]Finding, error) {
	for _, f := range found {
		if err := r.writeFinding(tx, f); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(known, func(k Finding) bool { return k.ID == f.ID }); i >= 0 {
			known[i] = f
		} else {
			known = append(known, f)
		}
	}
	return known, nil
}

func (r *Record) writeFinding(tx *gitstore.Tx, f Finding) error {
	for _, s := range []struct {
		text *string
		most int
	}{{&f.Text, maxSaid}, {&f.Scenario, maxSaid}, {&f.Rule, maxRule}, {&f.Context, maxContext}} {
		*s.text = r.cut(*s.text, bounded, s.most).String()
	}
	doc, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	text, _, err := r.scanner.JSON(append(doc, '\n'))
	if err != nil {
		return err
	}
	return tx.Write(path.Join("findings", f.ID+".json"), text)
}

// Waive settles an open finding by a person's word. id may be a prefix. It may run while the loop
// runs.
func (r *Record) Waive(ctx context.Context, id, reason string) (Finding, error) {
	var found Finding
	_, err := r.store.Update(ctx, gitstore.Commit{Scanner: r.scanner}, func(tx *gitstore.Tx) error {
		if err := r.mustOwn(tx.Tree); err != nil {
			return err
		}
		known, err := r.findings(tx.Tree)
		if err != nil {
			return err
		}
		known = slices.DeleteFunc(known, func(f Finding) bool { return !strings.HasPrefix(f.ID, id) })
		switch {
		case len(known) == 0 || id == "":
			return fmt.Errorf("loop %s has no finding %q", r.Name, id)
		case len(known) > 1:
			return fmt.Errorf("loop %s has %d findings that begin with %q", r.Name, len(known), id)
		case known[0].State != OpenFinding:
			return fmt.Errorf("finding %s is %s", known[0].ID, known[0].State)
		}
		found = known[0]
		found.State, found.Reason = Waived, r.cut(reason, bounded, maxSaid).String()
		tx.SetCommit(gitstore.Commit{Subject: "waive " + found.ID + ": " + bounded(found.Text, 60), Body: found.Reason, Scanner: r.scanner, Trailers: []gitstore.Trailer{{Key: "Reverie-Loop", Value: r.Name}}})
		if err := r.writeFinding(tx, found); err != nil {
			return err
		}
		return r.sign(tx)
	})
	return found, err
}

// maxOutput bounds the stored output of a phase, in bytes.
const maxOutput = 64 << 10
