package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
)

// tellShielded says how much an agent is not shown.
func (w *workspace) tellShielded(n int) {
	if n > 0 {
		w.env.Say("%s", reader.Shielded(n))
	}
}

// tellHidden says that something is left out.
func (w *workspace) tellHidden(n int) {
	switch {
	case n == 1:
		w.env.Say("1 memory by untrusted people is left out; next: reverie trust")
	case n > 1:
		w.env.Say("%d memories by untrusted people are left out; next: reverie trust", n)
	}
}

// tellAnchors says what a memory rests on.
func (env *Env) tellAnchors(anchors []string) {
	for _, text := range anchors {
		a, err := record.ParseAnchor(text)
		switch {
		case err != nil:
		case a.Snippet == "":
			env.Say("anchored to %s", a.Path)
		default:
			env.Say("anchored to %s: %s", a.Path, a.Snippet)
		}
	}
}

// tellPassedOver says why files cannot be read, a line for each. That quotes their names and what
// they hold, which anybody may have written who can push: an agent is told how many they are, and
// nothing of it.
func (w *workspace) tellPassedOver(why []string) {
	if len(why) > 0 && w.Shields() {
		w.env.Warn("%s cannot be read and passed over; a person sees why with 'reverie check'", plural.Count(len(why), "file", "files"))
		return
	}
	for _, one := range why {
		w.env.Warn("passed over: %s", strings.ReplaceAll(one, "\n", "^J"))
	}
}

// tellLost warns if the branch or the journal does not reach the last commits made here.
func (w *workspace) tellLost(ctx context.Context) {
	for _, err := range reader.Lost(ctx, w.Reader) {
		w.env.Warn("%v", err)
	}
}

func waits(n int) string { return plural.Count(n, "operation waits", "operations wait") }
