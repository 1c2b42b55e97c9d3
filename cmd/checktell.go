package cmd

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/term"
)

// tellFindings writes the findings in the form that was asked for.
func tellFindings(env *Env, found []finding.Finding, o checkDiffOptions) error {
	if o.sarif {
		return env.Object(check.Rules.SARIF(found, version()))
	}
	for _, f := range found {
		if env.JSON {
			if err := env.Object(f); err != nil {
				return err
			}
			continue
		}
		if o.github {
			env.Print("%s\n", f.Annotation())
			continue
		}
		where := term.Visible(strings.NewReplacer("\n", "^J", "\t", "^I").Replace(f.Path))
		if f.Path == "" {
			where = "(commit)"
		}
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		env.Print("%s: %s: %s [%s]\n", where, env.Paint(map[finding.Level]string{finding.Error: term.Red, finding.Warning: term.Bold, finding.Note: term.Dim}[f.Level], string(f.Level)), f.Message, f.Rule)
	}
	return nil
}
