package transcript

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// codexCall is an emitted call, until and after its result.
type codexCall struct {
	action  Action
	done    bool
	running *Event // the result so far of a command in the background
	process string // number of that command, or of the target of write_stdin
	program bool
}

// codexOutput is a tool's output to the model: a string, a list of parts, or an object with its
// content and success.
type codexOutput struct {
	text    string
	success *bool
}

func (o *codexOutput) UnmarshalJSON(b []byte) error {
	var object struct {
		Content flatText
		Success *bool
	}
	if len(b) > 0 && b[0] == '{' {
		_ = decode(b, &object)
		o.text, o.success = string(object.Content), object.Success
		return nil
	}
	var text flatText
	_ = text.UnmarshalJSON(b)
	o.text = string(text)
	return nil
}

// call emits a call, once per id.
func (p *codex) call(id string, e Event, at time.Time) {
	if c := p.tools[id]; c != nil && !c.done {
		return
	}
	c := &codexCall{action: e.Action}
	if e.Tool == "write_stdin" {
		var in struct {
			Process json.RawMessage `json:"session_id"`
		}
		_ = decode([]byte(e.Text), &in)
		c.process = strings.Trim(string(in.Process), `"`)
	}
	p.tools[id] = c
	e.CallID, e.Time = id, at
	p.emit(e)
}

// codexProgram is a program of Codex's code mode: JavaScript that calls other tools. Since version
// 0.148 a rollout records these calls too, and the program itself tells no more.
type codexProgram struct {
	call     Event
	recorded bool // a call of it
}

// startProgram holds the call of a program until its output, once per id.
func (p *codex) startProgram(it *codexItem, at time.Time) {
	if c := p.tools[it.CallID]; c != nil && !c.done {
		return
	}
	p.endProgram()
	p.program = &codexProgram{call: Event{Kind: Call, Tool: it.Name, Action: Other, CallID: it.CallID, Time: at, Text: it.Input}}
	p.tools[it.CallID] = &codexCall{action: Other, program: true}
}

// resumeProgram lets the output of a call that waits for the held program be the program's.
func (p *codex) resumeProgram(it *codexItem) {
	p.program.call.CallID = it.CallID
	p.tools[it.CallID] = &codexCall{action: Other, program: true}
}

// endProgram emits the held call of a program, or leaves it out with its output.
func (p *codex) endProgram() {
	held := p.program
	p.program = nil
	switch {
	case held == nil:
	case held.recorded:
		p.tools[held.call.CallID].done = true
	default:
		p.emit(held.call)
	}
}

// result emits the result of a call as the client saw it, and the call if the rollout lacks it.
func (p *codex) result(id string, it *codexItem, at time.Time) {
	c := p.tools[id]
	if c == nil {
		p.call(id, it.seen(), at)
		c = p.tools[id]
	}
	if c.done {
		return
	}
	e := Event{Kind: Result, Time: at, CallID: id, Action: c.action}
	e.Text = cmp.Or(it.Aggregated, it.Stdout+it.Stderr)
	if c.action == Run {
		e.Exit = it.ExitCode
	}
	ok, message := mcpResult(it.Result)
	e.Text = cmp.Or(e.Text, message)
	switch {
	case it.Status == "declined":
		e.Outcome, e.Exit = Denied, nil
	case it.ExitCode != nil:
		e.Outcome = outcomeOf(it.ExitCode)
	case it.Success != nil && *it.Success, it.Status == "completed" && ok, it.Status == "" && it.Success == nil && ok && len(it.Result) > 0:
		e.Outcome = OK
	case it.Success != nil, it.Status == "failed", !ok:
		e.Outcome = Failed
	}
	p.finish(c, e)
}

// mcpResult reads an MCP server's answer, in the client's form or that of older versions ({"Ok":…}
// or {"Err":…}).
func mcpResult(b []byte) (ok bool, text string) {
	var r struct {
		Content flatText
		IsError bool `json:"is_error"`
		Failed  bool `json:"isError"`
		Ok      *struct {
			Content flatText
			IsError bool `json:"is_error"`
			Failed  bool `json:"isError"`
		}
		Err *string
	}
	if len(b) == 0 || decode(b, &r) != nil {
		return true, ""
	}
	switch {
	case r.Err != nil:
		return false, *r.Err
	case r.Ok != nil:
		return !r.Ok.IsError && !r.Ok.Failed, string(r.Ok.Content)
	}
	return !r.IsError && !r.Failed, string(r.Content)
}

