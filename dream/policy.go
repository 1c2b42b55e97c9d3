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

// saying are the sightings that bear an operation's statement out because they say it.
func saying(o record.Operation) []record.Sighting {
	print := record.Print(o.Memory.Text)
	return slices.DeleteFunc(borne(o.Sightings), func(s record.Sighting) bool {
		return s.Says != "" && !print.Same(record.Print(s.Says))
	})
}
