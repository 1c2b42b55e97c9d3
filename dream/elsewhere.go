package dream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/reverie-memory/reverie/prompts"
)

// Elsewhere holds the questions of Consider for a model that is out of reach, with a context of
// that many tokens. It omits text that stays in this clone, so reflections with such text stay new.
type Elsewhere struct {
	Set     prompts.Set
	Context int
	In      Input
	Plan    Result
}

// Questions returns the questions that Consider would ask, in its order, whatever the answers are.
func (e Elsewhere) Questions() ([]prompts.Rendered, error) {
	var asked []prompts.Rendered
	_, err := e.consider("", func(r prompts.Rendered) (json.RawMessage, error) {
		asked = append(asked, r)
		return noAnswer(r), nil
	})
	return asked, err
}

// noAnswer is an answer without any effect.
func noAnswer(r prompts.Rendered) json.RawMessage {
	if r.Name == "contradiction" {
		return json.RawMessage(`{"why": "", "verdict": "unclear", "keep": "", "text": "", "body": ""}`)
	}
	return json.RawMessage(`{"operations": []}`)
}

// NameOf identifies a set of questions by 12 hexadecimal digits.
func NameOf(questions []prompts.Rendered) string {
	h := sha256.New()
	for _, q := range questions {
		fmt.Fprintf(h, "%d %s%d %s", len(q.System), q.System, len(q.User), q.User)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Import is Consider with the named model's answers to all of Questions: JSON objects in their
// order. An unreadable answer or a wrong number of answers gives an error that wraps ErrAnswer, and
// no result.
func (e Elsewhere) Import(model string, answers []byte) (Considered, error) {
	questions, err := e.Questions()
	if err != nil {
		return Considered{}, err
	}
	all, err := objects(answers)
	if err != nil {
		return Considered{}, fmt.Errorf("%w: answer %d: %w", ErrAnswer, len(all)+1, err)
	}
	if len(all) != len(questions) {
		return Considered{}, fmt.Errorf("%w: questions %d, answers %d; each has to have one, in their order", ErrAnswer, len(questions), len(all))
	}
	for i, answer := range all {
		if err := readable(questions[i], answer); err != nil {
			return Considered{}, fmt.Errorf("%w: answer %d: %w", ErrAnswer, i+1, err)
		}
	}
	next := 0
	return e.consider(model, func(r prompts.Rendered) (json.RawMessage, error) {
		if r.User != questions[next].User {
			return nil, errors.New("another question than was put before")
		}
		next++
		return all[next-1], nil
	})
}

// readable returns why an answer to a question is unreadable.
func readable(r prompts.Rendered, answer json.RawMessage) (err error) {
	if r.Name == "contradiction" {
		_, err = prompts.DecodeContradiction(answer)
	} else {
		_, err = prompts.DecodeDream(answer)
	}
	return err
}

// objects returns the JSON values of a text. With an error it returns those before it.
func objects(text []byte) (all []json.RawMessage, err error) {
	in := json.NewDecoder(bytes.NewReader(text))
	for {
		var one json.RawMessage
		switch err := in.Decode(&one); {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return all, errors.New("it is cut off")
		case err != nil:
			return all, fmt.Errorf("not JSON: %w", err)
		}
		all = append(all, one)
	}
}

// consider is Consider with a model that answers at once.
func (e Elsewhere) consider(model string, answer func(prompts.Rendered) (json.RawMessage, error)) (Considered, error) {
	c := newConsidering(e.In, e.Plan)
	c.elsewhere = true
	m := prompts.Model{Name: model, Context: e.Context, Ask: func(_ context.Context, r prompts.Rendered) (prompts.Answer, error) {
		text, err := answer(r)
		return prompts.Answer{Text: text}, err
	}}
	return c.consider(context.Background(), &m, e.Set)
}
