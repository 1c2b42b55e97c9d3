package reflect

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Audited: a defect that an audit of a loop found and that was fixed before the loop ended. An
// auditor's word is neither a command's outcome nor a person's word, so these findings always wait
// for review.

// LoopClient is the client of a session that describes a loop.
const LoopClient = "loop"

// AuditTool is the tool of the events for a finding. The Call has the file as its path and an
// AuditCall as its text. The first line of the Result names the fault, and the others show it. The
// outcome is OK for a fixed one.
const AuditTool = "audit"

// AuditCall holds the Call of a finding.
type AuditCall struct {
	Severity    string `json:"severity"` // bug, warning or suggestion
	Rule        string `json:"rule,omitempty"`
	Recurrences int    `json:"recurrences"` // how often it was named again
	Iteration   int    `json:"iteration"`   // in which it was named first
}

// maxAudited bounds the proposals from one loop's audits.
const maxAudited = 5

// ofTheChange matches text about a change under review rather than the resulting code.
var ofTheChange = lazy(`(?i)\blines? \d+|\bL\d+\b|\biteration \d+|\b(?:this|the) (?:diff|patch|change|commit|hunk|iteration|branch|plan|pull request|PR|MR)\b`)

// findAudited examines the fixed findings of a loop. It proposes a bug. It proposes a warning if
// that recurred or another finding has its rule; otherwise the warning is weak.
func findAudited(v *view) []finding {
	if v.session.Client != LoopClient {
		return nil
	}
	type fixed struct {
		finding
		AuditCall
	}
	var all []fixed
	rules := map[string]int{}
	for i := 1; i < len(v.events); i++ {
		call, result := &v.events[i-1], &v.events[i]
		var told AuditCall
		if call.Kind != transcript.Call || call.Tool != AuditTool || result.Kind != transcript.Result || result.CallID != call.CallID ||
			json.Unmarshal([]byte(call.Text), &told) != nil {
			continue
		}
		if told.Rule != "" {
			rules[told.Rule]++
		}
		if result.Outcome != transcript.OK {
			continue
		}
		all = append(all, fixed{finding{Candidate: v.audited(i, told)}, told})
	}
	out := make([]finding, 0, len(all))
	recurring := func(f fixed) bool { return f.Recurrences > 0 || rules[f.Rule] > 1 }
	slices.SortStableFunc(all, func(a, b fixed) int { // recurring ones first, then bugs
		return cmp.Or(before(recurring(b), recurring(a)), before(b.Severity == "bug", a.Severity == "bug"))
	})
	passed := 0
	for _, f := range all {
		f.Weak = f.Severity != "bug" && !recurring(f)
		switch {
		case ofTheChange.MatchString(f.Evidence[0].Quote):
			f.why = "points at its change"
		case !visibleText(f.Text) || !visibleText(f.Body):
			f.why = "hidden characters"
		case redacted.MatchString(f.Body):
			f.why = "redacted"
		case f.Severity == "suggestion" && !recurring(f):
			f.why = "a suggestion"
		case passed == maxAudited:
			f.why = "too many"
		default:
			passed++
		}
		out = append(out, f.finding)
	}
	return out
}

// audited returns the candidate of the finding in the event at an index.
func (v *view) audited(i int, told AuditCall) record.Candidate {
	said, scenario, _ := strings.Cut(v.events[i].Text, "\n")
	said = strings.TrimSpace(said)
	c := record.Candidate{Kind: record.Failure, How: record.Model, Evidence: []record.Evidence{v.quote(i, said)}}
	where := ""
	if paths := v.events[i-1].Paths; len(paths) == 1 && fs.ValidPath(paths[0]) && !strings.ContainsAny(paths[0], "*?[]{}`\\\n") {
		c.Paths, where = paths, " in `"+paths[0]+"`"
	}
	intro := "Seen and fixed" + where + ": "
	c.Text = intro + firstSentence(said, maxStatement-utf8.RuneCountInString(intro))
	body := []string{cut.Marked(strings.TrimSpace(scenario), maxBody/2), "An audit called it a " + told.Severity + ", and it was gone before the loop ended."}
	if told.Recurrences > 0 {
		body = append(body, "It was named again "+times(told.Recurrences)+".")
	}
	c.Body = strings.TrimSpace(strings.Join(body, "\n\n"))
	return c
}

// firstSentence returns a text, or only its first sentence if it has more than room characters.
func firstSentence(text string, room int) string {
	if utf8.RuneCountInString(text) > room {
		if first, _, more := strings.Cut(text, ". "); more {
			return first + "."
		}
	}
	return text
}

// before sorts true first.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
