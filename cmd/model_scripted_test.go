package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
)

// answered is reverie with a model that reads its answers from a file, one a line: reverie-answered
// FILE ARG…. A line "-" is no answer. The questions are appended to FILE.asked.
func answered(args []string) int {
	text, err := os.ReadFile(args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exit.Failed
	}
	answers := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	modelOf = func(*workspace, context.Context, model.Task, string) (*prompts.Model, prompts.Set, error) {
		set, err := prompts.Load("")
		return &prompts.Model{Name: "scripted:1b", Digest: "0123abcd", Context: 16384, Ask: func(_ context.Context, r prompts.Rendered) (prompts.Answer, error) {
			log, err := os.OpenFile(args[1]+".asked", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return prompts.Answer{}, err
			}
			fmt.Fprintf(log, "== %s\n%s\n", r.Name, r.User)
			if err := log.Close(); err != nil {
				return prompts.Answer{}, err
			}
			if len(answers) == 0 || string(answers[0]) == "-" {
				return prompts.Answer{}, errors.New("the server does not answer")
			}
			answer := answers[0]
			answers = answers[1:]
			return prompts.Answer{Text: json.RawMessage(answer)}, nil
		}}, set, err
	}
	return Main(append([]string{"reverie"}, args[2:]...))
}
