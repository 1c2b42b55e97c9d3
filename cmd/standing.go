package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// standing is how one memory stands for whoever asks, at the code where he stands. A memory against which
// nothing stands has the zero value.
type standing struct {
	Withheld bool     // not given to agents; people see it, with the reasons
	Stale    bool     // code that it rests on is gone
	Why      []string // what stands against it, each a few words

	held []string // those of Why for which it is withheld
}

// reason is why a memory is withheld; "" where it is not.
func (s standing) reason() string { return strings.Join(s.held, "; ") }

// withhold keeps a memory from agents for a reason.
func (s *standing) withhold(why string) {
	s.Withheld, s.Why, s.held = true, append(s.Why, why), append(s.held, why)
}

// objection adds to a standing what it has against a memory.
type objection func(m record.Memory, s *standing)

// standings returns how each memory of a view stands. The answer may be asked for as many memories as
// there are: what is costly is worked out once, and remembered from command to command where it can
// be. What cannot be found out stands against nothing.
func (w *workspace) standings(ctx context.Context, v *record.View) (func(record.Memory) standing, error) {
	why, err := w.untrusted(ctx, v)
	if err != nil {
		return nil, err
	}
	foreign := func(m record.Memory, s *standing) {
		if why := why(m); why != "" {
			s.withhold(why)
		}
	}
	objections := []objection{contested, foreign}
	return func(m record.Memory) standing {
		var s standing
		for _, object := range objections {
			object(m, &s)
		}
		return s
	}, nil
}

// contested labels a memory of which a merge kept several texts. All of them are given.
func contested(m record.Memory, s *standing) {
	if m.Status == record.Contested {
		s.Why = append(s.Why, "contested")
	}
}

// given are the memories that agents may be given; it says how many are not.
func (w *workspace) given(ctx context.Context, v *record.View, memories []record.Memory) ([]record.Memory, error) {
	stands, err := w.standings(ctx, v)
	if err != nil {
		return nil, err
	}
	n := len(memories)
	memories = slices.DeleteFunc(memories, func(m record.Memory) bool { return stands(m).Withheld })
	w.tellHidden(n - len(memories))
	return memories, nil
}

// tellHidden says that something is left out.
func (w *workspace) tellHidden(n int) {
	switch {
	case n == 1:
		w.env.say("1 memory is withheld; 'reverie list' says why")
	case n > 1:
		w.env.say("%d memories are withheld; 'reverie list' says why", n)
	}
}
