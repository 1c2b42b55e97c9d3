package dream

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// Bounds of one question about candidates.
const (
	maxShown     = 12  // candidates
	maxMemories  = 24  // memories beside them
	maxContested = 4   // of those, contested ones that no candidate is near to
	maxQuotes    = 3   // of one candidate
	maxBody      = 800 // bytes of one memory's body
)

// near is the share of words in common from which a memory is shown beside a candidate. Being on the same topic counts as
// much as sameTopic.
const (
	near      = 0.12
	sameTopic = 0.3
)

// beside is the share of words from which a memory may be about what another one says.
const beside = 0.25

// group is the candidates of several sessions that say the same.
type group struct {
	record.Candidate // the first
	print            record.Fingerprint
	source           record.Source
	sightings        []record.Sighting // by session, each once
	shared           []record.Sighting // those that may leave this clone
	from             map[string]bool   // ids of the new reflections among them
}

// groups are the new candidates from which something may follow, those on one topic side by side, with what earlier reflections
// add to them. There are at most as many as one dream can ask about; what is beyond is left for the next.
func (c *considering) groups() []*group {
	reflections := slices.Clone(c.in.New)
	slices.SortFunc(reflections, func(a, b record.Reflection) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID(), b.ID()))
	})
	var all []*group
	for _, r := range reflections {
		for _, cand := range r.Candidates {
			print := record.Print(cand.Text)
			if slices.ContainsFunc(c.rejected, print.Same) || c.settled(cand, print) {
				continue
			}
			i := slices.IndexFunc(all, func(g *group) bool { return g.print.Same(print) })
			if i < 0 && len(all) == maxQuestions*maxShown {
				c.unread[r.ID()] = true
				c.out.Left++
				continue
			}
			if i < 0 {
				all = append(all, &group{Candidate: cand, print: print, from: map[string]bool{},
					source: record.Source{Time: c.in.Now, By: r.Client + "/" + r.Session, Commit: r.Commit, How: record.Model}})
				i = len(all) - 1
			}
			all[i].add(r, cand, c.private(cand.Kind))
			all[i].from[r.ID()] = true
		}
	}
	for _, r := range c.in.Considered {
		for _, cand := range r.Candidates {
			print := record.Print(cand.Text)
			if i := slices.IndexFunc(all, func(g *group) bool { return g.print.Same(print) }); i >= 0 {
				all[i].add(r, cand, c.private(cand.Kind))
			}
		}
	}
	place := map[string]int{} // of a topic's first
	order := map[*group]int{}
	for i, g := range all {
		order[g] = i
		if g.Topic == "" {
			continue
		}
		if first, ok := place[g.Topic]; ok {
			order[g] = first
		} else {
			place[g.Topic] = i
		}
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(order[a], order[b]) })
	return all
}

// settled reports whether nothing follows from a candidate: a memory says it, and no other one in force is like it.
func (c *considering) settled(cand record.Candidate, print record.Fingerprint) bool {
	i := slices.IndexFunc(c.known, func(k known) bool { return k.print.Same(print) })
	if i < 0 {
		return false
	}
	return c.known[i].Status == record.Retired || !slices.ContainsFunc(c.known, func(k known) bool {
		return k.ID != c.known[i].ID && k.Live(c.in.Now) && (k.print.Alike(print) >= beside || cand.Topic != "" && cand.Topic == k.Topic)
	})
}

// private reports whether memories of a kind stay in this clone.
func (c *considering) private(k record.Kind) bool { return slices.Contains(c.in.Private, k) }

// add counts a session's candidate.
func (g *group) add(r record.Reflection, cand record.Candidate, private bool) {
	g.sightings = joinSightings(g.sightings, sighting(r, cand))
	if !private {
		g.shared = joinSightings(g.shared, sighting(r, cand))
	}
}

// maxEvidence is how many quotes an operation has of one session.
const maxEvidence = 6

