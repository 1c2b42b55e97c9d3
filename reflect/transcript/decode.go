package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Format names a kind of transcript.
type Format string

const (
	Auto      Format = "auto"      // recognise the format by the first records
	OpenCode  Format = "opencode"  // `opencode export`, a plugin's or the bus's events, `opencode run --format json`
	Claude    Format = "claude"    // Claude Code's JSONL, also its `--output-format stream-json`
	Codex     Format = "codex"     // Codex CLI's rollout JSONL
	Gemini    Format = "gemini"    // Gemini CLI's chats, JSONL or one JSON document
	Copilot   Format = "copilot"   // Copilot CLI's events.jsonl
	Aider     Format = "aider"     // Aider's .aider.chat.history.md
	SpecStory Format = "specstory" // a file of .specstory/history
	JSONL     Format = "jsonl"     // generic: one session per line
)

// Formats holds every format Decode knows, Auto first.
var Formats = []Format{Auto, OpenCode, Claude, Codex, Gemini, Copilot, Aider, SpecStory, JSONL}

// markdownStarts begin the formats that are Markdown.
var markdownStarts = map[Format]string{Aider: aiderStart, SpecStory: specStoryStart}

var (
	// ErrUnknownFormat is returned when no record of a known format was found, or none of the
	// format asked for.
	ErrUnknownFormat = errors.New("unknown transcript format")
	// ErrEmpty is returned when the input holds nothing but white space.
	ErrEmpty = errors.New("empty transcript")
	// ErrBinary is returned when the input is not text.
	ErrBinary = errors.New("binary data, not a transcript")
	// ErrLineTooLong is given to Sink.Bad for a line or an element larger than MaxLine.
	ErrLineTooLong = errors.New("too long")
	// ErrReplaced is given to Sink.Bad for a line that was read, but held wrong UTF-8, which
	// was replaced by U+FFFD.
	ErrReplaced = errors.New("wrong UTF-8 replaced")
)

// MaxLine is the largest line of a JSONL transcript, or the largest message of a transcript that
// is one JSON document, that is read, in bytes. Larger ones are skipped without being held.
const MaxLine = 16 << 20

// Sink receives what Decode finds, one call at a time, for each session in this order: Session, its
// events, Done. Session, Event and Done must be set; an error of theirs ends Decode.
type Sink struct {
	Session func(Session) error       // a session begins; later records may add to the header
	Event   func(Event) error         // its next event; N counts from 0 in each session
	Done    func(Session) error       // the header again, complete
	Bad     func(line int, err error) // a line was skipped, or read with ErrReplaced; may be nil
	Redact  func(text string) string  // takes secrets out of a text that has to be cut; nil where none is kept
}

// Stats counts what Decode met.
type Stats struct {
	Format   Format // the one that was read
	Lines    int    // lines of input, blank ones included
	Skipped  int    // lines, or elements of a JSON document, that could not be read
	Replaced int    // lines read after wrong UTF-8 was replaced
	Ignored  int    // records of no concern here, or of a type unknown to this version
	Sessions int
	Events   int
}

// parser reads the records of one format.
type parser interface {
	// line reads one record. What is wrong with it goes to run.bad; an error ends the run.
	line(b []byte) error
	// end hands over what is still held, at the end of input.
	end() error
}

// Decode reads a transcript and hands its sessions and events to sink. It holds one line at a time,
// save where a format lets later records replace earlier ones: then it holds the events of that
// session, their texts cut. If r has a name (as os.File does), a generic transcript without
// session ids takes its ids from it. Decode stops with ctx's error when ctx is done.
func Decode(ctx context.Context, r io.Reader, f Format, sink Sink) (Stats, error) {
	run := &run{ctx: ctx, sink: sink, name: baseName(r), closed: map[string]bool{}}
	err := run.read(bufio.NewReaderSize(r, peekSize), f)
	return run.stats, err
}

func (r *run) read(br *bufio.Reader, f Format) error {
	head, err := peek(br)
	if err != nil {
		return err
	}
	switch f {
	case Auto, "":
		for markdown, start := range markdownStarts {
			if bytes.HasPrefix(head, []byte(start)) {
				f = markdown
			}
		}
		if f != Auto && f != "" {
			break
		}
		if f = detectDocument(head); f != "" {
			return r.document(br, f)
		}
		if k := topKeys(head); k.whole && bytes.IndexByte(head[:k.size], '\n') >= 0 && !k.oneOfMany(head) {
			return fmt.Errorf("%w: a JSON document, but not one of %s", ErrUnknownFormat, formatList(Formats[1:]))
		}
	case OpenCode, Gemini:
		if d := detectDocument(head); d == f {
			return r.document(br, f)
		} else if d != "" {
			return fmt.Errorf("%w: not %s, it looks like %s", ErrUnknownFormat, f, d)
		}
	case Aider, SpecStory:
		if start := markdownStarts[f]; !bytes.HasPrefix(head, []byte(start)) {
			return fmt.Errorf("%w: not %s, it does not begin with %q", ErrUnknownFormat, f, start)
		}
	case Claude, Codex, Copilot, JSONL:
		if d := detectDocument(head); d != "" {
			return fmt.Errorf("%w: not %s, it looks like %s", ErrUnknownFormat, f, d)
		}
	default:
		return fmt.Errorf("%w: %q: want %s", ErrUnknownFormat, f, formatList(Formats))
	}

	r.blanks = markdownStarts[f] != ""
	lines := &lineReader{r: br, max: MaxLine}
	first, err := r.firstLines(lines, f)
	if err != nil {
		return err
	}
	p := r.parser(r.stats.Format)
	for _, l := range first {
		r.line = l.n
		if err := p.line(l.b); err != nil {
			return err
		}
	}
	for {
		b, err := r.nextLine(lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := p.line(b); err != nil {
			return err
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	if r.stats.Sessions == 0 && r.firstBad != nil {
		return fmt.Errorf("%w: no %s session in it; the first bad line: %w", ErrUnknownFormat, r.stats.Format, r.firstBad)
	}
	return nil
}

func (r *run) parser(f Format) parser {
	switch f {
	case OpenCode:
		return newOpenCode(r)
	case Claude:
		return newClaude(r)
	case Codex:
		return newCodex(r)
	case Gemini:
		return newGemini(r)
	case Copilot:
		return newCopilot(r)
	case Aider:
		return &aider{run: r, input: passage{cutter: r.cutter()}, answer: passage{cutter: r.cutter()}}
	case SpecStory:
		return &specStory{run: r, part: passage{cutter: r.cutter()}}
	default:
		return &generic{run: r}
	}
}

// document reads a transcript that is one JSON value.
func (r *run) document(br *bufio.Reader, f Format) error {
	r.stats.Format = f
	d := &document{r: br, max: MaxLine, n: 1}
	var err error
	if f == OpenCode {
		err = newOpenCode(r).document(d)
	} else {
		err = newGemini(r).document(d)
	}
	r.stats.Lines = d.n
	if err != nil {
		return err
	}
	if r.stats.Sessions == 0 && r.firstBad != nil {
		return fmt.Errorf("%w: no %s session in it: %w", ErrUnknownFormat, f, r.firstBad)
	}
	return nil
}

// formatList is for error messages.
func formatList(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
