package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/bench/figure"
)

// answers has an output in the form of each command.
func answers(argv []string) string {
	line := strings.Join(argv, " ")
	switch {
	case strings.Contains(line, "./bench/recall "):
		return `{"set":"s","name":"recall@5, 7 documents","value":50,"unit":"%","interval":{"low":40,"high":60},"n":9,"of":"queries"}
{"set":"s","name":"prompts on another topic given nothing","value":100,"unit":"%","interval":{"low":100,"high":100},"n":2,"of":"prompts"}`
	case strings.Contains(line, " eval "):
		return `{"name":"detectors","right":3,"wrong":1,"missed":1,"classes":[{"name":"said","right":2,"of":3}]}`
	case strings.Contains(line, "./bench/year "):
		return `{"set":"size","name":"<branch>","value":3,"unit":"MB","n":1,"of":"year","curve":[[100,1],[200,2.5],[300,3]],"over":"sessions"}`
	case strings.Contains(line, "go test"):
		return `{"Action":"output","Package":"p/e2e","Test":"TestKilled/one","Output":"    x_test.go:9: 200 killed\n"}
{"Action":"pass","Package":"p/e2e","Test":"TestKilled/one","Elapsed":2}
{"Action":"pass","Package":"p/e2e","Test":"TestKilled","Elapsed":3}
{"Action":"skip","Package":"p/e2e","Test":"TestFault","Elapsed":0}`
	}
	return `{"set":"<b>","name":"a|b","value":2,"unit":"×","interval":{"low":1.04,"high":2.5},"n":15,"of":"rounds","aim":"≤ 3×","behind":true}`
}

// made makes a page of all sections with stubbed commands. Only the search sets are given.
func made(t *testing.T, run func(context.Context, []string, []string) ([]byte, error)) (p page, markdown, html string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "locomo10.zip")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = page{Made: "today", Commit: "abc123", Machine: "here"}
	for _, s := range sections() {
		for _, part := range s.parts(map[string][]string{"locomo": {file}}) {
			if part.Missing == "" {
				part.measure(context.Background(), run)
			}
			p.Parts = append(p.Parts, part)
		}
	}
	dir := t.TempDir()
	if err := p.write(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]*string{"evidence.md": &markdown, "evidence.html": &html} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		*text = string(data)
	}
	return p, markdown, html
}

func TestEachFigureHasItsCommand(t *testing.T) {
	p, markdown, html := made(t, func(_ context.Context, _, argv []string) ([]byte, error) { return []byte(answers(argv)), nil })
	for _, s := range strings.Split(markdown, "\n## ")[2:] {
		command := regexp.MustCompile(`(?m)^    (\S.*)$`).FindStringSubmatch(s)
		if command == nil || !strings.Contains(command[1], "go ") {
			t.Errorf("no command in\n%s", s)
		}
		if rows := strings.Count(s, "\n| ") - 1; rows < 1 && !strings.Contains(s, "No figures: its data were not given: -set ") {
			t.Errorf("neither figures nor a word about the data in\n%s", s)
		}
	}
	for _, part := range p.Parts {
		for _, f := range part.Figures {
			if f.N < 1 || f.Of == "" {
				t.Errorf("%s: a figure without n: %+v", part.Key, f)
			}
		}
	}
	for _, want := range []string{"abc123", "recall@5, 7 documents", "| 50.0 % | 40.0 to 60.0 | 9 queries |", "| 75.0 % |", "PATH/locomo10.zip", "sha256 2d711642b726",
		"200 killed", "1.0 MB at 100, 2.5 MB at 200, 3.0 MB at 300 sessions", "a peer is better: <b>, a|b: 2.00 ×", `a\|b`, "| 1.04 to 2.50 |", "go run ./bench/journeys -json -every 3 PATH"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in\n%s", want, markdown)
		}
	}
	for _, never := range []string{"<script", "http://", "https://", "<b>,", "src="} {
		if strings.Contains(html, never) {
			t.Errorf("%q is in the HTML page", never)
		}
	}
	if n := strings.Count(html, "<svg"); n < 3 || n != strings.Count(html, "</svg>") {
		t.Errorf("%d plots", n)
	}
	if strings.Contains(markdown+html, filepath.Dir(p.Parts[2].argv[len(p.Parts[2].argv)-1])) {
		t.Error("the page names a folder of this machine")
	}
}

