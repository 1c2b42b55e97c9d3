package redact

import "sync"

// trigger is a string at which it is worth looking closer, and what looks.
type trigger struct {
	text string
	fold bool // matched in any case; text is in lower case then
	// look appends the secrets it sees at text[at:] to found.
	look func(text string, at int, found []span) []span
}

// triggers are those of no one's format. None of them begins as a format's prefix does, so that it does not matter which is
// asked first.
var triggers = [...]trigger{
	{"://", false, lookURL},
	{"%3a%2f%2f", true, lookEncodedURL},
	{"begin ", true, lookPrivateKey},
	{"begin+", true, lookPrivateKey},
	{"begin%20", true, lookPrivateKey},
	{"end ", true, lookPrivateKeyTail},
	{"sig=", false, lookSignature},
	{"sig%3d", true, lookSignature},
	{"x-amz-signature=", true, lookSignature},
	{" -u", false, lookUser},
	{"--user", false, lookUser},
	{" -p", false, lookOption},
	{"identified by", true, lookIdentified},
	{"cookie", true, lookCookie},
	{"bearer", true, lookBearer},

	{"pass", true, lookName},
	{"pwd", true, lookName},
	{"kennwort", true, lookName},
	{"secret", true, lookName},
	{"token", true, lookName},
	{"key", true, lookName},
	{"cred", true, lookName},
	{"auth", true, lookName},
	{"密码", true, lookName},
	{"口令", true, lookName},
	{"密钥", true, lookName},
	{"パスワード", true, lookName},
	{"비밀번호", true, lookName},
}

// Every format and trigger is filed under its first three bytes, five bits of each: that folds the case of letters, and
// whatever else it folds together costs one comparison. It is done when a text is first scanned, in two pages of memory: at
// the start every command would pay for it.
var filed struct {
	once  sync.Once
	begun [1 << 10]uint32 // for the first two bytes a bit for each third
	first [1 << 8]uint8   // by place, the number of the first in a list: formats from 1, then triggers
	next  [1 + len(formats) + len(triggers)]uint8
}

const _ = uint8(len(formats) + len(triggers)) // or they need wider numbers

func file() {
	for n := len(filed.next) - 1; n > 0; n-- { // backwards, so that lists have the order of the tables
		text := ""
		if n <= len(formats) {
			text = formats[n-1].prefix
		} else {
			text = triggers[n-1-len(formats)].text
		}
		k := trigram(trigram(trigram(0, text[0]), text[1]), text[2])
		filed.begun[k>>5] |= 1 << (k & 31)
		k = place(k)
		filed.next[n], filed.first[k] = filed.first[k], uint8(n)
	}
}

func trigram(k uint32, c byte) uint32 { return (k<<5 | uint32(c&31)) & (1<<15 - 1) }

// place spreads trigrams over the lists: 2³² divided by the golden ratio parts those that lie close.
func place(k uint32) uint32 { return k * 0x9e3779b1 >> (32 - 8) }

// findTriggered makes one pass over text and looks closer at each trigger. Spans may overlap and are not sorted.
func findTriggered(text string) []span {
	filed.once.Do(file)
	var found []span
	k, from := uint32(0), 0 // nothing before from is looked at again
	for i := 0; i < len(text); i++ {
		k = trigram(k, text[i])
		at := i - 2
		if filed.begun[k>>5]>>(k&31)&1 == 0 || at < from {
			continue
		}
		if text[at] == '[' {
			if n := markerAt(text, at); n > 0 {
				i = at + n - 1
				from = at + n
				continue
			}
		}
		for t := filed.first[place(k)]; t != 0; t = filed.next[t] {
			n := len(found)
			found = lookFor(int(t), text, at, found)
			for _, f := range found[n:] {
				if f.rule != ruleEntropy { // which may lie further on
					from = max(from, f.end)
				}
			}
			if from > i {
				i = from - 1
				break
			}
		}
	}
	return found
}

// lookFor appends what the format or trigger of a number sees at text[at:] to found.
func lookFor(n int, text string, at int, found []span) []span {
	if n > len(formats) {
		if t := &triggers[n-1-len(formats)]; t.begins(text[at:]) {
			return t.look(text, at, found)
		}
		return found
	}
	f := &formats[n-1]
	if text[at] != f.prefix[0] || text[at+1] != f.prefix[1] { // most are here for another's sake
		return found
	}
	if start, end, ok := f.at(text, at); ok {
		found = append(found, span{start, end, f.rule})
	}
	return found
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
