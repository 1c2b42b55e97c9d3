package redact

import "strings"

// lookNoun examines a noun that announces a secret in a sentence.
func lookNoun(s *scan, at int) {
	end, joined, ok := nounAt(s.text, at)
	if !ok {
		return
	}
	n := name{start: at, end: end, strength: hard}
	n.pin = s.text[at] < 0x80 && strings.Contains(strings.ToLower(s.text[at:end]), "pin")
	start, sep := sentence(s.text, n, joined)
	if sep != sepNone {
		if f, ok := s.assigned(n, start, sep); ok {
			s.take(f)
			return
		}
	}
	s.lookAround(n)
}

// nounAt returns the end of the noun at text[at:], and whether its language joins its words.
func nounAt(text string, at int) (end int, joined, ok bool) {
	for t := range tongues {
		for _, noun := range tongues[t].nouns {
			if !(&trigger{text: noun, fold: true}).begins(text[at:]) {
				continue
			}
			end = at + len(noun)
			if (noun[0] < 0x80 || !tongues[t].joined) && !boundary(text, at) {
				continue
			}
			if noun[len(noun)-1] < 0x80 && end < len(text) && (sets[wordSet].has(text[end]) || kind[text[end]] == kHigh && !punctuation(text, end)) {
				continue
			}
			return end, tongues[t].joined, true
		}
	}
	return 0, false, false
}

// sentence returns the start of a noun's value, and the separator between them.
func sentence(text string, n name, joined bool) (int, sepKind) {
	i := n.end
	for _, open := range [...]string{"（", "("} { // 密码（root）
		if strings.HasPrefix(text[i:], open) {
			for _, shut := range [...]string{"）", ")"} {
				if j := strings.Index(text[i:min(len(text), i+48)], shut); j > 0 && strings.IndexByte(text[i:i+j], '\n') < 0 {
					i += j + len(shut)
					break
				}
			}
		}
	}
	i = bold(text, i)
	i, wasQuoted := closers(text, i)
	j := blanks(text, i)
	if j >= len(text) {
		return 0, sepNone
	}
	var state around
	if j > i {
		state |= aBlank
	}
	if wasQuoted {
		state |= aQuote
	}
	if t := jointAt(text, i, j, state); t != nil {
		return opening(text, j+len(t.text)), t.sep
	}
	if end := verbEnd(text, j, j > i); end > 0 {
		return opening(text, end), sepSays
	}
	if end := after(text, j, hints...); end > j {
		return opening(text, end), sepHint
	}
	if joined && (j > i || j < len(text) && n.unspaced(text) && sets[alnumSet].has(text[j])) {
		return opening(text, j), sepSays
	}
	if at := opening(text, j); at > j || j > i || opensQuote(text, j) {
		return at, sepBlank
	}
	return 0, sepNone
}

// opening skips a colon, blanks and the opening bracket of Chinese and Japanese before a value.
func opening(text string, at int) int {
	at = valueStart(text, at)
	for _, o := range [...]string{"：", ":", "《", "【"} {
		if strings.HasPrefix(text[at:], o) {
			at = blanks(text, at+len(o))
		}
	}
	return at
}

// phrase announces a secret of a special form.
type phrase struct {
	text string
	look func(s *scan, at int)
}

var phrases = []phrase{
	{"login with", lookLogin},
	{"log in with", lookLogin},
	{"log in as", lookLogin},
	{"login as", lookLogin},
	{"authenticate with", lookLogin},
	{"sign in with", lookLogin},
	{"sign in as", lookLogin},
	{"creds", lookLogin},
	{"credentials", lookLogin},
	{"logins", lookLogin},
	{"zugangsdaten", lookLogin},
	{"identifiants", lookLogin},
	{"credenciales", lookLogin},
	{"use sa", lookAccount},
	{"user sa", lookAccount},
	{"login sa", lookAccount},
	{"set password for", lookSetPassword},
	{"mnemonic", lookWords},
	{"seed phrase", lookWords},
	{"seed words", lookWords},
	{"recovery phrase", lookWords},
	{"backup phrase", lookWords},
	{"wallet words", lookWords},
	{"助记词", lookWords},
	{"助記詞", lookWords},
	{"recovery code", lookCodes},
	{"backup code", lookCodes},
	{"scratch code", lookCodes},
	{"--password-stdin", lookStdin},
	{"sudo -s", lookStdin},
	{"passwd --stdin", lookStdin},
	{"chpasswd", lookStdin},
	{"--with-token", lookStdin},
	{"--passphrase-fd 0", lookStdin},
	{"--stdin-password", lookStdin},
	{"kinit ", lookStdin},
	{"vercel env add", lookStdin},
	{"secret put", lookStdin},
	{"secret set", lookStdin},
	{"--data-file=-", lookStdin},
	{"cryptsetup", lookStdin},
	{"openssl rand", lookPrinted},
	{"wg genkey", lookPrinted},
}

