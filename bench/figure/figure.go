// Package figure defines the common form of measured figures. The commands below bench print them
// as lines of JSON, and bench/page collects them on one page. Begin with Print.
package figure

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/reverie-memory/reverie/reflect/labelled"
)

// Figure is one measured value in its unit: shares count in hundredths, with the unit "%".
type Figure struct {
	Set    string    `json:"set"`  // the data, or the part of them
	Name   string    `json:"name"` // metric and level
	Value  float64   `json:"value"`
	Unit   string    `json:"unit,omitempty"`
	Range  *Interval `json:"interval,omitempty"`
	N      int       `json:"n"`
	Of     string    `json:"of"`               // counted by N: queries, journeys, rounds
	Beside string    `json:"beside,omitempty"` // the same of a peer or of plain git
	Aim    string    `json:"aim,omitempty"`
	Missed bool      `json:"missed,omitempty"` // the aim
	Behind bool      `json:"behind,omitempty"` // a peer is better; of a sample, by more than chance
	Curve  []Point   `json:"curve,omitempty"`  // the value in its course, in the same unit
	Over   string    `json:"over,omitempty"`   // of a curve: counted by X
}

// Point is a point of a curve: X, and the value there.
type Point [2]float64

// Interval is a 95 % confidence interval in the unit of its figure.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Count makes a figure of a number beside the number of all.
func Count(set, name string, n, all int, of string) Figure {
	return Figure{Set: set, Name: name, Value: float64(n), N: all, Of: of}
}

// Share makes a figure of n of all, with Wilson's interval.
func Share(set, name string, n, all int, of string) Figure {
	low, high := labelled.Share{N: n, Of: all}.Interval()
	return Percent(set, name, float64(n)/float64(max(1, all)), low, high, all, of)
}

// Percent makes a figure of a share from 0 to 1 with its interval.
func Percent(set, name string, share, low, high float64, n int, of string) Figure {
	return Figure{Set: set, Name: name, Value: 100 * share, Unit: "%", Range: &Interval{100 * low, 100 * high}, N: n, Of: of}
}

// Text formats value and unit.
func (f Figure) Text() string {
	text := strconv.FormatFloat(f.Value, 'f', 1, 64)
	switch {
	case f.Unit == "":
		text = strings.TrimSuffix(text, ".0")
	case f.Unit == "×":
		text = strconv.FormatFloat(f.Value, 'f', 2, 64)
	}
	return strings.TrimSpace(text + " " + f.Unit)
}

// Course formats the first, the middle and the last point of a curve, and no curve as "".
func (f Figure) Course() string {
	n := len(f.Curve)
	if n == 0 {
		return ""
	}
	var words []string
	for _, p := range []Point{f.Curve[0], f.Curve[(n-1)/2], f.Curve[n-1]} {
		words = append(words, fmt.Sprintf("%s at %.0f", Figure{Value: p[1], Unit: f.Unit}.Text(), p[0]))
	}
	return strings.Join(words, ", ") + " " + f.Over
}

// Against formats the comparison of a figure: with a peer, or with its own course.
func (f Figure) Against() string {
	return strings.TrimPrefix(strings.TrimSuffix(f.Beside+"; "+f.Course(), "; "), "; ")
}

// Between formats the ends of the interval; without one it returns "-".
func (f Figure) Between() string {
	switch {
	case f.Range == nil:
		return "-"
	case f.Unit == "×":
		return fmt.Sprintf("%.2f to %.2f", f.Range.Low, f.Range.High)
	}
	return fmt.Sprintf("%.1f to %.1f", f.Range.Low, f.Range.High)
}

// Verdict compares a figure with its aim and its peers.
func (f Figure) Verdict() string {
	var words []string
	switch {
	case f.Missed:
		words = append(words, "aim missed")
	case f.Aim != "":
		words = append(words, "aim met")
	}
	if f.Behind {
		words = append(words, "a peer is better")
	}
	return strings.Join(words, ", ")
}

// Print writes figures as a table or as lines of JSON.
func Print(w io.Writer, all []Figure, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, f := range all {
			if err := enc.Encode(f); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tfigure\tvalue\t95 % interval\tn\taim\tbeside")
	for _, f := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d %s\t%s\t%s\n", f.Set, f.Name, f.Text(), f.Between(), f.N, f.Of, strings.TrimSpace(f.Aim+" "+f.Verdict()), f.Against())
	}
	return t.Flush()
}
