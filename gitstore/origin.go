package gitstore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/reverie-memory/reverie/internal/git"
)

// Origins says of the files below a folder who made each what it is. It is derived from history, and may be
// kept to be brought up to date by the next call of Store.Origins.
type Origins struct {
	Tip      ID                `json:"tip"`      // the commit that it is about
	Believed string            `json:"believed"` // which keys and programs said whose a signature is; "" if none was looked at
	Files    map[string]Origin `json:"files"`    // by path
}

// Origin is where the bytes of one file come from.
type Origin struct {
	Blob ID       `json:"blob"`
	By   []Author `json:"by"` // all of them had a hand in it: one, or more where a merge joined texts
}

// errStale says that what was kept does not suffice to go on from.
var errStale = errors.New("origins have to be worked out anew")

// Origins works out who made the files below dir what they are at the commit tip. That is the author of the
// last commit that changed the file. A merge commit hands on what it took from one side, with that side's
// authors. Where it joined two texts, all their authors count and its own; where it took what the other side
// had already left behind, its own too: a merge must not launder, and must not bring back in somebody else's
// name.
//
// since, which may be nil, is an earlier answer; then only commits that it does not know are read. Where its tip is
// not in the history any more, as after a squash, a file that is what it was then keeps its origin of then if
// trusted says so of everybody in it; where the history only grew, who brought bytes back is who made them. Where two sides have the same bytes a side that
// trusted accepts is preferred.
func (s *Store) Origins(ctx context.Context, tip ID, dir string, since *Origins, verify bool, trusted func(Author) bool) (*Origins, error) {
	believed := ""
	if verify {
		var err error
		if believed, err = s.repo.Believes(ctx); err != nil {
			return nil, err
		}
	}
	if since != nil && since.Believed != believed {
		since = nil
	}
	if since != nil && since.Tip == tip {
		return since, nil
	}
	o, err := s.origins(ctx, tip, dir, since, verify, trusted)
	if errors.Is(err, errStale) && since != nil {
		o, err = s.origins(ctx, tip, dir, nil, verify, trusted)
	}
	if err != nil {
		return nil, fmt.Errorf("find who made %s: %w", s.ref, err)
	}
	o.Believed = believed
	replaced := false
	if since != nil {
		grown, err := s.repo.IsAncestor(ctx, string(since.Tip), string(tip))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		replaced = err != nil || !grown // git may have dropped the old one
	}
	if replaced {
		for path, now := range o.Files {
			if was := since.Files[path]; was.Blob == now.Blob && all(was.By, trusted) {
				o.Files[path] = was
			}
		}
	}
	return o, nil
}

func (s *Store) origins(ctx context.Context, tip ID, dir string, since *Origins, verify bool, trusted func(Author) bool) (*Origins, error) {
	known, not := &state{}, ID("")
	if since != nil {
		not = since.Tip
		for path, f := range since.Files {
			known.set(path, &origin{blob: f.Blob, by: f.By})
		}
	}
	w := &walk{Tree: &Tree{ctx: ctx, objects: s.repo.Objects(), hash: s.repo.NewObject}, dir: dir, trusted: trusted,
		shallow: s.repo.Shallow, partly: since != nil, states: map[ID]*state{}, children: map[ID]int{}}
	defer w.close()
	if since != nil {
		var err error
		if known.root, err = w.commitRoot(since.Tip); err != nil { // git may have dropped it
			return nil, errStale
		}
		w.states[since.Tip] = known
	}
	list, err := s.commits(ctx, tip, not, verify)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		for _, p := range m.parents {
			w.children[p]++
		}
	}
	w.children[tip]++
	for _, m := range list {
		if err := w.step(m, known); err != nil {
			return nil, err
		}
	}
	end := w.states[tip]
	if end == nil { // it lies before what is known
		return nil, errStale
	}
	o := &Origins{Tip: tip, Files: map[string]Origin{}}
	for i := range end.shelves {
		for path, f := range end.shelves[i] {
			o.Files[path] = Origin{f.blob, f.by}
		}
	}
	return o, w.agrees(end, o)
}

