package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// Origins holds the authors of each file below a folder and the version of it that counts. It
// derives from history; the next call of Store.Origins can bring a stored one up to date.
type Origins struct {
	Tip ID `json:"tip"` // the commit that it is about
	// Believed identifies the signers and programs behind the check of signatures; "" if none ran.
	Believed string            `json:"believed"`
	Key      string            `json:"key"`   // of the Belief
	Files    map[string]Origin `json:"files"` // by path
	// Held has, by path, the files whose newest change does not count.
	Held map[string]Held `json:"held,omitempty"`

	// Gone maps each file that was removed by authors who count to those authors, by path.
	Gone map[string][]Author `json:"gone,omitempty"`

	strangers bool // commits of others were read
}

// Origin names the authors of a file's bytes.
type Origin struct {
	Blob ID       `json:"blob"`
	By   []Author `json:"by"` // usually one; several where a merge joined texts

	// Mixed reports that an earlier version did not count.
	Mixed bool `json:"mixed,omitempty"`
}

// Held is the last version of a file that counts, if a later change does not. The file may have
// returned to the same bytes.
type Held struct {
	Blob ID        `json:"blob,omitempty"` // "": no version counts
	Text string    `json:"text,omitempty"` // of Blob, if we joined it and git may lack it
	By   []Author  `json:"by,omitempty"`
	When time.Time `json:"when,omitzero"`   // date of its newest author's commit
	Gone []Author  `json:"taken,omitempty"` // authors of the file's removal; then it has no Origin
}

// Belief decides whose changes of files count.
type Belief struct {
	Key    string            // identifies the rules; a stored answer is reused only under the same key
	Author func(Author) bool // reports whether this author's changes count

	// Approved returns the approved content of a file, which counts for any author, and the
	// content that counted at the approval. If nil, no content is approved.
	Approved func(path string) (blob, over ID, ok bool)

	// Join merges versions that count and were made in parallel. If nil, no version counts then.
	Join Resolve
}

// all reports whether the changes of all these authors count. Without authors it is false.
func (b Belief) all(by []Author) bool {
	return len(by) > 0 && !slices.ContainsFunc(by, func(a Author) bool { return !b.Author(a) })
}

// approves reports whether a file's content is approved.
func (b Belief) approves(path string, blob ID) bool {
	if b.Approved == nil {
		return false
	}
	approved, _, ok := b.Approved(path)
	return ok && approved == blob
}

// errStale means that a stored answer is too old to continue from.
var errStale = errors.New("origins must be computed again")

