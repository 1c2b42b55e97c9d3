package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Waiting begins a known statement that a person has not decided about.
const Waiting = "waiting for a person: "

// Topics returns the texts by which known statements about a session are searched, at most limit
// bytes each: a person's words, and the commands that ran.
func Topics(s transcript.Session, events []transcript.Event, limit int) (said, ran string) {
	var words, commands strings.Builder
	for _, e := range events {
		if e.Kind == transcript.User && e.Origin == transcript.Typed && words.Len() < limit {
			words.WriteString(e.Text + "\n")
		}
	}
	seen := map[string]bool{}
	for _, a := range actsOf(s, events).acts {
		if key := a.step.key; key != "" && !seen[key] && !looks(a.step) && commands.Len()+len(key) < limit {
			seen[key] = true
			commands.WriteString(key + "\n")
		}
	}
	return words.String(), commands.String()
}

// SameTopic reports whether a statement has two meaningful words of a text.
func SameTopic(statement, text string) bool {
	return sharedWords(statement, text)+pairsOf(statement, text) > 1
}
