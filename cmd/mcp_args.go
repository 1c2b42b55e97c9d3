package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/mcpconn"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/reader"
)

// What an agent gives with a call is checked here: clients do not hold to a schema.

// read takes the arguments apart.
func (c *mcpCall) read(into any) error {
	if len(c.args) == 0 || string(c.args) == "null" {
		c.args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(c.args))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return exit.Usage("the tool's schema says what it takes", "%s: a %s does not belong there", strings.ToLower(wrong.Field), wrong.Value)
	case err != nil:
		return exit.Usage("the tool's schema says what it takes", "arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// query checks a text that is looked for. It is cut at a word where it is too long, which the answer says.
func (c *mcpCall) query(text string, most int) (string, error) {
	if err := bounded("query", text, mcpconn.MaxMessage); err != nil || len(text) <= most {
		return text, err
	}
	cut := strings.ToValidUTF8(text[:most], "")
	if at := strings.LastIndexFunc(cut, unicode.IsSpace); at > most/2 {
		cut = cut[:at]
	}
	c.env.Say("query has %d bytes: its first %d were looked for", len(text), len(cut))
	return cut, nil
}

// files are paths that an agent works on, relative to the top of the work tree, with slashes.
func (c *mcpCall) files(named []string) (out []string, err error) {
	if len(named) == 0 {
		return nil, nil
	}
	if len(named) > maxFiles {
		return nil, exit.Usage("", "files are %d and may be %d", len(named), maxFiles)
	}
	w, err := c.env.open(c.ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range named {
		if err := bounded("one of files", name, maxFileName); err != nil {
			return nil, err
		}
		file := reader.FileBelow(w.Repo.WorkTree, name)
		if file == "" {
			return nil, exit.Usage("as web/app.ts, or absolute", "files: %q does not lie below the repository's top", cut.Marked(name, maxListItem))
		}
		out = append(out, file)
	}
	return out, nil
}

// bounded checks a text that an agent gave.
func bounded(name, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return exit.Usage("", "%s is empty", name)
	case len(text) > most:
		return exit.Usage("", "%s has %d bytes and may have %d", name, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return exit.Usage("", "%s is not text", name)
	}
	return nil
}

var mcpID = pattern.New(`^[0-9a-f]{4,16}$`)

func checkedID(id string) error {
	if !mcpID.MatchString(id) {
		return exit.Usage("recall shows ids in brackets", "id: want 4 to 16 hex digits")
	}
	return nil
}

// Bounds of what the tools take.
const (
	maxLimit    = 20
	usualLimit  = 8
	maxQuery    = 2000 // bytes
	maxPrompted = 8000
	maxReason   = 1000
	maxFiles    = 20
	maxFileName = 4 << 10
	maxTagged   = 20  // paths or tags of a statement
	maxListItem = 200 // bytes of one
	maxAsked    = 16 << 10
)

// belowTop reports whether a glob stays inside of a repository.
func belowTop(glob string) bool {
	slashed := strings.ReplaceAll(glob, `\`, "/")
	return !path.IsAbs(slashed) && !slices.Contains(strings.Split(slashed, "/"), "..") && !strings.Contains(slashed, ":")
}
