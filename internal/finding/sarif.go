package finding

import "net/url"

// Log is a SARIF 2.1.0 log, to be encoded by encoding/json.
type Log struct {
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
		Level Level `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        Level             `json:"level"`
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

// SARIF returns the log of one run of this program. Findings without a file are shown at
// reverie.toml, because a forge ignores results without a location.
func (rs Rules) SARIF(found []Finding, version string) Log {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "reverie", Version: version, InformationURI: "https://github.com/reverie-memory/reverie"}
	for _, r := range rs {
		s := sarifRule{ID: r.ID, Short: sarifText{r.Short}, Help: sarifText{r.Help}}
		s.Default.Level = r.Level
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, s)
	}
	alike := map[string]int{}
	for _, f := range found {
		first := f.fingerprint(0)
		r := sarifResult{RuleID: f.Rule, RuleIndex: rs.index(f.Rule), Level: f.Level, Message: sarifText{f.Message},
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
	return Log{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// fileURI returns a path as a relative URI reference.
func fileURI(path string) string { return (&url.URL{Path: path}).String() }
