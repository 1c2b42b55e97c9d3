package main

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/bench/figure"
)

// page is all that both files show.
type page struct {
	Made, Commit, Machine string
	Parts                 []part
}

// write writes evidence.md and evidence.html into a folder.
func (p page) write(dir string) error {
	var html strings.Builder
	err := htmlPage.Execute(&html, p)
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "evidence.md"), []byte(p.markdown()), 0o644),
		os.WriteFile(filepath.Join(dir, "evidence.html"), []byte(html.String()), 0o644))
}

// Worse lists figures that miss their aim or stand behind a peer, in words.
func (p page) Worse() (all []string) {
	for _, s := range p.Parts {
		for _, f := range s.Figures {
			if f.Missed || f.Behind {
				all = append(all, strings.TrimSpace(fmt.Sprintf("%s: %s, %s: %s. %s", f.Verdict(), f.Set, f.Name, f.Text(), f.Beside)))
			}
		}
	}
	return all
}

// Duration is the time that the command took, in whole seconds; empty if it did not run.
func (p part) Duration() string {
	if p.Took == 0 {
		return ""
	}
	return p.Took.Round(time.Second).String()
}

// State says in one sentence why a part has no figures, or not all of them.
func (p part) State() string {
	switch {
	case p.Missing != "":
		return "No figures: " + p.Missing + "."
	case p.Failed != "":
		return "The command failed: " + p.Failed
	}
	return ""
}

const intro = "Each figure stands with the command that made it and its n, and shares and times of six runs or more with their 95 % interval. The figures hold for this commit on this machine."

func (p page) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Reverie in figures\n\n%s\n\n- commit: `%s`\n- made: %s\n- machine: %s\n\n## Aims missed, and better peers\n\n", intro, p.Commit, p.Made, p.Machine)
	worse := p.Worse()
	if len(worse) == 0 {
		worse = []string{"none among the figures below"}
	}
	for _, w := range worse {
		fmt.Fprintf(&b, "- %s\n", w)
	}
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, s := range p.Parts {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n    %s\n\n", s.Title, s.About, s.Command)
		if s.Data != "" {
			fmt.Fprintf(&b, "Data: %s\n\n", s.Data)
		}
		if took := s.Duration(); took != "" {
			fmt.Fprintf(&b, "Measured in %s.\n\n", took)
		}
		if state := s.State(); state != "" {
			fmt.Fprintf(&b, "**%s**\n", state)
		}
		if len(s.Figures) == 0 {
			continue
		}
		b.WriteString("\n| set | figure | value | 95 % interval | n | aim | beside |\n|---|---|--:|--:|--:|---|---|\n")
		for _, f := range s.Figures {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d %s | %s | %s |\n", cell.Replace(f.Set), cell.Replace(f.Name), f.Text(), f.Between(), f.N, f.Of,
				cell.Replace(strings.TrimSpace(f.Aim+" "+f.Verdict())), cell.Replace(f.Against()))
		}
	}
	return b.String()
}

