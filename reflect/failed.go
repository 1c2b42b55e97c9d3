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
	Taught   bool      // and not by a change of the code, so that the repair holds elsewhere too
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
	last := map[[2]string]int{} // the last act that failed so
	for i, a := range v.acts {
		if a.edit || a.outcome != transcript.Failed || readOnly.Has(a.step.words[0]) || oneTime.Has(a.step.words[0]) {
			continue
		}
		sig := v.sign(i)
		f := Failed{Event: v.events[a.result].N, Time: v.events[a.result].Time, Command: head(a.step), Error: sig.text, Quoted: errorQuote(sig.text), Times: 1}
		if sig.text == "" {
			continue
		}
		last[[2]string{f.Command, f.Error}] = i
		if i := slices.IndexFunc(out, func(o Failed) bool { return o.Command == f.Command && o.Error == f.Error }); i >= 0 {
			out[i].Times++
			continue
		}
		f.Repaired = slices.ContainsFunc(v.acts[i+1:], func(b act) bool { return b.repairs(a) })
		out = append(out, f)
	}
	for i, f := range out {
		out[i].Taught = f.Repaired && teaches(v, last[[2]string{f.Command, f.Error}])
	}
	return out
}

// repairs reports whether an act passed the work at which an earlier one failed.
func (b act) repairs(a act) bool {
	return !b.edit && b.outcome == transcript.OK && b.agent == a.agent && sameWork(a.step, b.step)
}

// teaches reports whether the repair of the act that failed at i is one to tell: by another
// spelling, folder or environment of the command, or by another command in between, with no file
// changed between. A narrower run, and one with a check taken away, repair nothing.
func teaches(v *view, i int) bool {
	a := v.acts[i]
	helped := false
	for _, b := range v.acts[i+1:] {
		switch {
		case b.agent != a.agent || b.call == a.call:
		case b.edit || b.step.words[0] == "git" && changes(b.step):
			return false
		case b.repairs(a):
			other := b.step.key != a.step.key || b.step.dir != a.step.dir || !slices.Equal(b.step.env, a.step.env)
			less := narrow(b.step) && !narrow(a.step) || weakens(b.step.words[0], b.step.words, b.step.env) && !weakens(a.step.words[0], a.step.words, a.step.env)
			if !less {
				return other || helped
			}
		default:
			helped = helped || b.outcome == transcript.OK && !looks(b.step)
		}
	}
	return false
}
