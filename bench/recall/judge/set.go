// Package judge measures how well an engine finds memories. It reads a labelled set, asks the
// engine every query, and reports the ranks of the right memories, with confidence intervals.
//
// Read returns a Set, and Run asks an Engine. The package writes nothing and keeps no state. A Run
// asks one query at a time, so that its times are meaningful.
package judge

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/reflect/labelled"
)

// Names of the files of a set.
const (
	CorpusFile  = "corpus.jsonl"
	QueriesFile = "queries.jsonl"
)

// Memory is a line of corpus.jsonl. A set without groups has one store; otherwise each group has
// its own.
type Memory struct {
	ID    string   `json:"id"`
	Group string   `json:"group"`
	Title string   `json:"title"` // the statement; default: the first line of Text
	Text  string   `json:"text"`
	Paths []string `json:"paths"`
	Tags  []string `json:"tags"`
	Kind  string   `json:"kind"`
	Time  int64    `json:"time"` // Unix seconds; 0: unknown
}

// Query is a line of queries.jsonl.
type Query struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Text  string `json:"text"`
	// id of a memory → its grade, above 0; empty: no memory is right
	Rel map[string]float64 `json:"rel"`
	// ids removed from the answer, including the query's own memory
	Exclude []string `json:"exclude"`
	// Unix seconds: memories from that time on are removed; 0: none
	Before int64  `json:"before"`
	Class  string `json:"class"`
	Split  string `json:"split"`
}

// sees reports whether a memory may answer the query.
func (q Query) sees(m Memory) bool {
	return (q.Before == 0 || m.Time < q.Before) && !slices.Contains(q.Exclude, m.ID)
}

// Set is memories and queries about them.
type Set struct {
	Name    string // base name of the folder
	Stores  map[string][]Memory
	Queries []Query
}

// Memories returns the number of memories in all stores.
func (s Set) Memories() (n int) {
	for _, all := range s.Stores {
		n += len(all)
	}
	return n
}

// Labelled returns the queries with a right memory; Foreign returns those without.
func (s Set) Labelled() []Query {
	return slices.DeleteFunc(slices.Clone(s.Queries), func(q Query) bool { return len(q.Rel) == 0 })
}

func (s Set) Foreign() []Query {
	return slices.DeleteFunc(slices.Clone(s.Queries), func(q Query) bool { return len(q.Rel) > 0 })
}

// Choice selects the sets and queries that a command asks.
type Choice struct {
	Dirs  []string
	Form  string // of the sets, as ReadForm has it
	Split string // "" is all
	Every int    // 1 is all
	JSON  bool   // print figures as JSON lines
}

// ParseFlags adds its flags to those of a command and reads its arguments, the places of sets. On
// wrong ones it prints the usage and exits.
func ParseFlags(usage string) (c Choice) {
	flag.StringVar(&c.Form, "form", "", "read published sets of this `form`: locomo, longmemeval or devmembench")
	flag.StringVar(&c.Split, "split", "", "ask only the queries of this `split`")
	flag.BoolVar(&c.JSON, "json", false, "print figures as JSON lines")
	flag.IntVar(&c.Every, "every", 1, "ask every `n`th query only")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: %s [flags] DIR...\n\nEach DIR has corpus.jsonl and queries.jsonl, as go doc ./bench/recall says. With -form, DIR is a published set as it comes.\n", usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if c.Dirs = flag.Args(); len(c.Dirs) == 0 || c.Every < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return c
}

// Print prints the figures that measure gives of each set.
func (c Choice) Print(out io.Writer, measure func(Set) ([]figure.Figure, error)) error {
	sets, err := c.Read()
	if err != nil {
		return err
	}
	var all []figure.Figure
	for _, s := range sets {
		figures, err := measure(s)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	return figure.Print(out, all, c.JSON)
}

// Read reads the sets with the chosen queries. A set without any is an error.
func (c Choice) Read() ([]Set, error) {
	var sets []Set
	for _, dir := range c.Dirs {
		read, err := ReadForm(c.Form, dir)
		if err != nil {
			return nil, err
		}
		for _, s := range read {
			var kept []Query
			for i, q := range s.Queries {
				if i%c.Every == 0 && (c.Split == "" || q.Split == c.Split) {
					kept = append(kept, q)
				}
			}
			if len(kept) == 0 {
				return nil, fmt.Errorf("%s: no query is left to ask; look at -split and -every", dir)
			}
			s.Queries = kept
			sets = append(sets, s)
		}
	}
	return sets, nil
}

// Read reads the two files of a folder. An error names the file, the line and the field.
func Read(dir string) (Set, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return Set{}, err
	}
	s := Set{Name: filepath.Base(whole), Stores: map[string][]Memory{}}
	ids := map[[2]string]Memory{} // by group and id
	err = labelled.EachLine(filepath.Join(dir, CorpusFile), func(m Memory) error {
		switch {
		case m.ID == "":
			return errors.New("id: is missing")
		case strings.TrimSpace(m.Title+m.Text) == "":
			return errors.New("text: is empty")
		}
		key := [2]string{m.Group, m.ID}
		if _, twice := ids[key]; twice {
			return fmt.Errorf("id: %q stands on an earlier line of group %q", m.ID, m.Group)
		}
		ids[key] = m
		s.Stores[m.Group] = append(s.Stores[m.Group], m)
		return nil
	})
	if err = orEmpty(err, CorpusFile, len(ids)); err != nil {
		return Set{}, err
	}
	seen := map[string]bool{}
	err = labelled.EachLine(filepath.Join(dir, QueriesFile), func(q Query) error {
		switch {
		case q.ID == "":
			return errors.New("id: is missing")
		case seen[q.ID]:
			return fmt.Errorf("id: %q stands on an earlier line", q.ID)
		case strings.TrimSpace(q.Text) == "":
			return errors.New("text: is empty")
		case s.Stores[q.Group] == nil:
			return fmt.Errorf("group: no memory of %s is in %q", CorpusFile, q.Group)
		}
		seen[q.ID] = true
		for _, id := range slices.Sorted(maps.Keys(q.Rel)) {
			m, known := ids[[2]string{q.Group, id}]
			switch grade := q.Rel[id]; {
			case !known:
				return fmt.Errorf("rel: %q is no memory of group %q in %s", id, q.Group, CorpusFile)
			case !(grade > 0) || math.IsInf(grade, 0):
				return fmt.Errorf("rel: the grade %v of %q is not above 0; leave out what is not right", grade, id)
			case !q.sees(m):
				return fmt.Errorf("rel: %q is right and yet taken out by exclude or before", id)
			}
		}
		s.Queries = append(s.Queries, q)
		return nil
	})
	return s, orEmpty(err, QueriesFile, len(s.Queries))
}

// orEmpty is err, or the error of a file without lines.
func orEmpty(err error, name string, lines int) error {
	if err == nil && lines == 0 {
		err = fmt.Errorf("%s: %w: no lines", name, io.ErrUnexpectedEOF)
	}
	return err
}
