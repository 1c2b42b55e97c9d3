package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// reply is the content of a program's output: JSON objects, with lines of other text among them.
type reply struct {
	text        string
	fault       string
	asked, said int
}

// event is one object, in the form of any agent:
//
//	claude    {"type":"result","is_error":false,"result":"…","usage":{"input_tokens":1,…}}
//	codex     {"type":"item.completed","item":{"type":"agent_message","text":"…"}}
//	          {"type":"turn.completed","usage":{…}}, {"type":"turn.failed","error":{"message":"…"}}
//	gemini    {"response":"…","stats":{"models":{"…":{"tokens":{"prompt":1,…}}}}}, {"error":{"message":"…"}}
//	opencode  {"type":"text","part":{"text":"…"}}, {"type":"step_finish","part":{"tokens":{…}}}
//	          {"type":"error","error":{"data":{"message":"…"}}}
type event struct {
	Type     string
	IsError  bool `json:"is_error"`
	Result   string
	Response string
	Item     struct{ Type, Text string }
	Part     struct {
		Text   string
		Tokens struct {
			Input, Output, Reasoning int
			Cache                    struct{ Read, Write int }
		}
	}
	Usage struct {
		Input   int `json:"input_tokens"`
		Written int `json:"cache_creation_input_tokens"`
		Cached  int `json:"cache_read_input_tokens"`
		Output  int `json:"output_tokens"`
	}
	Stats struct {
		Models map[string]struct {
			Tokens struct{ Prompt, Candidates, Thoughts int }
		}
	}
	Error struct {
		Message string
		Data    struct{ Message string }
	}
}

// read finds the answer in a program's output.
func read(out []byte) (r reply) {
	for len(out) > 0 {
		start := bytes.IndexByte(out, '{')
		if start < 0 {
			break
		}
		out = out[start:]
		d := json.NewDecoder(bytes.NewReader(out))
		var e event
		err := d.Decode(&e)
		if form := new(json.UnmarshalTypeError); err != nil && !errors.As(err, &form) {
			_, out, _ = bytes.Cut(out, []byte("\n"))
			continue
		}
		out = out[d.InputOffset():]
		r.take(e)
	}
	return r
}

// take adds an object.
func (r *reply) take(e event) {
	switch {
	case e.Type == "result" && e.IsError:
		r.fault = e.Result
	case e.Type == "result":
		r.text = e.Result
	case e.Type == "item.completed" && e.Item.Type == "agent_message":
		r.text = e.Item.Text // the last is the answer
	case e.Type == "text":
		r.text += e.Part.Text
	case e.Type == "" && e.Response != "":
		r.text = e.Response
	}
	for _, fault := range []string{e.Error.Message, e.Error.Data.Message} {
		if fault != "" {
			r.fault = fault
		}
	}
	r.asked += e.Usage.Input + e.Usage.Written + e.Usage.Cached + e.Part.Tokens.Input + e.Part.Tokens.Cache.Read + e.Part.Tokens.Cache.Write
	r.said += e.Usage.Output + e.Part.Tokens.Output + e.Part.Tokens.Reasoning
	for _, m := range e.Stats.Models {
		r.asked += m.Tokens.Prompt
		r.said += m.Tokens.Candidates + m.Tokens.Thoughts
	}
}

// json returns the JSON object in the model's words, which may stand in a fence or between
// sentences, or else the words.
func (r reply) json() []byte {
	text := strings.TrimSpace(r.text)
	first, last := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if first >= 0 && first < last && json.Valid([]byte(text[first:last+1])) {
		text = text[first : last+1]
	}
	return []byte(text)
}
