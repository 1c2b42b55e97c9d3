package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Merge joins another clone's branch to ours. accept, which may be nil, checks its tree before
// anything moves. Unparsable files are merged too, and every reader names them.
func (b *Book) Merge(ctx context.Context, tip gitstore.ID, c gitstore.Commit, accept func(*gitstore.Tree) error) (gitstore.Merged, error) {
	return b.merge(ctx, b.memory, tip, c, accept)
}

// MergeJournal merges another clone's journal, or makes this clone's from it.
func (b *Book) MergeJournal(ctx context.Context, tip gitstore.ID, c gitstore.Commit) (gitstore.Merged, error) {
	if err := begin(ctx, b.journal); err != nil {
		return gitstore.Merged{}, err
	}
	return b.merge(ctx, b.journal, tip, c, nil)
}

func (b *Book) merge(ctx context.Context, s *gitstore.Store, tip gitstore.ID, c gitstore.Commit, accept func(*gitstore.Tree) error) (gitstore.Merged, error) {
	c.Scanner = b.scanner
	ctx, unlock, err := s.Lock(ctx)
	if err != nil {
		return gitstore.Merged{}, err
	}
	defer unlock()
	if err := b.refusePurged(ctx, s, tip); err != nil {
		return gitstore.Merged{}, err
	}
	return s.Merge(ctx, gitstore.Incoming{Tip: tip, Message: c, Accept: accept,
		Resolve: Resolve(ctx)})
}

// Resolve returns the rule for merging files that changed on two sides.
func Resolve(ctx context.Context) gitstore.Resolve {
	return func(path string, h gitstore.History) (gitstore.Outcome, error) { return resolve(ctx, path, h) }
}

// MergeFiles merges three texts of the file at path without a history. base is the common ancestor,
// or nil. A nil answer removes the file. dropped reports that a text of one side is missing from
// the answer.
func MergeFiles(path string, base, ours, theirs []byte) (merged []byte, dropped bool, err error) {
	contents := map[gitstore.ID][]byte{"base": base, "ours": ours, "theirs": theirs}
	h := gitstore.History{Ours: 1, Theirs: 2, Read: func(id gitstore.ID) ([]byte, error) { return contents[id], nil }}
	for i, id := range []gitstore.ID{"base", "ours", "theirs"} {
		v := gitstore.Version{ID: id}
		if contents[id] == nil {
			v.ID = ""
		}
		if i > 0 {
			v.Parents = []int{0}
		}
		h.Versions = append(h.Versions, v)
	}
	o, err := resolve(context.Background(), path, h)
	if err != nil {
		return nil, false, err
	}
	if o.ID != "" {
		return contents[o.ID], o.Dropped, nil
	}
	if o.Text.Len() == 0 {
		return nil, o.Dropped, nil
	}
	return o.Text.Bytes(), o.Dropped, nil
}

// form converts a file to facts and back.
type form struct {
	parse  func(path string, data []byte) (facts, error)
	format func(path string, f facts) (text []byte, dropped bool, err error)
}

// formOf returns the form for the file at path.
func formOf(path string) form {
	switch top, _, _ := strings.Cut(path, "/"); top {
	case MemoryDir:
		return form{memoryFacts, factsMemory}
	case ReflectionDir:
		return form{reflectionFacts, factsReflection}
	}
	return form{plainFacts, factsPlain}
}

// resolve decides a file that both sides changed. If one side's file cannot be read, the other's
// wins; if neither can, the greater in bytes.
func resolve(ctx context.Context, path string, h gitstore.History) (gitstore.Outcome, error) {
	r := replay{form: formOf(path), path: path, read: h.Read, known: map[gitstore.ID]*facts{}}
	states := make([]lives, len(h.Versions))
	none := newLives(&joins{})
	for i, v := range h.Versions {
		if err := ctx.Err(); err != nil {
			return gitstore.Outcome{}, err
		}
		before := none
		for n, p := range v.Parents {
			if n == 0 {
				before = states[p]
			} else {
				before = meet(before, states[p])
			}
		}
		if len(v.Parents) == 1 && h.Versions[v.Parents[0]].ID == v.ID {
			states[i] = before
			continue
		}
		f, err := r.facts(v.ID)
		if err != nil {
			return gitstore.Outcome{}, err
		}
		states[i] = before
		if f != nil {
			states[i] = before.clone()
			states[i].observe(*f)
		}
	}
	side := func(at int) (gitstore.ID, lives) {
		if at < 0 {
			return "", none
		}
		return h.Versions[at].ID, states[at]
	}
	ours, a := side(h.Ours)
	theirs, b := side(h.Theirs)
	if o, done, err := r.unreadable(ours, theirs); done || err != nil {
		return o, err
	}
	return r.outcome(meet(a, b))
}

// replay caches the facts of each version of one file.
type replay struct {
	form
	path  string
	read  func(gitstore.ID) ([]byte, error)
	known map[gitstore.ID]*facts
}

// facts returns the facts of a content, or nil if it cannot be read. Empty content has no facts.
func (r *replay) facts(id gitstore.ID) (*facts, error) {
	if id == "" {
		return &facts{}, nil
	}
	if f, ok := r.known[id]; ok {
		return f, nil
	}
	data, err := r.read(id)
	if err != nil {
		return nil, err
	}
	f, err := r.parse(r.path, data)
	r.known[id] = &f
	if err != nil {
		r.known[id] = nil
	}
	return r.known[id], nil
}

