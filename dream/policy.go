package dream

import (
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Policy says what becomes memory without a person's review. The zero value lets nothing
// through.
type Policy struct {
	Accept    []record.How // said, seen
	Sightings int          // distinct sessions that Seen needs; fewer than 2 count as 2
}

// Accepts reports whether the policy lets an operation through, and if not, why a person is
// needed.
func (p Policy) Accepts(o record.Operation) (ok bool, why string) {
	switch {
	case o.Op == record.Skill:
		return false, "is a procedure for agents"
	case o.Op != record.Add:
		return false, "changes what is known"
	case len(o.Contradicts) > 0:
		return false, "contradicts " + o.Contradicts[0]
	case !slices.Contains(p.Accept, o.How):
		return false, "nobody reviewed it"
	case o.How == record.Said && onlyUnmarked(o.Sightings):
		return false, "stands in a history that does not keep a person's words apart"
	case o.How == record.Said:
		return true, ""
	case o.How == record.Seen:
		if n := record.Sessions(saying(o)); n < max(2, p.Sightings) {
			return false, "seen in too few sessions"
		}
		return true, ""
	}
	return false, "nobody reviewed it"
}

// borne leaves the sightings that count: a person's words and outcomes of commands. What an
// agent or a model said bears nothing out.
func borne(sightings []record.Sighting) []record.Sighting {
	return slices.DeleteFunc(slices.Clone(sightings), byModel)
}

// byModel reports whether a sighting is neither a person's words nor what commands showed.
func byModel(s record.Sighting) bool { return s.How != record.Said && s.How != record.Seen }

// unmarked reports whether a sighting is of a transcript that is one text, in which what an agent repeats of a file may look like
// a person's words, or like another session: Aider's history.
func unmarked(s record.Sighting) bool { return s.Client == "aider" }

// onlyUnmarked reports whether nothing but such transcripts has a person saying it.
func onlyUnmarked(sightings []record.Sighting) bool {
	any := false
	for _, s := range sightings {
		if s.How == record.Said && !unmarked(s) {
			return false
		}
		any = any || s.How == record.Said
	}
	return any
}

// saying are the sightings that, by themselves, bear an operation's statement out because they say it.
func saying(o record.Operation) []record.Sighting {
	print := record.Print(o.Memory.Text)
	return slices.DeleteFunc(borne(o.Sightings), func(s record.Sighting) bool {
		return unmarked(s) || s.Says != "" && !print.Same(record.Print(s.Says))
	})
}
