package reflect

import (
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Failed is a command that failed in a session, in the form of a record.Candidate's trigger.
type Failed struct {
	Event    int       // of its result, by number
	Time     time.Time // of its result
	Command  string    // the program and its subcommand
	Error    string    // the line with the fault, without parts that differ between runs
	Quoted   string    // the quotable part of Error, or empty
	Times    int       // how often it failed so in the session
	Repaired bool      // the session later passed the same command, or an equivalent one
}

// Matches reports whether a memory with the trigger is about the failure. An error that cannot be
// quoted matches by its command.
func (f Failed) Matches(t record.Trigger) bool {
	return t.Command != "" && t.Command == f.Command && (slices.Contains(t.Errors, f.Quoted) || f.Quoted == "" && len(t.Errors) == 0)
}

// Failures returns the commands of a session that failed with a distinctive error, each error of a
// command once. It omits mere inspections.
func Failures(s transcript.Session, events []transcript.Event) []Failed {
	return failuresOf(digest(s, events))
}

func failuresOf(v *view) []Failed {
	var out []Failed
	for i, a := range v.acts {
		if a.edit || a.outcome != transcript.Failed || readOnly.Has(a.step.words[0]) || oneTime.Has(a.step.words[0]) {
			continue
		}
		sig := v.sign(i)
		f := Failed{Event: v.events[a.result].N, Time: v.events[a.result].Time, Command: head(a.step), Error: sig.text, Quoted: errorQuote(sig.text), Times: 1}
		if sig.text == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(o Failed) bool { return o.Command == f.Command && o.Error == f.Error }); i >= 0 {
			out[i].Times++
			continue
		}
		f.Repaired = slices.ContainsFunc(v.acts[i+1:], func(b act) bool {
			return !b.edit && b.outcome == transcript.OK && b.agent == a.agent && sameWork(a.step, b.step)
		})
		out = append(out, f)
	}
	return out
}
