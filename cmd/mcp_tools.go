package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/checkpoint"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
)

// mcpTool is one tool. An agent pays for name, description and schema in each of its sessions, so they are short.
type mcpTool struct {
	name, title string
	about       string
	input       string // JSON schema; KINDS stands for the list of kinds, FILES for a property
	writes      bool   // it asks for a change
	again       bool   // doing it again changes nothing
	run         func(*mcpCall) error
}

func mcpTools() []mcpTool {
	return []mcpTool{
		{"recall", "Recall", "Find what is known about something in this repository: words, a path, an identifier or an error message.",
			`{"type":"object","properties":{"query":{"type":"string"},"kind":{"type":"string","enum":KINDS},` +
				`"limit":{"type":"integer","minimum":1,"maximum":20,"default":8},FILES},"required":["query"],"additionalProperties":false}`,
			false, true, (*mcpCall).recall},
		{"show", "Show a memory", "One memory whole: why and how, where it comes from, what stands against it.",
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9a-f]{4,16}$"}},"required":["id"],"additionalProperties":false}`,
			false, true, (*mcpCall).show},
		{"remember", "Remember", "Propose a statement for the memory. First line: the statement; then why and how. A person reviews it.",
			`{"type":"object","properties":{"text":{"type":"string","maxLength":16384},"kind":{"type":"string","enum":KINDS},` +
				`"paths":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"globs of files it is about, below the repository's top"},` +
				`"tags":{"type":"array","items":{"type":"string"},"maxItems":20}},"required":["text"],"additionalProperties":false}`,
			true, true, (*mcpCall).remember},
		{"forget", "Forget", "Propose that a memory no longer holds. A person reviews it.",
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9a-f]{4,16}$"},"reason":{"type":"string","maxLength":1000}},` +
				`"required":["id","reason"],"additionalProperties":false}`,
			true, true, (*mcpCall).forget},
		{"context", "Context", "What matters most here, as given at a session's start; with a query, what is surely about that.",
			`{"type":"object","properties":{"query":{"type":"string"},FILES},"additionalProperties":false}`,
			false, true, (*mcpCall).context},
		{"checkpoint", "Checkpoint", "Note where this session stands, for after a compaction or for whoever goes on.",
			`{"type":"object","properties":{"note":{"type":"string","maxLength":3500}},"additionalProperties":false}`,
			true, false, (*mcpCall).checkpoint},
		{"kv", "Notes", "What sessions note for each other. A key with a value notes it, until it expires; a key alone reads it; neither lists what is kept.",
			`{"type":"object","properties":{"key":{"type":"string","minLength":1,"maxLength":200},"value":{"type":"string","maxLength":16384},` +
				`"ttl":{"type":"string","default":"7d","description":"90m, 12h, 7d, 2w"},"delete":{"type":"boolean","description":"the key"},` +
				`"prefix":{"type":"string","description":"list the keys that begin with it"}},"additionalProperties":false}`,
			true, true, (*mcpCall).kv},
		{"status", "Status", "How much is known, waits for review, and is kept.",
			`{"type":"object","additionalProperties":false}`,
			false, true, (*mcpCall).status},
	}
}

const filesProperty = `"files":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"you work on: what is about them comes earlier"}`

func (t mcpTool) describe() *mcp.Tool {
	kinds, err := json.Marshal(record.Kinds)
	if err != nil {
		panic(err) // they are strings
	}
	no := false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: json.RawMessage(strings.NewReplacer("KINDS", string(kinds), "FILES", filesProperty).Replace(t.input)),
		Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: !t.writes, IdempotentHint: t.again, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// mcpCall is one call of a tool at work.
type mcpCall struct {
	ctx  context.Context
	env  *Env
	args json.RawMessage

	out, talk bytes.Buffer // of env
	text      string       // the answer; without a structured one beside it, of which Claude Code and Codex show the model nothing else
}

// handler answers calls of a tool. Whatever goes wrong becomes an answer that says so, and the server goes on.
func (s mcpServed) handler(t mcpTool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(ctx, mcpPatience)
		defer cancel()
		c := &mcpCall{ctx: ctx, args: req.Params.Arguments}
		c.env = &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &c.out, Err: &c.talk, Width: 80}, Dir: s.env.Dir, Now: s.env.Now, caller: s.caller(req), embedder: s.env.embedder}
		err := c.do(t, s.env.Err)
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // nobody waits for it
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
			err = fmt.Errorf("%s: gave up after %s: %w", t.name, mcpPatience, err)
		}
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: mcpFault(err)}}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: c.text}}}, nil
	}
}

// do runs the tool. A panic in it is a defect that ends one call and not the server.
func (c *mcpCall) do(t mcpTool, log io.Writer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: a defect of Reverie: %v", t.name, r)
			fmt.Fprintf(log, "reverie: %v\n%s", err, debug.Stack())
		}
	}()
	return t.run(c)
}

// mcpFault is an error as an agent reads it.
func mcpFault(err error) string {
	text := "reverie: " + err.Error()
	if hint := mcpHint(err); hint != "" {
		text += "\nhint: " + hint
	}
	return cut.Marked(brief.TaglessLines(text), maxFault)
}

// mcpHint is what an agent can do about an error by tools: it has no command line.
func mcpHint(err error) string {
	code, hint := explain(err)
	switch {
	case errors.Is(err, record.ErrNoMemory):
		return "recall shows ids in brackets"
	case errors.Is(err, git.ErrNotRepository):
		return "the server serves the repository of the folder in which it was started"
	case code == exit.BadUsage && strings.Contains(hint, "reverie "):
		return ""
	}
	return hint
}

