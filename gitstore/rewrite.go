package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Omit selects the parts that a rewriting leaves out. The outcome depends only on the history and
// the Omit; several can be applied in any order or together.
type Omit struct {
	Blobs map[ID]bool // files with these contents, at any path
	// Path selects files by their paths; nil selects none. It must be a pure function.
	Path     func(path string) bool
	Messages map[string]bool // messages of commits, by MessageHash

	// Keep reports whether a selected file stays; nil keeps none. read returns the content, or nil if
	// it cannot be read.
	Keep func(path string, read func() []byte) bool
}

// PurgedMessage replaces an omitted message.
const PurgedMessage = "purged\n"

// MessageHash identifies the message of a commit without revealing it: SHA-256, in hex.
func MessageHash(message string) string {
	sum := sha256.Sum256([]byte(message))
	return hex.EncodeToString(sum[:])
}

// Rewriting is a history without the parts that an Omit selects.
//
// A commit is replaced if it holds such a part or descends from a commit that does. It keeps its
// author, committer, dates and place in the graph, and loses its signature and merged tags. It gets
// PurgedMessage if its message is omitted, or if it added, changed or removed an omitted file. Such
// a commit also loses the headers that git does not need. Every other commit keeps its id.
type Rewriting struct {
	New map[ID]ID // every commit of the range: its replacement, or itself
	// Gone lists objects of the old history that were omitted or replaced. The new one may hold some
	// elsewhere.
	Gone   []string
	Oldest []string // replaced commits without a replaced parent

	repo    *git.Repo
	objects *folders
	store   *git.Storer // gets folders before those they are in, and before commits
	gone    map[ID]bool
	omit    Omit
	blobs   map[string]bool // Omit.Blobs, ids in bytes
	first   string          // the first one found, in words
	ctx     context.Context
	root    *folder
	looked  int          // versions of folders
	scale   *scale       // of the commits' trees
	parts   map[ID]*part // by commit
}

// folder is one path with all its versions.
type folder struct {
	prefix string
	done   map[string]*part // by the id of the version, in bytes
	kids   map[string]*folder
}

// part is one rewritten version of a folder. A nil part omits nothing.
type part struct {
	id    []byte // id without the omitted files; empty if nothing remains
	files []string
	below []kid
}

type kid struct {
	name string
	part *part
}

// Rewrite computes the replacements of the commits reachable from tips but not from not. It writes
// nothing. The caller calls Close.
func Rewrite(ctx context.Context, repo *git.Repo, tips, not []ID, omit Omit) (*Rewriting, error) {
	ids, err := history(ctx, repo, tips, not)
	if err != nil {
		return nil, err
	}
	rw := &Rewriting{New: make(map[ID]ID, len(ids)), repo: repo, objects: &folders{Objects: repo.ObjectsUpTo(sizes)}, gone: map[ID]bool{},
		omit: omit, blobs: map[string]bool{}, ctx: ctx, root: newFolder(""), parts: make(map[ID]*part, len(ids))}
	for id := range omit.Blobs {
		raw, err := hex.DecodeString(string(id))
		if err != nil {
			return nil, fmt.Errorf("%q: not an object id", id)
		}
		rw.blobs[string(raw)] = true
	}
	rw.store, rw.scale = git.NewStorer(ctx, repo, rw.objects), newScale(ctx, rw.objects)
	whole := len(not) == 0
	err = eachCommit(ctx, rw.objects, ids, func(id ID, data []byte) error {
		if err := rw.commit(id, data, whole); err != nil {
			return fmt.Errorf("commit %.12s: %w", id, err)
		}
		return nil
	})
	if err != nil {
		rw.Close()
		return nil, err
	}
	return rw, nil
}

// Holds describes something that only the old history holds; it is "" if they are the same.
func (rw *Rewriting) Holds() string { return rw.first }

// Save makes the whole new history durable. Call Release when refs reach it.
func (rw *Rewriting) Save() error {
	if err := rw.store.Flush(); err != nil {
		return err
	}
	return rw.store.Keep()
}

// Release lets git manage the saved objects, once refs reach them.
func (rw *Rewriting) Release(ctx context.Context) error {
	if err := rw.objects.Release(); err != nil {
		return err
	}
	ids, err := rw.store.Confirm()
	if err != nil {
		return err
	}
	return rw.repo.Upkeep().PackTight(ctx, ids)
}

