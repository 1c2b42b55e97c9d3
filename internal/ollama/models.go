package ollama

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ollama/ollama/api"
)

// Capability names an ability of a model.
type Capability string

const (
	Completion Capability = "completion" // answer questions
	Embedding  Capability = "embedding"  // make vectors
	Thinking   Capability = "thinking"   // answer after thinking aloud
)

// Model is an installed model.
type Model struct {
	Name      string // with its tag, "qwen3:4b-instruct"
	Digest    string // of weights and settings, hex
	Size      int64  // bytes on the disk
	Family    string // architecture: qwen3, gemma3, llama, bert, …
	Can       []Capability
	Context   int  // maximum tokens of its context; 0: unknown
	Dimension int  // of its inner vectors, mostly also of its results; 0: unknown
	Cloud     bool // the server passes questions on to another machine
}

// Has reports whether the model has capability c.
func (m Model) Has(c Capability) bool { return slices.Contains(m.Can, c) }

// Server describes a server, by its own account.
type Server struct {
	Host      string // its URL
	Version   string // empty: unknown, as with a server built from source
	MinimumOK bool   // it can enforce a schema: 0.5.0 or newer, or unknown
	Models    []Model
	More      bool // it has more models than were inspected
}

// Want describes a wanted model.
type Want struct {
	Name    string // as on the server, or without ":latest"; empty or "auto": the best
	Need    Capability
	Context int // minimum tokens of its context; 0: any
}

func (w Want) auto() bool { return w.Name == "" || w.Name == "auto" }

const (
	maxTags   = 4 << 20 // bytes read of the list of models
	maxListed = 1000    // models of it
	maxName   = 200     // bytes of a model's name
	maxShown  = 40      // models inspected to find the best
	atOnce    = 4       // looks
)

// Models asks the server for its version and for at most 1000 models. It inspects the models that
// may match: the named one, or the 40 most promising. It takes at most 2 s. It infers the
// capabilities of other models from name and family, as it does for a slow or old server. It skips
// names that are unprintable or longer than 200 bytes. The error wraps ErrUnavailable, and also
// ErrStranger when another program has the port.
func (c *Client) Models(ctx context.Context, wanted ...Want) (Server, error) {
	did := "look for models at " + c.base.Host
	limited, cancel := context.WithTimeoutCause(ctx, modelsLimit, errSilent)
	defer cancel()
	version, err := c.api.Version(limited)
	if err == nil && (version == "" || version[0] < '0' || version[0] > '9' || len(version) > 100 || strings.ContainsFunc(version, unprintable)) {
		return Server{}, fail(did, ErrUnavailable, ErrStranger.Error(), ErrStranger)
	}
	s := Server{Host: c.Host(), Version: version, MinimumOK: atLeast(version, 0, 5)}
	if strings.HasPrefix(version, "0.0.0") {
		s.Version, s.MinimumOK = "", true
	}
	if err == nil {
		s.Models, s.More, err = c.list(limited)
	}
	if err != nil {
		err = c.failed(ctx, limited, did, "", ErrUnavailable, err)
		if errors.Is(err, ErrMissing) { // no such page
			err = fail(did, ErrUnavailable, ErrStranger.Error(), ErrStranger)
		}
		return Server{}, err
	}
	var wg sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for _, i := range promising(s.Models, wanted) {
		m := &s.Models[i]
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if limited.Err() != nil {
				return
			}
			if seen, err := c.show(limited, *m); err == nil {
				*m = seen
			}
		})
	}
	wg.Wait()
	return s, ctx.Err()
}

// promising returns the positions of the models that may match.
func promising(models []Model, wanted []Want) []int {
	var chosen []int
	for _, w := range wanted {
		var all []int
		for i, m := range models {
			if !w.auto() && fullName(m.Name) == fullName(w.Name) || w.auto() && !m.Cloud && m.Has(w.Need) {
				all = append(all, i)
			}
		}
		slices.SortFunc(all, func(i, j int) int { return compare(models[i], models[j], w.Need) })
		chosen = append(chosen, all[:min(len(all), maxShown)]...)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// list reads the list of models up to a limit; more reports a longer one.
func (c *Client) list(ctx context.Context) (models []Model, more bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath("api", "tags").String(), nil)
	if err != nil {
		return nil, false, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return nil, false, complaint(resp)
	}
	short := &io.LimitedReader{R: resp.Body, N: maxTags}
	in := json.NewDecoder(short)
	models, more, err = listed(in)
	if err != nil && short.N <= 0 {
		return models, true, nil
	}
	return models, more, err
}

// complaint returns an error reply in the API's form.
func complaint(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxComplaint))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return api.AuthorizationError{StatusCode: resp.StatusCode}
	}
	said := api.StatusError{StatusCode: resp.StatusCode}
	if json.Unmarshal(body, &said) != nil {
		said.ErrorMessage = string(body)
	}
	return said
}

