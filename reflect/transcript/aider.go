package transcript

import (
	"bytes"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// aider reads Aider's history, a Markdown file to which each run appends. It has a heading at the
// start, "#### " before each line that a person enters, "> " before each of Aider's own, and the
// model's answers unchanged.
//
// An answer may contain such lines too. Aider's own end with two spaces, which is rare in answers,
// so only those count as Aider's. But an answer may repeat any file content. So a person decides on
// everything learned from it: the policy accepts nothing with such a history as its only evidence.
type aider struct {
	*run
	asked  bool    // a person entered something in this session
	input  passage // what a person enters, not handed over yet
	answer passage // the model's, not handed over yet
}

const aiderStart = "# aider chat started at "

var (
	aiderHeading = pattern.New(`^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$`)
	aiderModel   = pattern.New(`^(?:Main model|Model): (\S+)(?: with |$)`)
	aiderVersion = pattern.New(`^Aider v(\d\S*)$`)
	aiderEdit    = pattern.New(`^Applied edit to (\S.*)$`)
	aiderRun     = pattern.New(`^Running (\S.*)$`)
)

func (p *aider) line(b []byte) {
	text := string(bytes.TrimSuffix(b, []byte("\r")))
	if m := aiderHeading.FindStringSubmatch(text); m != nil {
		p.start(m[1])
		return
	}
	if p.ID == "" {
		if strings.TrimSpace(text) != "" {
			p.stats.Ignored++
		}
		return
	}
	isOwn := strings.HasSuffix(text, "  ")
	if said, ok := strings.CutPrefix(text, "####"); ok && isOwn && (said[0] == ' ') {
		p.flushAnswer()
		p.asked = true
		p.input.add(strings.TrimSpace(said))
		return
	}
	p.flushUser()
	if said, ok := strings.CutPrefix(text, "> "); ok && isOwn {
		p.flushAnswer()
		p.said(strings.TrimSpace(said))
	} else if p.asked { // before that it is the rest of Aider's command line
		p.answer.add(strings.TrimRight(text, " "))
	}
}

// start begins a session, named for its start by the machine's clock.
func (p *aider) start(when string) {
	p.end()
	at, err := time.ParseInLocation(time.DateTime, when, time.Local)
	if err != nil {
		p.bad(err)
		return
	}
	id := "chat-" + at.Format("20060102-150405")
	for p.closed[id] { // two in one second
		id += "-again"
	}
	p.Session = Session{Client: string(Aider), ID: id, Started: at.UTC()}
}

// said handles a line of Aider's own.
func (p *aider) said(text string) {
	if m := aiderModel.FindStringSubmatch(text); m != nil {
		p.Model = m[1]
	} else if m := aiderVersion.FindStringSubmatch(text); m != nil {
		p.Version = m[1]
	} else if m := aiderEdit.FindStringSubmatch(text); m != nil {
		p.emit(Event{Kind: Call, Tool: "edit", Action: Edit, Paths: []string{m[1]}})
	} else if m := aiderRun.FindStringSubmatch(text); m != nil {
		p.emit(Event{Kind: Call, Tool: "run", Action: Run, Command: m[1]})
	} else {
		p.stats.Ignored++
	}
}

// flushUser emits a person's input: words, or a command of Aider's. It may be a question that Aider
// answered for the person.
func (p *aider) flushUser() {
	text := p.input.take()
	switch {
	case text == "" || text == "<blank>":
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "!"):
		p.emit(Event{Kind: User, Origin: Command, Text: text})
	case strings.Contains(text, "(Y)es/(N)o"):
		p.emit(Event{Kind: User, Origin: Injected, Text: text})
	default:
		p.run.user(Event{}, Typed, text)
	}
}

func (p *aider) flushAnswer() {
	if text := p.answer.take(); text != "" {
		p.emit(Event{Kind: Assistant, Text: text})
	}
}

func (p *aider) end() {
	p.flushUser()
	p.flushAnswer()
	p.asked = false
	p.run.end()
}

// maxPassage bounds one speaker's buffered lines, in bytes, plus one line: an event keeps MaxText,
// head and tail.
const maxPassage = 4 * MaxText

// passage holds the lines of one speaker. Beyond maxPassage it drops the middle, and the marker
// counts only the part that was still buffered.
type passage struct {
	cutter
	lines []string
	size  int // bytes of lines, with line feeds
}

func (p *passage) add(line string) {
	p.lines = append(p.lines, line)
	if p.size += len(line) + 1; p.size > maxPassage {
		held := p.cutter.cut(strings.Join(p.lines, "\n"), maxPassage/2)
		p.lines, p.size = []string{held}, len(held)+1
	}
}

// take returns the text of the lines, without surrounding blank ones, and empties the passage.
func (p *passage) take() string {
	text := strings.TrimSpace(strings.Join(p.lines, "\n"))
	p.lines, p.size = nil, 0
	return text
}
