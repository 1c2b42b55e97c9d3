package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Where names a store of the Book.
type Where int

const (
	Branch  Where = iota // shared, reviewed
	Journal              // this clone's reflections, dreams, checkpoints and private memories
	Inbox                // pending operations
)

// Tx collects the writes of one Update. It shows the state before them.
type Tx struct {
	*View
	Results  [3]gitstore.Result // by Where, after the Update
	Redacted redact.Report      // redacted from the writes

	book    *Book
	written map[string]bool // ids of memories written here
	writes  [3]struct {
		files  []write
		commit gitstore.Commit
	}
}

type write struct {
	path string
	text redact.Redacted
	drop bool
}

func (w write) apply(t *gitstore.Tx) error {
	if !w.drop {
		return t.Write(w.path, w.text)
	}
	if err := t.Delete(w.path); err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	return nil
}

// Describe sets the commit message for the writes. Secrets in it are redacted.
func (tx *Tx) Describe(c gitstore.Commit) {
	c.Scanner = tx.book.scanner
	for i := range tx.writes {
		tx.writes[i].commit = c
	}
}

// Write writes text to a path of a store. Use the typed methods below for records.
func (tx *Tx) Write(at Where, path string, text []byte) {
	redacted, report := tx.book.scanner.Text(string(text))
	tx.Redacted.Add(report)
	tx.writes[at].files = append(tx.writes[at].files, write{path: path, text: redacted})
}

// Drop removes a path of a store.
func (tx *Tx) Drop(at Where, path string) {
	tx.writes[at].files = append(tx.writes[at].files, write{path: path, drop: true})
}

// PutMemory writes a memory to its store. If old is nil and the same memory exists, it stays
// unchanged. Errors wrap ErrTaken if another memory has the path, and ErrPurged if the content was
// purged. They wrap ErrRetired if the statement was retired and no memory in force repeats it, and
// ErrChanged if this Update wrote the memory already.
func (tx *Tx) PutMemory(m Memory, old *Memory) error {
	m, found := tx.book.Clean(m)
	tx.Redacted.Add(found)
	text := m.Format()
	if len(text) > MaxMemory {
		return fmt.Errorf("memory %s is %d bytes long; a memory may have %d", m.ID, len(text), MaxMemory)
	}
	if _, err := ParseMemory(m.Path(), text); err != nil {
		return err // never write an unreadable record
	}
	if tx.written[m.ID] {
		return fmt.Errorf("write %s: %w", m.ID, ErrChanged)
	}
	if old == nil {
		there, err := tx.mayAdd(m)
		if there || err != nil {
			return err
		}
	}
	if err := tx.refusePurgedMemory(m, text); err != nil {
		return err
	}
	tx.written[m.ID] = true
	if m.hasTrigger() || old != nil && old.hasTrigger() {
		tx.book.triggered.Store(true)
	}
	at := Branch
	if m.Private {
		at = Journal
	}
	tx.Write(at, m.Path(), text)
	return nil
}

// mayAdd reports whether a new memory exists already. The error tells why it must not be added.
func (tx *Tx) mayAdd(m Memory) (there bool, err error) {
	held, err := tx.Find(m.ID)
	switch {
	case err != nil:
	case held.Status == Retired:
		return false, fmt.Errorf("remember %q: %w as %s", m.Text, ErrRetired, m.ID)
	case held.Text != m.Text || held.Body != m.Body:
		return false, fmt.Errorf("remember %q: %w: %s says %q", m.Text, ErrTaken, m.ID, held.Text)
	default:
		return true, nil
	}
	if same, ok := tx.Retired(m.Text); ok {
		return false, fmt.Errorf("remember %q: %w as %s", m.Text, ErrRetired, same.ID)
	}
	return false, nil
}

