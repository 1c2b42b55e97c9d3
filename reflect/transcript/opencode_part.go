package transcript

import (
	"encoding/json"
	"strings"
)

// ocPartRecord is a part in JSON.
type ocPartRecord struct {
	ID        string
	SessionID string `json:"sessionID"`
	MessageID string `json:"messageID"`
	Type      string
	Text      string
	Synthetic bool
	Ignored   bool
	Metadata  ocMark
	Time      ocTime
	Mime      string
	Filename  string
	Tool      string
	CallID    string `json:"callID"`
	State     struct {
		Status   string
		Input    json.RawMessage
		Output   string
		Error    string
		Time     ocTime
		Metadata struct {
			Exit    *int
			Answers [][]string
		}
	}
}

// ocMark is true for the metadata by which our plugin tells what a slash command stands for from
// what was typed.
type ocMark bool

func (m *ocMark) UnmarshalJSON(raw []byte) error {
	var marks struct{ Reverie string }
	_ = decode(raw, &marks) // anything may be there
	*m = marks.Reverie == "command"
	return nil
}

// OpenCode's words for what became of a tool call.
const (
	ocRefused  = "The user rejected permission to use this specific tool call"
	ocFeedback = "with the following feedback: "
	ocByRule   = "The user has specified a rule which prevents you from using this specific tool call"
	ocDismiss  = "The user dismissed this question"
)

// part reads a part; its texts are cut and, in the budget of the backlog, held.
func (p *openCode) part(raw []byte) (ocPartRecord, *ocPart, error) {
	var rec ocPartRecord
	if err := decode(raw, &rec); err != nil {
		return rec, nil, err
	}
	before := p.held.size
	part := &ocPart{kind: rec.Type, time: rec.Time, injected: rec.Synthetic || rec.Ignored, command: bool(rec.Metadata)}
	switch rec.Type {
	case "text", "reasoning":
		part.text = p.held.text(rec.Text)
	case "file":
		if strings.HasPrefix(rec.Mime, "image/") {
			part.text = "[image]"
		}
	case "tool":
		p.tool(&rec, part)
	}
	part.size = p.held.size - before
	return rec, part, nil
}

func (p *openCode) tool(rec *ocPartRecord, part *ocPart) {
	state := &rec.State
	part.call = call(string(OpenCode), rec.Tool, state.Input)
	part.call.CallID, part.call.Time = rec.CallID, millis(state.Time.Start)
	p.held.hold(&part.call)
	if state.Status != "completed" && state.Status != "error" {
		return
	}
	e := Event{Kind: Result, CallID: rec.CallID, Time: millis(max(state.Time.End, state.Time.Start)), Outcome: OK}
	e.Text = withoutInjected(state.Output)
	switch {
	case state.Status == "error":
		e.Text, e.Outcome = state.Error, Failed
		switch {
		case strings.HasPrefix(e.Text, ocRefused):
			e.Outcome = Denied
			// A server of tools, or a sub-agent, may write the same words into its error.
			if part.call.Action != Other && part.call.Action != Task {
				_, part.feedback, _ = strings.Cut(e.Text, ocFeedback)
				part.feedback = p.held.text(strings.TrimSpace(part.feedback))
			}
		case strings.HasPrefix(e.Text, ocByRule), strings.HasPrefix(e.Text, ocDismiss):
			e.Outcome = Denied
		case strings.Contains(strings.ToLower(e.Text[:min(len(e.Text), 80)]), "aborted"):
			e.Outcome = Aborted
		}
	case part.call.Action == Run: // without an exit code it was stopped, or ran out of time
		e.Exit, e.Outcome = state.Metadata.Exit, outcomeOf(state.Metadata.Exit)
	case rec.Tool == "question":
		own, chosen := ocAnswers(state.Input, state.Metadata.Answers)
		part.feedback, part.chosen = p.held.text(own), p.held.text(chosen)
	}
	p.held.hold(&e)
	part.result = &e
}

// ocAnswers returns what a user wrote in answer to an agent's questions, and the options that were
// chosen.
func ocAnswers(input []byte, answers [][]string) (own, chosen string) {
	var in struct {
		Questions []struct {
			Options []struct{ Label string }
		}
	}
	if decode(input, &in) != nil {
		return "", ""
	}
	var written, picked []string
	for i, list := range answers {
		offered := map[string]bool{}
		if i < len(in.Questions) {
			for _, o := range in.Questions[i].Options {
				offered[o.Label] = true
			}
		}
		for _, a := range list {
			if offered[a] {
				picked = append(picked, unadvised(a))
			} else {
				written = append(written, a)
			}
		}
	}
	return strings.TrimSpace(strings.Join(written, "\n")), strings.TrimSpace(strings.Join(picked, "\n"))
}
