package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolsAnswerForTheirJob(t *testing.T) {
	x := indexOf(t, docsOf("Use pnpm in web", "Poetry keeps the lock file", "Alerts go to PagerDuty", "Mails are caught by Mailpit", "Dependencies are vendored"), 2)
	for query, want := range map[string][]string{
		"how do I install javascript libraries": {"000 javascript → pnpm", "000 install → pnpm", "000 libraries → pnpm"},
		"install a library":                     {"000 install → pnpm", "000 library → pnpm", "001 install → poetry", "001 library → poetry"},
		"python library":                        {"001 python → poetry", "001 library → poetry"},
		"install a rust library":                nil,
		"npm library":                           nil, // the tool is known
		"dependencies":                          {"004 depend", "000 dependencies → pnpm", "001 dependencies → poetry"},
		"who is woken in an outage":             {"002 outage → pagerduty"},
	} {
		var got []string
		for _, h := range x.Rank(Request{Text: query, N: 3}) {
			for _, w := range h.Words {
				got = append(got, x.segments[h.Segment].Key(h.Doc)+" "+w.String())
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

// A line has words and tools, and no tool is a word for its job.
func TestJobs(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(jobs)) {
		if strings.Count(line, "|") != 2 {
			t.Errorf("%q has not three columns", line)
		}
	}
	for _, j := range allJobs() {
		if len(j.words) == 0 || len(j.tools) == 0 || slices.ContainsFunc(j.tools, func(tool string) bool { return slices.Contains(j.words, tool) }) {
			t.Errorf("%+v", j)
		}
	}
}
