package trust

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
)

// Person is an author of memories.
type Person struct {
	Author   string   `json:"author"`         // the address as written in the commits
	Key      string   `json:"key,omitempty"`  // of a good signature
	Name     string   `json:"name,omitempty"` // owner of the key by the user's allowed signers
	Trusted  bool     `json:"trusted"`        // by name, not as one of everyone
	Own      bool     `json:"own"`            // this clone's own identity, or made in it
	Memories int      `json:"memories"`       // in force and last changed by this person
	Withheld []string `json:"withheld"`       // ids withheld from agents; never nil
}

// Again detects changes that an outcome does not check: our own new name, or other allowed signers.
// With signatures it discards every earlier decision. Call it before Withheld.
func (j *Judge) Again(ctx context.Context, c config.Trust, signatures bool) error {
	if signatures {
		files, _ := filepath.Glob(filepath.Join(j.State, "authors-*.json"))
		for _, f := range append(files, filepath.Join(j.State, WithheldFile)) {
			if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	g, err := j.assessor(c)
	if err == nil {
		err = g.ask(ctx)
	}
	if err == nil {
		g.save()
	}
	return err
}

// People returns the authors of the public memories in force, those with the most first. v is the
// newest state and held its withheld part. With signatures it also checks signatures that no
// setting trusts.
func (j *Judge) People(ctx context.Context, v *record.View, c config.Trust, held *Withheld, signatures bool, now time.Time) ([]Person, error) {
	g, err := j.assessor(c)
	if err != nil {
		return nil, err
	}
	if err := g.ask(ctx); err != nil {
		return nil, err
	}
	g.keys = signatures
	found, err := g.origins(ctx, j.read(v), v.Tip(), !signatures)
	if err != nil {
		return nil, err
	}
	var people []Person
	for _, m := range v.Memories() {
		o, ok := found.Files[m.Path()]
		if m.Private || !ok || !m.Live(now) {
			continue
		}
		withheld := len(held.Whose(m)) > 0
		for _, a := range o.By {
			i := slices.IndexFunc(people, func(p Person) bool { return p.Author == a.Email && p.Key == a.Key })
			if i < 0 {
				i, people = len(people), append(people, Person{Author: a.Email, Key: a.Key, Name: a.Name, Withheld: []string{}})
			}
			p := &people[i]
			p.Trusted, p.Own = p.Trusted || g.trusts(a), p.Own || a.Here || a.Email == g.past.Own
			if p.Memories++; withheld && !g.trusts(a) {
				p.Withheld = append(p.Withheld, m.ID)
			}
		}
	}
	slices.SortFunc(people, func(a, b Person) int {
		return cmp.Or(cmp.Compare(b.Memories, a.Memories), strings.Compare(a.Author, b.Author), strings.Compare(a.Key, b.Key))
	})
	return people, nil
}
