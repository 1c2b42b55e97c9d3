package cmd

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/recall"
)

// fileBelow is a file that an agent names, relative to the top of the work tree, with slashes: what is not absolute is named from
// there. It is "" for what does not lie below. The file need not be there.
func (w *workspace) fileBelow(name string) string {
	local := func(rel string) string {
		if rel = filepath.Clean(rel); rel == "." || !filepath.IsLocal(rel) {
			return ""
		}
		return filepath.ToSlash(rel)
	}
	if !filepath.IsAbs(name) {
		return local(filepath.FromSlash(name))
	}
	if w.Repo.WorkTree == "" {
		return ""
	}
	names, tops := []string{name}, []string{w.Repo.WorkTree}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		names = append(names, filepath.Join(folder, filepath.Base(name)))
	}
	if top, err := filepath.EvalSymlinks(w.Repo.WorkTree); err == nil {
		tops = append(tops, top)
	}
	for _, name := range names {
		for _, top := range tops {
			if rel, err := filepath.Rel(top, name); err == nil && local(rel) != "" {
				return local(rel)
			}
		}
	}
	return ""
}

// relevant are the memories that a prompt is about, and behind them those that are about one of the files.
func relevant(ctx context.Context, x *recall.Index, prompt recall.Prompt, files []string, keep func(recall.Ref) bool) (hits []recall.Relevance, err error) {
	if prompt.Tells() {
		if hits, err = prompt.Relevant(ctx, x, keep); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		found, err := recall.Ask("./"+file).Relevant(ctx, x, keep)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.ContainsFunc(hits, func(h recall.Relevance) bool { return h.Memory.ID == f.Memory.ID }) {
				hits = append(hits, f)
			}
		}
	}
	return hits, nil
}
