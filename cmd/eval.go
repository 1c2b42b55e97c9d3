package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/labelled"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func evalCommand(env *Env) *cli.Command {
	var models cli.StringSlice
	return &cli.Command{
		Name:      "eval",
		Usage:     "measure the detectors on labelled transcripts",
		ArgsUsage: "DIR",
		Description: "DIR has transcripts, and in labels.jsonl what is worth keeping of each: the form is that of reflect/testdata/labelled in\n" +
			"Reverie's sources, where README.md explains it. The detectors are measured, and beside them each model. No repository is\n" +
			"needed, and nothing is kept. -v names each wrong and each missed statement.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "model", Usage: "also measure reading with model `NAME`; may be given again", Destination: &models},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return exit.Usage("reverie eval DIR", "eval wants exactly one folder of labelled transcripts")
			}
			readers := []namedReader{{name: detectorsRow, read: studyAlone}}
			for _, name := range models.Value() {
				r, err := modelReader(c.Context, env, name)
				if err != nil {
					return err
				}
				readers = append(readers, namedReader{name: name, read: r, model: true})
			}
			return runEval(c.Context, env, c.Args().First(), readers)
		},
	}
}

// A studier returns what a session taught. Its result beside an error counts too.
type studier func(ctx context.Context, s transcript.Session, events []transcript.Event) (record.Reflection, error)

// A namedReader is a reader that is measured: a model both by itself and with the detectors' findings beside its own.
type namedReader struct {
	name  string
	read  studier
	model bool
}

const detectorsRow = "detectors"

// rows are the names of what is measured of the reader.
func (r namedReader) rows() []string {
	if r.model {
		return []string{r.name, detectorsRow + " + " + r.name}
	}
	return []string{r.name}
}

// studyAlone is the reader without a model.
func studyAlone(_ context.Context, s transcript.Session, events []transcript.Event) (record.Reflection, error) {
	return reflect.Study(s, events), nil
}

// readWith is the reader with a model beside the detectors. Where it gives no answer, what they found is left.
func readWith(m *prompts.Model, set prompts.Set) studier {
	return func(ctx context.Context, s transcript.Session, events []transcript.Event) (record.Reflection, error) {
		base := reflect.Study(s, events)
		r, err := reflect.Read(ctx, m, set, s, events, base, nil)
		if err != nil {
			return base, err
		}
		return r.Reflection, nil
	}
}

// modelReader finds the model of a name to read with. It needs no repository: settings are the user's, and no day's budget is
// touched.
func modelReader(ctx context.Context, env *Env, name string) (studier, error) {
	c, err := config.Load(config.UserFile())
	if err != nil {
		return nil, err
	}
	set, err := model.Prompts(c)
	if err != nil {
		return nil, err
	}
	m, err := model.Find(ctx, c.Model, name, watch(env))
	if err != nil {
		return nil, err
	}
	return readWith(door.Redact(m, nil), set), nil
}

// evalJSON is how a reader did. Found are the candidates that it proposes: right, wrong, and such as are allowed.
type evalJSON struct {
	Name      string     `json:"name"`
	Sessions  int        `json:"sessions"`
	Failed    int        `json:"failed"` // sessions that it did not read
	Found     int        `json:"found"`
	Right     int        `json:"right"`
	Wrong     int        `json:"wrong"`
	Missed    int        `json:"missed"`
	Precision float64    `json:"precision"`
	Recall    float64    `json:"recall"`
	Classes   []partJSON `json:"classes"`   // recall, by class of label
	Detectors []partJSON `json:"detectors"` // precision, by detector
	Policy    []partJSON `json:"policy"`    // precision of what a policy may accept unasked after one session, and of the rest
	Mistakes  []mistake  `json:"mistakes"`

	cause error // why the first of those that failed did
}

