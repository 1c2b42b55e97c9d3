package compress

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Kind is a kind of output: the action that printed it, and its tool if the action does not decide.
type Kind struct {
	name   string
	action transcript.Action
	tool   string
}

var kinds = []Kind{
	{"auto", transcript.Other, ""}, {"run", transcript.Run, ""}, {"read", transcript.Read, ""}, {"search", transcript.Search, ""}, {"list", transcript.Search, "list"},
	{"fetch", transcript.Fetch, ""}, {"task", transcript.Task, ""}, {"skill", transcript.Other, "skill"},
}

// KindNames returns the names of all kinds.
func KindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// KindNamed finds a kind.
func KindNamed(name string) (Kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Shortened is an output after Shorten, with its counts. The counts leave out markers.
type Shortened struct {
	Text      string `json:"text"`
	Cut       bool   `json:"cut"`
	Hash      string `json:"hash,omitempty"` // of the kept original; the caller sets it
	Lines     int    `json:"lines"`          // of the original
	LeftLines int    `json:"leftLines"`      // out
	Bytes     int    `json:"bytes"`
	LeftBytes int    `json:"leftBytes"`
}

// Shorten shortens an output that a command line printed; the command may be empty.
func (k Kind) Shorten(command, text string) (s Shortened) {
	if k.name == "auto" && command != "" {
		k.action = transcript.Run
	}
	s.Text, s.Cut = Output(k.action, k.tool, command, text)
	s.count(text)
	return s
}

// count compares the texts, and leaves out markers.
func (s *Shortened) count(original string) {
	lines := func(text string) (all, markers, bytes int) {
		for l := range strings.Lines(text) {
			all++
			if IsMarker(strings.TrimSuffix(l, "\n")) {
				markers++
				bytes += len(l)
			}
		}
		return all, markers, bytes
	}
	was, marked, markedBytes := lines(original)
	now, markers, markerBytes := lines(s.Text)
	s.Lines, s.Bytes = was, len(original)
	s.LeftLines = max(0, was-marked-(now-markers))
	s.LeftBytes = max(0, len(original)-markedBytes-(len(s.Text)-markerBytes))
}

// LastLine returns the line below a shortened text, which says how to expand it.
func (s Shortened) LastLine() string {
	left := fmt.Sprintf("%d of %s left out", s.LeftLines, plural.Count(s.Lines, "line", "lines"))
	if s.LeftLines == 0 {
		left = fmt.Sprintf("%d of %s left out", s.LeftBytes, plural.Count(s.Bytes, "byte", "bytes"))
	}
	if s.Hash == "" {
		return "[reverie compress: " + left + ", and not kept]\n"
	}
	return "[reverie expand " + s.Hash + ": " + left + "]\n"
}
