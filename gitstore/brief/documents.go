package brief

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Statements that documents or task runners repeat are worth less, because their readers know them.
// The worker compares memories with these files, and hooks read the result from the state folder.

// StatedDir is the folder of the state folder with the memories that each work tree states. It may
// be deleted at any time.
const StatedDir = "stated"

// statedFile names the file of a work tree, below the state folder.
func statedFile(top string) string { return StatedDir + "/" + derived.Sum([]byte(top)) + ".json" }

// NoteStated records for hooks, by id, the memories and pending operations that each file of the
// work tree repeats. A failure costs a session some needless lines.
func NoteStated(ctx context.Context, r *reader.Reader) error {
	if r.Repo.WorkTree == "" {
		return nil
	}
	stated := map[string][]string{}
	err := r.View(ctx, func(v *record.View) error {
		all := slices.Clone(v.Memories())
		ops, err := v.Inbox().Operations()
		for _, o := range ops {
			if o.Op != record.Skill && o.Op != record.Retire {
				all = append(all, o.Memory)
			}
		}
		for _, m := range all {
			if !m.Live(r.Now()) {
				continue
			}
			var files []string
			for _, p := range r.Documents.Places(m) {
				files = append(files, p.File)
			}
			if from := importedFrom(m); from != "" {
				files = append(files, from)
			}
			if len(files) > 0 {
				stated[m.ID] = files
			}
		}
		return r.Tolerate(err)
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		return nil
	}
	name := statedFile(r.Repo.WorkTree)
	var before map[string][]string
	if derived.Read(filepath.Join(r.State, filepath.FromSlash(name)), &before); err == nil && len(before)+len(stated) > 0 {
		var text []byte
		if text, err = derived.Encode(stated); err == nil {
			err = r.Repo.State().Write(name, text, false)
		}
	}
	return err
}

// withoutStated drops statements that the work tree repeats. It keeps people's words, because
// anyone who can change a file must not silence them. It drops imports for an agent that reads a
// file with the same statement.
func (b *maker) withoutStated(all []candidate, in *Injection) []candidate {
	var stated map[string][]string
	derived.Read(filepath.Join(b.State, filepath.FromSlash(statedFile(b.Repo.WorkTree))), &stated)
	reads := map[string]bool{}
	return slices.DeleteFunc(all, func(c candidate) bool {
		files := stated[c.m.ID]
		left := len(files) > 0 && c.m.Source.How != record.Said && c.m.Source.How != record.Written
		for _, file := range files {
			if _, known := reads[file]; !known {
				reads[file] = readsFile(b.Repo.WorkTree, file, b.asked.agent())
			}
			left = left || reads[file] && c.m.Imported()
		}
		if left {
			in.Cut[CutStated]++
		}
		return left
	})
}

// statedSum changes with the memories that withoutStated drops.
func statedSum(repo *git.Repo, agent string) string {
	text, err := file.Read(filepath.Join(clone.StateOf(repo), filepath.FromSlash(statedFile(repo.WorkTree))), file.MaxState)
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

// importedFrom returns the file of an agent's own memory that a memory was imported from, or "".
// Files of the work tree are compared in their current state.
func importedFrom(m record.Memory) string {
	from, ok := strings.CutPrefix(m.Source.By, "import/")
	if name, _, found := strings.Cut(from, ":"); ok && found && strings.Contains(name, "-memory/") {
		return name
	}
	return ""
}