// PutReflection writes a reflection without purged candidates.
func (tx *Tx) PutReflection(at Where, r Reflection) error {
	r, ok, err := tx.withoutPurged(r)
	if err != nil || !ok {
		return err
	}
	text, err := r.Format()
	if err == nil {
		_, err = ParseReflection(r.Path(), text) // never write an unreadable record
	}
	if err != nil {
		return fmt.Errorf("reflection %s %w", r.ID(), err)
	}
	tx.Write(at, r.Path(), text)
	return nil
}

// PutDream writes a dream to the journal.
func (tx *Tx) PutDream(d Dream) { tx.Write(Journal, d.Path(), d.Format()) }

// PutCheckpoint writes a checkpoint unless it was purged. An existing one stays unchanged.
func (tx *Tx) PutCheckpoint(at Where, c Checkpoint) error {
	c.Text = readable(c.Text)
	text, err := c.Format()
	if err == nil {
		_, err = ParseCheckpoint(c.Path(), text) // never write an unreadable record
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s %w", c.Name(), err)
	}
	tree := tx.journal
	if at == Branch {
		tree = tx.memory
	}
	if tree != nil {
		if _, err := tree.Stat(c.Path()); err == nil {
			return nil
		}
	}
	omit, err := tx.Purges().omit()
	if err != nil {
		return err
	}
	clean, _ := tx.book.scanner.Text(string(text))
	if omit.Blobs[tx.book.memory.BlobID(clean.Bytes())] {
		return fmt.Errorf("write checkpoint %s: it %w", c.Name(), ErrPurged)
	}
	tx.Write(at, c.Path(), text)
	return nil
}

// PutOperation writes an operation to the inbox, unless its memory was purged.
func (tx *Tx) PutOperation(o Operation) error {
	if err := tx.refusePurged(o); errors.Is(err, ErrPurged) {
		return nil
	} else if err != nil {
		return err
	}
	text, err := o.Format()
	if err != nil {
		return fmt.Errorf("operation %s %w", o.ID, err)
	}
	tx.Write(Inbox, OperationPath(o.ID), text)
	return nil
}

// DropOperation removes an operation from the inbox.
func (tx *Tx) DropOperation(id string) { tx.Drop(Inbox, OperationPath(id)) }

// Reject removes an operation from the inbox and remembers the rejection.
func (tx *Tx) Reject(r Rejection) error {
	text, err := r.Format()
	if err != nil {
		return fmt.Errorf("rejection %s %w", r.ID, err)
	}
	tx.DropOperation(r.ID)
	tx.Write(Inbox, RejectionPath(r.ID), text)
	return nil
}

// Pending returns the current state of a shown operation. The error wraps ErrDecided if it is no
// longer pending, and ErrChanged if it differs from shown.
func (tx *Tx) Pending(shown Operation) (Operation, error) {
	now, err := tx.Inbox().operation(shown.ID)
	if errors.Is(err, gitstore.ErrNotFound) {
		return now, fmt.Errorf("operation %s: %w", shown.ID, ErrDecided)
	}
	if err == nil && now.File != shown.File {
		err = fmt.Errorf("operation %s: %w", shown.ID, ErrChanged)
	}
	return now, err
}

// Accept applies an operation: it writes the memory, retires the superseded ones, adds the
// evidence, and removes the operation from the inbox. The error wraps ErrChanged if a target
// differs from its base or changed in this Update; ErrTaken and ErrRetired are as in PutMemory.
// Then nothing was written. Accepting again, after an interruption or in another clone, only
// removes the operation.
func (tx *Tx) Accept(o Operation) error {
	if o.Op == Skill {
		return tx.acceptSkill(o)
	}
	if tx.done(o) { // an interrupted accept, or another clone's
		tx.DropOperation(o.ID)
		return nil
	}
	for _, id := range append([]string{o.Memory.ID}, o.Memory.Supersedes...) {
		held, err := tx.Find(id)
		if tx.written[id] && (id == o.Memory.ID || err == nil && held.Status != Retired) {
			return fmt.Errorf("accept %s: %w: %s", o.ID, ErrChanged, id)
		}
	}
	for _, base := range o.Base {
		if blob, ok := tx.Blob(base.ID); !ok || string(blob) != base.Blob {
			return fmt.Errorf("accept %s: %w: %s", o.ID, ErrChanged, base.ID)
		}
	}
	var old *Memory
	if held, err := tx.Find(o.Memory.ID); err == nil {
		if o.Op != Add {
			old = &held
		}
	}
	if err := tx.PutMemory(o.Memory, old); err != nil {
		return err
	}
	for _, id := range o.Memory.Supersedes {
		held, err := tx.Find(id)
		if err != nil || held.Status == Retired {
			continue
		}
		if err := tx.PutMemory(held.Retire("Superseded by "+o.Memory.ID+"."), &held); err != nil {
			return err
		}
	}
	if !o.Memory.Private {
		for _, s := range o.Sightings {
			if err := tx.putEvidence(s.Reflection, o.Memory); err != nil {
				return err
			}
		}
	}
	tx.DropOperation(o.ID)
	return nil
}