// unreadable decides a file whose newest text on one side cannot be parsed.
func (r *replay) unreadable(ours, theirs gitstore.ID) (o gitstore.Outcome, done bool, err error) {
	a, err := r.facts(ours)
	if err != nil {
		return o, false, err
	}
	b, err := r.facts(theirs)
	switch {
	case err != nil || a != nil && b != nil:
		return o, false, err
	case a == nil && b == nil:
		x, err := r.read(ours)
		if err != nil {
			return o, false, err
		}
		y, err := r.read(theirs)
		if bytes.Compare(x, y) < 0 {
			ours = theirs
		}
		return gitstore.Outcome{ID: ours, Dropped: true}, true, err
	case a == nil && theirs != "":
		ours = theirs
	case a != nil && ours == "":
		ours = theirs
	}
	return gitstore.Outcome{ID: ours, Dropped: true}, true, nil
}

// outcome builds the file, always by Format, so that its bytes do not depend on the side.
func (r *replay) outcome(l lives) (gitstore.Outcome, error) {
	f := l.visible()
	if len(f) == 0 {
		return gitstore.Outcome{}, nil
	}
	text, dropped, err := r.format(r.path, f)
	if err != nil {
		return gitstore.Outcome{}, fmt.Errorf("put together: %w", err)
	}
	redacted, _ := (*redact.Scanner)(nil).Text(string(text)) // the rules that every clone shares
	return gitstore.Outcome{Text: redacted, Dropped: dropped}, nil
}

func memoryFacts(path string, data []byte) (facts, error) {
	m, err := ParseMemory(path, data)
	if err != nil {
		return nil, err
	}
	f := m.textFacts()
	f[thereField] = []string{"yes"}
	f.add("kind", string(m.Kind))
	f.add(sourceField, m.Source.String())
	f.add("ref", m.Ref)
	f.add("topic", m.Topic)
	f.add("branch", m.Branch)
	if !m.Expires.IsZero() {
		f.add("expires", m.Expires.UTC().Format(time.RFC3339))
	}
	f.add("paths", m.Paths...)
	f.add("tags", m.Tags...)
	f.add("supersedes", m.Supersedes...)
	f.add("anchors", m.Anchors...)
	for _, e := range m.Extra {
		f.add("key "+e.Key, e.Value)
	}
	return f, nil
}

// factsMemory builds the memory from facts. Variants that would make the file too long stay in
// history.
func factsMemory(path string, f facts) (text []byte, dropped bool, err error) {
	var m Memory
	m.ID, m.Slug, _ = splitPath(path)
	one := func(field string) string { return strings.Join(f[field], "") }
	if m.Source, err = ParseSource(one(sourceField)); err != nil {
		return nil, false, err
	}
	m.Kind, m.Ref, m.Topic, m.Branch = Kind(one("kind")), one("ref"), one("topic"), one("branch")
	if at := one("expires"); at != "" {
		if m.Expires, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, false, err
		}
	}
	m.Paths, m.Tags, m.Supersedes, m.Anchors = f["paths"], f["tags"], f["supersedes"], f["anchors"]
	for field, values := range f {
		if key, ok := strings.CutPrefix(field, "key "); ok {
			m.Extra = append(m.Extra, Field{key, values[0]})
		}
	}
	slices.SortFunc(m.Extra, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	for all := f[textField]; ; all, dropped = all[:len(all)-1], true {
		m.setTexts(all, f)
		if text = m.Format(); len(text) <= MaxMemory || len(all) == 1 {
			return text, dropped, nil
		}
	}
}

// reflectionFacts returns a reflection's head and candidates: two clones may have accepted
// different candidates.
func reflectionFacts(path string, data []byte) (facts, error) {
	r, err := ParseReflection(path, data)
	if err != nil {
		return nil, err
	}
	f := facts{thereField: {"yes"}}
	for _, c := range r.Candidates {
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		f.add("candidates", string(text))
	}
	r.Candidates = nil
	head, err := json.Marshal(r)
	f.add(textField, string(head))
	return f, err
}

func factsReflection(path string, f facts) (text []byte, dropped bool, err error) {
	var r Reflection
	heads := f[textField]
	if err := json.Unmarshal([]byte(heads[len(heads)-1]), &r); err != nil {
		return nil, false, err
	}
	for _, text := range f["candidates"] {
		var c Candidate
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return nil, false, err
		}
		r.Candidates = append(r.Candidates, c)
	}
	slices.SortStableFunc(r.Candidates, func(a, b Candidate) int { return firstEvent(a) - firstEvent(b) })
	text, err = r.Format()
	return text, len(heads) > 1, err
}

// firstEvent returns the first event of a session that supports a candidate.
func firstEvent(c Candidate) int {
	if len(c.Evidence) == 0 {
		return 0
	}
	return c.Evidence[0].Event
}

// plainMark precedes the text of a plain file, so that an empty file has a text too.
const plainMark = "plain\n"

// plainFacts returns the facts of any other file: one text.
func plainFacts(_ string, data []byte) (facts, error) {
	f := facts{thereField: {"yes"}}
	f.add(textField, plainMark+string(data))
	return f, nil
}

// factsPlain keeps the greatest of several texts.
func factsPlain(_ string, f facts) (text []byte, dropped bool, err error) {
	all := f[textField]
	return []byte(strings.TrimPrefix(all[len(all)-1], plainMark)), len(all) > 1, nil
}
