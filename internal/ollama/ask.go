package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

const (
	// to the first token: others may be asking, and the model may have to load from a slow disk
	firstLimit = 10 * time.Minute
	stallLimit = time.Minute // between two tokens
	maxAnswer  = 1 << 20     // bytes
	seed       = 1
)

// Request is a question.
type Request struct {
	Model  string          // installed; as in Model.Name, or without ":latest"
	Cloud  bool            // it may run elsewhere
	System string          // what to do
	Prompt string          // the data for System
	Schema json.RawMessage // of the answer, in the subset that servers enforce: see package prompts

	Context int // tokens of question and answer together, capped by the model's; 0: 4096
	Predict int // maximum tokens of the answer; 0: half of Context
	// how long the server keeps the model in memory afterwards; 0: its default; negative: not at all
	KeepAlive time.Duration

	First    time.Duration    // maximum silence before the answer begins; 0: 10 minutes
	Stall    time.Duration    // maximum silence within it; 0: a minute
	Progress func(tokens int) // receives the tokens so far, in the goroutine of Ask; may be nil
}

// Answer is a model's answer. The server counts the tokens. If its count is missing or impossible,
// Answer estimates a quarter of the question's bytes and counts the replies. The counts are also
// set beside an error, if the model was at work.
type Answer struct {
	Text  json.RawMessage
	Asked int // tokens of the question: 0 to Request.Context
	Said  int // tokens of the answer, even a partial one: likewise
	Took  time.Duration
}

// Ask asks a question and returns the whole answer, which is valid JSON. The caller checks that it
// follows the schema. Equal requests get equal answers: no randomness, a fixed seed, no thinking
// aloud.
//
// The error wraps ErrMissing, ErrNoModel (the model answers no questions), ErrCloud,
// ErrTooLong, ErrTruncated, ErrIncomplete, ErrBadOutput, ErrBroke, ErrBusy, ErrUnavailable or the
// context's own. With ErrBadOutput and ErrTruncated, Answer.Text holds the invalid answer.
func (c *Client) Ask(ctx context.Context, r Request) (Answer, error) {
	m, err := c.look(ctx, r.Model)
	switch {
	case err != nil:
		return Answer{}, err
	case m.Cloud && !r.Cloud:
		return Answer{}, fail("ask model "+r.Model, ErrCloud, "")
	case !m.Has(Completion):
		return Answer{}, fail("ask model "+r.Model, ErrNoModel, "it answers no questions")
	}
	if r.Context <= 0 {
		r.Context = 4096
	}
	if m.Context > 0 {
		r.Context = min(r.Context, m.Context) // as the server does silently
	}
	return c.ask(ctx, r)
}

// ask is Ask without checking schema and model.
func (c *Client) ask(ctx context.Context, r Request) (Answer, error) {
	a := answering{Request: r, did: "ask model " + r.Model}
	if a.Predict <= 0 {
		a.Predict = a.Context / 2
	}
	if a.First <= 0 {
		a.First = firstLimit
	}
	if a.Stall <= 0 {
		a.Stall = stallLimit
	}
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.watch = time.AfterFunc(a.First, func() { cancel(errSilent) })
	defer a.watch.Stop()

	began := time.Now()
	err := c.api.Generate(own, a.question(), a.take)
	answer := Answer{Took: time.Since(began)}
	if err == nil {
		err = own.Err() // the API may end silently
	}
	if a.lines > 0 || own.Err() != nil {
		answer.Asked, answer.Said = a.counted()
	}
	switch {
	case ctx.Err() != nil:
		return answer, fmt.Errorf("%s: %w", a.did, ctx.Err())
	case errors.Is(err, errEnough):
		answer.Text = a.text.Bytes()
		return answer, fail(a.did, ErrTruncated, errEnough.Error(), err)
	case errors.Is(err, ErrCloud):
		return Answer{}, err
	case err != nil && !a.done:
		kind := ErrUnavailable
		if a.chunks > 0 {
			kind = ErrIncomplete
		}
		err = c.failed(ctx, own, a.did, a.System+"\n"+a.Prompt, kind, err)
		if errors.Is(err, ErrBroke) {
			answer.Asked, answer.Said = a.counted()
		}
		return answer, err
	}
	return a.judge(answer)
}

