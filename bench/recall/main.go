// Command recall measures how well the project's search finds what is wanted, on labelled sets:
//
//	go run ./bench/recall gitstore/recall/testdata/labelled
//	go run ./bench/recall -classes -split test DIR...
//	go run ./bench/recall -form locomo locomo10.zip
//
// -form reads a published set as it comes: locomo, longmemeval or devmembench. Each is measured at
// the levels of its labels: whole sessions, single turns, or both.
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
// recall@k is the share of the right memories among the first k, so that recall@1 of a query with
// two right ones is a half at best. MRR and nDCG look at the first ten. Each share has its 95 %
// interval by bootstrap over the queries. The time is that of one search in process; go run ./bench
// measures cold processes.
//
// The gate is what the project gives to a prompt unasked: silent is the share of queries with empty
// rel that got nothing, right the share of the others that got something right, wrong the share of
// them that got something, but nothing right.
//
// -model NAME asks an embedding model of the server that OLLAMA_HOST names, and puts it beside the
// search by words: the nDCG@10 of each list, and of both fused with the weight that the program
// measures and with fixed weights.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/bench/recall/judge"
)

type options struct {
	judge.Choice
	classes bool
	model   string
}

func main() {
	var o options
	flag.BoolVar(&o.classes, "classes", false, "also print each class of queries")
	flag.StringVar(&o.model, "model", "", "measure fusing with the vectors of this `model` of the Ollama server")
	o.Choice = judge.ParseFlags("go run ./bench/recall")
	lab.Exit("recall", run(os.Stdout, o))
}

func run(out io.Writer, o options) error {
	return o.Print(out, func(s judge.Set) ([]figure.Figure, error) { return measure(s, o) })
}

// measure returns the figures of a set, and those of its classes in the order of their names.
func measure(s judge.Set, o options) ([]figure.Figure, error) {
	r, err := judge.Run(judge.Ours, s)
	if err != nil {
		return nil, err
	}
	if o.model != "" {
		return measureModel(s, r, o.model)
	}
	var g *judge.Given
	if len(s.Foreign()) > 0 {
		given := judge.RunGate(judge.OurGate(), s)
		g = &given
	}
	all := figuresOf(s, s.Name, r, g, func(judge.Query) bool { return true })
	if o.classes {
		var names []string
		for _, q := range s.Queries {
			names = append(names, q.Class)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			all = append(all, figuresOf(s, s.Name+" · "+name, r, g, func(q judge.Query) bool { return q.Class == name })...)
		}
	}
	return all, nil
}

// figuresOf returns the figures of a set's queries that are in a part of that name.
func figuresOf(s judge.Set, part string, r judge.Result, g *judge.Given, in func(judge.Query) bool) (all []figure.Figure) {
	var own judge.Result
	var given judge.Given
	for i, q := range s.Labelled() {
		if !in(q) {
			continue
		}
		own.Scores, own.Took = append(own.Scores, r.Scores[i]), append(own.Took, r.Took[i])
		if g != nil {
			given.Right, given.Wrong = append(given.Right, g.Right[i]), append(given.Wrong, g.Wrong[i])
		}
	}
	for i, q := range s.Foreign() {
		if in(q) {
			given.Silent = append(given.Silent, g.Silent[i])
		}
	}
	share := func(name string, values []float64, of string) {
		if len(values) > 0 {
			all = append(all, judge.Mean(part, name, values, of))
		}
	}
	for _, m := range judge.Metrics {
		share(fmt.Sprintf("%s, %d documents", m.Name, s.Memories()), own.Values(m.Of), "queries")
	}
	share("prompts given a right memory unasked", given.Right, "prompts")
	share("prompts given only wrong ones", given.Wrong, "prompts")
	share("prompts on another topic given nothing", given.Silent, "prompts")
	if len(own.Took) > 0 {
		all = append(all, own.Time(part, "time of a search, median", 0.5), own.Time(part, "time of a search, 95 of 100", 0.95))
	}
	return all
}
