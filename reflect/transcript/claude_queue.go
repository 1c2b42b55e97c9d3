package transcript

import (
	"cmp"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// maxQueued bounds the prompts held at one time. Later ones are dropped.
const maxQueued = 256

// queued is an entry of Claude Code's queue: a prompt typed while the agent works, or a notice of
// the client's. Some versions write nothing else about it; others repeat it as a user record or an
// attachment once the agent gets it. An entry that never leaves the queue is not emitted, because
// its record may still come.
type queued struct {
	session string // id as the transcript has it
	text    string // trimmed, at most MaxText
	time    string
	// its event was emitted when it left the queue; a record may repeat it until the next answer
	told bool
}

// queueOperation reads a record about the queue. It opens no session, because a fork's queue may
// precede the history of its origin.
func (p *claude) queueOperation(rec *claudeRecord) {
	var text string
	_ = json.Unmarshal(rec.Content, &text)
	entry := queued{cmp.Or(rec.SessionID, rec.SessionID2, p.key), p.trimQueued(text), rec.Timestamp, false}
	meant := func(q queued) bool { // an operation without a text means the oldest, or all
		return !q.told && q.session == entry.session && (entry.text == "" || q.text == entry.text)
	}
	switch rec.Operation {
	case "enqueue":
		if entry.text != "" && len(p.waiting) < maxQueued {
			p.waiting = append(p.waiting, entry)
			return
		}
	case "remove": // the agent got it during its turn
		if i := slices.IndexFunc(p.waiting, meant); i >= 0 && p.entered && entry.session == p.key {
			p.waiting[i].told = true
			p.deliver(p.waiting[i])
			return
		}
	case "popAll": // back in the input line for editing
		p.waiting = slices.DeleteFunc(p.waiting, meant)
	}
	p.stats.Ignored++
}

func (p *claude) trimQueued(text string) string {
	return strings.TrimSpace(p.cutter().cut(strings.TrimSpace(text), MaxText))
}

// repeatsQueue reports whether a record of the user's role holds only queued text.
func (p *claude) repeatsQueue(blocks claudeContent) bool {
	if len(p.waiting) == 0 {
		return false
	}
	text := strings.TrimSpace(blocks.text())
	if name, found := element(text, "command-name"); found {
		args, _ := element(text, "command-args")
		return p.dequeue(name + " " + args)
	}
	if command, found := element(text, "bash-input"); found {
		return p.dequeue(command)
	}
	return p.dequeue(text) || p.dequeue(Own(text))
}

// dequeue removes a record's repeated text from the queue, and reports whether its event was
// emitted before. Prompts that waited together come in one record, each on its own lines.
func (p *claude) dequeue(text string) (told bool) {
	if len(p.waiting) == 0 {
		return false
	}
	text = p.trimQueued(text)
	p.waiting = slices.DeleteFunc(p.waiting, func(q queued) bool {
		switch {
		case q.session != p.key || text == "":
			return false
		case q.text == text:
			told, text = told || q.told, ""
			return true
		case !q.told && strings.HasPrefix(text, q.text+"\n"):
			text = strings.TrimSpace(text[len(q.text):])
			return true
		}
		return false
	})
	return told
}

var (
	tagFirst     = pattern.New(`^<[A-Za-z!/?]`)
	slashCommand = pattern.New(`^/[A-Za-z][\w:.-]*(?:\s|$)`)
)

// typedArgs returns the words after a slash command in a line that a person typed.
func typedArgs(line string) string {
	command := slashCommand.FindString(line)
	if !wordsFollow(strings.TrimSpace(command)) {
		return ""
	}
	return strings.TrimSpace(line[len(command):])
}

// deliver emits an entry of the queue. No field names its author. The client's notices are elements
// or JSON objects, and a prompt that an agent scheduled occurs in a call.
func (p *claude) deliver(q queued) {
	e := Event{Kind: User, Time: parseTime(q.time), Text: q.text}
	switch {
	case tagFirst.MatchString(q.text), q.text[0] == '{' && json.Valid([]byte(q.text)), p.fromAgent(q.text):
		e.Origin = Injected
		p.emit(e)
	case slashCommand.MatchString(q.text):
		e.Origin = Command
		p.emit(e)
		p.words(e, typedArgs(q.text))
	default:
		p.words(e, q.text)
	}
}

// noteInput records the texts of a call that may return as a prompt or as the arguments of a slash
// command.
func (p *claude) noteInput(e Event, input []byte) {
	if e.Action != Other && e.Action != Task {
		return
	}
	var fields any
	_ = json.Unmarshal(input, &fields)
	p.noteTexts(fields)
}

// noteTexts records every text of a value, at any depth.
func (p *claude) noteTexts(value any) {
	switch v := value.(type) {
	case string:
		p.inputs[maphash.String(p.seed, strings.TrimSpace(v))] = struct{}{}
	case []any:
		for _, one := range v {
			p.noteTexts(one)
		}
	case map[string]any:
		for _, one := range v {
			p.noteTexts(one)
		}
	}
}

// fromAgent reports whether a call of the agent's held exactly this text, or a line of it.
func (p *claude) fromAgent(text string) bool {
	if _, found := p.inputs[maphash.String(p.seed, strings.TrimSpace(text))]; found {
		return true
	}
	for line := range strings.Lines(text) {
		if _, found := p.inputs[maphash.String(p.seed, strings.TrimSpace(line))]; found && len(strings.TrimSpace(line)) >= minScheduled {
			return true
		}
	}
	return false
}

// minScheduled is the minimum length, in bytes, of a line that is taken for an agent's because a
// call held it: a shorter one proves little.
const minScheduled = 12
