package dream

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// A later statement about the same thing replaces an earlier one, whatever becomes of either.
func TestLaterWordsReplaceEarlierOnes(t *testing.T) {
	const before, after, aside = "Prefix feature flags with `ff_`.", "All feature flags should now begin with `flag_`.", "End feature flags with `_on`."
	doubt := func(c record.Candidate) record.Candidate {
		c.Evidence = []record.Evidence{{Quote: "doubt " + c.Text, Doubt: record.Passing, Time: now.Add(time.Hour)}}
		return c
	}
	weakly := doubt(said(after))
	weakly.Weak = true
	early := said(after)
	early.Evidence = []record.Evidence{{Quote: "early", Time: now.Add(-time.Hour)}}
	waiting := func(candidates ...record.Candidate) []record.Operation {
		return Plan(Input{Now: now, New: []record.Reflection{reflection("claude", "s1", candidates...)}}).Operations
	}
	known := []record.Memory{memory(before)}
	imported := memory(before)
	imported.Source.By = "import/CLAUDE.md:1"
	retired := []string{"add " + after + " (said, 1 sessions)", "proposed 1, borne out 0, withdrawn 0"}
	for _, c := range []struct {
		name string
		in   Input
		says record.Candidate
		want []string
		over string // the memory that the operation contradicts
		why  string // part of why
	}{
		{"what is accepted", Input{Memories: known}, said(after), retired, known[0].ID, ""},
		{"what waits", Input{Pending: waiting(said(before))}, said(after), []string{"add " + after + " (said, 1 sessions)", "proposed 1, borne out 0, withdrawn 1"}, "", `"s1Prefix feature flags with`},
		{"words in doubt contradict plain ones", Input{Pending: waiting(said(before))}, doubt(said(after)), retired, known[0].ID, ""},
		{"and replace others in doubt", Input{Pending: waiting(doubt(said(before)))}, doubt(said(after)), []string{"add " + after + " (said, 1 sessions)", "proposed 1, borne out 0, withdrawn 1"}, "", "2026-11-21"},
		{"weak words count where they change something", Input{Memories: known}, weakly, retired, known[0].ID, ""},
		{"and nowhere else", Input{Memories: []record.Memory{memory(aside)}}, weakly, []string{"proposed 0, borne out 0, withdrawn 0"}, "", ""},
		{"another thing stands beside it", Input{Memories: known}, said(aside), []string{"add " + aside + " (said, 1 sessions)", "proposed 1, borne out 0, withdrawn 0"}, "", ""},
		{"a session learned late replaces nothing", Input{Memories: known}, early, []string{"note: " + after + ": " + known[0].ID + " says otherwise since", "proposed 0, borne out 0, withdrawn 0"}, "", ""},
		{"and waits beside what was imported since", Input{Memories: []record.Memory{imported}}, early, retired, imported.ID, ""},
	} {
		c.in.Now, c.in.New = now, []record.Reflection{reflection("claude", "later", c.says)}
		plan := Plan(c.in)
		if diff := cmp.Diff(c.want, summary(plan)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
			continue
		}
		over, why := "", ""
		if len(plan.Operations) > 0 {
			over, why = strings.Join(plan.Operations[0].Contradicts, " "), plan.Operations[0].Why
		}
		if over != c.over || !strings.Contains(why, c.why) {
			t.Errorf("%s: contradicts %q because %q", c.name, over, why)
		}
	}
}

// A rule for one place folds into one that holds everywhere, whichever comes first.
func TestNarrowRuleFoldsIntoWiderOne(t *testing.T) {
	const wide, narrow = "Never use default exports.", "Never use default exports in tests."
	of := func(in Input, text string) Result {
		in.Now, in.New = now, []record.Reflection{reflection("claude", "later", said(text))}
		return Plan(in)
	}
	if diff := cmp.Diff([]string{"proposed 0, borne out 1, withdrawn 0"}, summary(of(Input{Memories: []record.Memory{memory(wide)}}, narrow))); diff != "" {
		t.Error(diff)
	}
	plan := of(Input{Memories: []record.Memory{memory(narrow)}}, wide)
	if len(plan.Operations) != 1 || !cmp.Equal(plan.Operations[0].Memory.Supersedes, []string{memory(narrow).ID}) {
		t.Errorf("%v", plan.Operations)
	}
	plan = of(Input{Pending: of(Input{}, narrow).Operations}, wide)
	if len(plan.Operations) != 1 || len(plan.Withdrawn) != 1 {
		t.Errorf("%v", summary(plan))
	}
}

// A narrow rule that differs in another word, too, folds into no wider one.
func TestNarrowRuleSaysMore(t *testing.T) {
	for _, c := range []struct {
		wide, narrow string
		want         bool
	}{
		{"Never use default exports.", "Never use default exports in tests.", true},
		{"Commits must be signed.", "Commits are signed in `web/`.", true},
		{"Commits must be signed.", "Commits may be signed in `web/`.", false},
		{"Rebase feature branches.", "Sometimes rebase feature branches in `web/`.", false},
		{"Review migrations.", "Review some migrations in `web/`.", false},
		{"Use default exports.", "Use default exports in tests only.", false},
	} {
		if phraseOf(c.wide).covers(phraseOf(c.narrow)) != c.want {
			t.Errorf("%q covers %q: %t", c.wide, c.narrow, !c.want)
		}
	}
}

// Comparing statements again reads none of them again: remember compares one with hundreds.
func TestPhraseIsReadOnce(t *testing.T) {
	a, b := phraseOf("Use pnpm for packages."), phraseOf("Use npm for packages.")
	if !a.opposes(b) {
		t.Fatal("two package managers agree")
	}
	if n := testing.AllocsPerRun(10, func() { a.opposes(b) }); n > 5 {
		t.Errorf("comparing again allocates %.0f times", n)
	}
}