// Close closes the rewriting; its fields stay valid.
func (rw *Rewriting) Close() error { return rw.objects.Close() }

// commit computes the replacement of one commit. Its parents come first.
func (rw *Rewriting) commit(id ID, data []byte, whole bool) error {
	c, err := parseCommit(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	tree, err := hex.DecodeString(string(c.tree))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	clear(rw.objects.read)
	if _, err := rw.scale.weigh(c.tree, "", 0); err != nil {
		return err
	}
	now, err := rw.tree(rw.root, tree)
	if err != nil {
		return err
	}
	changed, above := now != nil, false
	parents := make([]*part, len(c.parents))
	moved := make([]ID, len(c.parents))
	for i, p := range c.parents {
		to, visited := rw.New[p]
		if !visited && whole {
			return fmt.Errorf("%w: its parent %.12s is not here", ErrShallow, p)
		}
		if !visited {
			to = p
		}
		parents[i], moved[i] = rw.parts[p], to
		above = above || to != p
	}
	// Every store has the first commit.
	message := rw.omit.Messages[MessageHash(c.message)] && len(c.parents) > 0
	if message {
		rw.note("the message of commit " + string(id))
	}
	purged := message || touches(now, parents)
	rw.parts[id] = now
	if !changed && !above && !purged {
		rw.New[id] = id
		return nil
	}
	root := c.tree
	if now != nil {
		root = ID(hex.EncodeToString(now.id))
		if len(now.id) == 0 {
			root = rw.add(git.Tree, nil)
		}
	}
	made := rw.add(git.Commit, rewriteCommit(data, root, moved, purged))
	rw.New[id] = made
	if made != id {
		rw.drop(id)
		if !above {
			rw.Oldest = append(rw.Oldest, string(id))
		}
	}
	return nil
}

// tree computes the rest of one version of a folder; nil means nothing was omitted.
func (rw *Rewriting) tree(f *folder, id []byte) (*part, error) {
	if p, done := f.done[string(id)]; done {
		return p, nil
	}
	if err := rw.ctx.Err(); err != nil {
		return nil, err
	}
	if rw.looked++; rw.looked > maxHistory {
		return nil, &LimitError{f.prefix, tooVaried()}
	}
	data, err := readTree(rw.ctx, rw.objects, id, f.prefix)
	if err != nil {
		return nil, err
	}
	var p part
	var left []byte // once something differs
	differs, at := false, 0
	err = eachLine(data, len(id), func(l line) error {
		begin := at
		at += len(l.all)
		keep := l.all
		switch {
		case l.isTree():
			sub := f.kids[string(l.name)]
			if sub == nil {
				sub = newFolder(f.prefix + string(l.name) + "/")
				f.kids[string(l.name)] = sub
			}
			now, err := rw.tree(sub, l.id)
			if err != nil || now == nil {
				if differs {
					left = append(left, keep...)
				}
				return err
			}
			p.below = append(p.below, kid{string(l.name), now})
			if keep = nil; len(now.id) > 0 {
				keep = append(bytes.Clone(l.all[:len(l.all)-len(l.id)]), now.id...)
			}
		case rw.leaves(f.prefix, l):
			p.files = append(p.files, string(l.name)+"\x00"+string(l.id))
			keep = nil
		default:
			if differs {
				left = append(left, keep...)
			}
			return nil
		}
		if !differs {
			differs, left = true, append(make([]byte, 0, len(data)), data[:begin]...)
		}
		left = append(left, keep...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !differs {
		f.done[string(id)] = nil
		return nil, nil
	}
	if len(left) > 0 {
		p.id, _ = hex.DecodeString(string(rw.add(git.Tree, left)))
	}
	rw.drop(ID(hex.EncodeToString(id)))
	f.done[string(id)] = &p
	return &p, nil
}

// leaves reports whether a file is omitted.
func (rw *Rewriting) leaves(prefix string, l line) bool {
	if l.isGitlink() {
		return false
	}
	named := rw.blobs[string(l.id)]
	if !named && (rw.omit.Path == nil || !rw.omit.Path(prefix+string(l.name))) {
		return false
	}
	id := hex.EncodeToString(l.id)
	if rw.omit.Keep != nil && rw.omit.Keep(prefix+string(l.name), func() []byte { return rw.read(id) }) {
		return false
	}
	if named {
		rw.note("blob " + id)
	} else {
		rw.note("a file at a purged path, blob " + id)
	}
	rw.drop(ID(id))
	return true
}

func (rw *Rewriting) read(id string) []byte {
	o, err := rw.objects.Read(rw.ctx, id)
	if err != nil || o.Kind != git.Blob {
		return nil
	}
	return o.Data
}

func (rw *Rewriting) note(what string) {
	rw.first = cmp.Or(rw.first, what)
}

func (rw *Rewriting) add(kind string, data []byte) ID {
	o := rw.repo.ObjectFormat.NewObject(kind, data)
	rw.store.Add(o)
	return ID(o.ID)
}

func (rw *Rewriting) drop(id ID) {
	if !rw.gone[id] {
		rw.gone[id] = true
		rw.Gone = append(rw.Gone, string(id))
	}
}

func newFolder(prefix string) *folder {
	return &folder{prefix: prefix, done: map[string]*part{}, kids: map[string]*folder{}}
}

// touches reports whether a commit added, changed or removed an omitted file: one that no parent
// has, or that it lacks and every parent has. The decision is per file, so that omitting more files
// never reverses it.
func touches(now *part, parents []*part) bool {
	if slices.Contains(parents, now) {
		return false
	}
	for _, f := range now.allFiles() {
		if !slices.ContainsFunc(parents, func(p *part) bool { return slices.Contains(p.allFiles(), f) }) {
			return true
		}
	}
	names := now.names()
	if len(parents) > 0 {
		for _, f := range parents[0].allFiles() {
			if !slices.Contains(now.allFiles(), f) && !slices.ContainsFunc(parents, func(p *part) bool { return !slices.Contains(p.allFiles(), f) }) {
				return true
			}
		}
		names = append(names, parents[0].names()...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	for _, name := range names {
		under := make([]*part, len(parents))
		for i, p := range parents {
			under[i] = p.kid(name)
		}
		if touches(now.kid(name), under) {
			return true
		}
	}
	return false
}

func (p *part) allFiles() []string {
	if p == nil {
		return nil
	}
	return p.files
}

func (p *part) names() []string {
	if p == nil {
		return nil
	}
	names := make([]string, len(p.below))
	for i := range p.below {
		names[i] = p.below[i].name
	}
	return names
}

func (p *part) kid(name string) *part {
	if p != nil {
		for _, k := range p.below {
			if k.name == name {
				return k.part
			}
		}
	}
	return nil
}

// dropped lists the headers that a replaced commit loses, because they are about the old one.
var dropped = []string{"gpgsig", "gpgsig-sha256", "mergetag"}

// rewriteCommit returns a commit with another tree and other parents. A purged one loses its
// message and its optional headers.
func rewriteCommit(data []byte, tree ID, parents []ID, purged bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	message := eachHeader(data, func(key string, text []byte) {
		switch {
		case key == "tree" || key == "parent" || slices.Contains(dropped, key):
		case purged && key != "author" && key != "committer":
		default:
			b.Write(text)
		}
	})
	b.WriteByte('\n')
	if purged {
		b.WriteString(PurgedMessage)
	} else {
		b.Write(message)
	}
	return b.Bytes()
}

// commitText returns the parts of a commit that its author wrote: unusual headers and the message.
func commitText(data []byte) (headers, message string) {
	var b bytes.Buffer
	text := eachHeader(data, func(key string, text []byte) {
		switch key {
		case "tree", "parent", "author", "committer", "gpgsig", "gpgsig-sha256":
		default:
			b.Write(text)
		}
	})
	return b.String(), string(text)
}

// eachHeader calls fn for each header with its lines, and returns the message.
func eachHeader(data []byte, fn func(key string, text []byte)) (message []byte) {
	for len(data) > 0 && data[0] != '\n' {
		end := 0
		for {
			i := bytes.IndexByte(data[end:], '\n')
			if i < 0 {
				end = len(data)
				break
			}
			end += i + 1
			if end >= len(data) || data[end] != ' ' {
				break
			}
		}
		key, _, _ := strings.Cut(string(data[:min(end, 64)]), " ")
		fn(key, data[:end])
		data = data[end:]
	}
	if len(data) > 0 {
		data = data[1:]
	}
	return data
}
