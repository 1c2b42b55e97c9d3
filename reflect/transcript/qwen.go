package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// qwen reads Qwen Code's projects/<folder>/chats/<session>.jsonl: one record per message or result,
// with the parts of Gemini's API. A field beside a prompt holds the text as typed.
type qwen struct{ *run }

type qwenRecord struct {
	Type       string
	Subtype    string
	Provenance string
	SessionID  string `json:"sessionId"`
	Timestamp  string
	Cwd        string
	Version    string
	Branch     string `json:"gitBranch"`
	Model      string
	Message    struct {
		Parts []qwenPart
	}
	Payload struct {
		Typed   string `json:"displayText"`
		Title   string `json:"customTitle"`
		Parent  string `json:"parentSessionId"`
		History []struct {
			Parts []qwenPart
		} `json:"compressedHistory"`
	} `json:"systemPayload"`
	Call struct {
		Status  string
		Display struct {
			Type   string
			Output string
			Exit   *int `json:"exitCode"`
		} `json:"resultDisplay"`
	} `json:"toolCallResult"`
}

type qwenPart struct {
	Text    string
	Thought bool
	Call    *struct {
		ID   string
		Name string
		Args json.RawMessage
	} `json:"functionCall"`
	Result *struct {
		ID       string
		Response struct{ Output, Error string }
	} `json:"functionResponse"`
}

func (p *qwen) line(b []byte) {
	var rec qwenRecord
	if !p.read(b, &rec) {
		return
	}
	if rec.Type == "" || rec.SessionID == "" {
		p.bad(errors.New("type, sessionId: missing"))
		return
	}
	if p.ID != "" && p.ID != rec.SessionID {
		p.end()
	}
	if p.closed[SafeID(rec.SessionID)] {
		p.bad(errors.New("session " + rec.SessionID + " begins again after another"))
		return
	}
	e := Event{Time: parseTime(rec.Timestamp)}
	p.ID = rec.SessionID
	p.Version, p.Dir, p.Branch = cmp.Or(p.Version, rec.Version), cmp.Or(p.Dir, rec.Cwd), cmp.Or(p.Branch, rec.Branch)
	if p.Started.IsZero() {
		p.Started = e.Time
	}
	switch {
	case rec.Type == "user":
		p.prompt(&rec, e)
	case rec.Type == "assistant":
		p.Model = cmp.Or(rec.Model, p.Model)
		p.answer(&rec, e)
	case rec.Type == "tool_result":
		p.results(&rec, e)
	case rec.Subtype == "custom_title":
		p.Title = cmp.Or(rec.Payload.Title, p.Title)
	case rec.Subtype == "parent_session":
		p.Parent = cmp.Or(p.Parent, rec.Payload.Parent)
	case rec.Subtype == "chat_compression":
		e.Kind = Compaction
		if len(rec.Payload.History) > 0 {
			e.Text = qwenText(rec.Payload.History[0].Parts, false)
		}
		p.emit(e)
	default:
		p.stats.Ignored++
	}
}

// qwenText joins the texts of parts: the thoughts, or all others.
func qwenText(parts []qwenPart, thoughts bool) string {
	var texts []string
	for _, part := range parts {
		if part.Text != "" && part.Thought == thoughts {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// prompt emits a message in the user's role. Only a real user's is typed, and the client wrote all
// of it but the text that it displays.
func (p *qwen) prompt(rec *qwenRecord, e Event) {
	typed, origin := rec.Payload.Typed, Typed
	if rec.Provenance != "real_user" || rec.Subtype != "" && rec.Subtype != "mid_turn_user_message" {
		typed, origin = "", Injected
	}
	parts := rec.Message.Parts
	if typed == "" {
		var texts []string
		for _, part := range parts {
			texts = append(texts, part.Text)
		}
		p.user(e, origin, texts...)
		return
	}
	added := e
	added.Kind, added.Origin = User, Injected
	added.Text = qwenText(slices.DeleteFunc(slices.Clone(parts), func(part qwenPart) bool { return part.Text == typed }), false)
	p.emitText(added)
	p.typed(e, typed)
}

func (p *qwen) answer(rec *qwenRecord, e Event) {
	for _, kind := range []Kind{Reasoning, Assistant} {
		e.Kind, e.Text = kind, qwenText(rec.Message.Parts, kind == Reasoning)
		p.emitText(e)
	}
	for _, part := range rec.Message.Parts {
		if part.Call == nil {
			continue
		}
		c := call(string(Qwen), part.Call.Name, part.Call.Args)
		c.Time, c.CallID = e.Time, part.Call.ID
		p.emit(c)
	}
}

func (p *qwen) results(rec *qwenRecord, e Event) {
	for _, part := range rec.Message.Parts {
		if part.Result == nil {
			continue
		}
		r := e
		r.Kind, r.CallID = Result, part.Result.ID
		r.Text = withoutInjected(cmp.Or(part.Result.Response.Output, part.Result.Response.Error))
		r.Outcome = geminiOutcome(rec.Call.Status, r.Text)
		if p.calls[r.CallID].Action == Run && (r.Outcome == OK || r.Outcome == Failed) {
			if shown := rec.Call.Display; shown.Type == "shell_result" { // without the words of hooks
				if r.Text, r.Exit = withoutInjected(shown.Output), shown.Exit; r.Exit != nil {
					r.Outcome = outcomeOf(r.Exit)
				}
			} else if shellResult(&r); r.Outcome == Unknown && rec.Call.Status == "error" {
				r.Outcome = Failed
			}
		}
		p.emit(r)
	}
}
