package transcript

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
	// takes secrets out of a text that has to be cut; nil where none is kept
	Redact func(text string) string
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
