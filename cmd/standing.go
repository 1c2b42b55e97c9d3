package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// standing is how one memory stands for whoever asks, at the code where he stands. A memory against which
// nothing stands has the zero value.
type standing struct {
	Withheld bool     // not given to agents; people see it, with the reasons
	Stale    bool     // code that it rests on is gone
	Foreign  bool     // withheld for who changed it last
	Older    string   // it is an older version that agents are given, and why, as they read it
	Why      []string // what stands against it, each a few words
}

// withhold keeps a memory from agents for a reason.
func (s *standing) withhold(why string) { s.Withheld, s.Why = true, append(s.Why, why) }

// objection adds to a standing what it has against a memory.
type objection func(m record.Memory, s *standing)

// standings returns how each memory of a view stands. The answer may be asked for as many memories as
// there are: what is costly is worked out once, and remembered from command to command where it can
// be. What cannot be found out stands against nothing.
func (w *workspace) standings(ctx context.Context, v *record.View) (func(record.Memory) standing, error) {
	foreign, err := w.objectForeign(ctx, v)
	if err != nil {
		return nil, err
	}
	objections := []objection{contested, foreign, w.objectSide(ctx), w.objectStale(ctx)}
	return func(m record.Memory) standing {
		var s standing
		for _, object := range objections {
			object(m, &s)
		}
		return s
	}, nil
}

// objectSide keeps from agents what holds on another branch alone. What is withheld already is not looked into.
func (w *workspace) objectSide(ctx context.Context) objection {
	return func(m record.Memory, s *standing) {
		if m.Branch != "" && !s.Withheld && !w.Code.Holds(ctx, m.Branch) {
			s.withhold("only on " + record.ParseSide(m.Branch).Name)
		}
	}
}

// objectStale labels a memory when code that it rests on is gone, or keeps it from agents where the settings say
// so. Where it does not hold anyway there is nothing to say about its code.
func (w *workspace) objectStale(ctx context.Context) objection {
	return func(m record.Memory, s *standing) {
		if len(m.Anchors) == 0 || s.Withheld {
			return
		}
		if gone := w.Code.Here(ctx).Gone(ctx, m); len(gone) > 0 {
			s.Stale, s.Withheld = true, w.narrowed.Stale == "withhold"
			for _, what := range gone {
				s.Why = append(s.Why, "stale: "+what)
			}
		}
	}
}

// objectForeign keeps from agents what somebody not trusted here changed last, until a person approves it, and labels the older
// versions that a view for agents has.
func (w *workspace) objectForeign(ctx context.Context, v *record.View) (objection, error) {
	held, err := w.foreign(ctx, v)
	agents := v.Actual() != v
	return func(m record.Memory, s *standing) {
		if c, ok := held.Changed(m.Path(), m.Private); ok && agents {
			now, _ := v.Actual().Find(m.ID)
			s.Older = olderLabel(c, now)
			if why := w.whyOlder(c, now); w.Shields() {
				s.Why = append(s.Why, strings.Trim(s.Older, " ()")) // the name was chosen by who changed it
			} else {
				s.Why = append(s.Why, why)
			}
		} else if by := held.Whose(m); len(by) > 0 && !agents {
			s.Foreign = true
			s.withhold("withheld: " + w.whyWithheld(by))
			if ok {
				s.Why = append(s.Why, "agents are given "+versionOf(c))
			}
		}
	}, err
}

// contested labels a memory of which a merge kept several texts. All of them are given.
func contested(m record.Memory, s *standing) {
	if m.Status == record.Contested {
		s.Why = append(s.Why, "contested")
	}
}

// tellAnchors says what a memory rests on.
func (env *Env) tellAnchors(anchors []string) {
	for _, text := range anchors {
		a, err := record.ParseAnchor(text)
		switch {
		case err != nil:
		case a.Snippet == "":
			env.Say("rests on %s", a.Path)
		default:
			env.Say("rests on %s: %s", a.Path, a.Snippet)
		}
	}
}

// sideText says on which branch alone a memory holds, for people.
func sideText(m record.Memory) string {
	s := record.ParseSide(m.Branch)
	if s.Tip == "" {
		return s.Name
	}
	return fmt.Sprintf("%s, until %s lands", s.Name, s.Tip[:min(10, len(s.Tip))])
}
