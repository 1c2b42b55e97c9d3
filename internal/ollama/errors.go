package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/reverie-memory/reverie/internal/cut"
)

var (
	// ErrUnavailable is returned when no Ollama server answers, or it answers with an error without a
	// sentinel.
	ErrUnavailable = errors.New("no answer from Ollama")
	// ErrStranger is returned, beside ErrUnavailable, when another program answers.
	ErrStranger = errors.New("what answers is not Ollama")
	// ErrBusy is returned when the server has too many questions waiting.
	ErrBusy = errors.New("Ollama is busy")
	// ErrMissing is returned when the model is not installed.
	ErrMissing = errors.New("model not installed")
	// ErrNoModel is returned when no installed model, or not the named one, has the wanted capability.
	ErrNoModel = errors.New("no suitable model")
	// ErrOld is returned when the server is too old to enforce a schema.
	ErrOld = errors.New("server too old")
	// ErrBroke is returned when the model crashed over a question; the server may well answer the
	// next.
	ErrBroke = errors.New("the model broke down")
	// ErrRemote is returned when the server is on another machine and that was not allowed.
	ErrRemote = errors.New("not on this machine")
	// ErrCloud is returned when the server would pass the text on to another machine unasked.
	ErrCloud = errors.New("model runs elsewhere")
	// ErrTooLong is returned when a question and its answer exceed the context, or a text is too long
	// for a vector.
	ErrTooLong = errors.New("too long for the context")
	// ErrTruncated is returned when the answer exceeded its limit of tokens or bytes.
	ErrTruncated = errors.New("answer too long")
	// ErrIncomplete is returned when an answer began but did not end.
	ErrIncomplete = errors.New("answer broke off")
	// ErrBadOutput is returned when an answer is complete but unusable: invalid JSON, or unusable
	// vectors.
	ErrBadOutput = errors.New("unusable answer")
)

// our own causes of a context's end
var (
	errSilent = errors.New("the server was silent for too long")
	errEnough = errors.New("the server goes on beyond the limit")
)

// maxQuote bounds the bytes that an error repeats of a server's text.
const maxQuote = 200

// failure is an error with its own text, because the causes' texts may hold a question.
type failure struct {
	text   string
	causes []error
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return f.causes }

// fail returns an error "did: kind: why", or "did: kind" without a why, that wraps kind and causes.
func fail(did string, kind error, why string, causes ...error) error {
	text := did + ": " + kind.Error()
	if why != "" {
		text += ": " + why
	}
	return &failure{text, append([]error{kind}, causes...)}
}

// failed classifies a call that ended in err; kind is the default. ctx is the caller's context, own
// the call's; question must not appear in the error.
func (c *Client) failed(ctx, own context.Context, did, question string, kind, err error) error {
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("%s: %w", did, ended)
	}
	if own.Err() != nil {
		return fail(did, kind, context.Cause(own).Error(), context.Cause(own))
	}
	var status api.StatusError
	var denied api.AuthorizationError
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	var transport *url.Error
	switch {
	case errors.As(err, &denied):
		return fail(did, kind, "it asks for a sign-in (401)", err)
	case errors.As(err, &status):
		return refused(did, question, kind, status)
	case errors.As(err, &syntax), errors.As(err, &shape):
		return fail(did, kind, ErrStranger.Error(), ErrStranger, err)
	case errors.Is(err, ErrRemote):
		return fail(did, ErrRemote, c.base.Hostname()+" leads elsewhere", err)
	case errors.Is(err, errRedirect):
		return fail(did, kind, errRedirect.Error(), ErrStranger, err)
	case errors.As(err, &transport):
		if strings.Contains(transport.Err.Error(), "malformed HTTP") {
			return fail(did, kind, ErrStranger.Error(), ErrStranger, err)
		}
		return fail(did, kind, quote(transport.Err.Error(), question), err)
	case tooLong(err.Error()):
		return fail(did, ErrTooLong, quote(err.Error(), question), err)
	case strings.HasPrefix(strings.TrimSpace(err.Error()), "<"):
		return fail(did, kind, ErrStranger.Error(), ErrStranger, err)
	}
	if kind == ErrUnavailable && broke(err.Error()) {
		kind = ErrBroke
	}
	return fail(did, kind, quote(err.Error(), question), err) // a line of the stream
}

// refused classifies a server's refusal; kind is the default.
func refused(did, question string, kind error, e api.StatusError) error {
	why := fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
	if said := quote(e.ErrorMessage, question); said != "" && !strings.HasPrefix(said, "<") && said != http.StatusText(e.StatusCode) {
		why = said + " (" + why + ")"
	}
	switch {
	case e.StatusCode < 502 && tooLong(e.ErrorMessage), e.StatusCode == http.StatusRequestEntityTooLarge:
		kind = ErrTooLong
	case e.StatusCode == http.StatusNotFound:
		kind = ErrMissing
	case e.StatusCode == http.StatusServiceUnavailable, e.StatusCode == http.StatusTooManyRequests:
		kind = ErrBusy
	case e.StatusCode == http.StatusBadRequest && strings.Contains(e.ErrorMessage, "does not support"):
		kind = ErrNoModel
	}
	if e.StatusCode == http.StatusInternalServerError && kind == ErrUnavailable && broke(e.ErrorMessage) {
		kind = ErrBroke
	}
	return fail(did, kind, why, e)
}

// broke reports whether a refusal is about a crashed model process; the server starts another one.
func broke(refusal string) bool {
	return slices.ContainsFunc([]string{"running the model", "runner"}, func(words string) bool { return strings.Contains(refusal, words) })
}

// tooLong reports whether a refusal is about the length of the input. Its wording depends on the
// server's version.
func tooLong(refusal string) bool {
	return slices.ContainsFunc([]string{"context length", "context size", "context window", "too large to process"}, func(words string) bool { return strings.Contains(refusal, words) })
}

// quote returns a quotable form of said: one line of at most maxQuote bytes, or nothing if it
// contains a part of the question.
func quote(said, question string) string {
	const run = 16 // too many common bytes for chance
	said = cut.Marked(said, maxQuote)
	for i := 0; i+run <= len(said); i++ {
		if strings.Contains(question, said[i:i+run]) {
			return ""
		}
	}
	if len(question) > 0 && len(question) < run && strings.Contains(said, question) {
		return ""
	}
	return strings.Join(strings.FieldsFunc(said, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}
