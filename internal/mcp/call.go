package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/mcpconn"
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
