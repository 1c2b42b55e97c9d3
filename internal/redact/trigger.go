package redact

import "sync"

// trigger is a string that deserves a closer look, with the function that looks.
type trigger struct {
	text string
	fold bool // ASCII letters match in any case; text has them in lower case then
	// look takes or notes the secrets at s.text[at:].
	look func(s *scan, at int)
}

// triggers returns the triggers outside of provider formats. None of them begins like a format's
// prefix, so the order of the checks does not matter.
func triggers() []trigger {
	all := []trigger{
		{"://", false, taking(lookURL)},
		{"%3a%2f%2f", true, taking(lookEncodedURL)},
		{"@tcp(", false, taking(lookDSN)},
		{"@unix(", false, taking(lookDSN)},
		{"jdbc:oracle:", false, taking(lookOracle)},
		{"sig=", false, taking(lookSignature)},
		{"sig%3d", true, taking(lookSignature)},
		{"signature=", true, taking(lookSignature)},
		{"x-amz-signature=", true, taking(lookSignature)},
		{" -u", false, taking(lookUser)},
		{"--user", false, taking(lookUser)},
		{"identified by", true, taking(lookIdentified)},
		{"identified with", true, taking(lookIdentified)},
		{"cookie", true, taking(lookCookie)},
		{"bearer", true, taking(lookBearer)},
		{":*:", false, taking(lookPgpass)},
		{":543", false, taking(lookPgpass)},
		{":643", false, taking(lookPgpass)},
		{"accounts", true, taking(lookAccounts)},
	}
	for _, t := range tongues {
		for _, noun := range t.nouns {
			all = append(all, trigger{noun, true, lookNoun})
		}
	}
	for _, phrase := range phrases {
		all = append(all, trigger{phrase.text, true, phrase.look})
	}
	for i := range commands {
		for _, name := range commands[i].names {
			all = append(all, trigger{name, false, func(s *scan, at int) { commands[i].look(s, at, name) }})
		}
	}
	// Names come last: after an examination, the scan is past its name.
	for _, word := range []string{"pass", "pwd", "kennwort", "secret", "token", "key", "cred", "auth", "psk", "salt", "pin", "pepper", "dsn",
		"seed", "hmac", "signing", "jwt", "conn", "pw=", "pw:", "pw ", "pw\"", "pw'", `pw\`, "pw>", "pw%"} {
		all = append(all, trigger{word, true, lookName})
	}
	return all
}

// Every format and trigger is filed under its first three bytes, five bits of each. This folds the
// case of letters; other collisions cost one comparison. The table is built at the first scan,
// because every command would pay for it at the start.
var filed struct {
	once     sync.Once
	formats  []format
	triggers []trigger
	begun    [1 << 10]uint32 // for the first two bytes a bit for each third
	// by place, the number of the first in a list: formats from 1, then triggers
	first [1 << 10]uint16
	next  []uint16
}

func file() {
	filed.formats, filed.triggers = formats(), triggers()
	filed.next = make([]uint16, 1+len(filed.formats)+len(filed.triggers))
	for n := len(filed.next) - 1; n > 0; n-- { // backwards, so that lists have the order of the tables
		text := ""
		if n <= len(filed.formats) {
			text = filed.formats[n-1].prefix
		} else {
			text = filed.triggers[n-1-len(filed.formats)].text
		}
		k := trigram(trigram(trigram(0, text[0]), text[1]), text[2])
		filed.begun[k>>5] |= 1 << (k & 31)
		k = bucketOf(k)
		filed.next[n], filed.first[k] = filed.first[k], uint16(n)
	}
	k := trigram(trigram(trigram(0, markerHead[0]), markerHead[1]), markerHead[2])
	filed.begun[k>>5] |= 1 << (k & 31)
}

func trigram(k uint32, c byte) uint32 { return (k<<5 | uint32(c&31)) & (1<<15 - 1) }

// bucketOf spreads trigrams over the lists: 2³² divided by the golden ratio separates close ones.
func bucketOf(k uint32) uint32 { return k * 0x9e3779b1 >> (32 - 10) }

// scans spares an allocation per text.
var scans = sync.Pool{New: func() any { return new(scan) }}

// findTriggered makes one pass over text and examines each trigger. Spans may overlap and are not
// sorted.
func findTriggered(text string) []span {
	filed.once.Do(file)
	s := scans.Get().(*scan)
	*s = scan{text: text}
	k := uint32(0)
	for i := 0; i < len(text); i++ {
		k = trigram(k, text[i])
		at := i - 2
		if filed.begun[k>>5]>>(k&31)&1 == 0 || at < s.from {
			continue
		}
		if text[at] == '[' {
			if n := markerAt(text, at); n > 0 {
				i = at + n - 1
				s.from = at + n
				continue
			}
		}
		for t := filed.first[bucketOf(k)]; t != 0; t = filed.next[t] {
			s.lookFor(int(t), at)
			if s.from > i {
				i = s.from - 1
				break
			}
		}
	}
	found := s.found
	*s = scan{}
	scans.Put(s)
	return found
}

// lookFor examines s.text[at:] for the format or trigger of a number.
func (s *scan) lookFor(n, at int) {
	if n > len(filed.formats) {
		if t := &filed.triggers[n-1-len(filed.formats)]; t.begins(s.text[at:]) {
			t.look(s, at)
		}
		return
	}
	f := &filed.formats[n-1]
	if s.text[at] != f.prefix[0] || s.text[at+1] != f.prefix[1] { // most are here for another's sake
		return
	}
	if start, end, ok := f.at(s.text, at); ok {
		s.take(span{start: start, end: end, rule: f.rule})
	}
}

func (t *trigger) begins(text string) bool {
	if len(text) < len(t.text) {
		return false
	}
	if !t.fold {
		return text[:len(t.text)] == t.text
	}
	for i := range len(t.text) {
		c := text[i]
		if kind[c] == kUpper {
			c |= 0x20
		}
		if c != t.text[i] {
			return false
		}
	}
	return true
}
