package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks/slash"
	"github.com/reverie-memory/reverie/internal/exit"
)

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
