package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/maphash"
	"net/url"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// codex reads Codex CLI's rollouts, which record most things twice: as the item to or from the
// model (response_item) and as the client's view (event_msg; in newer versions its item_completed).
// The version decides which of the two exists, and their order. The oldest rollouts are bare items.
type codex struct {
	*run
	started bool   // a header was read
	parent  string // id of the parent thread of this sub-agent
	seed    maphash.Seed
	told    map[uint64]*telling
	tools   map[string]*codexCall

	background []*codexCall  // those that continued in the background
	program    *codexProgram // the last one, until its output
}

// telling counts how often each source recorded one text; it was emitted as often as in the most
// complete one.
type telling struct {
	times   [3]int
	emitted int
}

// The sources of a codex rollout.
const (
	fromItem = iota
	fromEvent
	fromCompleted
)

func newCodex(r *run) *codex {
	return &codex{run: r, seed: maphash.MakeSeed(), told: map[uint64]*telling{}, tools: map[string]*codexCall{}}
}

type codexRecord struct {
	Timestamp  string
	Type       string
	RecordType string `json:"record_type"`
	ID         string
	Payload    json.RawMessage
	Metadata   struct {
		CompactionOutput bool `json:"compaction_output"`
	}
}

// codexMeta is the payload of session_meta, and the first line of the oldest rollouts.
type codexMeta struct {
	ID        string
	Timestamp string
	Cwd       string
	Version   string `json:"cli_version"`
	Git       struct {
		Commit string `json:"commit_hash"`
		Branch string
	}
	Source struct {
		Subagent struct {
			ThreadSpawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		}
	}
	ThreadSource string `json:"thread_source"`
	Parent       string `json:"parent_thread_id"`
}

func (p *codex) line(b []byte) {
	var rec codexRecord
	if !p.read(b, &rec) {
		return
	}
	at := parseTime(rec.Timestamp)
	switch {
	case rec.Payload == nil && rec.RecordType != "":
		p.stats.Ignored++
	case rec.Payload == nil && rec.Type == "" && rec.ID != "":
		p.meta(b)
	case rec.Payload == nil && codexItems.Has(rec.Type):
		p.item(b, at, false)
	case rec.Type == "":
		p.bad(errors.New("type: missing"))
	case rec.Payload == nil:
		p.bad(errors.New("payload: missing"))
	case rec.Type == "session_meta":
		p.meta(rec.Payload)
	case rec.Type == "turn_context":
		var turn struct{ Model, Cwd string }
		if err := decode(rec.Payload, &turn); err == nil {
			p.Model = cmp.Or(turn.Model, p.Model)
			p.Dir = cmp.Or(p.Dir, turn.Cwd)
		}
	case rec.Type == "response_item":
		p.item(rec.Payload, at, rec.Metadata.CompactionOutput)
	case rec.Type == "event_msg":
		p.event(rec.Payload, at)
	case rec.Type == "compacted":
		var c struct{ Message string }
		if p.parse(rec.Payload, &c) {
			p.emit(Event{Kind: Compaction, Time: at, Text: c.Message})
		}
	default:
		p.stats.Ignored++
	}
}

// meta reads the header. A second one belongs to history copied from another thread.
func (p *codex) meta(b []byte) {
	var m codexMeta
	if !p.parse(b, &m) {
		return
	}
	if p.started {
		p.stats.Ignored++
		return
	}
	p.started = true
	p.ID, p.Dir, p.Version = m.ID, m.Cwd, m.Version
	p.Branch, p.Commit, p.Started = m.Git.Branch, m.Git.Commit, parseTime(m.Timestamp)
	p.Parent = cmp.Or(m.Source.Subagent.ThreadSpawn.Parent, m.Parent)
	p.parent = p.Parent
	if p.parent == "" && m.ThreadSource == "subagent" {
		p.parent = "unknown" // for the origin of its prompts; missing in the header
	}
}

func (p *codex) end() {
	for _, c := range p.background {
		if c.running != nil { // the rollout does not record its end
			p.finish(c, *c.running)
		}
	}
	p.endProgram()
	p.run.end()
}

// fresh reports whether a text is to be emitted, because no other source recorded it before.
func (p *codex) fresh(source int, kind Kind, text string) bool {
	key := maphash.String(p.seed, string(kind)+"\x00"+strings.TrimSpace(text))
	t := p.told[key]
	if t == nil {
		t = &telling{}
		p.told[key] = t
	}
	t.times[source]++
	if t.times[source] <= t.emitted {
		return false
	}
	t.emitted++
	return true
}

// words emits text in the user's role that is not injected by the client. mixed means that other
// parts of the same message were.
func (p *codex) words(source int, at time.Time, mixed bool, texts ...string) {
	texts, setup := partSetup(texts)
	w := partMessage(texts...)
	if setup != "" {
		w.injected, mixed = append(w.injected, setup), true
	}
	for _, in := range w.injected {
		p.injected(source, at, in)
	}
	if text := strings.Join(w.own, "\n"); text != "" && p.fresh(source, User, text) {
		p.emit(Event{Kind: User, Origin: wordsOf(p.parent != ""), Time: at, Mixed: mixed || w.mixed, Text: text})
	}
}

var setupStart = pattern.New(`(?im)^[ \t]*#+[ \t]*Context from my IDE setup`)

// partSetup separates the client's remarks on the IDE from the request below them. The shown tabs
// and lines may hold the request's heading too: then everything counts as the client's.
func partSetup(texts []string) (own []string, setup string) {
	const heading, words = "\n## My request for Codex:", "my request for codex"
	for i, text := range texts {
		at := setupStart.FindStringIndex(text)
		if at == nil {
			continue
		}
		own = append(own, texts[:i]...)
		own = append(own, text[:at[0]])
		setup = strings.Join(append([]string{text[at[0]:]}, texts[i+1:]...), "\n")
		if cut := strings.LastIndex(setup, heading); cut >= 0 && strings.Count(strings.ToLower(setup), words) == 1 {
			own, setup = append(own, strings.TrimSpace(setup[cut+len(heading):])), setup[:cut]
		}
		return own, strings.TrimSpace(setup)
	}
	return texts, ""
}

func (p *codex) injected(source int, at time.Time, text string) {
	if strings.TrimSpace(text) == "" || !p.fresh(source, "injected", text) {
		return
	}
	if command, found := element(text, "user_shell_command"); found {
		p.userShell(at, command)
	} else {
		p.emit(Event{Kind: User, Origin: Injected, Time: at, Text: text})
	}
}

// userShell emits a command that the user ran by "!".
func (p *codex) userShell(at time.Time, text string) {
	command, _ := element(text, "command")
	result, _ := element(text, "result")
	out := parseOutput(result)
	id := "user-shell-" + at.Format(time.RFC3339Nano)
	e := Event{Kind: Call, Origin: Command, Time: at, Tool: "!", Action: Run, Command: command, CallID: id}
	p.emit(e)
	e.Kind, e.Text, e.Exit, e.Outcome = Result, out.text, out.exit, outcomeOf(out.exit)
	p.emit(e)
}

// say emits the model's text.
func (p *codex) say(source int, kind Kind, at time.Time, text string) {
	if strings.TrimSpace(text) != "" && p.fresh(source, kind, text) {
		p.emit(Event{Kind: kind, Time: at, Text: text})
	}
}

// localPath returns the path of a file URL.
func localPath(s string) string {
	if u, err := url.Parse(s); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return s
}
