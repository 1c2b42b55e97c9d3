package cmd

import (
	"fmt"
	"net/url"
	"strings"
)

// The answer of check --diff in SARIF 2.1.0, the form in which forges and editors take findings.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Short   sarifText `json:"shortDescription"`
	Help    sarifText `json:"help"`
	Default struct {
		Level level `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        level             `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI  string `json:"uri"`
			Base string `json:"uriBaseId"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// newSarif makes the log of one run. What is in no file is shown at reverie.toml, because
// a forge passes over results without a place.
func newSarif(found []finding, version string) sarifLog {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "reverie", Version: version, InformationURI: "https://github.com/reverie-memory/reverie"}
	for _, r := range rules {
		s := sarifRule{ID: r.id, Short: sarifText{r.short}, Help: sarifText{r.help}}
		s.Default.Level = r.level
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, s)
	}
	alike := map[string]int{}
	for _, f := range found {
		first := f.fingerprint(0)
		r := sarifResult{RuleID: f.Rule, RuleIndex: ruleIndex(f.Rule), Level: f.Level, Message: sarifText{f.Message},
			Fingerprints: map[string]string{"reverieFinding/v1": f.fingerprint(alike[first])}}
		alike[first]++
		var at sarifLocation
		at.Physical.Artifact.URI, at.Physical.Artifact.Base = fileURI(f.Path), "%SRCROOT%"
		if f.Path == "" {
			at.Physical.Artifact.URI = "reverie.toml"
		}
		at.Physical.Region = &sarifRegion{max(1, f.Line)}
		r.Locations = []sarifLocation{at}
		run.Results = append(run.Results, r)
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// fileURI is a path as a relative URI reference.
func fileURI(path string) string { return (&url.URL{Path: path}).String() }

// tellFindings writes the findings in the form that was asked for.
func (env *Env) tellFindings(found []finding, o checkDiffOptions) error {
	if o.sarif {
		return env.object(newSarif(found, version()))
	}
	for _, f := range found {
		if env.JSON {
			if err := env.object(f); err != nil {
				return err
			}
			continue
		}
		if o.github {
			env.print("%s\n", annotation(f))
			continue
		}
		where := visible(strings.NewReplacer("\n", "^J", "\t", "^I").Replace(f.Path))
		if f.Path == "" {
			where = "(commit)"
		}
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		env.print("%s: %s: %s [%s]\n", where, env.paint(map[level]string{levelError: red, levelWarning: bold, levelNote: dim}[f.Level], string(f.Level)), f.Message, f.Rule)
	}
	return nil
}

// annotation is a finding as a command to the runner of GitHub Actions, which shows it beside the line.
// Everything in it is escaped, so that it is one command only.
func annotation(f finding) string {
	command := string(f.Level)
	if f.Level == levelNote {
		command = "notice"
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	place := ""
	if f.Path != "" {
		place = fmt.Sprintf("file=%s,line=%d,", property.Replace(f.Path), max(1, f.Line))
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", command, place, property.Replace("reverie "+f.Rule), data.Replace(f.Message))
}
