package githook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLinks(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 40) }
	for name, tt := range map[string]struct {
		text string
		want map[string][]LinkedCommit
	}{
		"order of making, each once": {
			"commit A main claude/1\ncommit B - claude/1 codex/2\ncommit A main claude/1\n",
			map[string][]LinkedCommit{"claude/1": {{ID: id("a"), Branch: "main"}, {ID: id("b")}}, "codex/2": {{ID: id("b")}}}},
		"an amendment": {
			"commit A main claude/1\ncommit B main claude/1\nmoved A B\n",
			map[string][]LinkedCommit{"claude/1": {{ID: id("b"), Branch: "main"}}}},
		"two rebases, the first by another session": {
			"commit A main claude/1\ncopied B main codex/2\nmoved A B\nmoved B C\n",
			map[string][]LinkedCommit{"claude/1": {{ID: id("c"), Branch: "main"}}}},
		"a squash": {
			"commit A main claude/1\ncommit B main claude/1\nmoved A C\nmoved B C\n",
			map[string][]LinkedCommit{"claude/1": {{ID: id("c"), Branch: "main"}}}},
		"there and back again": {
			"commit A main claude/1\nmoved A B\nmoved B A\n",
			map[string][]LinkedCommit{"claude/1": {{ID: id("a"), Branch: "main"}}}},
		"a commit of a rebase that is no copy": {
			"copied D main claude/1\n",
			map[string][]LinkedCommit{"claude/1": {{ID: id("d"), Branch: "main", Copied: true}}}},
		"lines that are none": {
			"commit A main\ncommit xyz main claude/1\nmoved A\nfuture A B C\ncommit A main Claude/1 claude/../x claude/\n\x00\ncommit A ma",
			map[string][]LinkedCommit{}},
	} {
		text := tt.text
		for _, c := range []string{"A", "B", "C", "D"} {
			text = strings.ReplaceAll(text, " "+c, " "+id(strings.ToLower(c)))
		}
		text = strings.ReplaceAll(text, id("c")+"laude", "Claude")
		got, err := ReadLinks(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func FuzzReadLinks(f *testing.F) {
	f.Add("commit " + strings.Repeat("a", 40) + " main claude/1\nmoved " + strings.Repeat("a", 40) + " " + strings.Repeat("b", 40) + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		links, _ := ReadLinks(strings.NewReader(text))
		for s, commits := range links {
			seen := map[string]bool{}
			for _, c := range commits {
				if seen[c.ID] || !objectID.MatchString(c.ID) || !sessionName.MatchString(s) {
					t.Fatalf("%q: %v", s, commits)
				}
				seen[c.ID] = true
			}
		}
	})
}
