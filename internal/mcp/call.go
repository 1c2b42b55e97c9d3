package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/mcpconn"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/reader"
)

// call is one call of a tool.
type call struct {
	Server
	ctx    context.Context
	caller string
	args   json.RawMessage

	desk  *Desk        // see open
	notes bytes.Buffer // remarks on the work, a line each
}

// open opens the clone once.
func (c *call) open() (d *Desk, err error) {
	if c.desk == nil {
		c.desk, err = c.Open(c.ctx, c.caller, &c.notes)
	}
	return c.desk, err
}

// note adds a remark.
func (c *call) note(format string, args ...any) { fmt.Fprintf(&c.notes, format+"\n", args...) }

// remarks returns the remarks as an agent reads them.
func (c *call) remarks() string {
	var lines []string
	for line := range strings.Lines(c.notes.String()) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "reverie: "))
	}
	return cut.Marked(brief.TaglessLines(strings.Join(lines, "\n")), maxFault)
}

// maxFault bounds an error or the remarks sent to an agent, in bytes.
const maxFault = 2000

// Bounds of arguments. Clients do not enforce a schema, so the tools check.
const (
	maxLimit     = 20
	defaultLimit = 8
	MaxQuery     = 2000 // bytes; a longer one is cut
	maxPrompt    = 8000
	maxReason    = 1000
	maxFiles     = 20
	maxFileName  = 4 << 10
	maxList      = 20  // paths or tags of a statement
	maxListItem  = 200 // bytes
	maxText      = 16 << 10
)

// read decodes the arguments.
func (c *call) read(into any) error {
	args := c.args
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(args))
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

// query checks a query. It cuts a long one at a word and notes that.
func (c *call) query(text string, most int) (string, error) {
	if err := bounded("query", text, mcpconn.MaxMessage); err != nil || len(text) <= most {
		return text, err
	}
	short := strings.ToValidUTF8(text[:most], "")
	if at := strings.LastIndexFunc(short, unicode.IsSpace); at > most/2 {
		short = short[:at]
	}
	c.note("query has %d bytes: its first %d were looked for", len(text), len(short))
	return short, nil
}

// files checks the names of an agent's files, and returns them relative to the top of the work
// tree, with slashes.
func (c *call) files(names []string) (out []string, err error) {
	if len(names) > maxFiles {
		return nil, exit.Usage("", "files are %d and may be %d", len(names), maxFiles)
	}
	for _, name := range names {
		d, err := c.open()
		if err != nil {
			return nil, err
		}
		if err := bounded("one of files", name, maxFileName); err != nil {
			return nil, err
		}
		file := reader.FileBelow(d.Repo.WorkTree, name)
		if file == "" {
			return nil, exit.Usage("as web/app.ts, or absolute", "files: %q does not lie below the repository's top", cut.Marked(name, maxListItem))
		}
		out = append(out, file)
	}
	return out, nil
}

// bounded checks a text.
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

var idForm = pattern.New(`^[0-9a-f]{4,16}$`)

// checkID checks the id of a memory.
func checkID(id string) error {
	if !idForm.MatchString(id) {
		return exit.Usage("recall shows ids in brackets", "id: want 4 to 16 hex digits")
	}
	return nil
}

// belowTop reports whether a glob stays inside of a repository.
func belowTop(glob string) bool {
	slashed := strings.ReplaceAll(glob, `\`, "/")
	return !path.IsAbs(slashed) && !slices.Contains(strings.Split(slashed, "/"), "..") && !strings.Contains(slashed, ":")
}
