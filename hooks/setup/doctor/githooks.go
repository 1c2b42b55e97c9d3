package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
)

// gitHookCheck checks our part of git's hooks.
type gitHookCheck struct{ *clone.Clone }

func (x gitHookCheck) run(ctx context.Context) []Finding {
	program, err := setup.Program() // "" if there is no lasting path; scripts are not compared then
	if err != nil && !errors.Is(err, agents.ErrPassing) {
		return []Finding{{State: Broken, Detail: err.Error()}}
	}
	r, err := githook.Examine(ctx, x.Repo, setup.ScriptSettings(program, x.Config))
	if err != nil {
		return []Finding{{State: Broken, Detail: err.Error()}}
	}
	f := Finding{State: Broken, Fix: "reverie init --git-hooks", Mend: func(ctx context.Context) ([]string, error) {
		_, err := setup.InstallGitHooks(ctx, x.Clone, false, false)
		return nil, err
	}}
	const config = "git's configuration"
	switch {
	case r.Ignored != "":
		f.Detail = "in " + config + ", of which " + r.Ignored + " runs no hooks"
	case r.Configured > 0 && r.Sections+r.Elsewhere > 0:
		f.Detail = "both in " + config + " and in " + r.Place.Dir + ", so that each runs twice"
	case r.Configured > 0 && (r.Outdated > 0 || r.NoLinks):
		f.Detail = "not as this version of Reverie writes them, in " + config
	case r.Configured > 0 && r.Disabled > 0:
		f = Finding{State: Note, Detail: fmt.Sprintf("%d of %d turned off in %s", r.Disabled, r.Configured, config), Fix: "git config --show-origin --get-regexp '^hook\\.reverie-.*\\.enabled$' says where"}
	case r.Configured > 0:
		f = Finding{State: OK, Detail: fmt.Sprintf("%d in %s", r.Configured, config)}
	case r.Elsewhere > 0 && r.Sections == 0:
		f.Detail, f.Mend = fmt.Sprintf("installed in %s, but git looks in %s", r.Own, r.Place.Dir), nil
		f.Fix = "git config --show-origin core.hooksPath says why; 'reverie init --git-hooks' prints what to add there"
	case r.Sections > 0 && (r.Outdated > 0 || r.NoLinks):
		f.Detail = "not as this version of Reverie writes them, in " + r.Place.Dir
	case r.Sections > 0:
		f = Finding{State: OK, Detail: fmt.Sprintf("%d in %s", r.Sections, r.Place.Dir)}
	case r.Place.Avoid != "" && r.Outdated > 0:
		f.Detail = "what the hooks call is not as this version of Reverie writes it"
	case r.Place.Avoid != "" && r.Scripts:
		f = x.byHand(r.Place)
	default:
		f = Finding{State: OK, Detail: "not installed"}
	}
	return []Finding{f}
}

// byHand checks whether foreign hooks call our scripts.
func (x gitHookCheck) byHand(place githook.Place) Finding {
	var files, called, calls, missing []string
	for _, m := range place.Mentions(x.Repo) {
		files = append(files, m.File)
		called = append(called, m.Hooks...)
	}
	for _, h := range githook.All {
		switch {
		case slices.Contains(called, h.Name):
			calls = append(calls, h.Name)
		case h.HasScript(x.Repo):
			missing = append(missing, h.Name)
		}
	}
	f := Finding{State: OK}
	switch {
	case len(calls) == 0:
		f.Detail = place.Avoid + ": none that calls Reverie was found"
	case len(missing) == 0:
		f.Detail = fmt.Sprintf("%d by lines that you added, in %s", len(calls), strings.Join(files, ", "))
	default:
		f.Detail = fmt.Sprintf("%s: %s called by lines that you added, not %s", place.Avoid, strings.Join(calls, ", "), strings.Join(missing, ", "))
	}
	if len(missing) > 0 {
		f.State, f.Fix = Note, "reverie init --git-hooks prints what to add"
	}
	return f
}
