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
	script  *program
}

// codexOutput is a tool's output to the model: a string, a list of parts, or an object with its
// content and success.
type codexOutput struct {
	text    string
	parts   []string // texts of a list
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
	var parts []json.RawMessage
	_ = json.Unmarshal(b, &parts)
	for _, raw := range parts {
		var part flatText
		_ = part.UnmarshalJSON(append(append([]byte("["), raw...), ']'))
		o.parts = append(o.parts, string(part))
	}
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

// runScript holds the call of a program until it has ended, once per id.
func (p *codex) runScript(it *codexItem, at time.Time) {
	if c := p.tools[it.CallID]; c != nil && !c.done {
		return
	}
	s := readScript(it.Input)
	s.id, s.at, s.code = it.CallID, at, p.cutter().cut(s.code, MaxText)
	for i := range s.calls {
		p.cutter().bound(&s.calls[i].event)
	}
	p.tools[it.CallID] = &codexCall{action: Other, script: s}
	p.scripts = append(p.scripts, s)
	if len(p.scripts) > maxScripts {
		oldest := p.scripts[0]
		oldest.finished, p.scripts = true, slices.Delete(p.scripts, 0, 1)
		p.emit(oldest.event())
	}
}

// waitFor attaches a call that waits for a program to it, and reports whether it is one.
func (p *codex) waitFor(it *codexItem) bool {
	var in struct {
		Cell json.RawMessage `json:"cell_id"`
	}
	var text string
	if json.Unmarshal(it.Arguments, &text) == nil {
		_ = decode([]byte(text), &in)
	} else {
		_ = decode(it.Arguments, &in)
	}
	s := p.cells[strings.Trim(string(in.Cell), `"`)]
	if s == nil {
		return false
	}
	p.tools[it.CallID] = &codexCall{action: Other, script: s}
	return true
}

// result emits the result of a call as the client saw it, and the call if the rollout lacks it.
func (p *codex) result(id string, it *codexItem, at time.Time) {
	c := p.tools[id]
	if c == nil {
		p.toldCall(it.seen())
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
	if c.done {
		return
	}
	if c.script != nil {
		c.done = true
		p.scriptOutput(c.script, it, at)
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
	case it.Output.success != nil && *it.Output.success:
		e.Outcome = OK
	case it.Output.success != nil, strings.HasPrefix(lower, "exec_command failed"), strings.HasPrefix(lower, "failed"),
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
