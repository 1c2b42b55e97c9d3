package redact

import "strings"

// tongue is a language in which a sentence gives a secret: a noun, perhaps a purpose, a verb or particle, the value.
type tongue struct {
	language string
	nouns    []string // in lower case; those that lookName finds as names are not listed
	verbs    []string // between the noun and the value, without blanks
	purposes []string // for: words between the noun and its verb begin so
	joined   bool     // words are not parted by blanks, and the verb may be missing
}

// tongues lists what sentences say in which order: noun, purpose, verb, value. In all of them a colon or an equals sign
// serves as the verb, in those that are joined a blank does.
var tongues = [...]tongue{
	{language: "English", nouns: []string{"pin code", "pin number", "the pin", "your pin", "my pin"},
		verbs: []string{"is now", "is:", "is", "was", "are", "to", "equals", "will be", "should be", "changed to", "set to", "reset to",
			"has been changed to", "has been set to", "has been reset to", "was changed to", "was set to", "was reset to"},
		purposes: []string{"for", "of", "on"}},
	{language: "Chinese", nouns: []string{"密码", "密碼", "口令", "密钥", "密鑰", "令牌", "金钥", "金鑰", "通行码", "通行碼"},
		verbs: []string{"已改为", "已改為", "设置为", "設定為", "设定为", "重置为", "重設為", "更改为", "变更为", "就是", "改为", "改為", "设为", "設為", "是", "为", "為", "叫"}, joined: true},
	{language: "Japanese", nouns: []string{"パスワード", "パスフレーズ", "暗証番号", "秘密鍵", "トークン", "シークレット"},
		verbs: []string{"は", "が", "を"}, joined: true},
	{language: "Korean", nouns: []string{"비밀번호", "암호", "패스워드", "비번", "토큰", "비밀 키"},
		verbs: []string{"는", "은", "가", "이", "를", "을"}, joined: true},
	{language: "German", nouns: []string{"zugangscode", "geheimnis", "schlüssel"},
		verbs: []string{"ist jetzt", "ist", "lautet", "war", "heißt"}, purposes: []string{"für", "von", "vom", "zum", "des", "der"}},
	{language: "French", nouns: []string{"mot de passe", "mots de passe", "code secret", "clé secrète", "phrase secrète", "mdp"},
		verbs: []string{"est", "était", "sera"}, purposes: []string{"pour", "de", "du", "d'"}},
	{language: "Spanish", nouns: []string{"contraseña", "clave secreta", "la clave", "frase de paso"},
		verbs: []string{"es", "era", "será"}, purposes: []string{"para", "de", "del"}},
	{language: "Portuguese", nouns: []string{"senha", "palavra-passe", "chave secreta"},
		verbs: []string{"é", "era", "será"}, purposes: []string{"para", "do", "da", "de"}},
	{language: "Italian", nouns: []string{"parola d'ordine"},
		verbs: []string{"è"}, purposes: []string{"per", "di", "del"}},
	{language: "Russian", nouns: []string{"пароль", "Пароль", "ПАРОЛЬ", "пароля", "секретный ключ", "токен", "Токен"},
		verbs: []string{"это", "был", "будет", "—", "–", "-"}, purposes: []string{"от", "для", "к", "на"}, joined: true},
}

// verbEnd returns the end of a verb of any language at text[at:], or of a purpose and a verb, or 0.
func verbEnd(text string, at int, blank bool) int {
	if end := verb(text, at, blank); end > 0 || !blank {
		return end
	}
	for t := range tongues {
		for _, p := range tongues[t].purposes {
			if rest := text[at:]; rest[0] == p[0] && strings.HasPrefix(rest, p) && len(rest) > len(p) && (rest[len(p)] == ' ' || p[len(p)-1] == '\'') {
				if end := purposeEnd(text, at+len(p)); end > 0 {
					return end
				}
			}
		}
	}
	return 0
}

