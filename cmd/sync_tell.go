package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/term"
)

// syncJSON is what a sync did.
type syncJSON struct {
	Remote     string         `json:"remote"`
	URL        string         `json:"url"`
	DryRun     bool           `json:"dryRun"`
	ReviewOnly string         `json:"reviewOnly"`        // why the server takes proposals only; empty where it takes pushes
	Consent    string         `json:"consent,omitempty"` // what a person has to agree to publish first; it was not
	Memory     laneJSON       `json:"memory"`
	Journal    *laneJSON      `json:"journal,omitempty"` // with --journal
	Contested  []string       `json:"contested"`         // ids of all memories that are
	Proposals  []proposalJSON `json:"proposals"`         // open ones, and those that landed or were closed now
}

// laneJSON is what became of one ref.
type laneJSON struct {
	Fetched int    `json:"fetched"` // commits that were new here
	Way     string `json:"way"`     // how they were merged: nothing, fast-forward, adopted, joined
	tallyJSON
	Pushed   int      `json:"pushed"`   // commits
	Commit   string   `json:"commit"`   // our tip now
	Attempts int      `json:"attempts"` // one more for each race that was lost
	Backup   string   `json:"backup,omitempty"`
	Dropped  []string `json:"dropped,omitempty"` // files of which one side's text is in history only
	Lost     []string `json:"lost,omitempty"`    // commits that the remote no longer has

	What string `json:"-"` // of what a dry run would push
}

type proposalJSON struct {
	Branch     string   `json:"branch"`
	Commit     string   `json:"commit"`
	URL        string   `json:"url"` // where its pull request is opened; empty where the forge is not known
	Operations []string `json:"operations"`
	State      string   `json:"state"` // would propose (a dry run), proposed (now), open, landed, withdrawn, closed

	base gitstore.ID

	Reworded []rewordedJSON `json:"reworded,omitempty"` // of the operations that landed
}

// tell says what was done, also when something went wrong on the way.
func (s *syncer) tell(ctx context.Context, failed error) error {
	env := s.w.env
	if s.remote == nil || s.known == nil {
		return nil
	}
	s.done.DryRun, s.done.ReviewOnly = s.o.dryRun, s.known.ReviewOnly
	for _, p := range s.known.Proposals {
		s.note(p, "open")
	}
	if s.contested == nil {
		s.contested = s.lookForContested(ctx)
	}
	contested, err := s.contested()
	if err != nil && failed == nil {
		return err
	}
	s.done.Contested = []string{}
	for _, m := range contested {
		s.done.Contested = append(s.done.Contested, m.ID)
	}
	if s.done.Proposals == nil {
		s.done.Proposals = []proposalJSON{}
	}
	if env.JSON {
		return env.Object(s.done)
	}
	s.tellLane("", s.done.Memory, failed)
	if s.done.Journal != nil {
		s.tellLane("journal: ", *s.done.Journal, failed)
	}
	for _, p := range s.done.Proposals {
		s.tellProposal(p)
	}
	for _, m := range contested {
		s.w.line("!", term.Red, m, "contested")
	}
	if len(contested) > 0 {
		env.Say("%s: both sides changed them; next: reverie conflicts", term.Count(len(contested), "memory is contested", "memories are contested"))
	}
	return nil
}

// lookForContested reads all memories beside other work, and returns what waits for those that are contested.
func (s *syncer) lookForContested(ctx context.Context) func() ([]record.Memory, error) {
	var found []record.Memory
	done := make(chan error, 1)
	go func() {
		done <- s.w.Book.View(ctx, func(v *record.View) error {
			for _, m := range v.Memories() {
				if m.Status == record.Contested {
					found = append(found, m)
				}
			}
			return nil
		})
	}()
	return func() ([]record.Memory, error) {
		err := <-done
		return found, err
	}
}

