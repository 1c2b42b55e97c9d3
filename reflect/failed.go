package reflect

import (
	"slices"
	"time"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Failed is a command that failed in a session, in the form of a record.Candidate's trigger.
type Failed struct {
	Event    int       // of its result, by number
	Time     time.Time // of its result
	Command  string    // the program and its subcommand
	Error    string    // the line with the fault, without parts that differ between runs
	Quoted   string    // the quotable part of Error, or empty
	Repaired bool      // the session later passed the same command, or an equivalent one
}

// Failures returns the commands of a session that failed with a distinctive error, each error of a
// command once. It omits mere inspections.
func Failures(s transcript.Session, events []transcript.Event) []Failed {
	v := digest(s, events)
	var out []Failed
	for i, a := range v.acts {
		if a.edit || a.outcome != transcript.Failed || readOnly.Has(a.step.words[0]) || oneTime.Has(a.step.words[0]) {
			continue
		}
		sig := v.sign(i)
		f := Failed{Event: v.events[a.result].N, Time: v.events[a.result].Time, Command: head(a.step), Error: sig.text, Quoted: errorQuote(sig.text)}
		if sig.text == "" || slices.ContainsFunc(out, func(o Failed) bool { return o.Command == f.Command && o.Error == f.Error }) {
			continue
		}
		f.Repaired = slices.ContainsFunc(v.acts[i+1:], func(b act) bool {
			return !b.edit && b.outcome == transcript.OK && b.agent == a.agent && sameWork(a.step, b.step)
		})
		out = append(out, f)
	}
	return out
}