// listed reads an object with a list "models". It skips malformed entries, and returns the entries
// before an error beside it.
func listed(in *json.Decoder) (models []Model, more bool, err error) {
	strange := &json.UnmarshalTypeError{Value: "something else", Type: reflect.TypeFor[api.ListResponse]()}
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return nil, false, cmp.Or[error](err, strange)
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, false, err
		}
		if key != "models" {
			var other json.RawMessage
			if err := in.Decode(&other); err != nil {
				return nil, false, err
			}
			continue
		}
		switch t, err := in.Token(); {
		case err != nil:
			return nil, false, err
		case t == nil: // null
			continue
		case t != json.Delim('['):
			return nil, false, strange
		}
		for in.More() {
			if len(models) == maxListed {
				return models, true, nil
			}
			var l api.ListModelResponse
			err := in.Decode(&l)
			var shape *json.UnmarshalTypeError
			if err != nil && !errors.As(err, &shape) {
				return models, false, err
			}
			if m := entry(l); err == nil && m.Name != "" && len(m.Name) <= maxName && !strings.ContainsFunc(m.Name, unprintable) {
				models = append(models, m)
			}
		}
		if _, err := in.Token(); err != nil {
			return models, false, err
		}
	}
	return models, false, nil
}

// unprintable reports whether a character is invalid in a name: a control, a blank, or one without
// width.
func unprintable(r rune) bool { return r == ' ' || r == utf8.RuneError || !unicode.IsPrint(r) }

func entry(l api.ListModelResponse) Model {
	name := cmp.Or(l.Name, l.Model)
	return judged(Model{
		Name: name, Digest: strings.TrimPrefix(l.Digest, "sha256:"), Size: l.Size, Family: l.Details.Family,
		Cloud: l.RemoteModel != "" || l.RemoteHost != "" || cloudName(name),
	})
}

// show adds the server's description to m, and caches it for look.
func (c *Client) show(ctx context.Context, m Model) (Model, error) {
	said, err := c.api.Show(ctx, &api.ShowRequest{Model: m.Name})
	if err != nil {
		return Model{}, err
	}
	m.Family = cmp.Or(m.Family, said.Details.Family)
	m.Cloud = m.Cloud || said.RemoteModel != "" || said.RemoteHost != "" || cloudName(m.Name)
	arch, _ := said.ModelInfo["general.architecture"].(string)
	number := func(key string) int {
		n, _ := said.ModelInfo[arch+"."+key].(float64)
		return int(min(max(n, 0), 1<<30))
	}
	m.Context, m.Dimension, m.Can = number("context_length"), number("embedding_length"), nil
	for _, can := range said.Capabilities {
		m.Can = append(m.Can, Capability(can))
	}
	m = judged(m)
	c.mu.Lock()
	c.shown[fullName(m.Name)] = m
	c.mu.Unlock()
	return m, nil
}

// judged infers the capabilities of a model from its name and family if the server did not report
// them.
func judged(m Model) Model {
	if len(m.Can) > 0 {
		return m
	}
	m.Can = []Capability{Completion}
	name := strings.ToLower(m.Name)
	for _, word := range []string{"embed", "minilm", "bge-", "bge:", "gte-", "e5-"} {
		if strings.Contains(name, word) || strings.Contains(strings.ToLower(m.Family), "bert") {
			m.Can = []Capability{Embedding}
		}
	}
	return m
}

// fullName returns a model's name with its tag.
func fullName(name string) string {
	if name != "" && !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		return name + ":latest"
	}
	return name
}

func cloudName(name string) bool {
	return strings.HasSuffix(name, "-cloud") || strings.HasSuffix(name, ":cloud")
}

// atLeast reports whether a version is major.minor or newer.
func atLeast(version string, major, minor int) bool {
	var x, y int
	fmt.Sscanf(version, "%d.%d", &x, &y) // unreadable parts stay 0
	return x > major || x == major && y >= minor
}

// textOrder ranks models by how well they answer by a schema, best first, by prefixes of their
// names. Models that never think aloud come first: servers have lost the schema of the others.
var textOrder = []string{
	"qwen3 instruct", "gemma3", "llama3.2", "granite4", "granite3", "qwen2.5", "ministral", "mistral", "llama3", "phi4",
	"gemma", "qwen3", "qwen",
}

// vectorOrder ranks models that make vectors in the same way.
var vectorOrder = []string{"embeddinggemma", "qwen3-embedding", "all-minilm", "nomic-embed-text"}

// small is the size in bytes below which a text model is good for little more than titles.
const small = 1_500_000_000

// Choose returns the server's model for a want, as Server.Choose does.
func (c *Client) Choose(ctx context.Context, w Want) (Model, error) {
	server, err := c.Models(ctx, w)
	if err != nil {
		return Model{}, err
	}
	return server.Choose(w, TotalMemory())
}

