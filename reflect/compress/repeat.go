package compress

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"path"
	"strings"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// repeats puts a reference in the place of an output that was there before, of the same call: all
// of both the same, from the tool's name to the last byte. It is not done for a file that was
// edited between the two, though its text is what it was.
func (s *session) repeats() {
	calls := map[string]*transcript.Event{}
	first := map[[sha256.Size]byte]int{} // places in events
	edits := edits{last: map[string]int{}, any: -1, latest: -1}
	for i := range s.events {
		e := &s.events[i]
		if e.Kind == transcript.Call {
			if e.CallID != "" {
				calls[e.CallID] = e
			}
			if e.Action == transcript.Edit {
				edits.add(i, e.Paths)
			}
			continue
		}
		call := calls[e.CallID]
		if e.Kind != transcript.Result || call == nil && e.Command == "" || len(e.Text) < minSaved+markerRoom || s.isProtected(e) || incomplete(e.Text) {
			continue
		}
		key := repeatKey(call, e)
		before, found := first[key]
		if !found || readsFile(e) && edits.since(before, call) {
			first[key] = i
			continue
		}
		if !s.whole(i) {
			e.Text = marker(fmt.Sprintf("the same output as in event %d", s.events[before].N))
		}
	}
}

// repeatKey is a hash of a call and what it gave back.
func repeatKey(call, result *transcript.Event) (key [sha256.Size]byte) {
	h := sha256.New()
	if call != nil {
		put(h, call.Tool, call.Text, call.Command, call.Dir)
		put(h, call.Paths...)
	}
	exit := ""
	if result.Exit != nil {
		exit = fmt.Sprint(*result.Exit)
	}
	put(h, result.Agent, result.Tool, string(result.Action), result.Command, result.Dir, string(result.Outcome), exit, result.Text)
	h.Sum(key[:0])
	return key
}

func put(h hash.Hash, texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(h, "%d:", len(t))
		h.Write([]byte(t))
	}
	h.Write([]byte{';'})
}

// edits are the events that changed files, by the last part of a path: one may be relative and
// another not.
type edits struct {
	last   map[string]int
	any    int // the last that names no file
	latest int
}

// readsFile reports whether an output is what a file had in it, by a shell's command too.
func readsFile(e *transcript.Event) bool {
	word, _ := program(e.Command)
	return e.Action == transcript.Read || e.Action == transcript.Run && reads.Has(word)
}

func (e *edits) add(at int, paths []string) {
	e.latest = at
	if len(paths) == 0 {
		e.any = at
	}
	for _, p := range paths {
		e.last[baseOf(p)] = at
	}
}

// since reports whether one of the files that a call reads may have been edited after an event.
func (e *edits) since(event int, call *transcript.Event) bool {
	if e.any > event {
		return true
	}
	if call == nil || len(call.Paths) == 0 {
		return e.latest > event
	}
	for _, p := range call.Paths {
		if at, found := e.last[baseOf(p)]; found && at > event {
			return true
		}
	}
	return false
}

func baseOf(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }
