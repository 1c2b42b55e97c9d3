package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/foreign"
)

// MaxChars bounds Options.MaxChars. A memory has room for that many characters in any script.
const MaxChars = 12000

// folder is a folder of the state folder. It records the memories of the last import from each
// store; without it no memory counts as gone.
const folder = "imported"

// StoreResult reports the import of one store.
type StoreResult struct {
	From  string `json:"from"`
	Place string `json:"place"`
	transfer.Result
	Others int `json:"others"` // of other projects
	Left   int `json:"left"`   // outdated for the tool itself, no memories, or empty
	Bad    int `json:"bad"`    // unreadable

	Unkept error `json:"-"` // why the store's memories were not recorded; they were imported
}

// Store imports the items of a tool's store.
func (in *Intake) Store(ctx context.Context, tool string, found foreign.Found, o Options) (StoreResult, error) {
	if o.Filter != "" {
		found.Items = matching(found.Items, o.Filter)
	}
	if found.Bad > 0 {
		in.Report(Unreadable{tool, found.Bad})
	}
	b, cut := Batch{Why: "imported from " + tool, From: tool, apart: slices.Contains(foreign.Files, tool)}, 0
	prefix, keys := storeName(tool, found), map[string]bool{}
	for _, i := range found.Items {
		if i.Key == "" && i.At != "" {
			i.Key = i.At
		} else if keys[i.Key] {
			in.Report(Doubled{tool, i.Key})
			found.Bad++
			continue
		}
		keys[i.Key] = true
		var isCut bool
		if i.Text, isCut = Shorten(i.Text, o.MaxChars); isCut {
			cut++
		}
		l, by := lineOf(i), "import/"+tool
		if b.apart { // a line number is no key: it moves
			by = "import/" + strings.Join(strings.Fields(i.At), "%20")
		} else {
			l.Ref = prefix + ":" + i.Key
		}
		m, err := l.Memory(by, in.Now())
		if err != nil {
			in.Report(Refused{tool, i.Key, err})
			found.Bad++
			continue
		}
		b.Memories = append(b.Memories, m)
	}
	if cut > 0 {
		in.Report(Shortened{tool, cut, o.MaxChars})
	}
	res := StoreResult{From: tool, Place: found.Place, Others: found.Others, Left: found.Left, Bad: found.Bad}
	if len(b.Memories) == 0 { // an empty store retires nothing
		in.Report(Nothing{tool, found.Place})
		return res, nil
	}
	b.Memories = in.Clean(b.Memories) // before taking their ids, because a key may look like a secret
	if b.apart {
		for i, m := range b.Memories {
			b.Memories[i] = guard.Derive(m, m.Trigger(), "", os.DirFS(in.Repo.WorkTree))
		}
	}
	seen := folder + "/" + prefix + ".json"
	whole := o.Filter == "" && found.Bad == 0
	if whole {
		b.gone = goneFrom(filepath.Join(in.State, filepath.FromSlash(seen)), b.Memories, tool)
	}
	var err error
	if res.Result, err = in.Take(ctx, b, o); err != nil || !whole || o.DryRun {
		return res, err
	}
	res.Unkept = in.keep(seen, b.Memories)
	return res, nil
}

// storeName names a store: the tool and, unless it is the usual one, its place.
func storeName(tool string, found foreign.Found) string {
	if found.Usual {
		return tool
	}
	sum := sha256.Sum256([]byte(found.Store))
	return tool + "@" + hex.EncodeToString(sum[:4])
}

// matching returns the items whose text contains filter, in any case.
func matching(items []foreign.Item, filter string) []foreign.Item {
	want := strings.ToLower(filter)
	return slices.DeleteFunc(slices.Clone(items), func(i foreign.Item) bool { return !strings.Contains(strings.ToLower(i.Text), want) })
}

// keep records the memories of an import in a state file.
func (in *Intake) keep(name string, memories []record.Memory) error {
	var ids []string
	for _, m := range memories {
		ids = append(ids, record.New(m).ID)
	}
	text, err := derived.Encode(ids)
	if err != nil {
		return err
	}
	return in.Repo.State().Write(name, text, true)
}

// goneFrom finds the memories of the last import that the store has lost since.
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

// lineOf returns an item as a line of an import, without a ref.
func lineOf(i foreign.Item) transfer.Line {
	l := transfer.Line{Text: i.Text, Kind: i.Kind, Tags: i.Tags, Paths: i.Paths, Private: i.User}
	if !i.Created.IsZero() {
		l.Created = i.Created.Format(time.RFC3339)
	}
	return l
}

// Shorten cuts a text to at most most characters, and reports whether it did.
func Shorten(text string, most int) (string, bool) {
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
