package redact

import (
	"slices"
	"strings"
	"sync"
)

// strength grades how strongly a name announces a secret.
type strength int

const (
	none strength = iota
	weak          // key, salt, seed: random-looking values are secrets
	soft          // token, api key, auth: often names code, counts and identifiers too
	hard          // password, secret, private key
)

// setting is the place of a value, which decides how likely it is to be code.
type setting int

const (
	loose    setting = iota // without quotes, after a colon or spaces: YAML, a log, or code
	attached                // without quotes, in a shell, a query or a header
	// without quotes, after an environment variable's name and an equals sign
	variableLine
	quoted   // in quotes, or a JSON string
	exported // in quotes, after an environment variable's name and an equals sign
)

// maxJudged bounds the examined part of a value, in bytes.
const maxJudged = 128

// maxWeak is the longest value of a weak name: 64 bytes in hexadecimal.
const maxWeak = 128

// strangeSigns occur in no word, path or identifier.
const strangeSigns = "!@#$%^&*?~+=|"

// trait is a set of properties found in one pass over a value. Traits combine by or.
type trait uint32

const (
	drawn      trait = 1 << iota // it looks drawn rather than written
	strange                      // it has a sign that occurs in no word, path or identifier
	mixed                        // it has letters and digits
	lettered                     // it has letters, ASCII or not
	signs                        // it has signs
	numbered                     // it has digits
	capitals                     // it has capitals
	manyDigits                   // it has three digits or more that alternate often with letters
	allHex                       // it has hexadecimal digits only, letters among them
	withDots                     // it is words joined by dots
	byPerson                     // it has capitals, small letters, digits and punctuation: Summer2024!
	phrased                      // it is several words in quotes
)

// class is a kind of value.
type class struct {
	has, not trait
	// least holds the minimum length of a secret of the class, by the strength of the name (weak,
	// soft, hard) and the setting (loose, attached, variableLine, quoted, exported). 0 means never a
	// secret.
	least [3][5]uint8
}

// classes are tried in order: the first to which a value belongs decides.
var classes = [...]class{
	{has: phrased, least: [3][5]uint8{2: {0, 0, 0, 8, 8}}},
	// Shorter ones are abbreviated object ids, counters, colours.
	{has: allHex, least: [3][5]uint8{{0, 32, 32, 32, 32}, {32, 16, 16, 32, 32}, {32, 16, 16, 16, 16}}},
	// Numbers.
	{not: lettered | signs, least: [3][5]uint8{2: {8, 6, 6, 6, 6}}},
	{not: lettered | strange},
	// Letters.
	{has: drawn, not: numbered | signs, least: [3][5]uint8{{24, 20, 20, 24, 20}, {12, 12, 12, 12, 12}, {12, 12, 6, 12, 12}}},
	{not: numbered | signs | capitals, least: [3][5]uint8{2: {0, 20, 6, 0, 0}}},
	{not: numbered | signs, least: [3][5]uint8{2: {0, 0, 6, 0, 0}}},
	{has: withDots | drawn, least: [3][5]uint8{{}, {16, 16, 16, 16, 16}, {16, 16, 16, 16, 16}}},
	{has: withDots},
	// Random-looking: with letters and digits, with strange signs, with dashes.
	{has: drawn | mixed, least: [3][5]uint8{{20, 16, 16, 20, 16}, {16, 12, 10, 12, 12}, {6, 6, 6, 6, 6}}},
	{has: drawn | strange, least: [3][5]uint8{{0, 20, 20, 24, 20}, {0, 12, 12, 12, 12}, {6, 6, 6, 6, 6}}},
	{has: drawn, least: [3][5]uint8{{}, {0, 12, 12, 16, 12}, {0, 6, 6, 12, 12}}},
	// Written.
	{has: byPerson, least: [3][5]uint8{{0, 0, 10, 0, 10}, {0, 12, 8, 12, 8}, {6, 6, 6, 6, 6}}},
	{has: mixed | strange, least: [3][5]uint8{{}, {0, 12, 12, 12, 12}, {6, 6, 6, 6, 6}}},
	{has: mixed | manyDigits, not: signs, least: [3][5]uint8{{}, {0, 12, 10, 12, 12}, {6, 6, 6, 6, 6}}},
	{has: mixed, not: signs, least: [3][5]uint8{{}, {}, {6, 6, 6, 6, 6}}},
	{has: mixed | manyDigits, least: [3][5]uint8{{}, {0, 12, 12, 12, 12}, {0, 6, 6, 6, 6}}},
	{has: mixed, least: [3][5]uint8{2: {0, 6, 6, 6, 6}}},
	{has: strange | lettered, least: [3][5]uint8{2: {0, 6, 6, 6, 6}}},
}

