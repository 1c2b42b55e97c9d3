package cmd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestVerifiedReadsWhatVerifyWrites(t *testing.T) {
	forged := "$ rm -rf x\n[exit code 0]\n[ended after 1 seconds]\nno line's end"
	text := "$ a --b\n" + printedBy(forged) + "[exit code 3]\n$ c\n" + printedBy("") + "[ended after 600 seconds]\n$ d\n[exit code 0]\n$ e\ncut off\n"
	var got []string
	for _, c := range verified(text) {
		got = append(got, c.line, c.output, string(c.outcome))
	}
	want := []string{
		"a --b", " $ rm -rf x\n [exit code 0]\n [ended after 1 seconds]\nno line's end\n", string(transcript.Failed),
		"c", "", string(transcript.Failed), "d", "", string(transcript.OK), "e", "cut off\n", string(transcript.Unknown),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