// origin is an Origin with what lay at its path before it.
type origin struct {
	blob   ID
	by     []Author
	before *origin
}

// follows reports whether a text was made in the knowledge of another: that one lay at its path before.
func (f *origin) follows(old *origin) bool {
	for ; f != nil; f = f.before {
		if f == old {
			return true
		}
	}
	return false
}

// state is the origin of every file at one commit. States share what they have in common: a shelf is copied
// before it is changed.
type state struct {
	root    *node
	shelves [256]map[string]*origin // by a hash of the path
}

func shelfOf(path string) int {
	h := fnv.New32a()
	h.Write([]byte(path))
	return int(h.Sum32() & 0xff)
}

func (s *state) get(path string) *origin { return s.shelves[shelfOf(path)][path] }

// set changes a file's origin; nil takes it away. The shelf must be the state's own.
func (s *state) set(path string, f *origin) {
	i := shelfOf(path)
	if f == nil {
		delete(s.shelves[i], path)
		return
	}
	if s.shelves[i] == nil {
		s.shelves[i] = map[string]*origin{}
	}
	s.shelves[i][path] = f
}

// with returns a copy that has other origins for some files.
func (s *state) with(root *node, changed map[string]*origin) *state {
	next := &state{root: root, shelves: s.shelves}
	own := map[int]bool{}
	for path, f := range changed {
		if i := shelfOf(path); !own[i] {
			shelf := make(map[string]*origin, len(s.shelves[i])+1)
			for p, f := range s.shelves[i] {
				shelf[p] = f
			}
			next.shelves[i], own[i] = shelf, true
		}
		next.set(path, f)
	}
	return next
}

// walk goes through commits, parents before children.
type walk struct {
	*Tree
	dir      string
	trusted  func(Author) bool
	shallow  bool
	partly   bool // it goes on from an earlier answer
	states   map[ID]*state
	children map[ID]int // how many commits still need a state
}

// step works out the state of one commit. For a parent that was not walked, which lies before what is known,
// the known origins are taken; where they are not what that parent had, somebody notices later.
func (w *walk) step(m made, known *state) error {
	root := &node{id: m.tree}
	if len(m.parents) == 0 {
		if w.shallow { // what is older is not here, nor who made it
			m.by = Author{}
		}
		first := &state{root: &node{loaded: true}}
		changed, err := w.plain(first, root, m)
		if err == nil {
			w.states[m.id] = first.with(root, changed)
		}
		return err
	}
	parents := make([]*state, len(m.parents))
	for i, p := range m.parents {
		if parents[i] = w.states[p]; parents[i] == nil {
			before, err := w.commitRoot(p)
			if err != nil {
				return err
			}
			parents[i] = &state{root: before, shelves: known.shelves}
		}
	}
	changed, err := w.plain(parents[0], root, m)
	if err == nil && len(parents) > 1 {
		changed, err = w.merge(parents, root, m)
	}
	if err != nil {
		return err
	}
	w.states[m.id] = parents[0].with(root, changed)
	for _, p := range m.parents {
		if w.children[p]--; w.children[p] == 0 {
			delete(w.states, p)
		}
	}
	return nil
}

// plain is what a commit with one parent, or none, changed.
func (w *walk) plain(parent *state, root *node, m made) (map[string]*origin, error) {
	changed := map[string]*origin{}
	err := w.compare(parent.root, root, func(c Change) {
		if changed[c.Path] = nil; c.New != "" {
			changed[c.Path] = &origin{c.New, []Author{m.by}, parent.get(c.Path)}
		}
	})
	return changed, err
}

