package cmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/term"
)

const (
	mostOfItem  = 4000  // characters of one item that come in, if nothing else is asked for
	maxOfItem   = 12000 // that may be asked for: a memory holds so many of any script
	previewItem = 200   // characters of one item in a list
)

// storeOptions are those of an import from another tool's store.
type storeOptions struct {
	probe  bool
	filter string // only what has this in it, in any case
	most   int    // characters of one statement with its body
	remote bool   // a server may be of another machine
}

// importedFolder is the folder of the state folder that remembers which memories this clone's last import from a store had. Without it
// nothing is found to be gone.
const importedFolder = "imported"

// storeJSON is the answer for one store.
type storeJSON struct {
	From  string `json:"from"`
	Place string `json:"place"`
	transfer.Result
	Others int `json:"others"` // of other projects
	Left   int `json:"left"`   // not true any more for the tool itself, no memories, or empty
	Bad    int `json:"bad"`    // that cannot be read
}

// itemJSON is a line of a probe.
type itemJSON struct {
	From    string     `json:"from"`
	Key     string     `json:"key"`
	Kind    string     `json:"kind"`
	Text    string     `json:"text"` // its beginning
	Private bool       `json:"private"`
	Created *time.Time `json:"created,omitempty"`
}

// runImportStores imports from the store of one tool, or of each that there is: each in a commit of its own, so that one that fails
// leaves what the others bring, and what it brought before.
func runImportStores(ctx context.Context, env *Env, place string, o importOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.accept && !o.dryRun && !o.store.probe {
		if err := w.WantPerson("import --accept"); err != nil {
			return err
		}
	}
	if o.store.remote {
		if err := w.WantPerson("import --allow-remote"); err != nil {
			return err
		}
	}
	tools := []string{o.from}
	if o.from == "all" {
		tools = foreign.Tools
	}
	q, err := w.storeQuery(ctx, place, o)
	if err != nil {
		return err
	}
	done, bad := 0, 0
	for _, tool := range tools {
		found, err := foreign.Read(ctx, tool, q)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if err := w.importStore(ctx, tool, found, o); err != nil {
				return err
			}
			done++
		case len(tools) == 1:
			return exit.New(exit.Failed, fmt.Errorf("import --from %w", err), storeHint(tool, err))
		case errors.Is(err, foreign.ErrNone):
			env.Say("%v", err)
		default:
			env.Warn("%v", err)
			bad++
		}
	}
	switch {
	case bad > 0:
		return exit.New(exit.Failed, fmt.Errorf("import --from all: %s could not be read", term.Count(bad, "store", "stores")), "what the others have came in, and what was before stays")
	case done == 0:
		return exit.New(exit.Failed, errors.New("import --from all: no store could be read"), "reverie import --from TOOL PLACE names where it is")
	}
	return nil
}

func storeHint(tool string, err error) string {
	switch {
	case errors.Is(err, foreign.ErrNone):
		return "say where it is: reverie import --from " + tool + " PLACE"
	case tool == "opencode-mem":
		return "nothing was imported; its server's token may be given in OPENCODE_MEM_TOKEN, and --allow-remote lets it be of another machine"
	}
	return "nothing was imported, and what was before stays"
}

// writtenJSON counts the statements of files that no import of this clone has read yet.
type writtenJSON struct {
	From  string   `json:"from"`
	Files []string `json:"files"`
	Items int      `json:"items"`
}

// writtenDown looks for such files, and takes nothing in. What cannot be read is passed over: import says why.
func (w *workspace) writtenDown(ctx context.Context) []writtenJSON {
	q, err := w.storeQuery(ctx, "", importOptions{})
	if err != nil || w.Repo.WorkTree == "" {
		return nil
	}
	var all []writtenJSON
	for _, tool := range foreign.Files {
		if _, err := os.Lstat(filepath.Join(w.State, importedFolder, tool+".json")); err == nil {
			continue
		}
		found, err := foreign.Read(ctx, tool, q)
		if err != nil || len(found.Items) == 0 {
			continue
		}
		one := writtenJSON{From: tool, Items: len(found.Items)}
		for _, i := range found.Items {
			if name := i.At[:max(0, strings.LastIndexByte(i.At, ':'))]; !slices.Contains(one.Files, name) {
				one.Files = append(one.Files, name)
			}
		}
		all = append(all, one)
	}
	return all
}