// output emits the result of a call as the model saw it, unless the client recorded it first.
func (p *codex) output(it *codexItem, at time.Time) {
	c := p.tools[it.CallID]
	if c == nil {
		c = &codexCall{action: Other}
		p.tools[it.CallID] = c
	}
	if p.program != nil && p.program.call.CallID == it.CallID {
		if strings.HasPrefix(it.Output.text, "Script running with cell ID") {
			c.done = true
			return
		}
		p.endProgram()
	}
	if c.done {
		return
	}
	out := parseOutput(it.Output.text)
	e := Event{Kind: Result, Time: at, CallID: it.CallID, Action: c.action, Text: out.text}
	if c.action == Run {
		e.Exit = out.exit
	}
	lower := strings.ToLower(out.text[:min(len(out.text), 400)])
	switch {
	case out.exit != nil:
		e.Outcome = outcomeOf(out.exit)
	case strings.Contains(lower, "rejected by user"), strings.Contains(lower, "rejected(\"user"):
		e.Outcome = Denied
	case strings.HasPrefix(lower, "aborted"):
		e.Outcome = Aborted
	case it.Output.success != nil && *it.Output.success, c.program && strings.HasPrefix(lower, "script completed"):
		e.Outcome = OK
	case it.Output.success != nil, c.program && strings.HasPrefix(lower, "script failed"), strings.HasPrefix(lower, "exec_command failed"), strings.HasPrefix(lower, "failed"),
		strings.HasPrefix(lower, "apply_patch verification failed"), strings.HasPrefix(lower, "execution error"):
		e.Outcome = Failed
	case c.action == Run && out.process != "":
		c.running, c.process = &e, out.process
		p.background = append(p.background, c)
		return
	case c.action == Edit && strings.HasPrefix(lower, "success"):
		e.Outcome = OK
	}
	if c.process != "" && out.exit != nil {
		p.exited(c.process, e, out.exit)
	}
	asked := p.calls[it.CallID].Tool == codexAsks
	if p.finish(c, e); asked {
		p.answers(out.text, at)
	}
}

// The form of Codex's question to a person, and the prefix of the person's note beside an option.
const (
	codexAsks = "request_user_input"
	codexNote = "user_note: "
)

// answers emits a person's own answers to an agent's questions, and the chosen options.
func (p *codex) answers(output string, at time.Time) {
	var reply struct {
		Answers map[string]struct{ Answers []string }
	}
	if json.Unmarshal([]byte(output), &reply) != nil {
		return
	}
	var written, chosen []string
	for _, id := range slices.Sorted(maps.Keys(reply.Answers)) {
		for _, answer := range reply.Answers[id].Answers {
			if note, ok := strings.CutPrefix(answer, codexNote); ok {
				written = append(written, note)
			} else {
				chosen = append(chosen, unadvised(answer))
			}
		}
	}
	p.words(fromItem, at, false, written...)
	p.words(fromItem, at, true, chosen...) // the agent worded the option
}

// finish emits the result of a call.
func (p *codex) finish(c *codexCall, e Event) {
	c.done, c.running = true, nil
	p.emit(e)
}

// exited emits the result of a command in the background, whose end came in last, the result of
// another call.
func (p *codex) exited(process string, last Event, exit *int) {
	for _, c := range p.background {
		if c.process != process || c.running == nil {
			continue
		}
		e := *c.running
		e.Time, e.Exit, e.Outcome = last.Time, exit, outcomeOf(exit)
		e.Text = strings.TrimSpace(e.Text + "\n" + last.Text)
		p.finish(c, e)
		return
	}
}

// toolOutput holds the parts of the text in which a tool's output was wrapped for the model.
type toolOutput struct {
	text    string
	exit    *int
	process string // number of the process, if it was still running
}

var codexHeader = pattern.New(`^(?:(?:Exit code|Process exited with code):? (-?\d{1,9})|Process running with session ID (\S+)|(?:Chunk ID|Wall time|Duration|Total output lines|Original token count|Warning)\b.*)$`)

// parseOutput reads the header before a command's output, or the JSON object around it in Codex's
// older versions. It returns any other text unchanged.
func parseOutput(s string) toolOutput {
	out := unwrapOutput(s)
	if inner := unwrapOutput(out.text); inner.exit != nil { // apply_patch wraps its own
		return inner
	}
	return out
}

func unwrapOutput(s string) toolOutput {
	out := toolOutput{text: s}
	if strings.HasPrefix(s, "{") {
		var old struct {
			Output   *string
			Metadata struct {
				Exit *int `json:"exit_code"`
			}
		}
		if json.Unmarshal([]byte(s), &old) == nil && old.Output != nil {
			return toolOutput{text: *old.Output, exit: old.Metadata.Exit}
		}
	}
	rest := s
	for header := false; ; header = true {
		line, after, _ := strings.Cut(rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "Output:" && header {
			out.text = after
			return out
		}
		m := codexHeader.FindStringSubmatch(line)
		switch {
		case m == nil:
			return toolOutput{text: s}
		case m[1] != "":
			n, _ := strconv.Atoi(m[1])
			out.exit = &n
		case m[2] != "":
			out.process = m[2]
		}
		rest = after
	}
}
