package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/checkpoint"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/status"
)

func (c *call) remember() (string, error) {
	a := struct {
		Text, Kind  string
		Paths, Tags []string
	}{}
	if err := c.read(&a); err != nil {
		return "", err
	}
	if err := bounded("text", a.Text, maxText); err != nil {
		return "", err
	}
	if first, _ := record.SplitText(a.Text); len(first) > record.MaxText {
		return "", exit.Usage("put what is more than the statement after an empty line", "text: the statement has %d bytes and may have %d", len(first), record.MaxText)
	}
	for name, list := range map[string][]string{"paths": a.Paths, "tags": a.Tags} {
		if len(list) > maxList {
			return "", exit.Usage("", "%s are %d and may be %d", name, len(list), maxList)
		}
		for _, one := range list {
			if err := bounded("one of "+name, one, maxListItem); err != nil {
				return "", err
			}
		}
	}
	for _, p := range a.Paths {
		if !belowTop(p) {
			return "", exit.Usage("as web/**", "paths: %q does not lie below the repository's top", p)
		}
	}
	d, err := c.open()
	if err != nil {
		return "", err
	}
	keeper := remember.Keeper{Reader: d.Reader, Create: d.Create}
	r, err := keeper.Remember(c.ctx, remember.Statement{Kind: a.Kind, Text: a.Text, Paths: a.Paths, Tags: a.Tags})
	if err != nil {
		return "", err
	}
	if said := r.Redaction(); said != "" {
		c.note("%s", said)
	}
	if r.Suggested != nil && d.Settings.Config.AgentNotes {
		c.note("until then you are given it as an unreviewed note")
	}
	return c.suggested(d, r.Suggested, "known already, or waiting"), nil
}

// suggested answers with the pending operation, or with the reason why nothing is pending.
func (c *call) suggested(d *Desk, o *record.Operation, without string) string {
	d.Tidy(c.ctx)
	if o == nil {
		c.note("%s", without)
		return c.remarks()
	}
	c.note("%s", remember.Waits)
	return c.remarks() + "\noperation " + o.ID
}

func (c *call) forget() (string, error) {
	a := struct{ ID, Reason string }{}
	if err := c.read(&a); err != nil {
		return "", err
	}
	if err := errors.Join(checkID(a.ID), bounded("reason", a.Reason, maxReason)); err != nil {
		return "", err
	}
	d, err := c.open()
	if err != nil {
		return "", err
	}
	keeper := remember.Keeper{Reader: d.Reader, Create: d.Create}
	o, why, err := keeper.SuggestForget(c.ctx, a.ID, a.Reason)
	if err != nil {
		return "", err
	}
	return c.suggested(d, o, why), nil
}

func (c *call) checkpoint() (string, error) {
	a := struct{ Note string }{}
	if err := c.read(&a); err != nil {
		return "", err
	}
	if a.Note != "" {
		if err := bounded("note", a.Note, checkpoint.MaxText-512); err != nil {
			return "", err
		}
		if strings.TrimSpace(a.Note) == "-" {
			return "", exit.Usage("", "note is no text")
		}
	}
	d, err := c.open()
	if err != nil {
		return "", err
	}
	n := checkpoint.Notebook{Reader: d.Reader, Create: d.Create}
	made, err := n.Add(c.ctx, "", a.Note)
	if err != nil {
		return "", err
	}
	return brief.Tagless("noted as " + made.Name()), nil
}

func (c *call) status() (string, error) {
	if err := c.read(&struct{}{}); err != nil {
		return "", err
	}
	d, err := c.open()
	if err != nil {
		return "", err
	}
	s, err := status.Read(c.ctx, d.Reader, d.Learner)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return "", err
	}
	return cut.Marked(brief.Tagless(b.String()), brief.MaxInjected), nil
}
