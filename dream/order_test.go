package dream

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestOrderKeyIsTheSameInOtherWords(t *testing.T) {
	for want, texts := range map[string][]string{
		"draft pr":           {"Open a draft PR.", "Create the draft pull request.", "Make draft PRs."},
		"changelog updat":    {"Update the changelog.", "update CHANGELOG"},
		"jira sprint ticket": {"Create a jira ticket in the current sprint.", "log the jira tickets for this sprint"},
		"": {"Fix the tests.", "commit and push", "run it again", "Open a PR.", "try --force", "fix src/app/main.go",
			"Resolve remark #2.", "resolve remark 4", "Tackle remarks 1-5, please.", "Resolve 3 and #4", "Get started.", "Look at the project."},
		"jira ticket":            {"Log a jira ticket for sprint 12.", "create jira tickets in sprint #13"},
		"screenshot typographic": {"check the typographic screenshot"},
	} {
		for _, text := range texts {
			if got := orderKey(text); got != want {
				t.Errorf("orderKey(%q) = %q, want %q", text, got, want)
			}
		}
	}
}

func order(text string) record.Candidate {
	return record.Candidate{Kind: record.Workflow, Text: text, How: record.Said, Weak: true, Detector: record.Order}
}

// ordered returns one reflection for each order, each of its own session.
func ordered(texts ...string) []record.Reflection {
	var out []record.Reflection
	for i, text := range texts {
		c := order(text)
		c.Evidence = []record.Evidence{{Event: 1, Quote: text, Time: now.Add(time.Duration(i) * time.Hour), Doubt: record.Passing}}
		out = append(out, reflection("claude", fmt.Sprintf("s%d", i), c))
	}
	return out
}

func TestOrdersBecomeOneProposal(t *testing.T) {
	four := ordered("Open a draft PR.", "Create a draft pull request.", "Open a draft PR.", "Draft PR please.")
	cases := []struct {
		name string
		in   Input
		want []string
	}{
		{"not from three sessions", Input{New: four[:3]}, []string{"proposed 0, borne out 0, withdrawn 0"}},
		{"from four", Input{New: four}, []string{"add Open a draft PR. (said, 4 sessions)", "proposed 1, borne out 0, withdrawn 0"}},
		{"counting those of earlier dreams", Input{Considered: four[:3], New: four[3:]}, []string{"add Open a draft PR. (said, 4 sessions)", "proposed 1, borne out 0, withdrawn 0"}},
		{"not where it was rejected in other words", Input{Rejected: []record.Rejection{{Text: "Make draft PRs."}}, New: four}, []string{"proposed 0, borne out 0, withdrawn 0"}},
		{"not where it is known", Input{Memories: []record.Memory{memory("Open draft pull requests.")}, New: four}, []string{"proposed 0, borne out 0, withdrawn 0"}},
		{"one session that says it four times is one", Input{New: []record.Reflection{reflection("claude", "s1", order("Open a draft PR."), order("Draft PR."), order("Make a draft PR."), order("Create draft PR."))}},
			[]string{"proposed 0, borne out 0, withdrawn 0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.in.Now = now
			if diff := cmp.Diff(c.want, summary(Plan(c.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrdersAreNeverAcceptedUnasked(t *testing.T) {
	ops := Plan(Input{Now: now, New: ordered("Open a draft PR.", "Open a draft PR.", "Open a draft PR.", "Open a draft PR.", "Open a draft PR.")}).Operations
	if len(ops) != 1 {
		t.Fatalf("%d operations, want 1", len(ops))
	}
	if ok, why := (Policy{Accept: []record.How{record.Said, record.Seen}, Sightings: 2}).Accepts(ops[0]); ok || why == "" {
		t.Errorf("Accepts = %v, %q", ok, why)
	}
	if ops[0].Why != "asked for in 4 sessions" || record.Sessions(ops[0].Sightings) != 5 {
		t.Errorf("why %q, %d sessions", ops[0].Why, record.Sessions(ops[0].Sightings))
	}
}
