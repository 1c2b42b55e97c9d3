package transcript

// Memory for the events of sessions that are only emitted at the end of input. Up to backlogSize
// bytes of text, texts keep MaxText; from then on new ones keep backlogText.
const (
	backlogSize = 24 << 20
	backlogText = 2 << 10
)

// backlog cuts the texts of held events.
type backlog struct {
	cutter
	size int
}

func (b *backlog) hold(e *Event) {
	limit := MaxText
	if b.size > backlogSize {
		limit = backlogText
	}
	for _, s := range []*string{&e.Text, &e.Command, &e.Old, &e.New} {
		*s = b.valid(*s, limit)
		b.size += len(*s)
	}
}

// drop removes an event that is no longer held from the total.
func (b *backlog) drop(e *Event) { b.size -= len(e.Text) + len(e.Command) + len(e.Old) + len(e.New) }

// text is hold for a single text.
func (b *backlog) text(s string) string {
	e := Event{Text: s}
	b.hold(&e)
	return e.Text
}
