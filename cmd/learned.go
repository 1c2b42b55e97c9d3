package cmd

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// What a new memory is given of the code at which it was learned: the places it rests on, and the side
// branch on which alone it holds.

const (
	maxAnchored = 1 << 20     // bytes of the largest file that an anchor is put into
	grepTime    = time.Second // for searching the whole code for what statements quote, in one command
	grepFiles   = 2           // a word that more files have tells nothing
)

// settle completes the operations that a plan proposes anew. It asks git, so it is called once a plan and not for
// what waits already.
func (w *workspace) settle(ctx context.Context, plan *dream.Result, in dream.Input) {
	grep, stop := context.WithTimeout(ctx, grepTime)
	defer stop()
	waits := map[string]bool{}
	for _, o := range in.Pending {
		waits[o.ID] = true
	}
	branches := map[string]string{} // of reflections
	for _, r := range in.New {
		branches[r.ID()] = r.Branch
	}
	for i, o := range plan.Operations {
		if waits[o.ID] {
			plan.Operations[i] = w.settleAgain(ctx, o, branches)
			continue
		}
		if o.Op != record.Add && o.Op != record.Merge {
			continue
		}
		branch := ""
		if len(o.Sightings) > 0 {
			branch = branches[o.Sightings[0].Reflection]
		}
		c := w.learnedAt(ctx, branch)
		o.Memory.Anchors = w.anchors(ctx, grep, c, o.Memory)
		if len(o.Memory.Supersedes) == 0 { // else nothing would hold on the default branch
			o.Memory.Branch = w.sideOf(ctx, c)
		}
		plan.Operations[i] = record.NewOperation(o)
	}
	w.widen(ctx, plan, in)
}

// widen proposes that what holds on a side branch alone holds everywhere, where a new session on the default branch
// says it too. What is withheld for its author waits for approval instead.
func (w *workspace) widen(ctx context.Context, plan *dream.Result, in dream.Input) {
	known := map[string]bool{} // operations that wait or were refused
	for _, o := range in.Pending {
		known[o.ID] = true
	}
	for _, r := range in.Rejected {
		known[r.ID] = true
	}
	for _, m := range in.Memories {
		if m.Branch == "" || !m.Live(in.Now) || w.isForeign(m) {
			continue
		}
		print := record.Print(m.Text)
		o := record.Operation{Op: record.Edit, Memory: m, Why: "a session on the default branch says it too", Proposed: in.Now.UTC().Truncate(time.Second),
			Base: []record.Base{{ID: m.ID, Path: m.Path(), Blob: in.Blobs[m.ID]}}}
		o.Memory.Branch = ""
		for _, r := range in.New {
			i := slices.IndexFunc(r.Candidates, func(c record.Candidate) bool { return print.Same(record.Print(c.Text)) })
			if i >= 0 && w.sideOf(ctx, w.learnedAt(ctx, r.Branch)) == "" {
				c := r.Candidates[i]
				o.How = c.How
				o.Sightings = append(o.Sightings, record.Sighting{Reflection: r.ID(), Client: r.Client, Session: r.Session, Parent: r.Parent, How: c.How, Evidence: c.Evidence})
			}
		}
		if o = record.NewOperation(o); len(o.Sightings) > 0 && !known[o.ID] {
			plan.Operations = append(plan.Operations, o)
			plan.Proposed++
		}
	}
}

// settleAgain takes the side branch from an operation that waits when a new session on the default branch bore it
// out. What a person wrote stays.
func (w *workspace) settleAgain(ctx context.Context, o record.Operation, branches map[string]string) record.Operation {
	if o.Memory.Branch == "" || o.How == record.Written {
		return o
	}
	for _, s := range o.Sightings {
		if branch, isNew := branches[s.Reflection]; isNew && w.sideOf(ctx, w.learnedAt(ctx, branch)) == "" {
			o.Memory.Branch = ""
			return record.NewOperation(o)
		}
	}
	return o
}

