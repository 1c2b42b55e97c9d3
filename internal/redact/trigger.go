package redact

// trigger is a string at which it is worth looking closer, and what looks.
type trigger struct {
	text string
	fold bool // matched in any case; text is in lower case then
	// look appends the secrets it sees at text[at:] to found.
	look func(text string, at int, found []span) []span
}

var triggers = func() []trigger {
	t := []trigger{
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
	}
	for i := range formats {
		f := &formats[i]
		t = append(t, trigger{f.prefix, false, func(text string, at int, found []span) []span {
			if start, end, ok := f.at(text, at); ok {
				return append(found, span{start, end, f.rule})
			}
			return found
		}})
	}
	for _, word := range []string{"pass", "pwd", "kennwort", "secret", "token", "key", "cred", "auth", "密码", "口令", "密钥", "パスワード", "비밀번호"} {
		t = append(t, trigger{word, true, lookName})
	}
	return t
}()

// Every trigger is filed under its first three bytes, five bits of each: that folds the case of letters, and
// whatever else it folds together costs one comparison. byTrigram gives the position in triggerLists, 0 for none.
var byTrigram, triggerLists = func() (table [1 << 15]uint8, lists [][]*trigger) {
	lists = make([][]*trigger, 1, 200)
	for i := range triggers {
		t := &triggers[i]
		k := trigram(trigram(trigram(0, t.text[0]), t.text[1]), t.text[2])
		if table[k] == 0 {
			table[k] = uint8(len(lists))
			lists = append(lists, nil)
		}
		lists[table[k]] = append(lists[table[k]], t)
	}
	if len(lists) > 256 {
		panic("redact: more beginnings of triggers than a byte can number")
	}
	return table, lists
}()

func trigram(k uint32, c byte) uint32 { return (k<<5 | uint32(c&31)) & (1<<15 - 1) }

// findTriggered makes one pass over text and looks closer at each trigger. Spans may overlap and are not sorted.
func findTriggered(text string) []span {
	var found []span
	k, from := uint32(0), 0 // nothing before from is looked at again
	for i := 0; i < len(text); i++ {
		k = trigram(k, text[i])
		list := byTrigram[k]
		at := i - 2
		if list == 0 || at < from {
			continue
		}
		if text[at] == '[' {
			if n := markerAt(text, at); n > 0 {
				i = at + n - 1
				from = at + n
				continue
			}
		}
		for _, t := range triggerLists[list] {
			if !t.begins(text[at:]) {
				continue
			}
			n := len(found)
			found = t.look(text, at, found)
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
