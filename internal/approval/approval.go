// Package approval shows a person whose memories reach agents, and carries out the person's
// decisions: approve a change, keep the version before it, or trust its author. Begin with List.
// Approve and Keep decide under the store's lock or in a transaction.
package approval

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Overview lists the authors of the memories, and the changes withheld from agents.
type Overview struct {
	People   []trust.Person
	Held     []reader.Held
	Everyone bool // the settings trust everyone
	Signed   bool // the settings trust only signatures
}

// List decides afresh about every author. With signatures it also reads who signed.
func List(ctx context.Context, r *reader.Reader, signatures bool) (o Overview, err error) {
	err = r.View(ctx, func(v *record.View) error {
		c, err := r.Restrict(ctx, v)
		if err != nil {
			return err
		}
		o.Everyone, o.Signed = c.Trust.Everyone, c.Trust.Signed
		if err := r.Judge.Again(ctx, c.Trust, signatures); err != nil {
			return err
		}
		foreign, err := r.Withheld(ctx, v)
		if err != nil {
			return err
		}
		if o.People, err = r.Judge.People(ctx, v, c.Trust, foreign, signatures, r.Now()); err != nil {
			return err
		}
		o.Held, err = r.Held(ctx, v)
		return err
	})
	return o, err
}

// Strangers returns the authors whose address can be added to the settings as it is: each once, if
// something of theirs is withheld. An author may have written a pattern, or anything.
func (o Overview) Strangers() (some []trust.Person) {
	if o.Signed {
		return nil
	}
	for _, p := range o.People {
		literal := strings.Contains(p.Author, "@") && !strings.ContainsAny(p.Author, "*?[]\\ ") && unseen.Visible(p.Author) == p.Author && unseen.Names(p.Author) == ""
		known := slices.ContainsFunc(some, func(s trust.Person) bool { return s.Author == p.Author })
		if len(p.Withheld) > 0 && !p.Trusted && literal && !known {
			some = append(some, p)
		}
	}
	return some
}

// Approved lists what Approve gave to agents.
type Approved struct {
	Memories []reader.Held
	Settings bool     // the team's settings too
	Idle     []string // ids of memories that are not in force
}

// Approve gives the current state of withheld memories to agents: of all, or of some by their ids.
// trust.SettingsPath stands for the team's settings.
func Approve(ctx context.Context, r *reader.Reader, ids []string, all bool) (a Approved, err error) {
	ctx, unlock, err := r.Memory.Lock(ctx)
	if err != nil {
		return a, err
	}
	defer unlock()
	err = r.View(ctx, func(v *record.View) error {
		var approved []string
		if named := slices.Index(ids, trust.SettingsPath); named >= 0 || all {
			if named >= 0 {
				ids = slices.Delete(slices.Clone(ids), named, named+1)
			}
			if a.Settings = r.Settings.Trust.Text != nil; a.Settings {
				approved = []string{trust.SettingsPath}
			}
		}
		foreign, err := r.Withheld(ctx, v)
		if err != nil {
			return err
		}
		var chosen []trust.Pending
		if chosen, a.Idle, err = foreign.Choose(v, r.Now(), ids, all); err != nil {
			return err
		}
		for _, p := range chosen {
			approved = append(approved, p.ID)
		}
		if all {
			approved = append(approved, foreign.OutOfForce(v, r.Now())...)
		}
		a.Memories = r.Explain(chosen)
		return r.Judge.Approve(v, foreign, r.Settings.Trust, approved)
	})
	return a, err
}

// Keep writes the versions that agents get in place of withheld changes, and returns these. idle
// has the ids of memories that are not in force.
func Keep(ctx context.Context, r *reader.Reader, ids []string) (kept []trust.Pending, idle []string, err error) {
	err = r.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		foreign, err := r.Withheld(ctx, tx.View)
		if err != nil {
			return err
		}
		var chosen []trust.Pending
		if chosen, idle, err = foreign.Choose(tx.View, r.Now(), ids, false); err != nil {
			return err
		}
		kept, err = trust.Keep(tx, chosen)
		return err
	})
	return kept, idle, err
}

// Edit tells whom to add to the trusted authors and signers, or to remove from them.
type Edit struct {
	People []string // addresses and keys
	Add    bool
	Signer bool // People are principals of the allowed signers
	User   bool // in the user's own settings
}

// Check returns an error if People cannot be added to settings.
func (e Edit) Check() error {
	_, _, err := trust.Edit(config.Trust{}, true, e.People, e.Signer)
	return err
}

// Edited describes changed settings.
type Edited struct {
	File    string
	Keys    []string // that were set
	Already []string // people who were trusted before
}

// Apply changes the settings of the clone or of the user. Open the clone again to read them.
func (e Edit) Apply(c *clone.Clone) (done Edited, err error) {
	done.File = clone.SettingsFile(c.State)
	if e.User {
		if done.File = config.UserFile(); done.File == "" {
			return done, errors.New("there is no home directory for your settings")
		}
	} else if _, err := c.Repo.State().Dir(); err != nil {
		return done, err
	}
	settings, err := config.Load(done.File)
	if err != nil {
		return done, err
	}
	if e.Add && !e.User { // the user's list counts here too
		if _, done.Already, err = trust.Edit(c.Config.Trust, true, e.People, e.Signer); err != nil {
			return done, err
		}
		e.People = slices.DeleteFunc(slices.Clone(e.People), func(who string) bool { return slices.Contains(done.Already, who) })
	}
	changed, already, err := trust.Edit(settings.Trust, e.Add, e.People, e.Signer)
	if err != nil {
		return done, err
	}
	done.Already = append(done.Already, already...)
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		if err := config.Set(done.File, key, config.List(changed[key])); err != nil {
			return done, err
		}
		done.Keys = append(done.Keys, key)
	}
	return done, nil
}