func (s *syncer) tellLane(prefix string, l laneJSON, failed error) {
	env := s.w.env
	row := func(name, format string, args ...any) { env.tellRow(prefix+name, format, args...) }
	if s.o.dryRun {
		if failed == nil {
			row("fetched", "%s not here yet", term.Count(l.Fetched, "commit", "commits"))
			if l.What != "" {
				row("would push", "%s to %s", l.What, s.remote.Name)
			}
		}
		return
	}
	if l.Fetched > 0 {
		row("fetched", "%s from %s", term.Count(l.Fetched, "commit", "commits"), s.remote.Name)
	}
	if l.Way != "" && l.Way != wayNothing {
		row("merged", "%s%s", l.tallyJSON, wayWords(l.Way))
	}
	env.tellOverruled(l.Overruled)
	for _, path := range l.Dropped {
		env.Warn("both sides changed %s: one text was kept, the other is in the branch's history", path)
	}
	switch {
	case l.Pushed > 0:
		row("pushed", "%s to %s", term.Count(l.Pushed, "commit", "commits"), s.remote.Name)
	case failed == nil && l.Fetched == 0 && l.Way == wayNothing && len(s.done.Proposals) == 0:
		env.Say("%salready together with %s", prefix, s.remote.Name)
	}
}

// tellRow is one line of the answer.
func (env *Env) tellRow(name, format string, args ...any) {
	env.Row(8, name, fmt.Sprintf(format, args...))
}

func (s *syncer) tellProposal(p proposalJSON) {
	env := s.w.env
	what := "the branch's changes"
	if n := len(p.Operations); n > 0 {
		what = term.Count(n, "operation", "operations")
	}
	switch p.State {
	case "would propose":
		env.tellRow(p.State, "%s to %s as %s", what, s.remote.Name, p.Branch)
		for _, o := range s.proposing {
			s.w.line("?", term.Dim, o.Memory, "")
		}
	case "proposed":
		env.tellRow(p.State, "%s on %s as %s", what, s.remote.Name, p.Branch)
		if p.URL != "" {
			env.tellRow("", "%s", p.URL)
		} else {
			env.Say("open a pull request of %s into %s there", p.Branch, s.w.Branch())
		}
		env.Say("what it changes, for a reviewer: %s", s.checkLine(p))
	case "open":
		env.tellRow(p.State, "%s on %s as %s: to be reviewed and merged there", what, s.remote.Name, p.Branch)
		if p.URL != "" {
			env.tellRow("", "%s", p.URL)
		}
	case "landed":
		env.tellRow(p.State, "%s of %s; the branch on %s may be deleted", what, p.Branch, s.remote.Name)
	case "withdrawn":
		env.tellRow(p.State, "%s of %s: you rejected it; close the pull request and delete the branch on %s", what, p.Branch, s.remote.Name)
	case "closed":
		next := "to propose it again: reverie sync --propose " + strings.Join(p.Operations, " ")
		if len(p.Operations) == 0 {
			next = "what is learned next is proposed anew, with it"
		}
		env.tellRow(p.State, "%s: the branch is gone from %s, and its content did not land; %s", p.Branch, s.remote.Name, next)
	}
	for _, r := range p.Reworded {
		env.tellRow("landed", "reworded: %s", term.OneLine(r.Landed, 200))
		env.tellRow("", "proposed: %s", term.OneLine(r.Proposed, 200))
	}
}

// checkLine is the command that judges a proposal, by names that a fetch brings, or by ids where it does not.
func (s *syncer) checkLine(p proposalJSON) string {
	base, ok := strings.CutPrefix(s.w.Config.Ref, "refs/heads/")
	if r := s.remote.Name; ok && s.tracked && !strings.ContainsFunc(r+base, shellSpecial) {
		return fmt.Sprintf("git fetch %s && reverie check --diff %s/%s...%s/%s", r, r, base, r, p.Branch)
	}
	return fmt.Sprintf("reverie check --diff %s...%s", p.base, p.Commit)
}

// shellSpecial reports whether a character of a name may mean something to a shell.
func shellSpecial(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/-", r))
}

// note puts a proposal into the answer, once.
func (s *syncer) note(p remotes.Proposal, state string) {
	if p.Closed && state == "open" {
		return
	}
	for _, told := range s.done.Proposals {
		if told.Branch == p.Branch {
			return
		}
	}
	s.done.Proposals = append(s.done.Proposals, proposalJSON{Branch: p.Branch, Commit: string(p.Tip()), URL: p.URL, Operations: list(p.Ops), State: state, Reworded: s.reworded[p.Branch], base: p.On()})
}
