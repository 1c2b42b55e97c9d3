package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// history lists the commits reachable from tips but not from not, parents before children. In a
// shallow clone it returns an error, because descendants of missing commits cannot be rewritten.
func history(ctx context.Context, repo *git.Repo, tips, not []ID) ([]ID, error) {
	var in strings.Builder
	for _, id := range tips {
		fmt.Fprintf(&in, "%s\n", id)
	}
	for _, id := range not {
		fmt.Fprintf(&in, "^%s\n", id)
	}
	out, err := repo.Git(ctx, strings.NewReader(in.String()), "rev-list", "--topo-order", "--reverse", "--stdin")
	if err != nil {
		return nil, err
	}
	var ids []ID
	for line := range strings.Lines(string(out)) {
		ids = append(ids, ID(strings.TrimSuffix(line, "\n")))
	}
	return ids, nil
}

// eachCommit reads commits and calls fn for each, in the order given.
func eachCommit(ctx context.Context, objects git.Objects, ids []ID, fn func(id ID, data []byte) error) error {
	const together = 1000
	for len(ids) > 0 {
		part := ids[:min(together, len(ids))]
		ids = ids[len(part):]
		names := make([]string, len(part))
		for i := range part {
			names[i] = string(part[i])
		}
		read := make([][]byte, len(part))
		err := objects.ReadAll(ctx, names, func(i int, o git.Object) error {
			if o.Kind != git.Commit {
				return fmt.Errorf("%s is a %s, not a commit: %w", o.ID, o.Kind, ErrCorrupt)
			}
			read[i] = bytes.Clone(o.Data)
			return nil
		})
		if err != nil {
			return damaged(err)
		}
		for i, data := range read {
			if err := fn(part[i], data); err != nil {
				return err
			}
		}
	}
	return nil
}

// line is one line of a tree, byte for byte, so that a rewriting keeps parts it does not know.
type line struct {
	all  []byte // the whole line
	mode []byte
	name []byte
	id   []byte // not in hex
}

func (l line) isTree() bool    { return bytes.HasSuffix(l.mode, []byte("40000")) }
func (l line) isGitlink() bool { return bytes.Equal(l.mode, []byte("160000")) }

// eachLine splits a tree whose ids have size bytes.
func eachLine(data []byte, size int, fn func(line) error) error {
	for len(data) > 0 {
		zero := bytes.IndexByte(data, 0)
		if zero < 0 || len(data) < zero+1+size {
			return fmt.Errorf("%w: tree does not parse", ErrCorrupt)
		}
		mode, name, ok := bytes.Cut(data[:zero], []byte(" "))
		if !ok {
			return fmt.Errorf("%w: tree does not parse", ErrCorrupt)
		}
		end := zero + 1 + size
		if err := fn(line{data[:end], mode, name, data[zero+1 : end]}); err != nil {
			return err
		}
		data = data[end:]
	}
	return nil
}

// maxPath bounds the paths that a rewriting follows, in bytes. Only an attacker nests folders
// deeper.
const maxPath = 16 << 10

// folders keeps the folders that it read, because a commit is first weighed and then walked.
type folders struct {
	git.Objects
	read map[string]git.Object // of the current commit; its reader clears them
}

func (f *folders) Read(ctx context.Context, id string) (git.Object, error) {
	if o, known := f.read[id]; known {
		return o, nil
	}
	o, err := f.Objects.Read(ctx, id)
	if err == nil && o.Kind == git.Tree {
		if f.read == nil {
			f.read = map[string]git.Object{}
		}
		f.read[id] = o
	}
	return o, err
}

// readTree reads a tree by its id in bytes.
func readTree(ctx context.Context, objects git.Objects, id []byte, path string) ([]byte, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("%.60s…: folders nested too deep", path)
	}
	o, err := objects.Read(ctx, hex.EncodeToString(id))
	if err == nil && o.Kind != git.Tree {
		err = fmt.Errorf("%s is a %s, not a folder: %w", o.ID, o.Kind, ErrCorrupt)
	}
	if err = damaged(err); err != nil && path != "" {
		err = fmt.Errorf("%s: %w", strings.TrimSuffix(path, "/"), err)
	}
	return o.Data, err
}

// Survey visits everything in the histories of some tips. It calls file once for each pair of path
// and content, and commit for each commit. headers holds all but tree, parents, author, committer
// and signature. Survey reads each folder once and no file.
func Survey(ctx context.Context, repo *git.Repo, tips []ID, file func(path string, blob ID), commit func(id ID, headers, message string)) error {
	ids, err := history(ctx, repo, tips, nil)
	if err != nil {
		return err
	}
	objects := &folders{Objects: repo.ObjectsUpTo(sizes)}
	defer objects.Close()
	s := survey{ctx: ctx, objects: objects, file: file, seen: map[string]bool{}}
	scale := newScale(ctx, objects)
	return eachCommit(ctx, objects, ids, func(id ID, data []byte) error {
		c, err := parseCommit(data)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", id, ErrCorrupt, err)
		}
		headers, message := commitText(data)
		commit(id, headers, message)
		tree, err := hex.DecodeString(string(c.tree))
		if err != nil {
			return fmt.Errorf("%s: %w: %w", id, ErrCorrupt, err)
		}
		clear(objects.read)
		if _, err := scale.weigh(c.tree, "", 0); err != nil {
			return at("commit "+string(id), err)
		}
		return s.walk("", tree)
	})
}

type survey struct {
	ctx     context.Context
	objects git.Objects
	file    func(path string, blob ID)
	seen    map[string]bool // path, zero, id
}

func (s *survey) walk(prefix string, id []byte) error {
	key := prefix + "\x00" + string(id)
	if s.seen[key] {
		return nil
	}
	s.seen[key] = true
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if len(s.seen) > maxHistory {
		return &LimitError{prefix, tooVaried()}
	}
	data, err := readTree(s.ctx, s.objects, id, prefix)
	if err != nil {
		return err
	}
	return eachLine(data, len(id), func(l line) error {
		switch {
		case l.isTree():
			return s.walk(prefix+string(l.name)+"/", l.id)
		case l.isGitlink():
			return nil
		}
		key := prefix + string(l.name) + "\x00" + string(l.id)
		if !s.seen[key] {
			s.seen[key] = true
			s.file(prefix+string(l.name), ID(hex.EncodeToString(l.id)))
		}
		return nil
	})
}
