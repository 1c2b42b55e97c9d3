package dream

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/prompts"
)

// Bounds of one question about candidates.
const (
	maxShown     = 12  // candidates
	maxMemories  = 24  // memories beside them
	maxWaiting   = 12  // pending operations beside them
	maxContested = 4   // of those, contested ones that resemble no candidate
	maxQuotes    = 3   // of one candidate
	maxBody      = 800 // bytes of one memory's body
)

// near is the share of common words from which a memory is shown beside a candidate. The same topic
// counts as much as sameTopic.
const (
	near      = 0.12
	sameTopic = 0.3
)

// beside is the share of common words from which a memory may be about another's subject.
const beside = 0.25

// related is the share of common words from which a session's lesson may change a memory.
const related = 0.2

// group holds the candidates of several sessions that say the same. Private ones form separate
// groups.
type group struct {
	voice
	source  record.Source
	private bool
	from    map[string]bool // ids of the new reflections among them
}

// voice is a statement of sessions, with those sessions.
type voice struct {
	record.Candidate // the first
	print            record.Fingerprint
	// unchanged: per session one said by a person, one seen, and one of each model
	sightings []record.Sighting
}

// about reports whether a statement may change a memory: it is on the same topic, shares words with
// one of its texts, or retracts words of it.
func (v voice) about(m record.Memory) bool {
	return v.Topic != "" && v.Topic == m.Topic || corrects(v.Candidate, m) ||
		slices.ContainsFunc(m.Texts(), func(t record.Variant) bool { return v.print.Alike(record.Print(t.Text)) >= related })
}

// groups returns the new candidates that may lead to operations, with those on one topic together,
// and the evidence of earlier reflections. It returns at most as many as one dream can ask about.
func (c *considering) groups() []*group {
	reflections := slices.Clone(c.in.New)
	slices.SortFunc(reflections, func(a, b record.Reflection) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID(), b.ID()))
	})
	var all []*group
	for _, r := range reflections {
		for _, cand := range r.Candidates {
			print := record.Print(cand.Text)
			if c.rejected.stop(cand.How, phraseOf(cand.Text)) || c.settled(cand, print) {
				continue
			}
			i := slices.IndexFunc(all, c.among(cand, print))
			if i < 0 && len(all) == maxQuestions*maxShown {
				c.unread[r.ID()] = true
				c.out.Left++
				continue
			}
			if i < 0 {
				all = append(all, &group{voice: voice{Candidate: cand, print: print}, private: c.private(cand.Kind), from: map[string]bool{},
					source: record.Source{Time: c.in.Now, By: r.Client + "/" + r.Session, Commit: r.Commit, How: record.Model}})
				i = len(all) - 1
			}
			all[i].add(sighting(r, cand))
			all[i].from[r.ID()] = true
		}
	}
	for _, r := range c.in.Considered {
		for _, cand := range r.Candidates {
			print := record.Print(cand.Text)
			if i := slices.IndexFunc(all, c.among(cand, print)); i >= 0 {
				all[i].add(sighting(r, cand))
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
	slices.SortStableFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(below(a.private), below(b.private)), cmp.Compare(order[a], order[b]))
	})
	return all
}

// below sorts false first.
func below(b bool) int {
	if b {
		return 1
	}
	return 0
}

// among returns a function that reports whether a group fits a candidate.
func (c *considering) among(cand record.Candidate, print record.Fingerprint) func(*group) bool {
	private := c.private(cand.Kind)
	return func(g *group) bool { return g.private == private && g.print.Same(print) }
}

// settled reports whether a candidate changes nothing: a memory states it, and no other one in
// force is similar.
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

// add counts a session's candidate. A candidate in several reflections of a session counts once.
func (v *voice) add(s record.Sighting) {
	i := slices.IndexFunc(v.sightings, func(t record.Sighting) bool {
		return t.Client == s.Client && t.Session == s.Session && t.How == s.How && t.Model == s.Model
	})
	if i < 0 {
		s.Evidence = slices.Clone(s.Evidence[:min(len(s.Evidence), maxEvidence)])
		v.sightings = join(v.sightings, s)
		return
	}
	into := &v.sightings[i]
	for _, e := range s.Evidence {
		if len(into.Evidence) < maxEvidence && !slices.ContainsFunc(into.Evidence, func(f record.Evidence) bool { return f.Event == e.Event && f.Quote == e.Quote }) {
			into.Evidence = append(into.Evidence, e)
		}
	}
}

// maxEvidence bounds the quotes of an operation from one session.
const maxEvidence = 6

