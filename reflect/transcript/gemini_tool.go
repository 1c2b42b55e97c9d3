package transcript

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// toolEvents turns the tool calls of a message into events.
func (p *gemini) toolEvents(m *geminiMessage) []Event {
	var events []Event
	for _, t := range m.ToolCalls {
		c := call(string(Gemini), t.Name, t.Args)
		c.CallID, c.Time = t.ID, parseTime(m.Timestamp)
		events = append(events, c)

		var texts []string
		for _, r := range t.Result {
			if text := cmp.Or(r.FunctionResponse.Response.Output, r.FunctionResponse.Response.Error); text != "" {
				texts = append(texts, text)
			}
		}
		text := withoutInjected(strings.Join(texts, "\n"))
		text = strings.TrimSuffix(strings.TrimPrefix(text, "<untrusted_context>\n"), "\n</untrusted_context>")
		e := Event{Kind: Result, CallID: t.ID, Time: parseTime(t.Timestamp), Tool: c.Tool, Action: c.Action, Text: text}
		switch e.Outcome = geminiOutcome(t.Status, text); {
		case e.Outcome == "": // the call had not ended when the chat was written
			continue
		case e.Outcome == OK && c.Action == Run:
			shellResult(&e)
		}
		var shown string
		if e.Text == "" && json.Unmarshal(t.Display, &shown) == nil {
			e.Text = shown
		}
		events = append(events, e)
	}
	return events
}

// geminiOutcome returns the outcome that a client means by a call's status, or "".
func geminiOutcome(status, text string) Outcome {
	lower := strings.ToLower(text)
	switch {
	case status == "success":
		return OK
	case status == "error":
		return Failed
	case status == "cancelled" && (strings.Contains(lower, "denied") || strings.Contains(lower, "did not allow")):
		return Denied
	case status == "cancelled":
		return Aborted
	}
	return ""
}

var (
	geminiField = pattern.New(`(?m)^(Error|Exit Code|Signal|Background PIDs|Process Group PGID): (.*)$`)
	geminiBegin = pattern.New(`(?s)^(?:Command: .*?\nDirectory: [^\n]*\n)?(?:Output|Stdout): `)
)

// shellResult reads the labelled lines around a command's output in Gemini: its exit code, omitted
// in newer versions when it is 0, and any other cause of its end.
func shellResult(e *Event) {
	begin := geminiBegin.FindStringIndex(e.Text)
	if begin == nil { // moved to the background, or not in this form
		e.Outcome = Unknown
		return
	}
	body := e.Text[begin[1]:]
	e.Exit = new(0)
	end, problem := len(body), ""
	// The fields are at the end; the output may hold lines that look like them.
	fields := geminiField.FindAllStringSubmatchIndex(body, -1)
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		if strings.TrimSpace(body[f[1]:end]) != "" {
			break
		}
		end = f[0]
		name, value := body[f[2]:f[3]], strings.TrimSpace(body[f[4]:f[5]])
		switch {
		case value == "(none)" && name == "Exit Code":
			if e.Exit = nil; e.Outcome == OK {
				e.Outcome = Unknown
			}
		case value == "(none)", value == "0" && name == "Signal":
		case name == "Exit Code":
			if n, err := strconv.Atoi(value); err == nil {
				e.Exit, e.Outcome = &n, outcomeOf(&n)
			}
		case name == "Error":
			problem = value
			e.Outcome = Failed
		case name == "Signal":
			e.Outcome = Failed
		}
	}
	if e.Outcome == Failed && e.Exit != nil && *e.Exit == 0 {
		e.Exit = nil
	}
	e.Text = strings.TrimSpace(strings.TrimSpace(body[:end]) + "\n" + problem)
	if e.Text == "(empty)" {
		e.Text = ""
	}
}