// counted returns plausible token counts of the question and the answer, even if the server's are
// not.
func (a *answering) counted() (asked, said int) {
	asked, said = a.asked, a.said
	if asked <= 0 || asked > a.Context {
		asked = (len(a.System) + len(a.Prompt)) / 4
	}
	if said <= 0 || said > a.Context {
		said = a.chunks
	}
	return min(asked, a.Context), min(said, a.Context)
}

// answering is a question in progress.
type answering struct {
	Request
	did   string
	watch *time.Timer

	text, thoughts bytes.Buffer
	chunks         int // replies with a part of the answer: about one per token
	lines          int // replies
	done           bool
	reason         string
	asked, said    int
}

// question returns the question in the API's form. truncate and shift make the server refuse a
// question that it would otherwise cut. judge detects servers too old to know them.
func (a *answering) question() *api.GenerateRequest {
	yes, no := true, false
	q := &api.GenerateRequest{
		Model:  a.Model,
		System: plain(a.System),
		Prompt: plain(a.Prompt),
		Format: a.Schema,
		Stream: &yes, Truncate: &no, Shift: &no,
		Think: &api.ThinkValue{Value: false},
		Options: map[string]any{
			"temperature": 0, "seed": seed,
			"num_ctx": a.Context, "num_predict": a.Predict,
		},
	}
	if a.KeepAlive != 0 {
		// a negative value means forever in the API
		q.KeepAlive = &api.Duration{Duration: max(a.KeepAlive, 0)}
	}
	return q
}

// plain removes text that a server takes for the place of an image. It would refuse the question,
// because there are no images.
func plain(text string) string { return strings.ReplaceAll(text, "[img-", "[img -") }

// take processes one reply of the stream.
func (a *answering) take(r api.GenerateResponse) error {
	if !a.Cloud && (r.RemoteModel != "" || r.RemoteHost != "") {
		return fail(a.did, ErrCloud, "")
	}
	a.lines++
	a.text.WriteString(r.Response)
	a.thoughts.WriteString(r.Thinking)
	if r.Response != "" || r.Thinking != "" {
		a.chunks++
		a.watch.Reset(a.Stall)
		if a.Progress != nil {
			a.Progress(a.chunks)
		}
	}
	if a.lines > 2*a.Predict+64 || a.text.Len()+a.thoughts.Len() > maxAnswer {
		return errEnough // it does not keep to num_predict
	}
	if r.Done {
		const most = 1 << 30 // no context is as long
		a.done, a.reason, a.asked, a.said = true, r.DoneReason, min(max(r.PromptEvalCount, 0), most), min(max(r.EvalCount, 0), most)
		a.watch.Reset(time.Second) // to end the reply
	}
	return nil
}

// judge decides whether a reply without an error is an answer.
func (a *answering) judge(answer Answer) (Answer, error) {
	// A server that silently truncates a question counts only the rest: the whole context, or half of
	// it. If it forgets the beginning while it answers, it counts more tokens than fit.
	half := a.Context/2 <= a.asked && a.asked <= a.Context/2+2 && len(a.System)+len(a.Prompt) >= a.Context
	cut := half || a.asked >= a.Context || a.asked+a.said > a.Context+1
	switch {
	case !a.done:
		return answer, fail(a.did, ErrIncomplete, fmt.Sprintf("after %d tokens", a.chunks))
	case cut, a.reason == "length" && a.said < a.Predict:
		return answer, fail(a.did, ErrTooLong, fmt.Sprintf("question %d and answer %d tokens, of %d", a.asked, a.said, a.Context))
	case a.reason == "length":
		answer.Text = a.text.Bytes()
		return answer, fail(a.did, ErrTruncated, fmt.Sprintf("%d tokens", a.said))
	case a.reason != "stop":
		return answer, fail(a.did, ErrIncomplete, fmt.Sprintf("it ended with %.20q", a.reason))
	}
	text := bytes.TrimSpace(a.text.Bytes())
	if len(text) == 0 && json.Valid(a.thoughts.Bytes()) {
		text = bytes.TrimSpace(a.thoughts.Bytes()) // some servers put the JSON answer there
	}
	answer.Text = text
	if !json.Valid(text) {
		return answer, fail(a.did, ErrBadOutput, "no JSON: "+quote(string(text), a.System+"\n"+a.Prompt))
	}
	return answer, nil
}
