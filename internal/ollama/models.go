package ollama

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"
)

// Capability is what a model can do.
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
	Context   int  // most tokens that it can look at; 0: unknown
	Dimension int  // of what it works with inside, mostly that of its vectors; 0: unknown
	Cloud     bool // the server passes what it is asked on to another machine
}

// Has reports whether the model can do what c says.
func (m Model) Has(c Capability) bool { return slices.Contains(m.Can, c) }

// Server is what a server says of itself.
type Server struct {
	Host      string // its URL
	Version   string // empty: unknown, as with a server that somebody built from source
	MinimumOK bool   // it can keep answers to a schema: 0.5.0 or newer, or unknown
	Models    []Model
}

// Models asks the server for its version and its models. It takes 2 s at most. What a model can do is judged by its name and
// family where the server does not say in time, or is too old to know. The error wraps ErrUnavailable, and ErrStranger when
// something else has the port.
func (c *Client) Models(ctx context.Context) (Server, error) {
	did := "look for models at " + c.base.Host
	limited, cancel := context.WithTimeoutCause(ctx, modelsLimit, errSilent)
	defer cancel()
	version, err := c.api.Version(limited)
	if err == nil && (version == "" || version[0] < '0' || version[0] > '9' || len(version) > 100) {
		return Server{}, fail(did, ErrUnavailable, ErrStranger.Error(), ErrStranger)
	}
	var list *api.ListResponse
	if err == nil {
		list, err = c.api.List(limited)
	}
	if err != nil {
		err = c.failed(ctx, limited, did, "", ErrUnavailable, err)
		if errors.Is(err, ErrMissing) { // no such page
			err = fail(did, ErrUnavailable, ErrStranger.Error(), ErrStranger)
		}
		return Server{}, err
	}
	s := Server{Host: c.Host(), Version: version, MinimumOK: atLeast(version, 0, 5)}
	if strings.HasPrefix(version, "0.0.0") {
		s.Version, s.MinimumOK = "", true
	}
	s.Models = make([]Model, len(list.Models))
	var wg sync.WaitGroup
	turns := make(chan struct{}, 4)
	for i, l := range list.Models {
		s.Models[i] = judged(listed(l))
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if m, err := c.show(limited, listed(l)); err == nil {
				s.Models[i] = m
			}
		})
	}
	wg.Wait()
	return s, ctx.Err()
}

func listed(l api.ListModelResponse) Model {
	name := l.Name
	if name == "" {
		name = l.Model
	}
	return Model{
		Name: name, Digest: strings.TrimPrefix(l.Digest, "sha256:"), Size: l.Size, Family: l.Details.Family,
		Cloud: l.RemoteModel != "" || l.RemoteHost != "" || cloudName(name),
	}
}

// show adds to m what the server says of the model of m's name.
func (c *Client) show(ctx context.Context, m Model) (Model, error) {
	said, err := c.api.Show(ctx, &api.ShowRequest{Model: m.Name})
	if err != nil {
		return Model{}, err
	}
	if m.Family == "" {
		m.Family = said.Details.Family
	}
	m.Cloud = m.Cloud || said.RemoteModel != "" || said.RemoteHost != "" || cloudName(m.Name)
	arch, _ := said.ModelInfo["general.architecture"].(string)
	number := func(key string) int {
		n, _ := said.ModelInfo[arch+"."+key].(float64)
		return int(min(max(n, 0), 1<<30))
	}
	m.Context, m.Dimension = number("context_length"), number("embedding_length")
	for _, can := range said.Capabilities {
		m.Can = append(m.Can, Capability(can))
	}
	return judged(m), nil
}

// judged gives a model of which the server did not say what it can do what its name and family tell.
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

// fullName is a model's name with its tag.
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
	fmt.Sscanf(version, "%d.%d", &x, &y) // what it cannot read stays 0
	return x > major || x == major && y >= minor
}

// textOrder are the models that answer by a schema well, the best first, by the beginnings of their names. Those that
// never think aloud come first: servers have lost the schema of those that do.
var textOrder = []string{
	"qwen3 instruct", "gemma3", "llama3.2", "granite4", "granite3", "qwen2.5", "ministral", "mistral", "llama3", "phi4",
	"gemma", "qwen3", "qwen",
}

// vectorOrder is the same for models that make vectors.
var vectorOrder = []string{"embeddinggemma", "qwen3-embedding", "all-minilm", "nomic-embed-text"}

// small is the size in bytes under which a model of text is good for little more than titles.
const small = 1_500_000_000

// Choose picks the model that is called want, ":latest" added, and can do what need says; or, if want is empty or "auto", the best
// for that of those on this machine. A model of the cloud is picked by its exact name alone. memory is what is free, in bytes,
// 0 if unknown: FreeMemory knows.
//
// The best has room in half of the memory that is free, 8 GB if unknown. For text it is of 1.5 GB or more, if there is one, then
// of the first family of qwen3 instruct, gemma3, llama3.2, granite, qwen2.5, mistral, llama3, phi4, gemma, qwen, others; then one that
// does not think aloud, then the largest. For vectors it is the first of embeddinggemma, qwen3-embedding, all-minilm,
// nomic-embed-text, others, then the smallest.
//
// The error wraps ErrMissing if want is not installed, ErrNoModel if it cannot do what need says or there is nothing
// to pick from, and ErrCloud.
func Choose(models []Model, want string, need Capability, memory int64) (Model, error) {
	if want != "" && want != "auto" {
		return named(models, want, need)
	}
	if memory <= 0 {
		memory = 16_000_000_000
	}
	var best *Model
	large := 0
	for i := range models {
		m := &models[i]
		switch {
		case m.Cloud || !m.Has(need) || need == Completion && m.Has(Embedding):
		case m.Size > memory/2:
			large++
		case best == nil || compare(*m, *best, need) < 0:
			best = m
		}
	}
	switch {
	case best != nil:
		return *best, nil
	case large > 0:
		return Model{}, fail("choose a model", ErrNoModel,
			fmt.Sprintf("half of the free memory is %.1f GB, and the %d that can do it need more; free some, or name one of them", float64(memory/2)/1e9, large))
	}
	pull := "qwen3:4b-instruct"
	if need == Embedding {
		pull = "embeddinggemma"
	}
	return Model{}, fail("choose a model", ErrNoModel, "none on this machine; ollama pull "+pull)
}

// named picks the model called want.
func named(models []Model, want string, need Capability) (Model, error) {
	i := slices.IndexFunc(models, func(m Model) bool { return fullName(m.Name) == fullName(want) })
	switch {
	case i < 0:
		return Model{}, fail("choose model "+want, ErrMissing, "ollama pull "+want)
	case models[i].Cloud && models[i].Name != want:
		return Model{}, fail("choose model "+want, ErrCloud, "to use it, give its exact name, "+models[i].Name)
	case !models[i].Has(need):
		return Model{}, fail("choose model "+want, ErrNoModel, "it cannot do "+string(need))
	}
	return models[i], nil
}

// compare is negative if a is the better one for need, positive if b is.
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

// place is where in an order a model stands. An entry is the beginning of a name and what else has to be in it.
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

// FreeMemory is how many bytes of memory programs can have without others giving theirs up; 0 if unknown, as on systems other than Linux.
func FreeMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if kib, found := strings.CutPrefix(lines.Text(), "MemAvailable:"); found {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(kib, "kB")), 10, 64)
			return n * 1024
		}
	}
	return 0
}