// tellWrittenDown says how to have them reviewed.
func (w *workspace) tellWrittenDown(all []writtenJSON) {
	for _, one := range all {
		names := strings.Join(one.Files[:min(maxPlaces, len(one.Files))], ", ")
		if len(one.Files) > maxPlaces {
			names += ", …"
		}
		w.env.Say("%s in %s; to review them: reverie import --from %s", term.Count(one.Items, "statement", "statements"), term.Visible(names), one.From)
	}
}

// storeQuery is what stores are asked for this repository.
func (w *workspace) storeQuery(ctx context.Context, place string, o importOptions) (foreign.Query, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return foreign.Query{}, err
	}
	q := foreign.Query{Place: place, Home: home, Remote: o.store.remote, Token: os.Getenv("OPENCODE_MEM_TOKEN")}
	if place != "" && o.from != "opencode-mem" {
		if q.Place, err = filepath.Abs(w.env.path(place)); err != nil {
			return foreign.Query{}, err
		}
	}
	if q.Dirs, err = w.Repo.WorkTrees(ctx); err != nil {
		return foreign.Query{}, err
	}
	homes, err := ingest.Homes()
	if err != nil {
		return foreign.Query{}, err
	}
	q.Claude, q.Codex, q.Gemini = homes.Claude, homes.Codex, homes.Gemini
	if remote, err := w.Repo.Remote(ctx, "", ""); err == nil {
		q.Remotes = []string{remote.URL}
	}
	return q, nil
}

// importStore takes in, or lists, what the store of a tool has.
func (w *workspace) importStore(ctx context.Context, tool string, found foreign.Found, o importOptions) error {
	if o.store.filter != "" {
		want := strings.ToLower(o.store.filter)
		var items []foreign.Item
		for _, i := range found.Items {
			if strings.Contains(strings.ToLower(i.Text), want) {
				items = append(items, i)
			}
		}
		found.Items = items
	}
	if found.Bad > 0 {
		w.env.Warn("%s: %s cannot be read and passed over", tool, term.Count(found.Bad, "entry", "entries"))
	}
	if o.store.probe {
		return w.tellStore(tool, found)
	}
	prefix := tool
	if !found.Usual {
		sum := sha256.Sum256([]byte(found.Store))
		prefix += "@" + hex.EncodeToString(sum[:4])
	}
	cut, keys := 0, map[string]bool{}
	b := batch{why: "imported from " + tool, from: tool, apart: slices.Contains(foreign.Files, tool)}
	for _, i := range found.Items {
		if i.Key == "" && i.At != "" {
			i.Key = i.At
		} else if keys[i.Key] {
			w.env.Warn("%s: a second entry has the key %q: passed over", tool, i.Key)
			found.Bad++
			continue
		}
		keys[i.Key] = true
		var isCut bool
		if i.Text, isCut = cutRunes(i.Text, o.store.most); isCut {
			cut++
		}
		l, by := itemLine(i), "import/"+tool
		if b.apart { // a line is no key: it moves
			by = "import/" + strings.Join(strings.Fields(i.At), "%20")
		} else {
			l.Ref = prefix + ":" + i.Key
		}
		m, err := l.Memory(by, w.env.Now())
		if err != nil {
			w.env.Warn("%s: %s: %v: passed over", tool, term.Visible(i.Key), err)
			found.Bad++
			continue
		}
		b.memories = append(b.memories, m)
	}
	if cut > 0 {
		w.env.Warn("%s: %s cut after %d characters; --max-length allows up to %d", tool, term.Count(cut, "text was", "texts were"), o.store.most, maxOfItem)
	}
	answer := storeJSON{From: tool, Place: found.Place, Others: found.Others, Left: found.Left, Bad: found.Bad}
	if len(b.memories) == 0 { // nothing is retired for a store that is empty
		w.env.Warn("%s: nothing at %s is wanted here; nothing was written", tool, term.Visible(found.Place))
		return w.tellTaken(answer, o)
	}
	b.memories = w.cleaned(b.memories) // before their ids are taken: a key may look like a secret
	seen := importedFolder + "/" + prefix + ".json"
	whole := o.store.filter == "" && found.Bad == 0
	if whole {
		b.gone = goneFrom(filepath.Join(w.State, filepath.FromSlash(seen)), b.memories, tool)
	}
	var err error
	if answer.Result, err = w.takeBatch(ctx, b, o); err != nil {
		return err
	}
	w.tellWaiting(answer.Result, o)
	if err := w.tellTaken(answer, o); err != nil || !whole || o.dryRun {
		return err
	}
	if err := w.keepImported(seen, b.memories); err != nil {
		return exit.New(exit.Failed, fmt.Errorf("import --from %s: it came in, but which memories it had is not kept: %w", tool, err),
			"mend this and import again, or what goes from that store is not proposed to be retired")
	}
	return nil
}