// secretValue reports whether v, the value of a name of strength st, looks like a secret rather
// than a placeholder, a word, a reference or code.
func secretValue(v string, st strength, in setting) bool {
	if st == none || len(v) < 6 || len(v) > maxValue {
		return false
	}
	head := v[:min(len(v), maxJudged)]
	sh := shapeOf(head)
	t := traitsOf(head, sh, in)
	if st == hard && in >= variableLine && wordDot(head) {
		t &^= withDots
	}
	if innocent(head, sh, t, in) || st == weak && (len(v) > maxWeak || cacheKey(head) || t&byPerson == 0 && tokenSet.run(v, 0, maxWeak) < len(v)) {
		return false
	}
	for i := range classes {
		if c := &classes[i]; t&c.has == c.has && t&c.not == 0 {
			least := c.least[st-weak][in]
			return least > 0 && len(v) >= int(least)
		}
	}
	return false
}

// cacheKey reports whether v begins with three words joined by dashes: node-cache-Linux-54f1….
func cacheKey(v string) bool {
	words := strings.SplitN(v, "-", 4)
	return len(words) == 4 && !slices.ContainsFunc(words[:3], func(w string) bool { return len(w) < 3 || shapeOf(w).letters() < len(w) })
}

// traitsOf returns the traits of a value of a shape.
func traitsOf(v string, sh shape, in setting) (t trait) {
	unusual := sh.symbol > 0 && strings.ContainsAny(v, strangeSigns)
	// Without blanks, a sentence that ends in a number looks like a value.
	written := sh.letters() == 0 && sh.unspaced && !unusual && in <= attached
	for _, c := range [...]struct {
		holds bool
		is    trait
	}{
		{sh.random(), drawn}, {unusual, strange}, {sh.mixed() && !written, mixed}, {sh.letters()+sh.high > 0, lettered}, {sh.symbol > 0, signs},
		{sh.digit > 0, numbered}, {sh.upper > 0, capitals}, {sh.digit >= 3 && sh.letters()+sh.digit < 5*sh.parts, manyDigits},
		{sh.mixed() && isHex(v), allHex}, {dotted(v), withDots}, {unusual && madeByPerson(v, sh), byPerson},
		{sh.space > 0 && sh.control == 0 && in >= quoted && passphrase(v), phrased},
	} {
		if c.holds {
			t |= c.is
		}
	}
	return t
}

// innocent reports whether a value is no secret, regardless of its name.
func innocent(v string, sh shape, t trait, in setting) bool {
	long := t&drawn != 0 && sh.n >= 20 // chance may have produced a short word there
	switch {
	case t&phrased != 0:
		return false
	case sh.space > 0, sh.control > 0, sh.distinct < 4 && sh.high == 0,
		reference(v, sh, in), digest(v), isUUID(v), isULID(v),
		// numbers and bytes of a program
		strings.HasPrefix(v, "0x") && sh.n <= 18, strings.Count(v, `\x`) > 1,
		v[0] == '#' && sh.n <= 9 && isHex(v[1:]): // a colour
		return true
	case t&allHex != 0:
		return false
	case placeholder(v) && (!long || longPlaceholder(v)), path(v) && (!long || sh.odd <= 2 || isOneOf(v[0], "/.") && !strings.ContainsAny(v, "+=")), codeName(v):
		return true
	case t&(numbered|signs) == 0:
		return slices.Contains(wellKnown, v)
	case isDate(v), in == loose && strings.Count(v, "(") != strings.Count(v, ")"):
		return true
	case in < quoted && call(v, in), address(v) && (t&drawn == 0 || sh.upper == 0 || sh.lower == 0):
		return t&withDots == 0
	}
	return false
}

