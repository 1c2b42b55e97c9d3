package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/slash"
	"github.com/reverie-memory/reverie/internal/exit"
)

// tool is one tool. An agent pays for name, description and schema in each session, so they are
// short. run returns the answer as text: Claude Code and Codex show a model no text beside
// structured content.
type tool struct {
	name, title string
	about       string
	input       string // JSON schema; KINDS stands for the list of kinds, FILES for a property
	writes      bool
	again       bool // a second call changes nothing
	starts      bool // it starts a loop, so a setting must let agents do that
	run         func(*call) (string, error)
}

func tools() []tool {
	return []tool{
		{"recall", "Recall", "Find what is known about something in this repository: words, a path, an identifier or an error message. Use it before you guess, and when something fails.",
			`{"type":"object","properties":{"query":{"type":"string"},"kind":{"type":"string","enum":KINDS},` +
				`"limit":{"type":"integer","minimum":1,"maximum":20,"default":8},FILES},"required":["query"],"additionalProperties":false}`,
			false, true, false, (*call).recall},
		{"show", "Show a memory", "One memory whole: why and how, where it comes from, what stands against it.",
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9a-f]{4,16}$"}},"required":["id"],"additionalProperties":false}`,
			false, true, false, (*call).show},
		{"remember", "Remember", "Propose a statement for the memory, when the user asks for that or you learned what lasts. First line: the statement; then why and how. A person reviews it.",
			`{"type":"object","properties":{"text":{"type":"string","maxLength":16384},"kind":{"type":"string","enum":KINDS,"description":"` + kindsMean + `"},` +
				`"paths":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"globs of files it is about, below the repository's top"},` +
				`"tags":{"type":"array","items":{"type":"string"},"maxItems":20}},"required":["text"],"additionalProperties":false}`,
			true, true, false, (*call).remember},
		{"forget", "Forget", "Propose that a memory no longer holds. A person reviews it.",
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9a-f]{4,16}$"},"reason":{"type":"string","maxLength":1000}},` +
				`"required":["id","reason"],"additionalProperties":false}`,
			true, true, false, (*call).forget},
		{"context", "Context", "What matters most here, as given at a session's start; with a query, what is surely about that.",
			`{"type":"object","properties":{"query":{"type":"string"},FILES},"additionalProperties":false}`,
			false, true, false, (*call).context},
		{"checkpoint", "Checkpoint", "Note where this session stands, for after a compaction or for whoever goes on.",
			`{"type":"object","properties":{"note":{"type":"string","maxLength":3500}},"additionalProperties":false}`,
			true, false, false, (*call).checkpoint},
		{"kv", "Notes", "What sessions note for each other. A key with a value notes it, until it expires; a key alone reads it; neither lists what is kept.",
			`{"type":"object","properties":{"key":{"type":"string","minLength":1,"maxLength":200},"value":{"type":"string","maxLength":16384},` +
				`"ttl":{"type":"string","default":"7d","description":"90m, 12h, 7d, 2w"},"delete":{"type":"boolean","description":"the key"},` +
				`"prefix":{"type":"string","description":"list the keys that begin with it"}},"additionalProperties":false}`,
			true, true, false, (*call).kv},
		{"status", "Status", "How much is known, waits for review, and is kept.",
			`{"type":"object","additionalProperties":false}`,
			false, true, false, (*call).status},
		{"expand", "Expand", "The original of a shortened output, by the hash in its last line. Use it when an omitted part matters.",
			`{"type":"object","properties":{"hash":{"type":"string","pattern":"^[0-9a-f]{4,24}$"},"line":{"type":"integer","minimum":1,"default":1,"description":"the first to show"}},` +
				`"required":["hash"],"additionalProperties":false}`,
			false, true, false, expand},
		{"sessions", "Sessions", "Earlier sessions in this clone, the newest first, each with the memories that came from it.",
			`{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":20,"default":8}},"additionalProperties":false}`,
			false, true, false, sessions},
		{"loops", "Loops", "How the loops stand that run an agent on a plan; with a name, one in full.",
			`{"type":"object","properties":{"name":{"type":"string","maxLength":100}},"additionalProperties":false}`,
			false, true, false, loops},
		{"loop_start", "Start a loop", "Have the agent of the user's settings work on a plan in the background, when the user asks for it. A plan is Markdown; a block ```verify lists the commands that check it.",
			`{"type":"object","properties":{"plan":{"type":"string","maxLength":131072},"name":{"type":"string","maxLength":100}},"required":["plan"],"additionalProperties":false}`,
			true, false, true, startLoop},
	}
}

// kindsMean says what each kind of memory is.
const kindsMean = "constraint: must or must not; convention: the way it is done here; decision: chosen, and why; workflow: steps; " +
	"failure: an error and its remedy; pattern: a recurring shape of code; fact: how it is; preference: one person's taste; note: the rest"

const filesProperty = `"files":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"you work on: what is about them comes earlier"}`

// describe returns a tool as a client sees it.
func (t tool) describe() *sdk.Tool {
	kinds, err := json.Marshal(record.Kinds)
	if err != nil {
		panic(err) // they are strings
	}
	runs := t.starts // commands of its own choice
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: json.RawMessage(strings.NewReplacer("KINDS", string(kinds), "FILES", filesProperty).Replace(t.input)),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: !t.writes, IdempotentHint: t.again, DestructiveHint: &runs, OpenWorldHint: &runs},
	}
}

// words is the one argument of a prompt.
const words = "words"

// prompts returns the slash commands for the client. Agents whose own commands `reverie init`
// installs get none, so that their lists have each once. A client that only reads gets those that
// change nothing.
func prompts(agent string, readOnly bool) (all []slash.Command) {
	if agent != "" && agent != "generic" {
		return nil
	}
	for _, c := range slash.Commands() {
		if !readOnly || !c.Writes {
			all = append(all, c)
		}
	}
	return all
}

// describe returns a command as a client lists it.
func describe(c slash.Command) *sdk.Prompt {
	p := &sdk.Prompt{Name: c.Name, Description: c.About}
	if c.Hint != "" {
		p.Arguments = []*sdk.PromptArgument{{Name: words, Description: c.Hint}}
	}
	return p
}

// prompt answers a request for a command.
func prompt(of slash.Command) sdk.PromptHandler {
	return func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		given := ""
		for name, value := range req.Params.Arguments {
			switch {
			case name != words || of.Hint == "":
				return nil, exit.Usage("", "%s takes no argument %q", of.Name, name)
			case strings.TrimSpace(value) != "":
				if err := bounded(words, value, maxText); err != nil {
					return nil, err
				}
				given = brief.TaglessLines(value)
			}
		}
		return &sdk.GetPromptResult{Description: of.About, Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: of.Text(given)}},
		}}, nil
	}
}
