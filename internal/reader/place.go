package reader

import (
	"path/filepath"

	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Below returns a folder relative to the top of the work tree, with slashes. It is "" at the top,
// and outside of the work tree.
func Below(top, dir string) string {
	if top == "" || dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// Where returns a folder as a place to ask from. A work tree reached through a link has two names.
func Where(top, dir string) recall.Where {
	if top == "" {
		return recall.Where{}
	}
	at := recall.Where{Tops: []string{top}, Dir: Below(top, dir)}
	if abs, err := filepath.Abs(dir); err == nil {
		linked, inside := strings.CutSuffix(filepath.ToSlash(abs), "/"+at.Dir)
		if at.Dir == "" || inside {
			at.Tops = append(at.Tops, linked)
		}
	}
	return at
}

// placed converts files named relative to a folder into paths below the top of the work tree.
func placed(at recall.Where, files []string) (out []string, err error) {
	for _, f := range files {
		place, ok := at.Path(f)
		if !ok {
			return nil, exit.Usage("paths are named from the folder that you are in", "--file %s: it lies outside of the repository", f)
		}
		out = append(out, place)
	}
	return out, nil
}

// FileBelow converts an agent's file name to a path relative to the top of the work tree, with
// slashes. A relative name starts there. It returns "" for a file elsewhere. The file need not
// exist.
func FileBelow(top, name string) string {
	local := func(rel string) string {
		if rel = filepath.Clean(rel); rel == "." || !filepath.IsLocal(rel) {
			return ""
		}
		return filepath.ToSlash(rel)
	}
	if !filepath.IsAbs(name) {
		return local(filepath.FromSlash(name))
	}
	if top == "" {
		return ""
	}
	names, tops := []string{name}, []string{top}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		names = append(names, filepath.Join(folder, filepath.Base(name)))
	}
	if real, err := filepath.EvalSymlinks(top); err == nil {
		tops = append(tops, real)
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