// madeByPerson reports whether letters of both cases, digits and punctuation make a password:
// Summer2024!
func madeByPerson(v string, sh shape) bool {
	if sh.lower == 0 || sh.upper == 0 || sh.digit == 0 {
		return false
	}
	for i := range len(v) {
		if kind[v[i]] == kSymbol && !isOneOf(v[i], "!@#$%^&*?~-_") {
			return false
		}
	}
	return true
}

// passphrase reports whether words separated by blanks are more likely a password than a sentence:
// one of them has inner letters or digits and a strange sign, or looks random.
func passphrase(v string) bool {
	if len(v) > 80 || v[0] == '-' || reference(v, shapeOf(v), quoted) || placeholder(v) {
		return false
	}
	odd, words := 0, 0
	for _, w := range strings.Fields(v) {
		words++
		sh := shapeOf(w)
		if i := strings.IndexAny(w, "!@#$%^*~+&"); sh.random() && sh.mixed() || i > 0 && i < len(w)-1 && identifierWith(w, "!@#$%^*~+&") && !address(w) || sh.mixed() && (sh.lower > 0 && sh.upper > 0 && !codeName(w) || strings.ContainsAny(w, "!#$^&")) {
			odd++
		}
	}
	return odd*2 >= words || odd > 0 && words <= 4
}

// trivial reports whether a value is too short or too ordinary to be searched in any text.
func trivial(v string) bool {
	if len(v) < minValue || len(v) > maxValue || strings.HasPrefix(v, markerHead) {
		return true
	}
	sh := shapeOf(v)
	switch {
	case sh.distinct < 4 && sh.high == 0, sh.letters() == 0 && sh.high == 0, isUUID(v):
		return true
	case sh.digit == 0 && sh.symbol == 0:
		return sh.n < 12 || sh.space > 0 && sh.n < 16
	case sh.digit == 0 && !strings.ContainsAny(v, strangeSigns):
		return !sh.random() // words joined by - _ . / :
	case isHex(v) && len(v) < 16:
		return true
	}
	return placeholder(v) && !sh.random()
}

// placeholders lists words of values that only stand for a secret. The long ones come first: chance
// puts none of them into a random value.
var placeholders = [...]string{"placeholder", "example", "changeme", "change-me", "change_me", "change_this", "replace", "redacted",
	"undefined", "not-set", "not_set", "omitted", "insert", "hidden", "masked", "sample", "dummy", "xxx", "...", "…", "***", "your",
	"todo", "fake"}

// longPlaceholders counts the long placeholders.
const longPlaceholders = 12

func placeholder(v string) bool     { return hasAny(v, made(&lexicons.placeholder)) }
func longPlaceholder(v string) bool { return hasAny(v, made(&lexicons.longPlaceholder)) }

// lexicons are filled when the first value is judged.
var lexicons struct {
	once                                             sync.Once
	placeholder, longPlaceholder, codeHint, codeWord lexicon
}

// made returns one of the lexicons, filled.
func made(l *lexicon) *lexicon {
	lexicons.once.Do(func() {
		lexicons.placeholder.add(placeholders[:])
		lexicons.longPlaceholder.add(placeholders[:longPlaceholders])
		lexicons.codeHint.add(codeHints)
		lexicons.codeWord.add(strings.Fields(codeWords))
	})
	return l
}

// lexicon holds lower-case words by their first byte.
type lexicon [256][]string

func (set *lexicon) add(words []string) {
	for _, w := range words {
		set[w[0]] = append(set[w[0]], w)
	}
}