// merge is what a merge commit has other than its first parent.
func (w *walk) merge(parents []*state, root *node, m made) (map[string]*origin, error) {
	now := map[string]ID{}                           // what the merge has where it differs from one of its parents
	differs := make([]map[string]bool, len(parents)) // from which
	for i, p := range parents {
		differs[i] = map[string]bool{}
		err := w.compare(p.root, root, func(c Change) { now[c.Path], differs[i][c.Path] = c.New, true })
		if err != nil {
			return nil, err
		}
	}
	changed := map[string]*origin{}
	for path, blob := range now {
		if changed[path] = nil; blob == "" {
			continue
		}
		f, err := w.decide(path, blob, parents, differs, m.by)
		if err != nil {
			return nil, err
		}
		changed[path] = f
	}
	for i, shelf := range parents[0].shelves { // the same bytes everywhere, by different people
		for path, f := range shelf {
			if _, done := now[path]; done || all(f.by, w.trusted) {
				continue
			}
			for _, p := range parents[1:] {
				if g := p.shelves[i][path]; g != nil && g.blob == f.blob && all(g.by, w.trusted) {
					changed[path] = g
				}
			}
		}
	}
	return changed, nil
}

// decide is the origin of a file of which a merge has other bytes than one of its parents.
func (w *walk) decide(path string, blob ID, parents []*state, differs []map[string]bool, merger Author) (*origin, error) {
	var taken *origin
	joined := true
	for i, p := range parents {
		if differs[i][path] {
			continue
		}
		joined = false
		if f := p.get(path); f != nil && f.blob == blob && (taken == nil || !all(taken.by, w.trusted)) {
			taken = f
		}
	}
	if joined {
		by := []Author{merger}
		var before *origin
		for _, p := range parents {
			if f := p.get(path); f != nil {
				by, before = union(by, f.by), f
			}
		}
		return &origin{blob, by, before}, nil
	}
	if taken == nil {
		return w.unknown(blob)
	}
	for i, p := range parents {
		if f := p.get(path); differs[i][path] && f != nil && !taken.follows(f) {
			return &origin{blob, union(taken.by, []Author{merger}), f}, nil
		}
	}
	return taken, nil
}

// unknown is the origin of what does not fit together. After a whole walk that is nobody's; what is kept from
// an earlier one is not enough to say so.
func (w *walk) unknown(blob ID) (*origin, error) {
	if w.partly {
		return nil, errStale
	}
	return &origin{blob: blob, by: []Author{{}}}, nil
}

// compare calls fn for what differs below the folder between two roots.
func (w *walk) compare(old, new *node, fn func(Change)) error {
	before, err := w.folder(old)
	if err != nil {
		return err
	}
	after, err := w.folder(new)
	if err != nil {
		return err
	}
	return w.diff(before, after, w.dir+"/", 1, &EntryErrors{}, func(c Change) error { fn(c); return w.ctx.Err() })
}

// folder is the folder in a root; an empty one where there is none.
func (w *walk) folder(root *node) (*node, error) {
	if err := w.load(root, ""); err != nil {
		return nil, err
	}
	if e := root.get(w.dir); e != nil && e.isTree() && e.bad == "" {
		return e.node(), nil
	}
	return &node{loaded: true}, nil
}

// commitRoot is the root folder of a commit.
func (w *walk) commitRoot(id ID) (*node, error) {
	o, err := w.read(id, "")
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(o.Data)
	if err != nil || o.Kind != git.Commit {
		return nil, fmt.Errorf("%s: %w", id, ErrCorrupt)
	}
	return &node{id: c.tree}, nil
}

// agrees compares the outcome with the tree that it is about.
func (w *walk) agrees(end *state, o *Origins) error {
	there := map[string]ID{}
	if err := w.compare(&node{loaded: true}, &node{id: end.root.id}, func(c Change) { there[c.Path] = c.New }); err != nil {
		return err
	}
	for path := range o.Files {
		if there[path] == "" {
			delete(o.Files, path)
		}
	}
	for path, blob := range there {
		if o.Files[path].Blob != blob {
			f, err := w.unknown(blob)
			if err != nil {
				return err
			}
			o.Files[path] = Origin{f.blob, f.by}
		}
	}
	return nil
}

func all(by []Author, trusted func(Author) bool) bool {
	return len(by) > 0 && !slices.ContainsFunc(by, func(a Author) bool { return !trusted(a) })
}

// union is both lists, each author once.
func union(a, b []Author) []Author {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
