package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
)

// What somebody wrote into the managed block is theirs: it is not written over without a word.

// edited reports whether a block has another body than the one it was written with, as its begin line tells. One without that
// attribute is taken to be as it was.
func edited(b block.Block, text string) bool {
	sum := b.Attribute("sum")
	return b.State == block.OK && sum != "" && sum != derived.Sum([]byte(b.Body(text)))
}

// handEdits are the lines of a block that nothing known has made, and the lines that were taken out of it though what they say still
// holds: given is what would be shown now. What became known since the block was written, or was changed or forgotten, is neither.
func (w *workspace) handEdits(ctx context.Context, now *record.View, b block.Block, text string, given []brief.Item) (added, gone []string, err error) {
	body := b.Body(text)
	ours, then, err := w.renderedThen(ctx, now, b, body)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(renderMemories(given, 0, 0)) {
		ours[line] = true
	}
	for _, k := range record.Kinds {
		ours["### "+headingOf(k)+"\n"] = true
	}
	inside := map[string]bool{}
	cut := false // not all had room: what is not there was perhaps never there
	for line := range strings.Lines(body) {
		inside[line] = true
		left := strings.HasSuffix(line, leftLine)
		cut = cut || left
		if strings.TrimSpace(line) != "" && !ours[line] && !left && line != nothingYet {
			added = append(added, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
		}
	}
	for _, it := range given {
		if line := it.Line(); !cut && then[line] && !inside[line] {
			gone = append(gone, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
		}
	}
	return added, gone, nil
}

// renderedThen are the lines that a block may have had when it was written, at the state and the time that it names, and those of
// them that are memories. Where that state is not known here, there are none.
func (w *workspace) renderedThen(ctx context.Context, now *record.View, b block.Block, body string) (lines, memories map[string]bool, err error) {
	lines, memories = map[string]bool{}, map[string]bool{}
	tree := gitstore.ID(b.Attribute("tree"))
	at, err := time.Parse(time.RFC3339, b.Attribute("at"))
	if tree == "" || err != nil {
		return lines, memories, nil
	}
	commit := now.Tip()
	if tree != now.Tree() {
		if commit, err = w.Memory.WithTree(ctx, commit, tree); err != nil || commit == "" {
			return lines, memories, err
		}
	}
	err = w.Book.ViewAt(ctx, string(commit), func(v *record.View) error {
		agents, err := w.ForAgents(ctx, v)
		if err != nil {
			return err
		}
		for _, m := range everShown(v, agents, at) {
			for _, stale := range []bool{true, false} {
				memories[brief.Item{Memory: m, Stale: stale}.Line()] = true
			}
		}
		return nil
	})
	for line := range memories {
		lines[line] = true
	}
	return lines, memories, err
}

// maxEdited is how many lines of each sort are told.
const maxEdited = 20

// refuseEdited tells what was edited, and is the error for it.
func (w *workspace) refuseEdited(file string, added, gone []string) error {
	for _, of := range []struct {
		what  string
		lines []string
	}{{"edited: ", added}, {"gone:   ", gone}} {
		slices.Sort(of.lines)
		for i, line := range of.lines {
			if i == maxEdited {
				w.env.Warn("%s%d more", of.what, len(of.lines)-i)
				break
			}
			w.env.Warn("%s%s", of.what, line)
		}
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: the block was edited by hand since it was written; nothing was changed", file),
		"what is to stay becomes memory: reverie remember TEXT, reverie edit ID TEXT, reverie forget ID --reason WHY\n"+
			"or move it out of the block; then: reverie render agents-md --force")
}
