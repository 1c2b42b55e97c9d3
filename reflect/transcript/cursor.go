package transcript

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Hooked returns the call and the result in the payload of a hook of Cursor, whose transcripts
// have no documented format. It returns nothing for a payload without a call. Texts are bounded. An
// edit has the same id wherever a turn repeats it.
func Hooked(payload []byte, at time.Time) []Event {
	var p struct {
		Tool      string          `json:"tool_name"`
		Input     json.RawMessage `json:"tool_input"`
		ID        string          `json:"tool_use_id"`
		Turn      string          `json:"generation_id"`
		Dir       string          `json:"cwd"`
		Output    string          `json:"tool_output"` // JSON
		File      string          `json:"file_path"`
		Error     *string         `json:"error_message"`
		Failure   string          `json:"failure_type"`
		Interrupt bool            `json:"is_interrupt"`
	}
	if decode(payload, &p) != nil || p.Tool+p.File == "" {
		return nil
	}
	edit := p.Tool == ""
	if edit { // its fields are those of a tool's input
		p.Tool, p.Input = "Write", payload
	}
	c := call("cursor", p.Tool, p.Input)
	if edit && p.Turn != "" { // it has no id, and two hooks may deliver it
		sum := sha256.Sum256([]byte(strings.Join(slices.Concat(c.Paths, []string{c.Old, c.New}), "\x00")))
		p.ID = fmt.Sprintf("%s-%x", p.Turn, sum[:8])
	}
	c.Time, c.CallID = at, cmp.Or(p.ID, at.Format(time.RFC3339Nano))
	if c.Action == Run {
		c.Dir = cmp.Or(c.Dir, p.Dir)
	}
	r := genericMessage{Content: field[string]{value: p.Output}, Output: json.RawMessage(p.Output)}.result(at, c)
	r.CallID, r.Tool, r.Action, r.Command = c.CallID, c.Tool, c.Action, c.Command
	r.Text = withoutInjected(r.Text)
	switch {
	case p.Error == nil:
		if p.File != "" { // the edit was made
			r.Outcome = OK
		}
	case p.Interrupt || heldUp(*p.Error):
		r.Text, r.Outcome = *p.Error, Aborted
	case p.Failure == "permission_denied":
		r.Text, r.Outcome = *p.Error, Denied
	default:
		r.Text, r.Outcome = *p.Error, Failed
	}
	cutter(nil).bound(&c)
	cutter(nil).bound(&r)
	return []Event{c, r}
}