// Choose picks the wanted model of the server: the named one, or the best on its machine. A cloud
// model is picked only by its exact name. memory is the machine's, in bytes, or 0 if unknown; see
// TotalMemory.
//
// The best model fits into half of the memory, 8 GB if unknown. For text it has 1.5 GB or more if
// possible. Then the first family wins: qwen3 instruct, gemma3, llama3.2, granite, qwen2.5,
// mistral, llama3, phi4, gemma, qwen, others. Then comes a model that does not think aloud, then
// the largest. For vectors it is the first of embeddinggemma, qwen3-embedding, all-minilm,
// nomic-embed-text, others, then the smallest.
//
// The error wraps ErrOld if the server is too old, and ErrMissing if no model has the name. It
// wraps ErrNoModel without a model or without the needed capability, and ErrCloud.
func (s Server) Choose(w Want, memory int64) (Model, error) {
	if !s.MinimumOK {
		return Model{}, fail("choose a model", ErrOld, "Ollama "+s.Version+" cannot keep an answer to a form; it takes 0.5.0 or newer")
	}
	if !w.auto() {
		return s.named(w)
	}
	if memory <= 0 {
		memory = 16_000_000_000
	}
	var best *Model
	large, narrow := 0, 0
	for i := range s.Models {
		m := &s.Models[i]
		switch {
		case m.Cloud || !m.Has(w.Need) || w.Need == Completion && m.Has(Embedding):
		case m.narrower(w.Context):
			narrow++
		case m.Size > memory/2:
			large++
		case best == nil || compare(*m, *best, w.Need) < 0:
			best = m
		}
	}
	switch {
	case best != nil:
		return *best, nil
	case large > 0:
		return Model{}, fail("choose a model", ErrNoModel,
			fmt.Sprintf("half of this machine's memory is %.1f GB, and the %d that can do it need more; name one of them to use it all the same", float64(memory/2)/1e9, large))
	case narrow > 0:
		return Model{}, fail("choose a model", ErrNoModel, fmt.Sprintf("the %d that can do it have a context of less than %d tokens", narrow, w.Context))
	}
	return Model{}, fail("choose a model", ErrNoModel, "none on this machine")
}

// narrower reports whether a model's known context is smaller than tokens.
func (m Model) narrower(tokens int) bool { return 0 < m.Context && m.Context < tokens }

// named picks the named model.
func (s Server) named(w Want) (Model, error) {
	i := slices.IndexFunc(s.Models, func(m Model) bool { return fullName(m.Name) == fullName(w.Name) })
	did := "choose model " + w.Name
	switch {
	case i < 0 && s.More:
		return Model{}, fail(did, ErrMissing, fmt.Sprintf("it is not among the first %d", len(s.Models)))
	case i < 0:
		return Model{}, fail(did, ErrMissing, "")
	}
	m := s.Models[i]
	switch {
	case m.Cloud && m.Name != w.Name:
		return Model{}, fail(did, ErrCloud, "to use it, give its exact name, "+m.Name)
	case !m.Has(w.Need):
		return Model{}, fail(did, ErrNoModel, "it cannot do "+string(w.Need))
	case m.narrower(w.Context):
		return Model{}, fail(did, ErrNoModel, fmt.Sprintf("its context has %d tokens, and %d are needed", m.Context, w.Context))
	}
	return m, nil
}

// Pull returns the command that fetches the model missing in an error of Choose, Ask or Embed: the
// named one, or else a free one that follows instructions and is small enough for a laptop. It is
// "" for other errors.
func (w Want) Pull(err error) string {
	switch {
	case errors.Is(err, ErrMissing) && !w.auto():
		return "ollama pull " + w.Name
	case !errors.Is(err, ErrMissing) && !errors.Is(err, ErrNoModel):
		return ""
	case w.Need == Embedding:
		return "ollama pull embeddinggemma"
	}
	return "ollama pull qwen3:4b-instruct"
}

// compare returns a negative number if a is better for need, a positive one if b is.
func compare(a, b Model, need Capability) int {
	if need == Embedding {
		return cmp.Or(cmp.Compare(place(a, vectorOrder), place(b, vectorOrder)), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	}
	bad := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return cmp.Or(
		bad(a.Size < small)-bad(b.Size < small),
		cmp.Compare(place(a, textOrder), place(b, textOrder)),
		bad(a.Has(Thinking))-bad(b.Has(Thinking)),
		cmp.Compare(b.Size, a.Size),
		cmp.Compare(a.Name, b.Name),
	)
}

// place returns the rank of a model in an order. An entry is a prefix of a name, and optionally
// another part that the name must contain.
func place(m Model, order []string) int {
	name := strings.ToLower(m.Name[strings.LastIndexByte(m.Name, '/')+1:])
	for i, entry := range order {
		start, also, _ := strings.Cut(entry, " ")
		if strings.HasPrefix(name, start) && strings.Contains(name, also) {
			return i
		}
	}
	return len(order)
}

// TotalMemory returns the memory of this machine in bytes, or 0 if unknown, as on systems other
// than Linux. Free memory would not do: it changes every minute, and so would the chosen model.
func TotalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if kib, found := strings.CutPrefix(lines.Text(), "MemTotal:"); found {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(kib, "kB")), 10, 64)
			return n * 1024
		}
	}
	return 0
}
