package cmd

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/internal/finding"
)

// tellFindings writes the findings in the form that was asked for.
func (env *Env) tellFindings(found []finding.Finding, o checkDiffOptions) error {
	if o.sarif {
		return env.object(check.Rules.SARIF(found, version()))
	}
	for _, f := range found {
		if env.JSON {
			if err := env.object(f); err != nil {
				return err
			}
			continue
		}
		if o.github {
			env.print("%s\n", f.Annotation())
			continue
		}
		where := visible(strings.NewReplacer("\n", "^J", "\t", "^I").Replace(f.Path))
		if f.Path == "" {
			where = "(commit)"
		}
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		env.print("%s: %s: %s [%s]\n", where, env.paint(map[finding.Level]string{finding.Error: red, finding.Warning: bold, finding.Note: dim}[f.Level], string(f.Level)), f.Message, f.Rule)
	}
	return nil
}