// Origins finds the authors of the files below dir at the commit tip, or of the file dir at the
// top. The author of a file is that of the last commit that changed it. A merge commit passes on
// the authors of the side it took. If it joined two texts, all their authors count as well as its
// own. Its author also counts if it took content that the other side had already replaced: a merge
// must not launder content or restore it under another name.
//
// It also finds the version of each file that counts: the result if only commits of accepted
// authors existed. A commit of another author leaves that version as it was, even if it removes the
// file. A merge joins the versions of its sides. An accepted edit makes its bytes the version,
// regardless of the text it began with.
//
// since is an earlier answer, or nil; with it only newer commits are read. If its tip left the
// history, as after a squash, an unchanged file keeps its old origin if the belief accepts all of
// it. The old version counts if the new history has none. If the history only grew, the author who
// restored bytes is their author. An accepted side wins over others with the same bytes.
func (a Authors) Origins(ctx context.Context, tip ID, dir string, since *Origins, verify bool, belief Belief) (*Origins, error) {
	believed := ""
	if verify {
		var err error
		if believed, err = a.repo.Config().Believes(ctx); err != nil {
			return nil, err
		}
	}
	if since != nil && since.Believed != believed {
		since = nil
	}
	from := since
	if since != nil && since.Key != belief.Key { // replaced history keeps its known origins
		var err error
		if from, err = a.origins(ctx, since.Tip, dir, nil, verify, belief); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			from = nil
		} else {
			from.Believed, from.Key = believed, belief.Key
			from.replaces(since, belief)
			since = from
		}
	}
	if from != nil && from.Tip == tip {
		return from, nil
	}
	o, err := a.origins(ctx, tip, dir, from, verify, belief)
	if errors.Is(err, errStale) && from != nil {
		o, err = a.origins(ctx, tip, dir, nil, verify, belief)
	}
	if err != nil {
		return nil, fmt.Errorf("find who made %s: %w", a.ref, err)
	}
	o.Believed, o.Key = believed, belief.Key
	if since == nil {
		return o, nil
	}
	grown, err := a.repo.History().IsAncestor(ctx, string(since.Tip), string(tip))
	if err == nil && !grown { // git may have dropped the old one
		if back, err := a.repo.History().IsAncestor(ctx, string(tip), string(since.Tip)); err == nil && back {
			o.strangers = false // the ref was set back here
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || !grown {
		o.replaces(since, belief)
	}
	return o, nil
}

// replaces carries over the versions that counted in a history that this one replaced.
func (o *Origins) replaces(since *Origins, belief Belief) {
	was := map[string]Held{}
	for path, f := range since.Files {
		was[path] = Held{Blob: f.Blob, By: f.By}
	}
	maps.Copy(was, since.Held)
	for path, by := range since.Gone {
		if _, there := o.Files[path]; !there && belief.all(by) {
			delete(o.Held, path)
			o.Gone[path] = by
		}
	}
	for path, w := range was {
		if w.Blob == "" || !belief.all(w.By) && !belief.approves(path, w.Blob) {
			continue
		}
		now, there := o.Files[path]
		held, isHeld := o.Held[path]
		switch {
		case there && now.Blob == w.Blob:
			o.Files[path] = Origin{w.Blob, w.By, now.Mixed}
			delete(o.Held, path)
		case there && !isHeld, held.Blob != "": // a version of the new history counts
		case there:
			w.Gone = nil
			o.Held[path] = w
		case o.strangers && o.Gone[path] == nil:
			w.Gone = []Author{{}}
			o.Held[path] = w
		}
	}
}

func (a Authors) origins(ctx context.Context, tip ID, dir string, since *Origins, verify bool, belief Belief) (*Origins, error) {
	w := &walk{Tree: &Tree{ctx: ctx, objects: a.repo.ObjectsUpTo(sizes), hash: a.repo.ObjectFormat.NewObject}, dir: dir, belief: belief,
		shallow: a.repo.Shallow, partly: since != nil, states: map[ID]*state{}, children: map[ID]int{}, texts: map[ID][]byte{}}
	defer w.close()
	known, not := &state{}, ID("")
	if since != nil {
		not = since.Tip
		w.know(since, known)
		var err error
		if known.root, err = w.commitRoot(since.Tip); err != nil { // git may have dropped it
			return nil, errStale
		}
		w.states[since.Tip] = known
	}
	list, err := a.commits(ctx, tip, not, verify)
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
	if end == nil { // it precedes the known tip
		return nil, errStale
	}
	o := &Origins{Tip: tip, Files: map[string]Origin{}, Held: map[string]Held{}, Gone: map[string][]Author{}}
	o.strangers = slices.ContainsFunc(list, func(m made) bool { return !belief.Author(m.by) })
	for _, s := range end.shelves {
		if s == nil {
			continue
		}
		for path, f := range s.files {
			w.note(o, path, f)
		}
	}
	return o, w.agrees(end, o)
}

// know loads an earlier answer into a state.
func (w *walk) know(since *Origins, known *state) {
	for path, f := range since.Files {
		o := &origin{blob: f.Blob, by: f.By, mixed: f.Mixed}
		o.kept = o
		known.set(path, o)
	}
	for path, by := range since.Gone {
		o := &origin{by: by}
		o.kept = o
		known.set(path, o)
	}
	for path, h := range since.Held {
		o := known.get(path)
		if o == nil {
			o = &origin{by: h.Gone}
			known.set(path, o)
		}
		if o.kept = nil; h.Blob != "" {
			o.kept = &origin{blob: h.Blob, by: h.By}
			o.kept.kept = o.kept
			if h.Text != "" {
				w.texts[h.Blob] = []byte(h.Text)
			}
		}
	}
}

// note adds a file to an answer: to Files if it exists, and to Held if its newest change does not
// count. A removal that counts goes to Gone.
func (w *walk) note(o *Origins, path string, f *origin) {
	if f.blob != "" {
		o.Files[path] = Origin{f.blob, f.by, f.mixed}
	}
	var h Held
	switch k := f.kept; {
	case k == f:
		if f.blob == "" {
			o.Gone[path] = f.by
		}
		return
	case k == nil || k.blob == "":
		if f.blob == "" {
			return
		}
	default:
		h = Held{Blob: k.blob, Text: string(w.texts[k.blob]), By: k.by, When: w.newest(k.by)}
	}
	if f.blob == "" {
		h.Gone = f.by
	}
	o.Held[path] = h
}

// newest returns the date of the newest commit of some authors, as far as it can be read.
func (w *walk) newest(by []Author) (t time.Time) {
	for _, a := range by {
		if _, ok := w.times[a.Commit]; !ok && a.Commit != "" {
			if w.times == nil {
				w.times = map[ID]time.Time{}
			}
			w.times[a.Commit] = time.Time{}
			if o, err := w.read(a.Commit, ""); err == nil && o.Kind == git.Commit {
				w.times[a.Commit] = authored(o.Data)
			}
		}
		if at := w.times[a.Commit]; at.After(t) {
			t = at
		}
	}
	return t
}

// origin is an Origin with its predecessors at the same path and the version that counts. A removed
// file has one too, without a blob.
type origin struct {
	blob   ID
	by     []Author
	before []*origin // of each parent
	age    int       // greater than that of any predecessor
	kept   *origin   // the last version that counts: this one or an earlier one; nil if none
	mixed  bool      // an earlier version did not count
}

// newOrigin returns an origin that does not count yet.
func newOrigin(blob ID, by []Author, before ...*origin) *origin {
	o := &origin{blob: blob, by: by, age: 1}
	for _, b := range before {
		if b != nil {
			o.before, o.age = append(o.before, b), max(o.age, b.age+1)
			o.mixed = o.mixed || b.mixed || b.kept != b
		}
	}
	return o
}

// maxFollowed bounds the origins that follows examines. Beyond it the answer is false, which
// withholds more.
const maxFollowed = 1 << 16

// follows reports whether old precedes f at its path, so that f's author knew it. With counting it
// passes only through versions that count.
func (f *origin) follows(old *origin, counting bool) bool {
	seen := map[*origin]bool{}
	for next := []*origin{f}; len(next) > 0; {
		f, next = next[len(next)-1], next[:len(next)-1]
		for {
			if f == old {
				return true
			}
			if f == nil || f.age <= old.age {
				break
			}
			if len(f.before) != 1 {
				if len(f.before) > 1 && !seen[f] && len(seen) < maxFollowed {
					seen[f] = true
					for _, b := range f.before {
						next = append(next, b.as(counting))
					}
				}
				break
			}
			f = f.before[0].as(counting)
		}
	}
	return false
}

// as returns the version of an origin that counts, or itself.
func (f *origin) as(counting bool) *origin {
	if counting {
		return f.kept
	}
	return f
}

// versions returns some origins and all their predecessors, oldest first. With counting it passes
// only through versions that count.
func versions(counting bool, ends ...*origin) (all []*origin) {
	seen := map[*origin]bool{nil: true}
	for next := slices.Clone(ends); len(next) > 0; {
		f := next[len(next)-1]
		if next = next[:len(next)-1]; seen[f] {
			continue
		}
		seen[f], all = true, append(all, f)
		for _, b := range f.before {
			next = append(next, b.as(counting))
		}
	}
	slices.SortStableFunc(all, func(a, b *origin) int { return a.age - b.age })
	return all
}

// state holds the origin of every file at one commit. States share shelves; a shelf is copied
// before it changes.
type state struct {
	root    *node
	shelves [256]*shelf // by a hash of the path; nil is an empty one
}

type shelf struct{ files map[string]*origin }

func (s *shelf) get(path string) *origin {
	if s == nil {
		return nil
	}
	return s.files[path]
}

func shelfOf(path string) int {
	h := fnv.New32a()
	h.Write([]byte(path))
	return int(h.Sum32() & 0xff)
}

func (s *state) get(path string) *origin { return s.shelves[shelfOf(path)].get(path) }

// set changes a file's origin. The shelf must be the state's own.
func (s *state) set(path string, f *origin) {
	i := shelfOf(path)
	if s.shelves[i] == nil {
		s.shelves[i] = &shelf{map[string]*origin{}}
	}
	s.shelves[i].files[path] = f
}

// with returns a copy that has other origins for some files.
func (s *state) with(root *node, changed map[string]*origin) *state {
	next := &state{root: root, shelves: s.shelves}
	own := map[int]bool{}
	for path, f := range changed {
		if i := shelfOf(path); !own[i] {
			files := map[string]*origin{}
			if s.shelves[i] != nil {
				files = maps.Clone(s.shelves[i].files)
			}
			next.shelves[i], own[i] = &shelf{files}, true
		}
		next.set(path, f)
	}
	return next
}

// walk visits commits, parents before children.
type walk struct {
	*Tree
	dir      string
	belief   Belief
	shallow  bool
	partly   bool // it continues from an earlier answer
	states   map[ID]*state
	children map[ID]int    // how many commits still need a state
	texts    map[ID][]byte // joined versions
	times    map[ID]time.Time
}

// step works out the state of one commit. A parent before the known tip gets the known origins; if
// they do not fit, a later check fails.
func (w *walk) step(m made, known *state) error {
	root := &node{id: m.tree}
	if len(m.parents) == 0 {
		if w.shallow { // older commits and their authors are missing
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

// plain returns the changes of a commit with at most one parent.
func (w *walk) plain(parent *state, root *node, m made) (map[string]*origin, error) {
	changed := map[string]*origin{}
	var stale error
	err := w.compare(parent.root, root, func(c Change) {
		before := parent.get(c.Path)
		o := newOrigin(c.New, []Author{m.by}, before)
		if before != nil {
			o.kept = before.kept
		}
		counts, err := w.counts(c.Path, o)
		switch {
		case err != nil:
			stale = err
		case counts:
			if w.partly && (before == nil && c.Old != "" || before != nil && before.blob != c.Old) {
				// The parent is older than the known tip, perhaps parallel to the version that counts.
				stale = errStale
			}
			o.kept = o
		}
		changed[c.Path] = o
	})
	return changed, cmp.Or(err, stale)
}

// counts reports whether the change that made an origin counts.
func (w *walk) counts(path string, o *origin) (bool, error) {
	if w.belief.all(o.by) { // removing content that does not count changes nothing
		return o.blob != "" || o.kept != nil && o.kept.blob != "", nil
	}
	if w.belief.Approved == nil {
		return false, nil
	}
	blob, over, ok := w.belief.Approved(path)
	if !ok || blob != o.blob {
		return false, nil
	}
	kept := ID("")
	if o.kept != nil {
		kept = o.kept.blob
	}
	switch { // restoring old approved content undoes later changes
	case kept == over, o.kept == nil:
		return true, nil
	case w.partly:
		return false, errStale
	}
	return !slices.ContainsFunc(versions(true, o.kept), func(v *origin) bool { return v.blob == blob }), nil
}

// merge returns the origins of the files at a merge commit that may differ from its first parent's.
func (w *walk) merge(parents []*state, root *node, m made) (map[string]*origin, error) {
	// now holds the content of the merge, if it differs from one of its parents.
	now := map[string]ID{}
	differs := make([]map[string]bool, len(parents)) // from which
	for i, p := range parents {
		differs[i] = map[string]bool{}
		err := w.compare(p.root, root, func(c Change) { now[c.Path], differs[i][c.Path] = c.New, true })
		if err != nil {
			return nil, err
		}
	}
	for i, first := range parents[0].shelves {
		// The bytes may agree while authors or counting versions differ.
		for _, p := range parents[1:] {
			other := p.shelves[i]
			if other == first {
				continue
			}
			for _, one := range []*shelf{first, other} {
				if one == nil {
					continue
				}
				for path := range one.files {
					if _, done := now[path]; done || first.get(path) == other.get(path) {
						continue
					}
					var err error
					if now[path], err = w.beside(root.id).version(path); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	changed := map[string]*origin{}
	for path, blob := range now {
		f, err := w.decide(path, blob, parents, differs, m.by)
		if err != nil {
			return nil, err
		}
		changed[path] = f
	}
	return changed, nil
}

// decide returns the origin of a file in a merge whose parents, or their origins, differ.
func (w *walk) decide(path string, blob ID, parents []*state, differs []map[string]bool, merger Author) (*origin, error) {
	// Among the sides with the merge's content: the best, and one that does not count.
	var taken, strange, kept *origin
	var before []*origin
	joined := true
	for i, p := range parents {
		f := p.get(path)
		if f != nil {
			var err error
			if kept, err = w.join(path, kept, f.kept); err != nil {
				return nil, err
			}
			before = append(before, f)
		}
		if differs[i][path] {
			continue
		}
		joined = false
		if f != nil && f.blob == blob {
			if taken == nil || !w.belief.all(taken.by) {
				taken = f
			}
			if f.kept != f {
				strange = f
			}
		}
	}
	by := []Author{merger}
	switch {
	case joined && blob != "":
		for _, f := range before {
			by = union(by, f.by)
		}
	case joined || taken == nil && blob == "": // the merge removed it
	case taken == nil:
		f, err := w.unknown(blob)
		if f != nil {
			f.kept = kept
		}
		return f, err
	default:
		back := false
		for i, p := range parents {
			f := p.get(path)
			back = back || differs[i][path] && f != nil && !taken.follows(f, false)
		}
		if !back {
			switch {
			case taken.kept == kept:
				return taken, nil
			case strange != nil && (kept == nil || kept.blob != blob):
				taken = strange
			}
			f := newOrigin(blob, taken.by, before...)
			if f.kept = kept; kept != nil && kept.blob == blob && w.belief.all(f.by) {
				f.kept = f
			}
			return f, nil
		}
		by = union(taken.by, by)
	}
	f := newOrigin(blob, by, before...)
	f.kept = kept
	counts, err := w.counts(path, f)
	if !counts || err != nil {
		return f, err
	}
	if f.mixed && w.belief.all(by) && (kept == nil || kept.blob != blob) {
		asWhole, err := w.joinAll(path, before)
		if err != nil {
			return nil, err
		}
		if asWhole == blob { // the bytes follow by rule, in part from versions that do not count
			f.by = union(f.by, w.others(before))
			return f, nil
		}
	}
	f.kept = f
	return f, nil
}

// maxJoined bounds the versions that joinAll merges to recognise a merge by rule. Larger merges
// count as chosen by their author.
const maxJoined = 4096

// joinAll returns the content that a merge of two origins has by rule, whether or not their
// versions count. It returns "" if that is unknown.
func (w *walk) joinAll(path string, before []*origin) (ID, error) {
	switch {
	case w.partly:
		return "", errStale
	case len(before) != 2 || w.belief.Join == nil:
		return "", nil
	}
	all := versions(false, before...)
	if len(all) > maxJoined {
		return "", nil
	}
	blob, _, err := w.resolve(path, before[0], before[1], all, false)
	return blob, err
}

// others returns up to eight authors of versions that do not count.
func (w *walk) others(ends []*origin) (by []Author) {
	for _, f := range versions(false, ends...) {
		for _, a := range f.by {
			if len(by) < 8 && !w.belief.Author(a) && !slices.ContainsFunc(by, func(b Author) bool { return b.Email == a.Email }) {
				by = append(by, a)
			}
		}
	}
	return by
}

// join returns the version that counts for two sides: the later one, or the joined text of two made
// in parallel. It is nil if none counts.
func (w *walk) join(path string, a, b *origin) (*origin, error) {
	switch {
	case a == b, b == nil:
		return a, nil
	case a == nil:
		return b, nil
	case a.follows(b, true):
		return a, nil
	case b.follows(a, true):
		return b, nil
	}
	both := newOrigin(a.blob, union(a.by, b.by), a, b)
	both.kept = both
	switch {
	case a.blob == b.blob:
		return both, nil
	case w.partly: // their predecessors are unknown
		return nil, errStale
	case w.belief.Join == nil:
		return nil, nil
	}
	var text []byte
	var err error
	if both.blob, text, err = w.resolve(path, a, b, versions(true, a, b), true); err != nil {
		if w.ctx.Err() == nil { // a version cannot be read: none counts
			err = nil
		}
		return nil, err
	}
	if text != nil {
		w.texts[both.blob] = text
	}
	return both, nil
}

// resolve asks Join to merge two origins, given all their versions, oldest first. text is the
// merged text if it is new.
func (w *walk) resolve(path string, a, b *origin, all []*origin, counting bool) (blob ID, text []byte, err error) {
	at := map[*origin]int{}
	h := History{Read: func(id ID) ([]byte, error) {
		if text, ok := w.texts[id]; ok {
			return text, nil
		}
		return w.blob(id, path)
	}}
	for i, f := range all {
		at[f] = i
		v := Version{ID: f.blob}
		for _, b := range f.before {
			if b = b.as(counting); b != nil && !slices.Contains(v.Parents, at[b]) {
				v.Parents = append(v.Parents, at[b])
			}
		}
		h.Versions = append(h.Versions, v)
	}
	h.Ours, h.Theirs = at[a], at[b]
	out, err := w.belief.Join(path, h)
	if err == nil && out.ID == "" && out.Text.Len() > 0 {
		text = out.Text.Bytes()
		return ID(w.hash(git.Blob, text).ID), text, nil
	}
	return out.ID, nil, err
}

// unknown returns the origin of content that contradicts the history: an unnamed author after a
// whole walk, errStale after a partial one.
func (w *walk) unknown(blob ID) (*origin, error) {
	if w.partly {
		return nil, errStale
	}
	return &origin{blob: blob, by: []Author{{}}}, nil
}

// compare calls fn for the differences below the folder between two roots, or for the file of that
// name at the top.
func (w *walk) compare(old, new *node, fn func(Change)) error {
	was, err := w.file(old)
	if err != nil {
		return err
	}
	is, err := w.file(new)
	if err != nil {
		return err
	}
	if was != is {
		fn(Change{w.dir, was, is})
	}
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

// file returns the content of a file with the folder's name in a root, or "".
func (w *walk) file(root *node) (ID, error) {
	if err := w.load(root, ""); err != nil {
		return "", err
	}
	if e := root.get(w.dir); e != nil && !e.isTree() && e.bad == "" {
		return e.id, nil
	}
	return "", nil
}

// folder returns the folder in a root, or an empty one.
func (w *walk) folder(root *node) (*node, error) {
	if err := w.load(root, ""); err != nil {
		return nil, err
	}
	if e := root.get(w.dir); e != nil && e.isTree() && e.bad == "" {
		return w.node(e), nil
	}
	return &node{loaded: true}, nil
}

// commitRoot returns the root folder of a commit, not yet loaded. The error wraps ErrCorrupt if the
// object is no commit.
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

// agrees corrects an answer by the tree itself. It drops files that the tree lacks. Content that
// the history does not explain gets an unnamed author and does not count.
func (w *walk) agrees(end *state, o *Origins) error {
	there := map[string]ID{}
	if err := w.compare(&node{loaded: true}, &node{id: end.root.id}, func(c Change) { there[c.Path] = c.New }); err != nil {
		return err
	}
	for path := range o.Files {
		if there[path] == "" {
			delete(o.Files, path)
			delete(o.Held, path)
		}
	}
	for path, blob := range there {
		if o.Files[path].Blob != blob {
			f, err := w.unknown(blob)
			if err != nil {
				return err
			}
			o.Files[path] = Origin{f.blob, f.by, true}
			o.Held[path] = Held{}
		}
	}
	return nil
}

// union appends to a copy of a the authors of b that it lacks.
func union(a, b []Author) []Author {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
