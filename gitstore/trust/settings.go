package trust

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/derived"
)

// SettingsPath is the path of the team's settings on the branch. Approve accepts it in place of an
// id.
const SettingsPath = "reverie.toml"

// Settings is the counting version of the team's settings, if that is not the newest. The zero
// value means the newest.
type Settings struct {
	Text []byte   // nil: the newest counts
	By   []string // untrusted authors of changes since

	blob gitstore.ID // of Text
}

// settled is authors-settings.json: the outcome for one content of the settings.
type settled struct {
	Key  string      `json:"key"`
	Text string      `json:"text,omitempty"`
	By   []string    `json:"by,omitempty"`
	Blob gitstore.ID `json:"blob,omitempty"`
}

// Settings returns the version of the team's settings that counts for a view of the newest state.
// That is the last one by trusted people, because settings could hide every memory from agents.
// Without one, or if history cannot be read, the newest counts: it can only restrict.
func (j *Judge) Settings(ctx context.Context, v *record.View, c config.Trust) (Settings, error) {
	if c.Everyone || v.Fallback() || v.Tip() == "" {
		return Settings{}, nil
	}
	tip, err := j.Memory.Tip(ctx)
	if err != nil || tip != v.Tip() {
		return Settings{}, ctx.Err()
	}
	now, err := v.ConfigBlob()
	if err != nil {
		return Settings{}, ctx.Err()
	}
	approved, err := j.approvals()
	if err != nil {
		return Settings{}, nil // Withheld reports the error
	}
	key, err := json.Marshal([]any{judgementFormat, c, now, approved.Approved[SettingsPath], approved.Over[SettingsPath]})
	if err != nil {
		return Settings{}, err
	}
	path := filepath.Join(j.State, "authors-settings.json")
	is := settled{}
	if !derived.Read(path, &is) || is.Key != derived.Sum(key) {
		if is, err = j.settle(ctx, v, c); err != nil {
			return Settings{}, ctx.Err()
		}
		is.Key = derived.Sum(key)
		j.Keep(path, is)
	}
	if is.Text == "" {
		return Settings{}, nil
	}
	return Settings{[]byte(is.Text), is.By, is.Blob}, nil
}

// settle is Settings without a stored answer. An empty Text means that the newest settings count.
func (j *Judge) settle(ctx context.Context, v *record.View, c config.Trust) (is settled, err error) {
	g, err := j.assessor(c)
	if err == nil {
		err = g.ask(ctx)
	}
	if err == nil {
		g.approved, err = g.approvals()
	}
	if err != nil {
		return is, err
	}
	if only, err := j.Memory.Authors().Only(ctx, v.Tip(), "", g.signatures(), g.trusts); only || err != nil {
		return is, err
	}
	found, err := j.Memory.Authors().Origins(ctx, v.Tip(), SettingsPath, nil, g.signatures(), g.belief(ctx))
	if err != nil {
		return is, err
	}
	now, held := found.Files[SettingsPath], found.Held[SettingsPath]
	if held.Blob == "" || held.Blob == now.Blob {
		return is, nil
	}
	by := now.By
	if now.Blob == "" {
		by = held.Gone
	}
	is.By, is.Text, is.Blob = g.names(by), held.Text, held.Blob
	if is.Text == "" {
		text, err := v.Content(held.Blob)
		if err != nil {
			return settled{}, err
		}
		is.Text = string(text)
	}
	return is, nil
}