// longest returns the length of the longest word that low begins with, or 0.
func (set *lexicon) longest(low []byte) int {
	n := 0
	for _, w := range set[low[0]] {
		if len(w) > n && len(w) <= len(low) && string(low[:len(w)]) == w {
			n = len(w)
		}
	}
	return n
}

// hasAny reports whether the first 64 bytes of v contain one of the words, in any case.
func hasAny(v string, words *lexicon) bool {
	var buf [64]byte
	for low := lowered(buf[:], v); len(low) > 0; low = low[1:] {
		if words.longest(low) > 0 {
			return true
		}
	}
	return false
}

// lowered writes the first bytes of s in lower case to buf.
func lowered(buf []byte, s string) []byte {
	n := copy(buf, s)
	for i, c := range buf[:n] {
		if c >= 'A' && c <= 'Z' {
			buf[i] = c | 0x20
		}
	}
	return buf[:n]
}

// reference reports whether a value refers to a secret instead of being one: ${VAR}, $(cmd), {{ .x
// }}, <token>, %s, @file, process.env.X, an address of a secret store. A drawn value refers to one
// only if its signs are paired.
func reference(v string, sh shape, in setting) bool {
	random := sh.random() && sh.mixed()
	switch c, rest := v[0], v[1:]; c {
	case '<', '{', '(', '[':
		if closes(v) && (!random || sh.upper == 0 || strings.ContainsAny(v, "\"'`\\ ") || strings.Contains(v, "-z") || strings.Contains(v, "0-9")) || !sh.mixed() || in < variableLine && !random {
			return true
		}
	case '$':
		if rest != "" && (isOneOf(rest[0], "{($[") || identifier(rest)) {
			return true
		}
	case '@', '&', '*', '%', '#':
		word := strings.TrimSuffix(rest, "%")
		person := in >= variableLine && sh.mixed() && (c == '#' && sh.digit > 1 && !hasAny(word, made(&lexicons.codeHint)) || c == '%' && sh.upper > 0 && sh.lower > 0)
		if (identifier(word) || c == '#' && identifierWith(word, "-")) && !shapeOf(word).random() && !person || rest != "" && !random && isOneOf(rest[0], "({<[%") {
			return true
		}
	}
	for _, pair := range [...][2]string{{"${", "}"}, {"$(", ")"}, {"{{", "}}"}, {"#{", "}"}, {"<%", "%>"}, {"%(", ")"}} {
		if _, inner, ok := strings.Cut(v, pair[0]); ok && (!random || strings.Contains(inner, pair[1])) {
			return true
		}
	}
	padless := strings.TrimRight(v, "=") // of base64
	for _, p := range []string{"%s", "%v", "%q", "%w", "%d", "env.", "env[", "environ", "getenv",
		"secrets.", "vault:", "op://", "ssm:", "arn:", "::", "->", "()", "?.", "os.", "self.", "this.", "=>", "==", "&&", "||", "!="} {
		if strings.Contains(padless, p) && !(random && len(p) < 4 && (in >= variableLine || p[0] == '%')) {
			return true
		}
	}
	return false
}

// closes reports whether a value ends with the sign that shuts its first one, or as a regular
// expression may.
func closes(v string) bool {
	last := v[len(v)-1]
	return last == ">})]"[strings.IndexByte("<{([", v[0])] || v[0] != '{' && isOneOf(last, "}$+*?")
}

// call reports whether v begins like a call, an index or a literal of code.
func call(v string, in setting) bool {
	v = strings.TrimLeft(v, "&*!")
	i := strings.IndexAny(v, "([{<")
	return i > 0 && identifierWith(v[:i], ".") && (in == loose || !shapeOf(v[:i]).choppy())
}

// address reports whether v looks like a mail address.
func address(v string) bool {
	user, host, ok := strings.Cut(v, "@")
	return ok && identifierWith(user, ".-+") && identifierWith(host, ".-") && (strings.Contains(host, ".") || !shapeOf(v).mixed())
}