// done reports whether everything that an operation writes exists already.
func (tx *Tx) done(o Operation) bool {
	m, _ := tx.book.Clean(o.Memory)
	held, err := tx.Find(m.ID)
	if err != nil || tx.written[m.ID] {
		return false
	}
	if o.Op == Add {
		return held.Status != Retired && held.Text == m.Text && held.Body == m.Body
	}
	return string(held.Format()) == string(m.Format()) && !slices.ContainsFunc(m.Supersedes, func(id string) bool {
		old, err := tx.Find(id)
		return tx.written[id] || err == nil && old.Status != Retired
	})
}

// acceptSkill writes the file of a skill. The error wraps ErrChanged if another file has its path.
func (tx *Tx) acceptSkill(o Operation) error {
	if _, err := ParseSkill(o.Path, []byte(o.File)); err != nil {
		return err
	}
	if tx.written[o.Path] {
		return fmt.Errorf("accept %s: %w: %s", o.ID, ErrChanged, o.Path)
	}
	text, report := tx.book.scanner.Text(o.File)
	tx.Redacted.Add(report)
	if _, err := ParseSkill(o.Path, text.Bytes()); err != nil {
		return err
	}
	if err := tx.refusePurged(o); err != nil {
		return err
	}
	switch blob, err := tx.memory.Stat(o.Path); {
	case err == nil && blob != tx.book.memory.BlobID(text.Bytes()):
		return fmt.Errorf("accept %s: %w: %s", o.ID, ErrChanged, o.Path)
	case err == nil: // an interrupted accept, or another clone's
	case errors.Is(err, gitstore.ErrNotFound):
		tx.written[o.Path] = true
		tx.Write(Branch, o.Path, []byte(o.File))
	default:
		return err
	}
	tx.DropOperation(o.ID)
	return nil
}

// putEvidence copies a reflection to the branch, reduced to the evidence for memories there. The
// session's other lessons stay private until accepted.
func (tx *Tx) putEvidence(id string, m Memory) error {
	r, err := tx.Journal().reflection(id)
	if errors.Is(err, gitstore.ErrNotFound) {
		return nil // it was lost with another clone's journal
	}
	if err != nil {
		return err
	}
	shared, err := tx.Branch().reflection(id)
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	kept := []Fingerprint{Print(m.Text)}
	for _, c := range shared.Candidates {
		kept = append(kept, Print(c.Text))
	}
	for _, w := range tx.writes[Branch].files { // accepted in the same Update
		if w.path == r.Path() && !w.drop {
			if earlier, err := ParseReflection(w.path, w.text.Bytes()); err == nil {
				for _, c := range earlier.Candidates {
					kept = append(kept, Print(c.Text))
				}
			}
		}
	}
	r.Candidates = slices.DeleteFunc(slices.Clone(r.Candidates), func(c Candidate) bool {
		return !slices.ContainsFunc(kept, Print(c.Text).Same)
	})
	r.Observations, r.Dropped = nil, nil
	if len(r.Candidates) == 0 {
		return nil // a person rewrote the statement
	}
	return tx.PutReflection(Branch, r)
}
