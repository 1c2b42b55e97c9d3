package reflect

import (
	"slices"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestPowerShellRefusesAnd(t *testing.T) {
	const refusal = "At C:\\a.ps1:7 char:30\n+ cd web && npm test\n+        ~~\nThe token '&&' is not a valid statement separator in this version.\n" +
		"    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException"
	refused := ran(transcript.Event{Command: "cd web && npm test"}, nil, "", refusal)
	for _, test := range []struct {
		name        string
		s           script
		found, weak bool
	}{
		{"and another way passed", script{refused, run("npm install", 0, "added 3 packages"), ran(transcript.Event{Command: "cd web; npm test"}, nil, "", "3 passed")}, true, false},
		{"with its exit code", script{run("cd web && npm test", 1, refusal), run("cd web; npm test", 0, "")}, true, false},
		{"and nothing else", script{refused}, true, true},
		{"in one of two shells", script{refused, run("cd web && npm test", 0, "3 passed")}, false, false},
		{"for something else", script{run("cd web && npm test)", 1, "Unexpected token ')' in expression or statement.\n    + CategoryInfo          : ParserError: (:) []")}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := slices.DeleteFunc(study(t, test.s).Candidates, func(c record.Candidate) bool { return c.Detector != "separator" })
			if found := len(got) == 1; found != test.found || found && got[0].Weak != test.weak {
				t.Errorf("%+v", got)
			}
		})
	}
}