// variable reports whether v, without quotes, is more likely a program's variable than a password:
// camelCase that is no jumble or, before more code, a name with one of the usual parts.
func variable(v string, goesOn bool) bool {
	if !identifier(v) {
		return false
	}
	if sh := shapeOf(v); sh.choppy() || len(v) >= 20 && sh.unpronounceable() {
		return false
	}
	if camelCase(v) && kind[v[0]] == kLower {
		return true
	}
	if !goesOn {
		return false
	}
	return hasAny(v, made(&lexicons.codeHint))
}

// camelCase reports whether a capital follows a small letter or a digit.
func camelCase(v string) bool {
	for i := 1; i < len(v); i++ {
		if kind[v[i]] == kUpper && (kind[v[i-1]] == kLower || kind[v[i-1]] == kDigit) {
			return true
		}
	}
	return false
}

// codeHints are parts that names of variables often have.
var codeHints = []string{"pass", "pw", "secret", "token", "key", "cred", "auth", "user", "test", "param", "arg", "val", "str", "var", "input",
	"field", "opt", "conf", "get", "new", "buf", "data", "expect", "want"}

// codeName reports whether v names a type, an algorithm, a constant or a variable of code about
// keys, with digits: Uint8Array, bytes32, Ed25519PrivateKey, test1024Key, AUTH_SCRAM_256. Every
// word of it is one of codeWords, and every number a usual size; or it has capitals joined by
// underscores.
func codeName(v string) bool {
	v = strings.TrimRight(v, ",;")
	if len(v) > 64 || !identifierWith(v, "-.$") {
		return false
	}
	if sh := shapeOf(v); sh.lower == 0 && strings.Count(v, "_") > 1 && sh.digit*4 < sh.upper || sh.letters() == 1 && sh.digit < 6 && sh.symbol == 0 {
		return true // X509
	}
	for i, words := 0, 0; i < len(v); {
		k, from := kind[v[i]], i
		for i++; i < len(v) && (kind[v[i]] == k || kind[v[i]] == kLower && k == kUpper && i == from+1); i++ {
			k = kind[v[i]]
		}
		switch {
		case k == kDigit:
			if !slices.Contains(codeSizes, v[from:i]) && !(i-from <= 4 && words > 1) {
				return false
			}
		case k != kSymbol && !codeWord(v[from:i]):
			return false
		case k != kSymbol:
			words++
		}
	}
	return true
}

// codeWord reports whether letters are one word of codeWords or several of them.
func codeWord(letters string) bool {
	var buf [64]byte
	words := made(&lexicons.codeWord)
	for low := lowered(buf[:], letters); len(low) > 0; {
		n := words.longest(low)
		if n == 0 {
			return false
		}
		low = low[n:]
	}
	return true
}

var codeSizes = []string{"2", "8", "16", "32", "58", "64", "85", "128", "160", "192", "224", "256", "384", "448", "509", "512", "521", "1024", "2048",
	"3072", "4096", "25519"}

const codeWords = `uint int float double big array buffer bytes byte string str key pair private public secret shared session
	encryption decryption signing verification u i f x ed k r p sec secp sha md hmac aes gcm cbc ctr base hex utf ascii enc dec encoded
	bit bits digest hash box nacl curve point scalar vec option opt optional ref chacha poly rsa ec ecdsa ecdh dh dsa pem der pkcs jwk
	jws jwe jwt oauth id ids token type types value values val data raw text char varchar slice fixed sized length len size h hs es ps rs
	argon bcrypt bech scrypt pbkdf kdf hkdf test want got my new old default root master seed salt nonce iv material handle object
	schema field fields password passwd pass pwd auth cred user name label like or and to from of n crypto web node native ssh tls
	siphash blake keccak ripemd kem ml kyber dilithium hybrid pq ot legacy v api access app client server provider service session bot web hook`

func identifier(v string) bool { return identifierWith(v, "") }

