package transcript

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// markdownStarts returns the first texts of a format that is Markdown, the usual one first.
func markdownStarts(f Format) []string {
	switch f {
	case Aider:
		return []string{aiderStart}
	case SpecStory:
		return []string{specStoryStart, specStoryFirst + "\n", specStoryFirst + "\r\n"}
	}
	return nil
}

// beginsAs reports whether a transcript begins as one in a format that is Markdown.
func beginsAs(f Format, head []byte) bool {
	return slices.ContainsFunc(markdownStarts(f), func(start string) bool { return bytes.HasPrefix(head, []byte(start)) })
}

// parser reads the records of one format.
type parser interface {
	// line reads one record. It reports faults to run.bad.
	line(b []byte)
	// end emits the events still held, at the end of input.
	end()
}

// documentParser also reads a transcript that is one JSON value, as OpenCode's and Gemini's may be.
type documentParser interface {
	parser
	document(d *document) error
}

// Decode reads a transcript and passes its sessions and events to sink. It holds one line at a
// time. If a format lets later records replace earlier ones, it holds the truncated events of that
// session. If r has a name (as os.File does), an agent's transcript without a session id may take
// its id from it. Decode stops with ctx's error when ctx is done.
func Decode(ctx context.Context, r io.Reader, f Format, sink Sink) (Stats, error) {
	run := &run{ctx: ctx, sink: sink, name: baseName(r), closed: map[string]bool{}}
	err := run.decode(bufio.NewReaderSize(r, peekSize), f)
	return run.stats, err
}

// Whole reads a transcript and passes each session with all of its events to done.
func Whole(ctx context.Context, r io.Reader, f Format, done func(Session, []Event) error) error {
	var events []Event
	_, err := Decode(ctx, r, f, Sink{
		Session: func(Session) error { events = nil; return nil },
		Event:   func(e Event) error { events = append(events, e); return nil },
		Done:    func(s Session) error { return done(s, events) },
	})
	return err
}

func (r *run) decode(br *bufio.Reader, f Format) error {
	head, err := peek(br)
	if err != nil {
		return err
	}
	switch f {
	case Auto, "":
		for _, markdown := range []Format{Aider, SpecStory} {
			if beginsAs(markdown, head) {
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
	case OpenCode, Gemini, Claude, Codex, Copilot, Qwen, JSONL:
		switch d := detectDocument(head); d {
		case "":
		case f:
			return r.document(br, f)
		default:
			return fmt.Errorf("%w: not %s, it looks like %s", ErrUnknownFormat, f, d)
		}
	case Aider, SpecStory:
		if !beginsAs(f, head) {
			return fmt.Errorf("%w: not %s, it does not begin with %q", ErrUnknownFormat, f, markdownStarts(f)[0])
		}
	default:
		return fmt.Errorf("%w: %q: want %s", ErrUnknownFormat, f, formatList(Formats))
	}

	r.blanks = markdownStarts(f) != nil
	lines := &lineReader{r: br, max: MaxLine}
	first, err := r.firstLines(lines, f)
	if err != nil {
		return err
	}
	p := r.parser(r.stats.Format)
	for _, l := range first {
		r.line = l.n
		p.line(l.b)
	}
	for {
		b, err := r.nextLine(lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		p.line(b)
	}
	if p.end(); r.err != nil {
		return r.err
	}
	if r.stats.Sessions == 0 && r.firstBad != nil {
		return fmt.Errorf("%w: no %s session in it; the first bad line: %w", ErrUnknownFormat, r.stats.Format, r.firstBad)
	}
	return nil
}

func (r *run) parser(f Format) parser {
	r.Client = string(f)
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
	case Qwen:
		return &qwen{r}
	case Aider:
		return &aider{run: r, input: passage{cutter: r.cutter()}, answer: passage{cutter: r.cutter()}}
	case SpecStory:
		r.name = "" // a copy of the file may have another
		return &specStory{run: r, part: passage{cutter: r.cutter()}}
	default:
		return &generic{run: r}
	}
}

// document reads a transcript that is one JSON value.
func (r *run) document(br *bufio.Reader, f Format) error {
	r.stats.Format = f
	d := &document{r: br, max: MaxLine, n: 1}
	p := r.parser(f).(documentParser)
	err := r.broken(d, p.document(d))
	if err == nil {
		p.end()
		err = r.err
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