// maxFault is the longest error that an agent is told, in bytes.
const maxFault = 2000

func (c *mcpCall) recall() error {
	a := struct {
		Query, Kind string
		Limit       *int
		Files       []string
	}{}
	if err := c.read(&a); err != nil {
		return err
	}
	query, err := c.query(a.Query, maxQuery)
	if err != nil {
		return err
	}
	limit := usualLimit
	if a.Limit != nil {
		limit = *a.Limit
	}
	if limit < 1 || limit > maxLimit {
		return exit.Usage("", "limit is %d and may be 1 to %d", limit, maxLimit)
	}
	o := recallOptions{Question: reader.Question{Limit: limit}}
	if o.Kind = a.Kind; o.Kind != "" {
		if _, err := remember.ParseKind(o.Kind); err != nil {
			return err
		}
	}
	if o.Files, err = c.files(a.Files); err != nil {
		return err
	}
	c.env.JSON = true
	if err := runRecall(c.ctx, c.env, query, o); err != nil {
		return err
	}
	found, err := objectsOf[memoryJSON](&c.out)
	if err != nil {
		return err
	}
	return c.giveFound(found)
}

func (c *mcpCall) show() error {
	a := struct{ ID string }{}
	if err := c.read(&a); err != nil {
		return err
	}
	if err := checkedID(a.ID); err != nil {
		return err
	}
	c.env.JSON = true
	if err := runShow(c.ctx, c.env, a.ID, ""); err != nil {
		return err
	}
	var is struct{ Op string }
	if err := json.Unmarshal(c.out.Bytes(), &is); err != nil {
		return err
	}
	if is.Op != "" {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s waits for review, and is no memory yet", a.ID), "a person decides: reverie review")
	}
	found, err := objectsOf[memoryJSON](&c.out)
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("show %s: %d answers", a.ID, len(found)))
	}
	m := found[0]
	if m.Withheld {
		return &exit.Error{Code: exit.NeedsPerson, Err: fmt.Errorf("%s is withheld from agents here: %s", m.ID, strings.Join(m.Why, "; "))}
	}
	c.giveWhole(m)
	return nil
}

func (c *mcpCall) remember() error {
	a := struct {
		Text, Kind  string
		Paths, Tags []string
	}{}
	if err := c.read(&a); err != nil {
		return err
	}
	if err := bounded("text", a.Text, maxAsked); err != nil {
		return err
	}
	if first, _ := record.SplitText(a.Text); len(first) > record.MaxText {
		return exit.Usage("put what is more than the statement after an empty line", "text: the statement has %d bytes and may have %d", len(first), record.MaxText)
	}
	for name, list := range map[string][]string{"paths": a.Paths, "tags": a.Tags} {
		if len(list) > maxTagged {
			return exit.Usage("", "%s are %d and may be %d", name, len(list), maxTagged)
		}
		for _, one := range list {
			if err := bounded("one of "+name, one, maxListItem); err != nil {
				return err
			}
		}
	}
	for _, p := range a.Paths {
		if !belowTop(p) {
			return exit.Usage("as web/**", "paths: %q does not lie below the repository's top", p)
		}
	}
	if err := runRemember(c.ctx, c.env, remember.Statement{Kind: a.Kind, Text: a.Text, Paths: a.Paths, Tags: a.Tags}); err != nil {
		return err
	}
	c.proposed()
	return nil
}

func (c *mcpCall) forget() error {
	a := struct{ ID, Reason string }{}
	if err := c.read(&a); err != nil {
		return err
	}
	if err := errors.Join(checkedID(a.ID), bounded("reason", a.Reason, maxReason)); err != nil {
		return err
	}
	if err := runForget(c.ctx, c.env, []string{a.ID}, forgetOptions{reason: a.Reason}); err != nil {
		return err
	}
	c.proposed()
	return nil
}

func (c *mcpCall) context() error {
	a := struct {
		Query string
		Files []string
	}{}
	err := c.read(&a)
	if err != nil {
		return err
	}
	r := brief.Request{For: brief.Start, Session: c.session(), Agent: c.agent(), Dir: c.env.Dir, Record: c.session() != ""}
	if a.Query != "" {
		r.For = brief.Prompt
		if r.Query, err = c.query(a.Query, maxPrompted); err != nil {
			return err
		}
	}
	if r.Files, err = c.files(a.Files); err != nil {
		return err
	}
	if err := runContext(c.ctx, c.env, r); err != nil {
		return err
	}
	c.text = c.out.String()
	if said := cut.Marked(c.said(), maxNotices); said != "" {
		c.text += said
	}
	return nil
}

func (c *mcpCall) checkpoint() error {
	a := struct{ Note string }{}
	if err := c.read(&a); err != nil {
		return err
	}
	if a.Note != "" {
		if err := bounded("note", a.Note, checkpoint.MaxText-512); err != nil {
			return err
		}
		if strings.TrimSpace(a.Note) == "-" {
			return exit.Usage("", "note is no text")
		}
	}
	if err := runCheckpoint(c.ctx, c.env, a.Note, ""); err != nil {
		return err
	}
	c.text = brief.Tagless("noted as " + c.out.String())
	return nil
}

func (c *mcpCall) status() error {
	if err := c.read(&struct{}{}); err != nil {
		return err
	}
	c.env.JSON = true
	if err := runStatus(c.ctx, c.env); err != nil {
		return err
	}
	c.text = cut.Marked(brief.Tagless(strings.TrimSpace(c.out.String())), brief.MaxInjected)
	return nil
}
