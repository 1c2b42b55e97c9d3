package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
)

// A statement that the repository's documents or task runners make already is worth less: their readers know it. learn,
// import and the worker compare statements with them. Hooks read the result from a file in the state folder.

// maxPlaces is how many places one line of progress names.
const maxPlaces = 3

// tellStated says which places kept candidates from being proposed.
func (w *workspace) tellStated(places []string) {
	if len(places) == 0 {
		return
	}
	named := slices.Compact(slices.Sorted(slices.Values(places)))
	more := ""
	if len(named) > maxPlaces {
		named, more = named[:maxPlaces], ", …"
	}
	w.env.Say("written  %s already: %s", term.Count(len(places), "candidate is", "candidates are"), term.Visible(strings.Join(named, ", ")+more))
}

// statedDir is the folder of the state folder that says which memories a work tree states: a file for each, which may be deleted
// at any time.
const statedDir = "stated"

// statedFile is the file of a work tree, below the state folder.
func statedFile(top string) string { return statedDir + "/" + derived.Sum([]byte(top)) + ".json" }

// noteStated notes for hooks in which files the work tree states what is known or waits, by the memories' ids. That it failed
// costs a session some lines it could do without.
func (w *workspace) noteStated(ctx context.Context) {
	if w.Repo.WorkTree == "" {
		return
	}
	stated := map[string][]string{}
	err := w.view(ctx, func(v *record.View) error {
		all := slices.Clone(v.Memories())
		ops, err := v.Operations()
		for _, o := range ops {
			if o.Op != record.Skill && o.Op != record.Retire {
				all = append(all, o.Memory)
			}
		}
		for _, m := range all {
			if !m.Live(w.env.Now()) {
				continue
			}
			var files []string
			for _, p := range w.Documents.Places(m) {
				files = append(files, p.File)
			}
			if from := importedFrom(m); from != "" {
				files = append(files, from)
			}
			if len(files) > 0 {
				stated[m.ID] = files
			}
		}
		return w.Tolerate(err)
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		return
	}
	name := statedFile(w.Repo.WorkTree)
	var before map[string][]string
	if derived.Read(filepath.Join(w.State, filepath.FromSlash(name)), &before); err == nil && len(before)+len(stated) > 0 {
		var text []byte
		if text, err = derived.Encode(stated); err == nil {
			err = w.Repo.WriteState(name, text, false)
		}
	}
	if err != nil && w.env.Verbose {
		w.env.Warn("written: %v", err)
	}
}

// withoutStated removes statements that the work tree makes too. It keeps what people said or wrote, because anyone who can
// change a file must not silence them. It removes imports for an agent that reads a file with the same statement.
func (w *workspace) withoutStated(all []candidate, r contextRequest, in *injection) []candidate {
	var stated map[string][]string
	derived.Read(filepath.Join(w.State, filepath.FromSlash(statedFile(w.Repo.WorkTree))), &stated)
	reads := map[string]bool{}
	return slices.DeleteFunc(all, func(c candidate) bool {
		files := stated[c.m.ID]
		left := len(files) > 0 && c.m.Source.How != record.Said && c.m.Source.How != record.Written
		for _, file := range files {
			if _, known := reads[file]; !known {
				reads[file] = readsFile(w.Repo.WorkTree, file, r.agent())
			}
			left = left || reads[file] && imported(c.m)
		}
		if left {
			in.Cut[cutWritten]++
		}
		return left
	})
}

// statedSum changes when withoutStated may leave out other memories.
func statedSum(repo *git.Repo, agent string) string {
	text, err := file.Read(filepath.Join(repo.CommonDir, "reverie", filepath.FromSlash(statedFile(repo.WorkTree))), file.MaxState)
	if err != nil {
		return ""
	}
	sum := derived.Sum(text)
	for _, name := range []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "claude-memory/MEMORY.md", "codex-memory/MEMORY.md", "gemini-memory/MEMORY.md"} {
		if readsFile(repo.WorkTree, name, agent) {
			sum += " " + name
		}
	}
	return sum
}

// imported reports whether a memory came in by import.
func imported(m record.Memory) bool { return strings.HasPrefix(m.Source.By, "import/") }

// importedFrom is the file of an agent's own memory that a memory was imported from, or "". Files of the work tree are compared as
// they are now.
func importedFrom(m record.Memory) string {
	from, ok := strings.CutPrefix(m.Source.By, "import/")
	if name, _, found := strings.Cut(from, ":"); ok && found && strings.Contains(name, "-memory/") {
		return name
	}
	return ""
}
