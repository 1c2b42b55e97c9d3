package reflect

import (
	"fmt"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// maxObservations bounds the observations of a reflection besides its candidates.
const maxObservations = 8

// observe returns remarks for a reader of the session that no memory should hold: commands that
// never passed, calls that a person refused, stopped turns.
func observe(v *view) []record.Observation {
	var out []record.Observation
	var denied, aborted []int
	for i := range v.events {
		e := &v.events[i]
		switch {
		case e.Kind == transcript.Result && e.Outcome == transcript.Denied:
			denied = append(denied, e.N)
		case e.Kind == transcript.Error && e.Outcome == transcript.Aborted:
			aborted = append(aborted, e.N)
		}
	}
	if n := len(denied); n > 0 {
		out = append(out, record.Observation{Text: plural.Count(n, "tool call was", "tool calls were") + " refused by the user.", Events: first(denied, maxObservations)})
	}
	if n := len(aborted); n > 0 {
		out = append(out, record.Observation{Text: plural.Count(n, "turn was", "turns were") + " stopped before its end.", Events: first(aborted, maxObservations)})
	}
	type fate struct {
		failed []int
		passed bool
		show   string
	}
	fates := map[string]*fate{}
	var order []string
	for _, a := range v.acts {
		if a.edit || readOnly.Has(a.step.words[0]) || !worthFixing(a.step) || !a.step.portable() {
			continue
		}
		key := a.step.dir + "\x00" + a.step.key
		f := fates[key]
		if f == nil {
			f = &fate{show: show(a.step, "")}
			fates[key] = f
			order = append(order, key)
		}
		switch a.outcome {
		case transcript.Failed:
			f.failed = append(f.failed, v.events[a.result].N)
		case transcript.OK:
			f.passed = true
		}
	}
	for _, key := range order {
		f := fates[key]
		if f.passed || len(f.failed) == 0 || len(out) >= maxObservations {
			continue
		}
		out = append(out, record.Observation{Text: "`" + f.show + "` failed " + times(len(f.failed)) + " and never passed.", Events: first(f.failed, maxObservations)})
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func first(list []int, n int) []int { return list[:min(n, len(list))] }