// verb returns the end of the longest verb of any language at text[at:], or 0.
func verb(text string, at int, blank bool) int {
	rest, end := text[at:], 0
	if rest == "" {
		return 0
	}
	for t := range tongues {
		for _, v := range tongues[t].verbs {
			if rest[0] != v[0] || !strings.HasPrefix(rest, v) || len(rest) == len(v) {
				continue
			}
			switch next := rest[len(v)]; {
			case tongues[t].joined && v[0] >= 0x80: // 是X
				end = max(end, at+len(v))
			case next == ' ' && blank, next == ' ' && v[len(v)-1] == ':', next == ':' && blank && len(rest) > len(v)+1 && rest[len(v)+1] == ' ':
				end = max(end, at+len(v)+1)
			}
		}
	}
	return end
}

// purposeEnd returns how far the value lies in `the staging server is hunter2` and `staging: hunter2`, or 0.
func purposeEnd(text string, at int) int {
	for i := at; i < len(text) && i < at+64; i++ {
		switch c := text[i]; {
		case c == ':' && i+1 < len(text) && text[i+1] == ' ':
			return i + 2
		case c == ' ' && i > at:
			if end := verb(text, i+1, true); end > 0 {
				return end
			}
		case isOneOf(c, "\n,;(){}=\"") && !(c == ',' && i+1 == len(text)):
			return 0
		}
	}
	return 0
}

// lookNoun looks at a noun that announces a secret in a sentence.
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

// nounAt returns the end of the noun at text[at:] and whether it is one of a language that joins its words.
func nounAt(text string, at int) (end int, joined, ok bool) {
	for t := range tongues {
		for _, noun := range tongues[t].nouns {
			if !(&trigger{text: noun, fold: true}).begins(text[at:]) {
				continue
			}
			end = at + len(noun)
			if noun[0] < 0x80 && (!boundary(text, at) || end < len(text) && (sets[wordSet].has(text[end]) || kind[text[end]] == kHigh && !fullWidth(text, end))) {
				continue
			}
			return end, tongues[t].joined, true
		}
	}
	return 0, false, false
}

// sentence returns where the value of a noun begins, and how it is joined to it.
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
	if t := jointAt(text, n, i, j, state); t != nil {
		return opening(text, j+len(t.text)), t.sep
	}
	if end := verbEnd(text, j, j > i); end > 0 {
		return opening(text, end), sepSays
	}
	if joined && (j > i || j < len(text) && text[n.start] >= 0xe0 && sets[alnumSet].has(text[j])) {
		return opening(text, j), sepSays
	}
	if at := opening(text, j); at > j || j > i {
		return at, sepBlank
	}
	return 0, sepNone
}

// opening skips a colon, blanks and the opening bracket of Chinese and Japanese before a value.
func opening(text string, at int) int {
	at = valueStart(text, at)
	for _, o := range [...]string{"：", ":", "「", "『", "“", "«", "„", "‘", "《", "【"} {
		if strings.HasPrefix(text[at:], o) {
			at = blanks(text, at+len(o))
		}
	}
	return at
}

// phrase is words that announce a secret of a form of its own.
type phrase struct {
	text string
	look func(s *scan, at int)
}

var phrases = []phrase{
	{"login with", lookLogin},
	{"log in with", lookLogin},
	{"log in as", lookLogin},
	{"login as", lookLogin},
	{"sign in with", lookLogin},
	{"sign in as", lookLogin},
	{"creds", lookLogin},
	{"credentials", lookLogin},
	{"logins", lookLogin},
	{"zugangsdaten", lookLogin},
	{"identifiants", lookLogin},
	{"credenciales", lookLogin},
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
	if i < len(text) && isOneOf(text[i], ":=") {
		i++
	}
	i, _ = closers(text, blanks(text, i))
	user := i
	for i < len(text) && i < user+48 && (sets[dotSet].has(text[i]) || text[i] == '@') {
		i++
	}
	if i-user < 2 || i >= len(text) {
		return
	}
	rest := text[i:]
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

// lookWords looks for a phrase of 12 to 24 words that stands for a key (BIP 39) behind the word that announces it.
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

// lookCodes looks for the codes listed behind "recovery codes".
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
