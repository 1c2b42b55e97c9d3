package redact

// Stream scans texts that follow one another, such as the events of a session. A private key that
// begins in one of them goes out of those after it too, for Reach bytes or up to its end. It keeps
// no text. Its methods belong to one goroutine at a time.
type Stream struct {
	scanner *Scanner
	carry   int // bytes of what comes that may belong to a key that has begun
}

// Reach bounds the search for an unterminated private key, in bytes from its beginning.
const Reach = maxPrivateKey

// Stream begins a stream. A nil Scanner's works too.
func (s *Scanner) Stream() *Stream { return &Stream{scanner: s} }

// Text is Scanner.Text for the next text.
func (t *Stream) Text(text string) (Redacted, Report) {
	clean, report := t.scanner.text(text, t.carry, false)
	t.Skip(text)
	return clean, report
}

// JSON is Scanner.JSON for the next document.
func (t *Stream) JSON(doc []byte) (Redacted, Report, error) {
	clean, report, err := t.scanner.json(doc, t.carry)
	if err == nil {
		t.Skip(string(doc))
	}
	return clean, report, err
}

// Skip passes over a text, as it was or as an earlier stream left it: a marker tells where a key
// began.
func (t *Stream) Skip(text string) {
	t.carry = max(0, t.carry-len(text))
	for _, l := range findLabels(text) {
		switch l.kind {
		case keyBegin, keyEither:
			t.carry = max(0, maxPrivateKey-(len(text)-l.end))
		case keyEnd:
			t.carry = 0
		}
	}
}

// Glance scans what has come of a text that goes on. Lines at its end that may turn out to be a
// key's go out too.
func (s *Scanner) Glance(text string) Redacted {
	clean, _ := s.text(text, 0, true)
	return clean
}