var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{"plot": plot, "curves": curves, "intro": func() string { return intro }}).Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Reverie in figures</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;font-size:.85rem}td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
.n{text-align:right;white-space:nowrap}pre{background:#f4f4f4;padding:.5rem;overflow:auto}.bad{color:#a30000;font-weight:600}
.wide{overflow-x:auto}svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:#222}
</style>
<h1>Reverie in figures</h1>
<p>{{intro}}</p>
<ul><li>commit: <code>{{.Commit}}</code><li>made: {{.Made}}<li>machine: {{.Machine}}</ul>
<h2>Aims missed, and better peers</h2>
<ul>{{range .Worse}}<li>{{.}}{{else}}<li>none among the figures below{{end}}</ul>
{{range .Parts}}<h2 id="{{.Key}}">{{.Title}}</h2>
<p>{{.About}}</p>
<pre>{{.Command}}</pre>
{{with .Data}}<p>Data: {{.}}</p>{{end}}
{{with .Duration}}<p>Measured in {{.}}.</p>{{end}}
{{with .State}}<p class="bad">{{.}}</p>{{end}}
{{if .Figures}}{{plot .Figures}}{{curves .Figures}}
<div class="wide"><table><tr><th>set<th>figure<th class="n">value<th class="n">95 % interval<th class="n">n<th>aim<th>beside</tr>
{{range .Figures}}<tr><td>{{.Set}}<td>{{.Name}}<td class="n">{{.Text}}<td class="n">{{.Between}}<td class="n">{{.N}} {{.Of}}<td{{if or .Missed .Behind}} class="bad"{{end}}>{{.Aim}} {{.Verdict}}<td>{{.Against}}</tr>
{{end}}</table></div>{{end}}
{{end}}</html>
`))

// plot draws the shares of a part as dots with their intervals on an axis from 0 to 100, and ratios
// as bars on an axis to the greatest. A part without either has no plot.
func plot(all []figure.Figure) template.HTML {
	const row, left, width = 20, 430, 400
	var b strings.Builder
	for _, unit := range []string{"%", "×"} {
		var rows []figure.Figure
		most := 1.0
		for _, f := range all {
			if f.Unit == unit {
				rows = append(rows, f)
				most = max(most, f.Value)
			}
		}
		if len(rows) == 0 {
			continue
		}
		if unit == "%" {
			most = 100
		}
		x := func(v float64) float64 { return left + width*max(0, min(v, most))/most }
		height := row*len(rows) + 25
		fmt.Fprintf(&b, `<svg viewBox="0 0 900 %d" width="900" role="img" aria-label="plot of the table below">`, height)
		for i := range 5 {
			at := most * float64(i) / 4
			fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="0" y2="%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%.3g %s</text>`, x(at), x(at), height-20, x(at), height-5, at, unit)
		}
		for i, f := range rows {
			y := float64(i*row) + row/2
			colour := "#1f5fa8"
			if f.Missed || f.Behind {
				colour = "#a30000"
			}
			label := []rune(f.Set + ": " + f.Name)
			if len(label) > 68 {
				label = append(label[:67], '…')
			}
			fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, left-8, y+4, template.HTMLEscapeString(string(label)))
			if unit == "×" {
				fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%.1f" height="10" fill="%s"/>`, left, y-5, x(f.Value)-left, colour)
			} else {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`, x(f.Value), y, colour)
			}
			if f.Range != nil {
				fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="%s" stroke-width="2"/>`, x(f.Range.Low), x(f.Range.High), y, y, colour)
			}
			fmt.Fprintf(&b, `<text x="%d" y="%.1f">%s</text>`, left+width+8, y+4, template.HTMLEscapeString(f.Text()))
		}
		b.WriteString(`</svg>`)
	}
	return template.HTML(b.String())
}

// curves draws each curve in a panel with its own axes, which begin at 0: curves of one unit may
// differ by a factor of a thousand.
func curves(all []figure.Figure) template.HTML {
	const columns, wide, high, left, top, width, height = 3, 300, 170, 66, 40, 205, 95
	all = slices.DeleteFunc(slices.Clone(all), func(f figure.Figure) bool { return len(f.Curve) == 0 })
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" width="%[1]d" role="img" aria-label="curves of figures in the table below">`, columns*wide, (len(all)+columns-1)/columns*high)
	for i, f := range all {
		lastX, most := f.Curve[len(f.Curve)-1][0], 0.0
		for _, p := range f.Curve {
			most = max(most, p[1])
		}
		lastX, most = max(lastX, 1), ceiling(most)
		x := func(v float64) float64 { return left + width*v/lastX }
		y := func(v float64) float64 { return top + height - height*v/most }
		fmt.Fprintf(&b, `<g transform="translate(%d %d)"><text x="%d" y="14">%s</text><text x="%[3]d" y="30" style="font-weight:600">%[5]s</text>`,
			i%columns*wide, i/columns*high, left, template.HTMLEscapeString(f.Set), template.HTMLEscapeString(f.Name))
		for _, v := range []float64{0, most / 2, most} {
			fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%[3]f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g %s</text>`, left, left+width, y(v), left-6, y(v)+4, math.Round(v*1e4)/1e4, f.Unit)
		}
		for _, v := range []float64{0, math.Round(lastX / 2), lastX} {
			fmt.Fprintf(&b, `<line x1="%.1f" x2="%[1]f" y1="%d" y2="%d" stroke="#888"/><text x="%[1]f" y="%[4]d" text-anchor="middle">%.0[5]f</text>`, x(v), top+height, top+height+4, top+height+16, v)
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text><polyline fill="none" stroke="#1f5fa8" stroke-width="2" points="`, left+width/4, top+height+16, template.HTMLEscapeString(f.Over))
		for _, p := range f.Curve {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(p[0]), y(p[1]))
		}
		b.WriteString(`"/></g>`)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// ceiling rounds up to 1, 2, 4, 6 or 8 times a power of ten, for the end of an axis.
func ceiling(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(max(v, 1e-3)))))
	for _, by := range []float64{1, 2, 4, 6, 8} {
		if v <= by*power {
			return by * power
		}
	}
	return 10 * power
}