// joinSightings adds sightings to others, merging those of one reflection and one kind.
func joinSightings(all []record.Sighting, more ...record.Sighting) []record.Sighting {
	for _, s := range more {
		i := slices.IndexFunc(all, func(t record.Sighting) bool { return t.Reflection == s.Reflection && t.How == s.How })
		if i < 0 {
			if len(all) < maxSightings {
				s.Evidence = slices.Clone(s.Evidence)
				all = append(all, s)
			}
			continue
		}
		for _, e := range s.Evidence {
			if len(all[i].Evidence) < maxEvidence && !slices.Contains(all[i].Evidence, e) {
				all[i].Evidence = append(all[i].Evidence, e)
			}
		}
	}
	return all
}

// question is the input of one call to a model, with the meaning of its short names.
type question struct {
	rendered prompts.Rendered
	groups   []*group
	private  bool                        // all of it is private; otherwise none of it
	shown    map[string]*group           // c1, c2, …
	memories map[string]record.Memory    // m1, m2, …
	waiting  map[string]record.Operation // p1, p2, …
}

// question fits as many groups as possible, from the first on, and memories near to them into a
// question. It never mixes private and shared text, because a model would merge them. It has no
// groups if not even the first fits.
func (c *considering) question(m *prompts.Model, set prompts.Set, rest []*group) (question, error) {
	private := rest[0].private
	if i := slices.IndexFunc(rest, func(g *group) bool { return g.private != private }); i > 0 {
		rest = rest[:i]
	}
	for n := min(len(rest), maxShown); n > 0; n /= 2 {
		memories := c.nearest(rest[:n], private)
		for {
			q := question{groups: rest[:n], private: private, shown: map[string]*group{}, memories: map[string]record.Memory{}, waiting: map[string]record.Operation{}}
			var in prompts.Dream
			for i, k := range memories {
				ref := "m" + strconv.Itoa(i+1)
				q.memories[ref] = k
				in.Memories = append(in.Memories, shownMemory(ref, k))
			}
			for i, o := range nearPending(c, rest[:n], private) {
				ref := "p" + strconv.Itoa(i+1)
				q.waiting[ref] = o
				in.Waiting = append(in.Waiting, prompts.Known{Ref: ref, Kind: string(o.Memory.Kind), Text: o.Memory.Text})
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

// fits reports whether there is room for a question, even when it is repeated.
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

// quotes returns the first words of each session, then more of them, each after its author and its
// day.
func quotes(sightings []record.Sighting) []string {
	var out []string
	for i := range maxEvidence {
		for _, s := range sightings {
			if i >= len(s.Evidence) || len(out) == maxQuotes {
				continue
			}
			if q := authorOf(s, s.Evidence[i]) + ": " + s.Evidence[i].Quote; !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	return out
}

// authorOf names the author of a quote, and its day.
func authorOf(s record.Sighting, e record.Evidence) string {
	who := "an output"
	switch {
	case e.By == record.ByPerson, e.By == "" && s.How == record.Said:
		who = "a person"
	case e.By == record.ByCommand, e.By == "" && s.How == record.Seen:
		who = "a command"
	case e.By == record.ByAgent:
		who = "an agent"
	}
	if e.Time.IsZero() {
		return who
	}
	return who + " on " + e.Time.UTC().Format(time.DateOnly)
}

// clip returns at most n bytes of a text, in whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimSpace(cut.Bytes(s, n)) + " …"
}

// nearPending returns the additions and changes, private or not, that waited before this dream's
// answers and resemble the groups, nearest first. So no answer changes a later question.
func nearPending(c *considering, groups []*group, private bool) []record.Operation {
	type scored struct {
		record.Operation
		score float64
	}
	var all []scored
	for _, p := range c.pending[:c.before] {
		if p.op.Op == record.Retire || p.op.Private != private || !mayShow(c.client, p.op) || slices.ContainsFunc(p.op.Base, func(b record.Base) bool { return c.in.Withheld[b.ID] }) {
			continue
		}
		best := 0.0
		for _, g := range groups {
			best = max(best, p.print.Alike(g.print))
		}
		if best >= near {
			all = append(all, scored{p.op, best})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ID, b.ID)) })
	var out []record.Operation
	for _, s := range all[:min(len(all), maxWaiting)] {
		out = append(out, s.Operation)
	}
	return out
}

// nearest returns the memories in force, private or not, that resemble the groups most, nearest
// first, and a few contested ones. It omits memories withheld from agents.
func (c *considering) nearest(groups []*group, private bool) []record.Memory {
	type scored struct {
		record.Memory
		score float64
	}
	var all []scored
	for _, k := range c.known {
		if !k.Live(c.in.Now) || c.in.Withheld[k.ID] || k.Private != private {
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