// learnedAt is the code that a session was about: the side branch on which it began, where that is here, else HEAD,
// for a session that began on the default branch may have made the branch that HEAD is on.
func (w *workspace) learnedAt(ctx context.Context, branch string) *code {
	here := w.here(ctx)
	if branch == "" || branch == here.branch || branch == w.mainline(ctx).Name {
		return here
	}
	tip, err := w.repo.ReadRef(ctx, "refs/heads/"+branch)
	if err != nil {
		return here
	}
	if w.other == nil {
		w.other = map[string]*code{}
	}
	if w.other[branch] == nil {
		w.other[branch] = w.codeAt(tip, branch)
	}
	return w.other[branch]
}

// anchors finds the places in the code that a memory names: files in its paths or in code marks, and in them
// the lines with what else stands in code marks. With a context for it, what is in no such file is searched
// in all of the code.
func (w *workspace) anchors(ctx, grep context.Context, c *code, m record.Memory) []string {
	if c.files == nil {
		return nil
	}
	type file struct {
		path, blob string
		line       int // that the statement names, from 1
	}
	var files []file
	var tokens []string
	add := func(path string, line int) bool {
		path = strings.TrimPrefix(path, "./")
		if slices.ContainsFunc(files, func(f file) bool { return f.path == path }) {
			return true
		}
		if strings.ContainsAny(path, "*?[{") {
			return false
		}
		blob, err := c.files.File(ctx, path)
		if err == nil {
			files = append(files, file{path, blob, line})
		}
		return err == nil
	}
	for _, span := range m.Quoted() {
		path, line := splitLine(span)
		if !add(path, line) {
			tokens = append(tokens, span)
			if name, ok := strings.CutSuffix(span, "()"); ok {
				tokens = append(tokens, name)
			}
		}
	}
	for _, path := range m.Paths {
		add(path, 0)
	}
	named := len(files)
	if grep != nil && named == 0 {
		for _, token := range tokens {
			if !distinctive(token) || len(files) >= record.MaxAnchors {
				continue
			}
			found, err := w.local.Grep(grep, c.commit, token, grepFiles)
			if err != nil || len(found) > grepFiles {
				continue
			}
			for _, path := range found {
				add(path, 0)
			}
		}
	}
	var out, bare []string
	for i, f := range files[:min(maxJudged, len(files))] {
		if len(out) == record.MaxAnchors {
			break
		}
		text, err := c.files.Read(ctx, f.blob)
		if err != nil || len(text) > maxAnchored {
			continue
		}
		before := len(out)
		for _, token := range append(lineAt(text, f.line), tokens...) {
			if a, ok := record.NewAnchor(f.path, f.blob, text, []string{token}); ok && a.Snippet != "" && len(out) < record.MaxAnchors {
				out = w.addAnchor(out, a)
			}
		}
		if a, ok := record.NewAnchor(f.path, f.blob, text, nil); ok && len(out) == before && i < named {
			bare = w.addAnchor(bare, a)
		}
	}
	out = append(out, bare...)
	out = out[:min(len(out), record.MaxAnchors)]
	slices.Sort(out)
	return out
}

// addAnchor adds an anchor unless the scanner would take something out of it: it could never be found again.
func (w *workspace) addAnchor(list []string, a record.Anchor) []string {
	text := a.String()
	clean, _ := w.book.Clean(record.Memory{Anchors: []string{text}})
	if clean.Anchors[0] != text || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// splitLine takes path:line or path:line:column apart.
func splitLine(span string) (path string, line int) {
	path, rest, ok := strings.Cut(span, ":")
	if ok {
		first, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(first); err == nil && n > 0 {
			return path, n
		}
		return span, 0
	}
	return span, 0
}

// lineAt is the line of a text, from 1, without the white space around it, if there is one.
func lineAt(text []byte, n int) []string {
	for line := range strings.Lines(string(text)) {
		if n--; n == 0 {
			if line = strings.TrimSpace(line); line != "" {
				return []string{line}
			}
		}
	}
	return nil
}

// distinctive reports whether a word can be searched in all of the code: it looks like a name that somebody
// gave, not like a command, an option or a word of prose.
func distinctive(token string) bool {
	if len(token) < 5 || token[0] == '-' || strings.ContainsAny(token, " \t") {
		return false
	}
	inner := token[1:]
	return strings.ContainsAny(inner, "_(") || strings.Contains(inner, "::") || strings.ToLower(inner) != inner && strings.ToUpper(inner) != inner
}
