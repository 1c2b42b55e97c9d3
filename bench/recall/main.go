// Command recall measures how well the project's search finds what is wanted, on labelled sets:
//
//	go run ./bench/recall gitstore/recall/testdata/labelled
//	go run ./bench/recall -classes -split test DIR...
//
// A set is a folder with two files of JSON lines. corpus.jsonl has the memories:
//
//	{"id": "m1", "group": "", "title": "Use pnpm in web/", "text": "npm writes a lock file …", "paths": ["web/**"], "tags": ["build"], "kind": "convention", "time": 1760000000}
//
// and queries.jsonl what is asked, with the grade of each memory that is right:
//
//	{"id": "q1", "group": "", "text": "which package manager", "rel": {"m1": 1}, "exclude": [], "before": 0, "class": "question", "split": "test"}
//
// Only id and text are needed. Without a title, the first line of the text is the memory's
// statement, as `reverie import` has it. A query is asked of the memories of its group; those in
// exclude, and those of the time before or later, are taken out of the answer. A query with an
// empty rel is one that no memory should be given for.
//
// R@k is the share of the right memories that stand among the first k, so that R@1 of a query with
// two right ones is a half at best. MRR and nDCG look at the first ten. Each figure has its 95 %
// interval by bootstrap over the queries. The latency is that of one search in process, the median
// and the 95th of 100; cold processes are measured by go run ./bench.
//
// The gate is what the project gives to a prompt unasked: silent is the share of queries with empty
// rel that got nothing, right the share of the others that got something right, wrong the share of
// them that got something, but nothing right.
//
// With -vectors, simulated embedding models from useless to very good are put beside the search by
// words: the nDCG@10 of each list, of both fused with the weight that the program measures, and how
// much that is better than the better list.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

type options struct {
	judge.Choice
	classes bool
	gate    bool
	json    bool
	vectors bool
}

func main() {
	var o options
	flag.BoolVar(&o.classes, "classes", false, "also print each class of queries")
	flag.BoolVar(&o.gate, "gate", false, "measure the gate also where a set has no query with empty rel")
	flag.BoolVar(&o.json, "json", false, "print JSON lines")
	flag.BoolVar(&o.vectors, "vectors", false, "measure fusing with the vectors of simulated models instead: nDCG@10 of each list and of both")
	o.Choice = judge.ParseFlags("go run ./bench/recall")
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

// line is the printed result of a set, or of one class of it.
type line struct {
	Set      string                    `json:"set"`
	Class    string                    `json:"class,omitempty"`
	Memories int                       `json:"memories"`
	Queries  int                       `json:"queries"` // labelled
	Foreign  int                       `json:"foreign"`
	Metrics  map[string]judge.Interval `json:"metrics,omitempty"`
	Median   time.Duration             `json:"median_ns,omitempty"`
	P95      time.Duration             `json:"p95_ns,omitempty"`
	Gate     *gateLine                 `json:"gate,omitempty"`
}

type gateLine struct {
	Right  *judge.Interval `json:"right,omitempty"`
	Wrong  *judge.Interval `json:"wrong,omitempty"`
	Silent *judge.Interval `json:"silent,omitempty"`
}

func run(out io.Writer, o options) error {
	sets, err := o.Read()
	if err != nil {
		return err
	}
	if o.vectors {
		return runVectors(out, sets, o.json)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if !o.json {
		header(table)
	}
	for _, s := range sets {
		lines, err := measure(s, o)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if !o.json {
				l.print(table)
			} else if err := json.NewEncoder(out).Encode(l); err != nil {
				return err
			}
		}
	}
	return table.Flush()
}

// measure returns the line of a set, and those of its classes in the order of their names.
func measure(s judge.Set, o options) ([]line, error) {
	r, err := judge.Run(judge.Ours, s)
	if err != nil {
		return nil, err
	}
	var g *judge.Given
	if o.gate || len(s.Foreign()) > 0 {
		given := judge.RunGate(judge.OurGate(), s)
		g = &given
	}
	all := func(judge.Query) bool { return true }
	lines := []line{lineOf(s, "", r, g, all)}
	if o.classes {
		var names []string
		for _, q := range s.Queries {
			names = append(names, q.Class)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			lines = append(lines, lineOf(s, name, r, g, func(q judge.Query) bool { return q.Class == name }))
		}
	}
	return lines, nil
}

func lineOf(s judge.Set, class string, r judge.Result, g *judge.Given, in func(judge.Query) bool) line {
	l := line{Set: s.Name, Class: class, Memories: s.Memories()}
	var part judge.Result
	var given judge.Given
	for i, q := range s.Labelled() {
		if !in(q) {
			continue
		}
		part.Scores, part.Took = append(part.Scores, r.Scores[i]), append(part.Took, r.Took[i])
		if g != nil {
			given.Right, given.Wrong = append(given.Right, g.Right[i]), append(given.Wrong, g.Wrong[i])
		}
	}
	for i, q := range s.Foreign() {
		if in(q) {
			l.Foreign++
			given.Silent = append(given.Silent, g.Silent[i])
		}
	}
	l.Queries, l.Median, l.P95 = len(part.Scores), part.Quantile(0.5), part.Quantile(0.95)
	if l.Queries > 0 {
		l.Metrics = map[string]judge.Interval{}
		for _, m := range judge.Metrics {
			l.Metrics[m.Name] = judge.Bootstrap(part.Values(m.Of))
		}
	}
	if g != nil {
		l.Gate = &gateLine{interval(given.Right), interval(given.Wrong), interval(given.Silent)}
	}
	return l
}

// interval returns nil without values.
func interval(values []float64) *judge.Interval {
	if len(values) == 0 {
		return nil
	}
	i := judge.Bootstrap(values)
	return &i
}

func header(out io.Writer) {
	names := []string{"set", "memories", "queries", "foreign"}
	for _, m := range judge.Metrics {
		names = append(names, m.Name)
	}
	fmt.Fprintln(out, strings.Join(append(names, "median", "p95", "gate: right", "wrong", "silent"), "\t")+"\t")
}

func (l line) print(out io.Writer) {
	name := l.Set
	if l.Class != "" {
		name = "· " + l.Class
	}
	cells := []string{name, fmt.Sprint(l.Memories), fmt.Sprint(l.Queries), fmt.Sprint(l.Foreign)}
	for _, m := range judge.Metrics {
		if i, measured := l.Metrics[m.Name]; measured {
			cells = append(cells, percent(&i))
		} else {
			cells = append(cells, "-")
		}
	}
	if l.Queries > 0 {
		cells = append(cells, judge.Milliseconds(l.Median), judge.Milliseconds(l.P95))
	} else {
		cells = append(cells, "-", "-")
	}
	if l.Gate == nil {
		cells = append(cells, "-", "-", "-")
	} else {
		cells = append(cells, percent(l.Gate.Right), percent(l.Gate.Wrong), percent(l.Gate.Silent))
	}
	fmt.Fprintln(out, strings.Join(cells, "\t")+"\t")
}

func percent(i *judge.Interval) string {
	if i == nil {
		return "-"
	}
	return i.Percent()
}