// lookLogin looks for the password in `login with admin / hunter2` and `creds: bob:hunter2`.
func lookLogin(s *scan, at int) {
	text := s.text
	i := at
	for i < len(text) && i < at+24 && (kind[text[i]] == kLower || kind[text[i]] == kUpper || text[i] == ' ') {
		if kind[text[i]] == kSpace && i-at > 4 && !isOneOf(text[i-1], " ") {
			if w := text[at:i]; strings.HasSuffix(w, "with") || strings.HasSuffix(w, "as") {
				break
			}
		}
		i++
	}
	if are := strings.LastIndex(text[at:i], " are "); are > 0 && i < len(text) && text[i] == '/' {
		i = at + are + len(" are ")
	}
	if i < len(text) && isOneOf(text[i], ":=") {
		i++
	}
	i, _ = closers(text, blanks(text, i))
	user := i
	for i < len(text) && i < user+48 && (sets[dotSet].has(text[i]) || text[i] == '@') {
		i++
	}
	if i-user >= 2 {
		lookBehindUser(s, i)
	}
}

// lookAccount looks for the password in `use sa / hunter2`, of SQL Server's administrator.
func lookAccount(s *scan, at int) {
	lookBehindUser(s, at+strings.IndexByte(s.text[at:], ' ')+len(" sa"))
}

// lookBehindUser looks for the password behind the name of a user that ends before an index.
func lookBehindUser(s *scan, i int) {
	text, rest := s.text, s.text[i:]
	for _, between := range [...]string{" / ", "/", ":", " : ", " and ", ", ", " with ", " | "} {
		if !strings.HasPrefix(rest, between) {
			continue
		}
		start, end, ok := quotedAt(text, i+len(between))
		if !ok {
			start = i + len(between)
			end = s.bareEnd(start, false)
		}
		if v := text[start:end]; len(v) >= 6 && shapeOf(v).mixed() && secretValue(v, hard, loose) {
			s.take(span{start, end, ruleAssignment})
		}
		return
	}
}

// lookSetPassword looks for the value in SQL's SET PASSWORD FOR 'bob'@'host' = 'hunter2'.
func lookSetPassword(s *scan, at int) {
	end := min(len(s.text), at+160)
	i := strings.IndexByte(s.text[at:end], '=')
	if i < 0 || strings.IndexByte(s.text[at:at+i], '\n') >= 0 {
		return
	}
	if start, end, ok := quotedAt(s.text, blanks(s.text, at+i+1)); ok {
		s.secretArgument(start, end, true)
	}
}

// lookWords looks for a phrase of 12 to 24 words that represents a key (BIP 39) after its
// announcement.
func lookWords(s *scan, at int) {
	limit := min(len(s.text), at+400)
	i := at
	for i < limit && i < at+64 && kind[s.text[i]] != kSpace && s.text[i] != ':' && s.text[i] != '=' {
		i++ // the rest of the announcing word
	}
	for i < limit && !isOneOf(s.text[i], ":=\"'`\n") {
		i++
	}
	from, to, words := 0, 0, 0
	for i < limit && words < 24 {
		for i < limit && (kind[s.text[i]] == kSpace || kind[s.text[i]] == kDigit || isOneOf(s.text[i], ".,:=\"'`[]\\*-")) {
			i++
		}
		end := i
		for end < limit && kind[s.text[end]] == kLower {
			end++
		}
		if end-i < 3 || end-i > 8 || stopWord(s.text[i:end]) {
			if words >= 12 || words == 0 && end == i {
				break
			}
			from, words = 0, 0
			if i = end; i < limit {
				i++
			}
			continue
		}
		if words++; words == 1 {
			from = i
		}
		to, i = end, end
	}
	if words >= 12 {
		s.take(span{from, to, ruleAssignment})
	}
}

// stopWord reports whether a word is one of the usual ones that no phrase of a wallet has.
func stopWord(w string) bool {
	switch w {
	case "the", "and", "for", "are", "with", "from", "your", "not", "but", "has", "was", "were", "which", "should", "words", "its", "may",
		"these", "than", "them", "our", "string", "return":
		return true
	}
	return false
}

// lookCodes looks for the codes listed after "recovery codes".
func lookCodes(s *scan, at int) {
	limit := min(len(s.text), at+600)
	i := at
	for i < limit && i < at+80 && !isOneOf(s.text[i], ":\n=[") {
		i++
	}
	for i < limit {
		for i < limit && (kind[s.text[i]] == kSpace || isOneOf(s.text[i], ":=,;*\"'`[]\\|•")) {
			i++
		}
		end := dashSet.run(s.text, i, 40)
		v := s.text[i:end]
		if end < limit && isOneOf(s.text[end], ".)") && len(v) <= 2 && len(v) > 0 { // 1. …
			i = end + 1
			continue
		}
		if v == "-" {
			i = end
			continue
		}
		v = strings.Trim(v, "-")
		if sh := shapeOf(v); len(v) < 6 || sh.digit < 2 || sh.letters() > 0 && sh.letters()+sh.digit >= 5*sh.parts || sh.upper > 0 && sh.lower > 0 {
			return
		}
		s.note(span{i, end, ruleAssignment})
		i = end
	}
}