// identifierWith reports whether v is an identifier that may also hold the bytes of more.
func identifierWith(v, more string) bool {
	for i := 0; i < len(v); i++ {
		switch kind[v[i]] {
		case kLower, kUpper:
		case kDigit:
			if i == 0 {
				return false
			}
		default:
			if v[i] != '_' && !isOneOf(v[i], more) {
				return false
			}
		}
	}
	return v != ""
}

// dotted reports whether v is words joined by dots, as in a selector, a host name or a file name.
func dotted(v string) bool {
	return strings.Contains(v, ".") && identifierWith(v, ".-")
}

// wordDot reports whether words joined by dots are a password: drawn ones, and those of a person,
// which end in letters and digits: Lemon.Fox42. A version begins with a number, and a name of code
// tells what it names.
func wordDot(v string) bool {
	sh := shapeOf(v)
	v = strings.TrimRight(v, ".")
	i := strings.LastIndexByte(v, '.')
	last := shapeOf(v[i+1:])
	return sh.mixed() && (i < 0 || sh.random() || (last.mixed() || last.digit > 1 && sh.upper > 0) &&
		(sh.upper > 0 || kind[v[0]] != kDigit && digitSet.run(v, 1, 1) == 1) && !hasAny(v, made(&lexicons.codeHint)))
}

// path reports whether v looks like a file path or a URL.
func path(v string) bool {
	if strings.Contains(v, "://") {
		return true
	}
	n := strings.Count(v, "/") + strings.Count(v, `\`)
	if n == 0 {
		return false
	}
	if v[0] == '/' && n > 1 || v[0] == '.' || v[0] == '~' || len(v) > 3 && v[1] == ':' && isOneOf(v[2], `\/`) && kind[v[0]] <= kUpper {
		return true
	}
	sh := shapeOf(v)
	// Lemon/fox42!
	i := strings.IndexByte(v, '\\')
	// of a regular expression
	escape := i >= 0 && (i+2 >= len(v) || kind[v[i+2]] != kLower && kind[v[i+2]] != kUpper)
	person := n == 1 && sh.upper > 0 && sh.lower > 0 && sh.digit > 0 && strings.ContainsAny(v, strangeSigns) && v[0] != '/' && !strings.ContainsAny(v, ".:(") && !escape
	return !sh.random() && !person
}

// digest reports whether v is marked as a hash.
func digest(v string) bool {
	for _, p := range [...]string{"urn:", "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha512:", "md5:", "h1:", "blake3:"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := 0; i < len(v); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if v[i] != '-' {
				return false
			}
		} else if !sets[hexSet].has(v[i]) {
			return false
		}
	}
	return true
}

// isULID reports whether v is 26 digits of Crockford's base 32 and begins like a present-day time.
func isULID(v string) bool {
	if len(v) != 26 || v[0] != '0' || v[1] != '1' {
		return false
	}
	for i := 0; i < len(v); i++ {
		if k := kind[v[i]]; k != kDigit && k != kUpper || strings.IndexByte("ILOU", v[i]) >= 0 {
			return false
		}
	}
	return true
}

// isDate reports whether v begins like 2006-01-02.
func isDate(v string) bool {
	return len(v) >= 10 && v[4] == '-' && v[7] == '-' && digitSet.run(v, 0, 4) == 4 && digitSet.run(v, 5, 2) == 7 && digitSet.run(v, 8, 2) == 10
}

// wellKnown lists words in the place of a password that are harmless, or passwords that everyone
// knows.
var wellKnown = []string{"always", "required", "optional", "enabled", "disabled", "production", "development", "staging", "default", "random", "prompt", "string",
	"password", "passwd", "pass", "pwd", "secret", "user", "username", "postgres", "mysql", "root", "admin", "guest",
	"test", "token", "foo", "bar", "baz", "pw", "p", "x", "x-oauth-basic"}

// minValue is the minimum length of a value, in bytes.
const minValue = 6

// minPrivate is the minimum length of a value of a private file, in bytes, regardless of its name.
const minPrivate = 8