func TestSkippedTestMissesItsAim(t *testing.T) {
	all, err := testFigures([]byte(answers([]string{"go", "test", "go test"})))
	if err != nil || len(all) != 2 || all[0].Missed || all[0].Beside != "200 killed" || !all[1].Missed {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := testFigures([]byte(`{"Action":"fail","Package":"p"}`)); err == nil {
		t.Error("a package that does not build gave no error")
	}
}

func TestFailedCommandIsOnThePage(t *testing.T) {
	p, markdown, html := made(t, func(context.Context, []string, []string) ([]byte, error) {
		return []byte(answers(nil)), errors.New("exit status 1: 2 of the budgets are exceeded")
	})
	if p.Parts[0].Failed == "" || len(p.Parts[0].Figures) != 1 {
		t.Errorf("%+v", p.Parts[0])
	}
	for _, text := range []string{markdown, html} {
		if !strings.Contains(text, "The command failed: exit status 1: 2 of the budgets are exceeded") {
			t.Errorf("not in\n%s", text)
		}
	}
	empty := part{read: figures}
	if empty.measure(context.Background(), func(context.Context, []string, []string) ([]byte, error) { return nil, nil }); empty.Failed == "" {
		t.Error("no figure is no failure")
	}
}

func TestPageIsWrittenAfterEachSection(t *testing.T) {
	dir := t.TempDir()
	page := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "evidence.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	n := 0
	err := compose(context.Background(), dir, nil, regexp.MustCompile("^(cost|recall|kills)$"), func(_ context.Context, _, argv []string) ([]byte, error) {
		if got := strings.Count(page(), "the run ended before this section"); got != 3-n {
			t.Errorf("%d sections are still due before number %d", got, n+1)
		}
		n++
		return []byte(answers(argv)), nil
	})
	if text := page(); err != nil || n != 3 || strings.Contains(text, "ended before") || !strings.Contains(text, "not measured this time") || !strings.Contains(text, "200 killed") {
		t.Errorf("%v, %d sections\n%s", err, n, text)
	}
	err = compose(context.Background(), dir, nil, regexp.MustCompile("^cost$"), func(context.Context, []string, []string) ([]byte, error) { return nil, errors.New("broken") })
	if err == nil || !strings.Contains(err.Error(), "go run ./bench -json: broken") {
		t.Error(err)
	}
}

func TestPlotKeepsToItsAxis(t *testing.T) {
	svg := string(plot([]figure.Figure{{Name: "x", Value: 250, Unit: "%", Range: &figure.Interval{Low: -5, High: 300}}}))
	if !strings.Contains(svg, `cx="830.0"`) || !strings.Contains(svg, `x1="430.0" x2="830.0"`) {
		t.Error(svg)
	}
	if plot([]figure.Figure{{Name: "x", Value: 2, Unit: "MB"}}) != "" {
		t.Error("a size is drawn as a share")
	}
}

func TestCurveHasAxesFromZero(t *testing.T) {
	svg := string(curves([]figure.Figure{{Name: "none"}, {Name: "<branch>", Unit: "MB", Curve: []figure.Point{{150, 1}, {300, 4}}, Over: "sessions"},
		{Name: "small", Unit: "MB", Curve: []figure.Point{{300, 0.53}}}}))
	for _, want := range []string{`points="168.5,111.2 271.0,40.0 "`, ">0.6 MB<", ">0.3 MB<", ">4 MB<", ">2 MB<", ">0 MB<", ">150<", ">300<", ">sessions<", "&lt;branch&gt;"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
	if curves([]figure.Figure{{Name: "none"}}) != "" {
		t.Error("a figure without a curve is drawn")
	}
	_, _, html := made(t, func(_ context.Context, _, argv []string) ([]byte, error) { return []byte(answers(argv)), nil })
	if !strings.Contains(html, "<polyline") {
		t.Error("no curve in the page")
	}
}

func TestSetNames(t *testing.T) {
	if got := setNames(); !slices.Contains(got, "vista") || !slices.Contains(got, "locomo") || len(slices.Compact(got)) != len(got) {
		t.Error(got)
	}
}
