package cmd

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
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
)

// examineModel tells what server and models there are, what each would be asked for, and what is left of the day's budget.
func (w *workspace) examineModel(ctx context.Context) []examined {
	if err := w.Narrow(ctx); err != nil {
		return nil // the memory's own row tells
	}
	wanted := w.Settings.Config.Model
	row := examined{What: "model", State: stateNote}
	reading, vectors := model.Reading(wanted.Name), model.Vectors(wanted.Embed)
	for _, w := range []*ollama.Want{&reading, &vectors} {
		if w.Name == config.Off {
			w.Name = "auto" // what could be used
		}
	}
	broken := stateNote
	if wanted.Name != config.Off || wanted.Embed != config.Off {
		broken = stateBroken
	}
	client, err := model.Open(wanted)
	var server ollama.Server
	if err == nil {
		server, err = client.Models(ctx, reading, vectors)
	}
	if err != nil {
		_, row.Fix = explain(model.Explain(err, reading))
		row.State, row.Detail = broken, err.Error()
		if broken == stateNote {
			row.Detail, row.Fix = "off, and no server answers: detectors alone study sessions", ""
		}
		return []examined{row}
	}
	rows := []examined{{What: "ollama", State: stateOK, Detail: fmt.Sprintf("%s at %s; %s", cmp.Or(server.Version, "of unknown version"), client.Host(), namesOf(server))}}
	for _, use := range []struct {
		what, key string
		off       bool
		want      ollama.Want
	}{
		{"model", "model.name", wanted.Name == config.Off, reading},
		{"vectors", "model.embed", wanted.Embed == config.Off, vectors},
	} {
		row := examined{What: use.what, State: stateOK}
		m, err := server.Choose(use.want, ollama.TotalMemory())
		if err != nil {
			_, hint := explain(model.Explain(err, use.want))
			row.Fix = cmp.Or(use.want.Pull(err), hint)
		}
		switch {
		case err != nil && use.off && !errors.Is(err, ollama.ErrOld):
			row.State, row.Detail = stateNote, "off, and there is none to use"
		case err != nil && use.off:
			row.State, row.Detail = stateNote, "off; "+err.Error()
		case err != nil:
			row.State, row.Detail = stateBroken, err.Error()
		case use.off:
			row.State, row.Detail, row.Fix = stateNote, "off; "+m.Name+" could be used", "reverie config "+use.key+" auto"
		default:
			row.Detail = m.Name
			if use.want.Need == ollama.Completion && m.Context > 0 {
				row.Detail += fmt.Sprintf(", %d tokens of its %d", min(m.Context, wanted.Context), m.Context)
			}
			if use.want.Need == ollama.Embedding {
				w.examineVectors(ctx, &row)
			}
		}
		rows = append(rows, row)
	}
	if wanted.Name != config.Off || wanted.Embed != config.Off {
		used := w.Budget().Today()
		row := examined{What: "budget", State: stateOK, Detail: fmt.Sprintf("today %d of %d questions, %d of %d tokens, %.0f of %d seconds",
			used.Calls, wanted.Calls, used.Tokens, wanted.Tokens, used.Seconds, wanted.Seconds)}
		if w.Budget().Spent() != nil {
			row.State, row.Fix = stateNote, "it is there again tomorrow; model.calls, model.tokens and model.seconds set it"
		}
		rows = append(rows, row)
	}
	return rows
}

// mostNames is how many models doctor names.
const mostNames = 20

// namesOf is how many models a server has, and the first of their names.
func namesOf(s ollama.Server) string {
	names := make([]string, 0, len(s.Models))
	for _, m := range s.Models {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	all := term.Count(len(names), "model", "models")
	if s.More {
		all = "more than " + all
	}
	if len(names) == 0 {
		return all + ": none"
	}
	rest := ""
	if n := len(names) - mostNames; n > 0 {
		names, rest = names[:mostNames], fmt.Sprintf(" and %d more", n)
	}
	return all + ": " + strings.Join(names, ", ") + rest
}

// examineVectors adds to the row of an embedding model how many memories have a vector of it; doctor can make the others.
func (w *workspace) examineVectors(ctx context.Context, row *examined) {
	_, space, err := w.OpenEmbedder(ctx)
	if err != nil {
		row.State, row.Detail = stateBroken, err.Error()
		return
	}
	live := 0
	err = w.view(ctx, func(v *record.View) error {
		live = 0
		for _, m := range v.Memories() {
			if m.Live(w.env.Now()) {
				live++
			}
		}
		return nil
	})
	if err != nil {
		return // the memory's own row tells
	}
	vectors := vector.Read(filepath.Join(w.State, reader.VectorsDir), space)
	defer vectors.Close()
	have := vectors.Len()
	row.Detail += fmt.Sprintf("; %d of %s have a vector", min(have, live), term.Count(live, "memory", "memories"))
	if have < live {
		row.State = stateNote
		row.mend = func(ctx context.Context) error {
			_, _, err := reader.FillVectors(ctx, w.Reader, nil)
			return err
		}
	}
}

// examinePrompts names the prompts that the user has others for; no row where there are none.
func (w *workspace) examinePrompts() []examined {
	set, err := model.Prompts(w.Config)
	if err != nil {
		return []examined{{What: "prompts", State: stateBroken, Detail: err.Error(), Fix: "mend the file, or take it away"}}
	}
	own := set.Overridden()
	if len(own) == 0 {
		return nil
	}
	return []examined{{What: "prompts", State: stateOK, Detail: "your own: " + strings.Join(own, ", ")}}
}
