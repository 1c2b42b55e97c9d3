package judge

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Ours is the project's own engine.
var Ours = Engine{"ours", func(memories []Memory) (Store, error) { return open(memories) }}

type ours struct {
	index *recall.Index
	ids   map[string]string // of records → of the set
	now   time.Time         // the time of the youngest memory
	// of the last answer, by id of the set: the share of the query's information
	covered map[string]float64
}

func open(memories []Memory) (*ours, error) {
	s := &ours{ids: make(map[string]string, len(memories))}
	records := make([]record.Memory, len(memories))
	for i, m := range memories {
		records[i] = m.Record()
		s.ids[records[i].ID] = m.ID
		if at := records[i].Source.Time; at.After(s.now) {
			s.now = at
		}
	}
	var err error
	s.index, err = recall.Of(records)
	return s, err
}

// Search answers like the command recall with --apart: the labels of a set name one of several
// memories that say the same.
func (s *ours) Search(query string, n int) (ids []string, err error) {
	q, err := recall.Parse(query)
	if err != nil {
		return nil, err
	}
	s.covered = map[string]float64{}
	for _, f := range s.index.Rank(recall.Request{Text: q.Text, Phrases: q.Phrases, Not: q.Not, N: n, Apart: true, Now: s.now, Keep: s.index.Keep(q, s.now), HalfOf: recall.HalfLife}) {
		m, err := s.index.Memory(f.Ref)
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ids[m.ID])
		s.covered[s.ids[m.ID]] = f.Covered
	}
	return ids, nil
}

func (s *ours) Close() error {
	s.index.Close()
	return nil
}

// maxGiven bounds the memories given to one prompt, as in the command context.
const maxGiven = 5

// OurGate returns the project's gate: the memories that it gives to a prompt unasked.
func OurGate() Gate {
	var s *ours
	var of []Memory // the memories that s was opened with: many consecutive prompts share them
	return func(memories []Memory, prompt string) (ids []string) {
		if s == nil || len(of) != len(memories) || !slices.EqualFunc(of, memories, func(a, b Memory) bool { return a.Group == b.Group && a.ID == b.ID }) {
			opened, err := open(memories)
			if err != nil {
				panic(err) // there is no file that could fail
			}
			s, of = opened, slices.Clone(memories)
		}
		found, err := recall.Ask(prompt).Relevant(context.Background(), s.index, nil, nil)
		if err != nil {
			panic(err)
		}
		for _, r := range found[:min(maxGiven, len(found))] {
			ids = append(ids, s.ids[r.Memory.ID])
		}
		return ids
	}
}

// Record returns the memory as an import would store it.
func (m Memory) Record() record.Memory {
	statement, body := m.Title, m.Text
	if strings.TrimSpace(statement) == "" {
		statement, body, _ = strings.Cut(strings.TrimSpace(body), "\n")
	}
	statement, rest := fit(strings.Join(strings.Fields(statement), " "))
	r := record.Memory{
		Kind: record.Kind(m.Kind), Status: record.Active, Text: statement,
		Body:  strings.TrimSpace(rest + "\n" + body),
		Paths: m.Paths, Tags: m.Tags, Ref: "set:" + m.Group + "/" + m.ID,
		Source: record.Source{By: "import/set", How: record.Written},
	}
	if !r.Kind.Valid() {
		r.Kind = record.Fact
	}
	if m.Time != 0 {
		r.Source.Time = time.Unix(m.Time, 0).UTC()
	}
	return record.New(r)
}

// fit cuts an overlong statement, at a space if there is one in its later half.
func fit(statement string) (head, rest string) {
	if len(statement) <= record.MaxText {
		return statement, ""
	}
	cut := strings.LastIndexByte(statement[:record.MaxText], ' ')
	if cut < record.MaxText/2 {
		for cut = record.MaxText; !utf8.RuneStart(statement[cut]); cut-- {
		}
	}
	return statement[:cut], strings.TrimSpace(statement[cut:])
}
