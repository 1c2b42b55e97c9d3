package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Ours is the project's own engine.
var Ours = Engine{"ours", func(memories []Memory) (Store, error) {
	s := &ours{ids: make(map[string]string, len(memories))}
	for _, m := range memories {
		r := m.Record()
		s.records = append(s.records, r)
		s.ids[r.ID] = m.ID
	}
	slices.SortFunc(s.records, func(a, b record.Memory) int { return cmp.Compare(a.ID, b.ID) }) // as a view has them
	return s, nil
}}

type ours struct {
	records []record.Memory
	ids     map[string]string // of records → of the set
}

func (s *ours) Search(query string, n int) (ids []string, err error) {
	for _, h := range recall.Search(s.records, query, n) {
		ids = append(ids, s.ids[h.Memory.ID])
	}
	return ids, nil
}

func (s *ours) Close() error { return nil }

// maxGiven is how many memories one prompt is given at most, as the command context does.
const maxGiven = 5

// OurGate is what the project gives to a prompt unasked.
func OurGate() Gate {
	known := map[string]record.Memory{} // by group and id; a set's memories are asked many times
	return func(memories []Memory, prompt string) (ids []string) {
		records := make([]record.Memory, len(memories))
		back := make(map[string]string, len(memories))
		for i, m := range memories {
			key := m.Group + "\x00" + m.ID
			r, ok := known[key]
			if !ok {
				r = m.Record()
				known[key] = r
			}
			records[i], back[r.ID] = r, m.ID
		}
		for _, found := range recall.Ask(prompt).Relevant(records) {
			if len(ids) < maxGiven {
				ids = append(ids, back[found.Memory.ID])
			}
		}
		return ids
	}
}

// Record is the memory as an import of it would be kept.
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

// fit cuts a statement that is too long to be one, at a space where there is one in its later half.
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