// A partJSON is a share of what was counted, with its 95 % confidence interval.
type partJSON struct {
	Name  string  `json:"name"`
	Right int     `json:"right"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// parts returns the shares of something, by name.
func parts(by map[string]labelled.Share) []partJSON {
	round := func(x float64) float64 { return math.Round(x*10000) / 10000 }
	out := []partJSON{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if s := by[name]; s.Of > 0 {
			low, high := s.Interval()
			out = append(out, partJSON{Name: name, Right: s.N, Of: s.Of, Share: round(float64(s.N) / float64(s.Of)), Low: round(low), High: round(high)})
		}
	}
	return out
}

// A mistake is a statement that is wrong, or was missed.
type mistake struct {
	File  string `json:"file"`
	What  string `json:"what"`  // wrong or missed
	Class string `json:"class"` // of what is wrong the detector, of what was missed the label's class
	Text  string `json:"text"`
}

func runEval(ctx context.Context, env *Env, dir string, readers []namedReader) error {
	labels, err := labelled.Read(env.path(dir))
	if err != nil {
		return exit.New(exit.Failed, err, "'reverie help eval' says what the folder has to have")
	}
	width := len("name")
	for _, r := range readers {
		for _, name := range r.rows() {
			width = max(width, len(term.Visible(name)))
		}
	}
	var mistaken []evalJSON
	var nothing []error
	for i, r := range readers {
		rows, err := env.evaluate(ctx, labels, r)
		if err != nil {
			return err
		}
		if i == 0 && !env.JSON {
			env.Print("%s %8s %6s %6s %6s %6s %6s %9s %6s\n", term.Pad("name", width), "sessions", "unread", "found", "right", "wrong", "missed", "precision", "recall")
		}
		for _, row := range rows {
			if env.JSON {
				err = env.Object(row)
			} else {
				env.tellEval(row, width)
			}
			if err != nil {
				return err
			}
		}
		mistaken = append(mistaken, rows...)
		if row := rows[0]; row.Failed > 0 {
			env.Warn("%s did not read %d of %s; the first: %v", row.Name, row.Failed, term.Count(row.Sessions, "session", "sessions"), row.cause)
			if row.Failed == row.Sessions {
				nothing = append(nothing, fmt.Errorf("%s read nothing", row.Name))
			}
		}
	}
	if env.Verbose && !env.JSON {
		for _, row := range mistaken {
			env.tellParts(row)
		}
		for _, row := range mistaken {
			for _, m := range row.Mistakes {
				env.Print("%s  %-6s  %s  %s: %s\n", term.Pad(term.Visible(row.Name), width), m.What, term.Visible(m.File), term.Visible(m.Class), term.OneLine(m.Text, 1<<20))
			}
		}
	}
	return errors.Join(nothing...)
}

func (env *Env) tellEval(row evalJSON, width int) {
	precision := "-"
	if row.Right+row.Wrong > 0 {
		precision = fmt.Sprintf("%.3f", row.Precision)
	}
	env.Print("%s %8d %6d %6d %6d %6d %6d %9s %6.3f\n", term.Pad(term.Visible(row.Name), width), row.Sessions, row.Failed, row.Found, row.Right, row.Wrong, row.Missed, precision, row.Recall)
}

// tellParts prints the shares of a reader, each with its confidence interval.
func (env *Env) tellParts(row evalJSON) {
	tell := func(what string, list ...partJSON) {
		for _, p := range list {
			env.Print("%s  %s  %s %d of %d: %.2f (%.2f to %.2f)\n", term.Visible(row.Name), what, term.Pad(term.Visible(p.Name), 12), p.Right, p.Of, p.Share, p.Low, p.High)
		}
	}
	tell("recall   ", row.Classes...)
	tell("precision", row.Detectors...)
	tell("precision", row.Policy...)
}

// evaluate has one reader read everything: a row for each of its names.
func (env *Env) evaluate(ctx context.Context, labels []labelled.Label, r namedReader) ([]evalJSON, error) {
	rows := make([]evalJSON, len(r.rows()))
	scores := make([]labelled.Score, len(rows))
	for n, name := range r.rows() {
		rows[n] = evalJSON{Name: name, Mistakes: []mistake{}}
	}
	scanner := redact.New()
	told := term.NewSteps(&env.Terminal, len(labels))
	defer told.Done()
	for i, l := range labels {
		told.Step(i, r.name)
		sessions, err := l.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		found := make([][]record.Candidate, len(rows))
		for _, s := range sessions {
			events, err := redacted(scanner, s.Events)
			if err != nil {
				return nil, err
			}
			read, err := r.read(ctx, s.Session, events)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			for n := range rows {
				if err != nil && rows[n].Failed == 0 {
					rows[n].cause = fmt.Errorf("%s: %w", l.Session, err)
				}
				if err != nil {
					rows[n].Failed++
				}
				rows[n].Sessions++
			}
			if r.model {
				own := slices.DeleteFunc(slices.Clone(read.Candidates), func(c record.Candidate) bool { return c.How != record.Model })
				found[0], found[1] = append(found[0], own...), append(found[1], read.Candidates...)
			} else {
				found[0] = append(found[0], read.Candidates...)
			}
		}
		for n := range rows {
			v := l.Judge(found[n])
			scores[n].Add(v)
			for _, c := range v.Wrong {
				rows[n].Mistakes = append(rows[n].Mistakes, mistake{l.Session, "wrong", c.Detector, c.Text})
			}
			for _, e := range v.Missed {
				rows[n].Mistakes = append(rows[n].Mistakes, mistake{l.Session, "missed", e.Class, e.Accept})
			}
		}
	}
	for n, score := range scores {
		row := &rows[n]
		row.Found, row.Right, row.Wrong, row.Missed = score.Right+score.Allowed+score.Wrong, score.Right, score.Wrong, score.Missed
		row.Precision, row.Recall = score.Precision(), score.Recall()
		row.Classes, row.Detectors = parts(score.Classes), parts(score.Detectors)
		row.Policy = parts(map[string]labelled.Share{"at once": score.AtOnce, "waiting": score.Waiting})
	}
	return rows, nil
}

// redacted is events as they would be kept: without secrets.
func redacted(scanner *redact.Scanner, events []transcript.Event) ([]transcript.Event, error) {
	raw, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	text, _, err := scanner.JSON(raw)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	var out []transcript.Event
	err = json.NewDecoder(strings.NewReader(text.String())).Decode(&out)
	return out, err
}
