package compress

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"path"
	"strings"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// repeats replaces an output by a reference to an identical earlier one of the same call, from the
// tool's name to the last byte. It skips a file edited between the two, even if its text is the
// same.
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

// repeatKey returns a hash of a call and its output.
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

// edits holds the events that changed files, by the last part of a path, because paths may be
// relative or absolute.
type edits struct {
	last   map[string]int
	any    int // the last that names no file
	latest int
}

// readsFile reports whether an output is a file's content, even by a shell command.
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

// since reports whether a file that a call reads may have been edited after an event.
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
