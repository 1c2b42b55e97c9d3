package dream

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
)

// Policy decides what becomes memory without a person's review. The zero value accepts nothing.
type Policy struct {
	Accept    []record.How // said, seen
	Sightings int          // distinct sessions that Seen needs; fewer than 2 count as 2
}

// Accepts reports whether the policy accepts an operation, and if not, why a person is needed.
func (p Policy) Accepts(o record.Operation) (ok bool, why string) {
	if ok, why = p.grounds(o); ok { // else the forms of attacks need not be compiled
		if what := Suspicious(o); what != "" {
			return false, "looks like " + what
		}
	}
	return ok, why
}

// Suspicious describes an apparent attack in an operation's words, or in a quote that supports it,
// or returns "". The author of a file or an error text chooses words that a person or a command
// repeats.
func Suspicious(o record.Operation) string {
	if o.Op == record.Retire {
		return ""
	}
	trigger := o.Memory.Trigger()
	texts := append([]string{o.File, o.Memory.Topic, trigger.Command}, trigger.Errors...)
	for _, text := range []string{o.Memory.Text, o.Memory.Body} {
		if !strings.Contains(o.File, text) {
			texts = append(texts, text)
		}
	}
	for _, s := range o.Sightings {
		for _, e := range s.Evidence {
			texts = append(texts, e.Quote)
		}
	}
	return attack.First(texts...)
}

const besideOthers = "stands in a message that may hold words of others"

// grounds reports whether the evidence of an operation suffices.
func (p Policy) grounds(o record.Operation) (ok bool, why string) {
	switch {
	case o.Op == record.Skill:
		return false, "is a procedure for agents"
	case o.Op != record.Add:
		return false, "changes what is known"
	case Gates(o.Memory):
		return false, "would hold up calls of tools"
	case len(o.Contradicts) > 0:
		return false, "contradicts " + o.Contradicts[0]
	case o.How == record.Model && len(o.Sightings) > 0 && !slices.ContainsFunc(o.Sightings, quotesPlainly):
		return false, besideOthers
	case !slices.Contains(p.Accept, o.How):
		return false, "nobody reviewed it"
	case onlyOffered(o):
		return false, "an agent named its transcript"
	case o.How == record.Said && onlyUnmarked(o.Sightings):
		return false, "stands in a history that does not keep a person's words apart"
	case o.How == record.Said && !slices.ContainsFunc(o.Sightings, plainlySaid(o.Memory.Text)) && slices.ContainsFunc(o.Sightings, inPassing):
		return false, "was said in passing"
	case o.How == record.Said && !slices.ContainsFunc(o.Sightings, plainlySaid(o.Memory.Text)):
		return false, besideOthers
	case o.How == record.Said:
		return true, ""
	case o.How == record.Seen && len(o.Sightings) > 0 && !slices.ContainsFunc(o.Sightings, func(s record.Sighting) bool { return !unmarked(s) }):
		return false, "stands in a history that does not keep outcomes apart"
	case o.How == record.Seen:
		if n := record.Sessions(saying(o)); n < max(2, p.Sightings) {
			return false, "seen in too few sessions"
		}
		return true, ""
	}
	return false, "nobody reviewed it"
}

// Gates reports whether a memory's guards do more than tell an agent its statement.
func Gates(m record.Memory) bool {
	s := m.Trigger().Strength
	return s != "" && s != record.Say
}

// borne returns the sightings that count: a person's words and outcomes of commands.
func borne(sightings []record.Sighting) []record.Sighting {
	return slices.DeleteFunc(slices.Clone(sightings), idle)
}

// idle reports whether a sighting proves nothing: words of an agent or a model, words in doubt, and
// anything in a transcript that an agent named.
func idle(s record.Sighting) bool {
	return byModel(s) || record.Doubtful(s.Evidence) || record.Offered(s.Session)
}

// plainlySaid returns a function that reports whether a sighting is a person saying a text, beyond
// doubt.
func plainlySaid(text string) func(record.Sighting) bool {
	return func(s record.Sighting) bool {
		return s.How == record.Said && !unmarked(s) && !idle(s) && (s.Says == "" || s.Says == text)
	}
}

// OnlyInPassing reports whether an operation only has a person's words that do not claim to last.
func OnlyInPassing(o record.Operation) bool {
	return o.How == record.Said && !slices.ContainsFunc(o.Sightings, func(s record.Sighting) bool { return !inPassing(s) })
}

// inPassing reports whether a sighting is a person's own words that merely do not claim to last.
func inPassing(s record.Sighting) bool {
	return s.How == record.Said && !slices.ContainsFunc(s.Evidence, func(e record.Evidence) bool { return e.Doubt != record.Passing })
}

// quotesPlainly reports whether a model quotes no words for a person's that may be another's.
func quotesPlainly(s record.Sighting) bool {
	return !slices.ContainsFunc(s.Evidence, func(e record.Evidence) bool {
		return e.By == record.ByPerson && (e.Doubt == record.Mixed || e.Doubt == record.Reported)
	})
}

// onlyOffered reports whether an operation rests only on sessions that were read at an agent's
// wish.
func onlyOffered(o record.Operation) bool {
	return (o.How == record.Said || o.How == record.Seen) && len(o.Sightings) > 0 &&
		!slices.ContainsFunc(o.Sightings, func(s record.Sighting) bool { return !byModel(s) && !record.Offered(s.Session) })
}

// byModel reports whether a sighting is neither a person's words nor observed commands.
func byModel(s record.Sighting) bool { return s.How != record.Said && s.How != record.Seen }

// unmarked reports whether a sighting comes from a transcript that is one text: Aider's history,
// SpecStory's. There, an agent's quote of a file may look like a person's words, like a command's
// outcome, or like another session.
func unmarked(s record.Sighting) bool { return s.Client == "aider" || s.Client == "specstory" }

// onlyUnmarked reports whether a person says it only in such transcripts.
func onlyUnmarked(sightings []record.Sighting) bool {
	any := false
	for _, s := range sightings {
		if s.How == record.Said && !unmarked(s) && !record.Offered(s.Session) {
			return false
		}
		any = any || s.How == record.Said
	}
	return any
}

// saying returns the sightings that support an operation because they state the same.
func saying(o record.Operation) []record.Sighting {
	print := record.Print(o.Memory.Text)
	return slices.DeleteFunc(borne(o.Sightings), func(s record.Sighting) bool {
		return unmarked(s) || s.Says != "" && !print.Same(record.Print(s.Says))
	})
}