// joinSightings adds sightings to others, those of one reflection as one.
func joinSightings(all []record.Sighting, more ...record.Sighting) []record.Sighting {
	for _, s := range more {
		i := slices.IndexFunc(all, func(t record.Sighting) bool { return t.Reflection == s.Reflection })
		if i < 0 {
			if len(all) < maxSightings {
				s.Evidence = slices.Clone(s.Evidence)
				all = append(all, s)
			}
			continue
		}
		if rank(s.How) < rank(all[i].How) {
			all[i].How = s.How
		}
		for _, e := range s.Evidence {
			if len(all[i].Evidence) < maxEvidence && !slices.Contains(all[i].Evidence, e) {
				all[i].Evidence = append(all[i].Evidence, e)
			}
		}
	}
	return all
}

// question is what a model is shown at once, and what its short names stand for.
type question struct {
	rendered prompts.Rendered
	groups   []*group
	shown    map[string]*group        // c1, c2, …
	memories map[string]record.Memory // m1, m2, …
}

// question puts together as many of the groups, from the first on, and memories near to them as fit. It has no groups if
// not even the first fits.
func (c *considering) question(m *prompts.Model, set prompts.Set, rest []*group) (question, error) {
	for n := min(len(rest), maxShown); n > 0; n /= 2 {
		memories := c.nearest(rest[:n])
		for {
			q := question{groups: rest[:n], shown: map[string]*group{}, memories: map[string]record.Memory{}}
			var in prompts.Dream
			for i, k := range memories {
				ref := "m" + strconv.Itoa(i+1)
				q.memories[ref] = k
				in.Memories = append(in.Memories, shownMemory(ref, k))
			}
			for i, g := range q.groups {
				ref := "c" + strconv.Itoa(i+1)
				q.shown[ref] = g
				in.Candidates = append(in.Candidates, prompts.Sight{Ref: ref, Sessions: record.Sessions(g.sightings), Kind: string(g.Kind), Text: g.Text, Quotes: quotes(g.sightings)})
			}
			var err error
			if q.rendered, err = set.Dream(in); err != nil {
				return question{}, err
			}
			if fits(m, q.rendered) {
				return q, nil
			}
			if len(memories) == 0 {
				break
			}
			memories = memories[:len(memories)/2]
		}
	}
	return question{}, nil
}

// fits reports whether there is room for a question, also when it is asked again.
func fits(m *prompts.Model, r prompts.Rendered) bool {
	return len(r.System)+len(r.User)+prompts.AgainRoom <= m.Room(r.Longest)
}

func shownMemory(ref string, m record.Memory) prompts.Known {
	k := prompts.Known{Ref: ref, Kind: string(m.Kind), Text: m.Text, Body: clip(m.Body, maxBody)}
	for _, v := range m.Variants {
		k.Text += " / or: " + v.Text
	}
	return k
}

// quotes are the first words of each session, then more of them.
func quotes(sightings []record.Sighting) []string {
	var out []string
	for i := range maxEvidence {
		for _, s := range sightings {
			if i < len(s.Evidence) && len(out) < maxQuotes && !slices.Contains(out, s.Evidence[i].Quote) {
				out = append(out, s.Evidence[i].Quote)
			}
		}
	}
	return out
}

// clip is at most n bytes of a text, whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n]) + " …"
}

// nearest are the memories in force that are most like some groups, the nearest first, and a few contested ones. What is
// withheld from agents is withheld from a model.
func (c *considering) nearest(groups []*group) []record.Memory {
	type scored struct {
		record.Memory
		score float64
	}
	var all []scored
	for _, k := range c.known {
		if !k.Live(c.in.Now) || c.in.Withheld[k.ID] {
			continue
		}
		best := 0.0
		for _, g := range groups {
			score := k.print.Alike(g.print)
			if g.Topic != "" && g.Topic == k.Topic {
				score += sameTopic
			}
			best = max(best, score)
		}
		if i := len(all) - 1; i >= 0 && all[i].ID == k.ID { // another text of the same
			all[i].score = max(all[i].score, best)
			continue
		}
		all = append(all, scored{k.Memory, best})
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ID, b.ID)) })
	var out []record.Memory
	contested := 0
	for _, s := range all {
		switch {
		case len(out) == maxMemories:
		case s.score >= near:
			out = append(out, s.Memory)
		case s.Status == record.Contested && contested < maxContested:
			contested++
			out = append(out, s.Memory)
		}
	}
	return out
}