// keepImported keeps in a state file which memories an import had.
func (w *workspace) keepImported(name string, memories []record.Memory) error {
	var ids []string
	for _, m := range memories {
		ids = append(ids, record.New(m).ID)
	}
	text, err := derived.Encode(ids)
	if err != nil {
		return err
	}
	return w.Repo.WriteState(name, text, true)
}

// goneFrom finds those memories of the last import from a store that are not in it any more.
func goneFrom(seen string, now []record.Memory, tool string) func(*record.View) []record.Memory {
	var before []string
	if !derived.Read(seen, &before) {
		return nil
	}
	there := map[string]bool{}
	for _, m := range now {
		there[record.New(m).ID] = true
	}
	return func(v *record.View) []record.Memory {
		var gone []record.Memory
		for _, id := range before {
			if m, err := v.Find(id); err == nil && !there[id] && m.Status != record.Retired && m.Imported() {
				gone = append(gone, m.Retire("It is gone from "+tool+"."))
			}
		}
		return gone
	}
}

// itemLine is an item as a line of an import, without a ref.
func itemLine(i foreign.Item) transfer.Line {
	l := transfer.Line{Text: i.Text, Kind: i.Kind, Tags: i.Tags, Paths: i.Paths, Private: i.User}
	if !i.Created.IsZero() {
		l.Created = i.Created.Format(time.RFC3339)
	}
	return l
}

// cutRunes cuts a text after so many characters.
func cutRunes(text string, most int) (string, bool) {
	if utf8.RuneCountInString(text) <= most {
		return text, false
	}
	n := 0
	for at := range text {
		if n++; n > most {
			return strings.TrimSpace(text[:at]) + " …", true
		}
	}
	return text, false
}

// tellTaken is the answer for one store.
func (w *workspace) tellTaken(a storeJSON, o importOptions) error {
	if w.env.JSON {
		return w.env.Object(a)
	}
	rest := ""
	if a.Others > 0 {
		rest += fmt.Sprintf(", %d of other projects", a.Others)
	}
	if a.Left > 0 {
		rest += fmt.Sprintf(", %d not in force there", a.Left)
	}
	w.env.Print("%s: %s%s\n", a.From, importLine(a.Result, o), rest)
	return nil
}

// tellStore lists what a store has, and writes nothing.
func (w *workspace) tellStore(tool string, f foreign.Found) error {
	if !w.env.JSON {
		w.env.Print("%s: %s at %s, %d of other projects, %d not in force there\n", tool, term.Count(len(f.Items), "item", "items"), term.Visible(f.Place), f.Others, f.Left)
	}
	for _, i := range f.Items {
		text, _ := w.Scanner.Text(i.Text)
		kind, _ := w.Scanner.Text(i.Kind)
		key, _ := w.Scanner.Text(cmp.Or(i.Key, i.At))
		short, _ := cutRunes(strings.Join(strings.Fields(text.String()), " "), previewItem)
		if !w.env.JSON {
			at := ""
			if i.At != "" {
				at = term.Visible(key.String()) + "  "
			}
			w.env.Print("  %s%s  %s\n", at, term.Visible(kind.String()), term.Visible(short))
			continue
		}
		one := itemJSON{From: tool, Key: key.String(), Kind: kind.String(), Text: short, Private: i.User}
		if !i.Created.IsZero() {
			one.Created = &i.Created
		}
		if err := w.env.Object(one); err != nil {
			return err
		}
	}
	return nil
}
