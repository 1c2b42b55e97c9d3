package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

// check --diff looks at what one state of the memory changed against another, for a pull request:
// it reads commits only, so that it works in a checkout of the branch, of a merge on it, and in a
// clone of the code alike.

type checkDiffOptions struct {
	span   string // BASE..HEAD, BASE...HEAD or BASE
	sarif  bool
	github bool
	review bool
	strict bool // warnings count
}

func runCheckDiff(ctx context.Context, env *Env, o checkDiffOptions) error {
	if forms := slices.DeleteFunc([]bool{env.JSON, o.sarif, o.github, o.review}, func(on bool) bool { return !on }); len(forms) > 1 {
		return exit.Usage("", "--json, --sarif, --github and --markdown exclude each other")
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	span, err := check.ReadSpan(ctx, w.Clone, o.span)
	if err != nil {
		return err
	}
	if span.Missing(ctx, w.Clone) {
		env.Warn("%s does not contain all of %s, so the missing part looks deleted; to check what %s changed: reverie check --diff %s...%s", span.B, span.A, span.B, span.A, span.B)
	}
	found, err := span.Diff(ctx, w.Reader, version())
	if err != nil {
		return err
	}
	if o.review {
		text, err := span.Review(ctx, w.Reader, found)
		if err != nil {
			return err
		}
		env.Print("%s", text)
	} else if err := tellFindings(env, found, o); err != nil {
		return err
	}
	n := map[finding.Level]int{}
	for _, f := range found {
		n[f.Level]++
	}
	if len(found) == 0 {
		env.Say("nothing found in %s", o.span)
		return nil
	}
	summary := fmt.Sprintf("%s, %s and %s in %s", plural.Count(n[finding.Error], "error", "errors"), plural.Count(n[finding.Warning], "warning", "warnings"), plural.Count(n[finding.Note], "note", "notes"), o.span)
	if n[finding.Error] > 0 || o.strict && n[finding.Warning] > 0 {
		env.Warn("%s", summary)
		return exit.Silent
	}
	env.Say("%s", summary)
	return nil
}

// tellFindings writes the findings in the form that was asked for.
func tellFindings(env *Env, found []finding.Finding, o checkDiffOptions) error {
	if o.sarif {
		return env.Object(check.Rules.SARIF(found, version()))
	}
	return rows(env, found, itself, func(f finding.Finding) {
		if o.github {
			env.Print("%s\n", f.Annotation())
			return
		}
		where := term.Visible(strings.NewReplacer("\n", "^J", "\t", "^I").Replace(f.Path))
		if f.Path == "" {
			where = "(commit)"
		}
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		env.Print("%s: %s: %s [%s]\n", where, env.Paint(map[finding.Level]string{finding.Error: term.Red, finding.Warning: term.Bold, finding.Note: term.Dim}[f.Level], string(f.Level)), f.Message, f.Rule)
	})
}
