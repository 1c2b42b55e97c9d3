package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
)

// modelCheck checks models and prompts.
type modelCheck struct{ *reader.Reader }

// use is one use of a model.
type use struct {
	name, key string
	off       bool
	want      ollama.Want
}

// models reports the server, its models and their uses, and the rest of the day's budget.
func (x modelCheck) models(ctx context.Context) []Finding {
	if err := x.Narrow(ctx); err != nil {
		return nil // the memory's own finding tells
	}
	set := x.Settings.Config.Model
	uses := []use{{name: "model", key: "model.name", want: model.Reading(set.Reads())}}
	if set.Dreams() != set.Reads() {
		uses = []use{{name: "reflect", key: "model.reflect", want: model.Reading(set.Reads())}, {name: "dream", key: "model.dream", want: model.Reading(set.Dreams())}}
	}
	uses = append(uses, use{name: "vectors", key: "model.embed", want: model.Vectors(set.Embed)})
	var agents, found []Finding
	off := true
	uses = slices.DeleteFunc(uses, func(u use) bool {
		is := config.Agent(u.want.Name) != ""
		if is {
			agents = append(agents, examineAgent(set, u))
		} else {
			off = off && u.want.Name == config.Off
		}
		return is
	})
	if !off || len(agents) == 0 {
		found = x.served(ctx, set, uses, off)
	}
	if found = append(agents, found...); off && len(agents) == 0 || found[len(found)-1].What == "" {
		return found
	}
	used := x.Budget().Today()
	budget := Finding{What: "budget", State: OK, Detail: fmt.Sprintf("today %d of %d questions, %d of %d tokens, %.0f of %d seconds",
		used.Calls, set.Calls, used.Tokens, set.Tokens, used.Seconds, set.Seconds)}
	if x.Budget().Spent() != nil {
		budget.State, budget.Fix = Note, "it is there again tomorrow; model.calls, model.tokens and model.seconds set it"
	}
	return append(found, budget)
}

// examineAgent looks for the program of an agent that is a model.
func examineAgent(of config.Model, u use) Finding {
	f := Finding{What: u.name, State: OK}
	program, err := model.Program(of, u.want.Name)
	if err != nil {
		f.State, f.Detail, f.Err = Broken, u.want.Name+": "+err.Error(), err
		return f
	}
	f.Detail = u.want.Name + " by " + program + "; it reads its own sessions, which its provider has read"
	return f
}

// served reports the server and the uses of its models. A finding without a name is the only one:
// no server answers.
func (x modelCheck) served(ctx context.Context, set config.Model, uses []use, off bool) []Finding {
	for i := range uses {
		if uses[i].off = uses[i].want.Name == config.Off; uses[i].off {
			uses[i].want.Name = "auto" // any that could be used
		}
	}
	var wants []ollama.Want
	for _, u := range uses {
		wants = append(wants, u.want)
	}
	client, err := model.Open(set)
	var server ollama.Server
	if err == nil {
		server, err = client.Models(ctx, wants...)
	}
	if err != nil && off {
		return []Finding{{State: Note, Detail: "off, and no server answers: detectors alone study sessions"}}
	}
	if err != nil {
		return []Finding{{State: Broken, Detail: err.Error(), Err: model.Explain(err, wants[0])}}
	}
	found := []Finding{{What: "ollama", State: OK, Detail: fmt.Sprintf("%s at %s; %s", cmp.Or(server.Version, "of unknown version"), client.Host(), namesOf(server))}}
	for _, u := range uses {
		found = append(found, x.examine(ctx, server, u))
	}
	return found
}

// examine looks for the model of one use.
func (x modelCheck) examine(ctx context.Context, server ollama.Server, u use) Finding {
	f := Finding{What: u.name, State: OK}
	m, err := server.Choose(u.want, ollama.TotalMemory())
	if err != nil {
		f.Err, f.Fix = model.Explain(err, u.want), u.want.Pull(err)
	}
	switch {
	case err != nil && u.off && !errors.Is(err, ollama.ErrOld):
		f.State, f.Detail = Note, "off, and there is none to use"
	case err != nil && u.off:
		f.State, f.Detail = Note, "off; "+err.Error()
	case err != nil:
		f.State, f.Detail = Broken, err.Error()
	case u.off:
		f.State, f.Detail, f.Fix = Note, "off; "+m.Name+" could be used", "reverie config "+u.key+" auto"
	default:
		f.Detail = m.Name
		if u.want.Need == ollama.Completion && m.Context > 0 {
			f.Detail += fmt.Sprintf(", %d tokens of its %d", min(m.Context, x.Settings.Config.Model.Context), m.Context)
		}
		if u.want.Need == ollama.Embedding {
			x.vectors(ctx, &f)
		}
	}
	return f
}

// vectors adds the number of memories with vectors to the finding about an embedding model. The
// missing ones can be made.
func (x modelCheck) vectors(ctx context.Context, f *Finding) {
	_, space, err := x.OpenEmbedder(ctx)
	if err != nil {
		f.State, f.Detail = Broken, err.Error()
		return
	}
	live := 0
	err = x.View(ctx, func(v *record.View) error {
		live = 0
		for _, m := range v.Memories() {
			if m.Live(x.Now()) {
				live++
			}
		}
		return nil
	})
	if err != nil {
		return // the memory's own finding tells
	}
	vectors := vector.Read(filepath.Join(x.State, reader.VectorsDir), space)
	defer vectors.Close()
	have := vectors.Len()
	f.Detail += fmt.Sprintf("; %d of %s have a vector", min(have, live), plural.Count(live, "memory", "memories"))
	if have < live {
		f.State = Note
		f.Mend = func(ctx context.Context) ([]string, error) {
			_, _, err := reader.FillVectors(ctx, x.Reader, nil)
			return nil, err
		}
	}
}

// maxNames bounds the number of models that are named.
const maxNames = 20

// namesOf returns the number of a server's models, and the first of their names.
func namesOf(s ollama.Server) string {
	names := make([]string, 0, len(s.Models))
	for _, m := range s.Models {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	all := plural.Count(len(names), "model", "models")
	if s.More {
		all = "more than " + all
	}
	if len(names) == 0 {
		return all + ": none"
	}
	rest := ""
	if n := len(names) - maxNames; n > 0 {
		names, rest = names[:maxNames], fmt.Sprintf(" and %d more", n)
	}
	return all + ": " + strings.Join(names, ", ") + rest
}

// prompts lists the prompts that the user has replaced. Without any there is no finding.
func (x modelCheck) prompts(context.Context) []Finding {
	set, err := model.Prompts(x.Config)
	if err != nil {
		return []Finding{{State: Broken, Detail: err.Error(), Fix: "mend the file, or take it away"}}
	}
	own := set.Overridden()
	if len(own) == 0 {
		return nil
	}
	return []Finding{{State: OK, Detail: "your own: " + strings.Join(own, ", ")}}
}
