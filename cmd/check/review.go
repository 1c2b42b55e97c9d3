package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Bounds of a review, which forges show as a comment: GitHub takes 65,536 characters.
const (
	maxReview     = 60_000 // bytes
	maxReviewLine = 1_000  // columns
)

// Review returns a span as Markdown for a pull request: each memory with its old and new lines, and
// the findings below it. Text of the memory stands only in blocks of code with a mark before each
// line, where a forge makes no link, picture or mention of it.
func (s Span) Review(ctx context.Context, r *reader.Reader, found []finding.Finding) (string, error) {
	changes, err := s.changes(ctx, r)
	if err != nil {
		return "", err
	}
	scanner := redact.New(r.AllSecrets(ctx)...)
	line := func(mark, text string) string {
		clean, _ := scanner.Text(text)
		return mark + " " + unseen.OneLine(clean.String(), maxReviewLine) + "\n"
	}
	var blocks []string
	for path, v := range changes {
		id, _ := record.MemoryID(path)
		b := line("@@", v.Verb()+" "+id+" @@")
		for _, l := range linesOf(v) {
			b += line(l[:1], l[1:])
		}
		for _, f := range found {
			if f.Path == path {
				b += line("!", fmt.Sprintf("%s: %s [%s]", f.Level, f.Message, f.Rule))
			}
		}
		blocks = append(blocks, b)
	}
	slices.Sort(blocks)
	for _, f := range found {
		if _, told := changes[f.Path]; !told {
			blocks = append(blocks, line("!", fmt.Sprintf("%s: %s: %s [%s]", f.Path, f.Level, f.Message, f.Rule)))
		}
	}
	out := "### Review of the memory\n\n" + summary(slices.Collect(maps.Values(changes)), found) + "\n"
	for i, b := range blocks {
		if len(out)+len(b) > maxReview {
			return out + fmt.Sprintf("\n… and %d more: `reverie diff` shows all of it.\n", len(blocks)-i), nil
		}
		out += "\n```diff\n" + b + "```\n"
	}
	return out, nil
}

// summary counts changes and findings in two sentences.
func summary(changes []dossier.Version, found []finding.Finding) string {
	text := "No memory changes."
	if len(changes) > 0 {
		text = "Memories: " + dossier.Tally(changes) + "."
	}
	n := map[finding.Level]int{}
	for _, f := range found {
		n[f.Level]++
	}
	return fmt.Sprintf("%s Found: %s, %s, %s.", text, plural.Count(n[finding.Error], "error", "errors"),
		plural.Count(n[finding.Warning], "warning", "warnings"), plural.Count(n[finding.Note], "note", "notes"))
}

// changes returns the changes of memories by their paths.
func (s Span) changes(ctx context.Context, r *reader.Reader) (map[string]dossier.Version, error) {
	all := map[string]dossier.Version{}
	read := func(t *gitstore.Tree, c gitstore.Change, blob gitstore.ID) []byte {
		if blob == "" || t == nil {
			return nil
		}
		data, err := t.Read(c.Path)
		if err != nil {
			return []byte{} // which is no memory
		}
		return data
	}
	err := r.Memory.ViewAt(ctx, string(s.to), func(head *gitstore.Tree) error {
		between := func(base *gitstore.Tree) error {
			var before gitstore.ID
			if base != nil {
				before = base.ID()
			}
			err := head.Diff(before, func(c gitstore.Change) error {
				if _, ok := record.MemoryID(c.Path); ok {
					all[c.Path] = dossier.Compare(history.Version{Path: c.Path, Before: read(base, c, c.Old), After: read(head, c, c.New)})
				}
				return nil
			})
			if entryErrors(err) != nil {
				err = nil // a finding tells
			}
			return err
		}
		if s.from == "" {
			return between(nil)
		}
		return r.Memory.ViewAt(ctx, string(s.from), between)
	})
	return all, err
}

// linesOf returns the lines by which a reviewer judges a change, each after -, + or a blank.
func linesOf(v dossier.Version) (lines []string) {
	if v.Unclear != "" {
		return []string{" " + v.Unclear}
	}
	text := func(m *record.Memory) (lines []string) {
		if m != nil {
			lines = append(lines, string(m.Kind)+": "+m.Text)
			if m.Body != "" {
				lines = append(lines, strings.Split(m.Body, "\n")...)
			}
		}
		return lines
	}
	was, now := text(v.Was), text(v.Now)
	for _, l := range was {
		if !slices.Contains(now, l) {
			lines = append(lines, "-"+l)
		}
	}
	for _, l := range now {
		mark := "+"
		if slices.Contains(was, l) {
			mark = " "
		}
		lines = append(lines, mark+l)
	}
	fields := v.Fields
	if v.Was == nil {
		fields = append(inbox.Fields(*v.Now), "source: "+v.Now.Source.String())
	}
	for _, f := range fields {
		lines = append(lines, "+"+f)
	}
	return lines
}
