package mcp

import (
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reverie-memory/reverie/gitstore/record"
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
	run         func(*call) (string, error)
}

func tools() []tool {
	return []tool{
		{"recall", "Recall", "Find what is known about something in this repository: words, a path, an identifier or an error message.",
			`{"type":"object","properties":{"query":{"type":"string"},"kind":{"type":"string","enum":KINDS},` +
				`"limit":{"type":"integer","minimum":1,"maximum":20,"default":8},FILES},"required":["query"],"additionalProperties":false}`,
			false, true, (*call).recall},
		{"show", "Show a memory", "One memory whole: why and how, where it comes from, what stands against it.",
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9a-f]{4,16}$"}},"required":["id"],"additionalProperties":false}`,
			false, true, (*call).show},
		{"remember", "Remember", "Propose a statement for the memory. First line: the statement; then why and how. A person reviews it.",
			`{"type":"object","properties":{"text":{"type":"string","maxLength":16384},"kind":{"type":"string","enum":KINDS},` +
				`"paths":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"globs of files it is about, below the repository's top"},` +
				`"tags":{"type":"array","items":{"type":"string"},"maxItems":20}},"required":["text"],"additionalProperties":false}`,
			true, true, (*call).remember},
		{"forget", "Forget", "Propose that a memory no longer holds. A person reviews it.",
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9a-f]{4,16}$"},"reason":{"type":"string","maxLength":1000}},` +
				`"required":["id","reason"],"additionalProperties":false}`,
			true, true, (*call).forget},
		{"context", "Context", "What matters most here, as given at a session's start; with a query, what is surely about that.",
			`{"type":"object","properties":{"query":{"type":"string"},FILES},"additionalProperties":false}`,
			false, true, (*call).context},
		{"checkpoint", "Checkpoint", "Note where this session stands, for after a compaction or for whoever goes on.",
			`{"type":"object","properties":{"note":{"type":"string","maxLength":3500}},"additionalProperties":false}`,
			true, false, (*call).checkpoint},
		{"kv", "Notes", "What sessions note for each other. A key with a value notes it, until it expires; a key alone reads it; neither lists what is kept.",
			`{"type":"object","properties":{"key":{"type":"string","minLength":1,"maxLength":200},"value":{"type":"string","maxLength":16384},` +
				`"ttl":{"type":"string","default":"7d","description":"90m, 12h, 7d, 2w"},"delete":{"type":"boolean","description":"the key"},` +
				`"prefix":{"type":"string","description":"list the keys that begin with it"}},"additionalProperties":false}`,
			true, true, (*call).kv},
		{"status", "Status", "How much is known, waits for review, and is kept.",
			`{"type":"object","additionalProperties":false}`,
			false, true, (*call).status},
	}
}

const filesProperty = `"files":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"you work on: what is about them comes earlier"}`

// describe returns a tool as a client sees it.
func (t tool) describe() *sdk.Tool {
	kinds, err := json.Marshal(record.Kinds)
	if err != nil {
		panic(err) // they are strings
	}
	no := false
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: json.RawMessage(strings.NewReplacer("KINDS", string(kinds), "FILES", filesProperty).Replace(t.input)),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: !t.writes, IdempotentHint: t.again, DestructiveHint: &no, OpenWorldHint: &no},
	}
}
