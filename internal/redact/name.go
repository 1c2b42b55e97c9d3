package redact

import "strings"

// name is an identifier that may announce a secret: text[start:end].
type name struct {
	start, end int
	strength   strength
	flag       bool // it stands as a command line's option: --password
	upper      bool // it has no lower case letter: an environment variable
	dashed     bool // x-api-key: a header
}

// maxName is how far, in bytes, a name is followed to either side of the word that triggered.
const maxName = 48

// nameAt returns the name around the word of a trigger.
func nameAt(text string, at int) name {
	start := dotSet.back(text, at, maxName)
	end := dotSet.run(text, at, maxName)
	if text[at] >= 0x80 {
		for end < len(text) && end < at+16 && text[end] >= 0x80 && text[end] != 0xef { // up to a full-width colon
			end++
		}
		if i := strings.Index(text[at:end], "是"); i > 0 {
			end = at + i
		}
		return name{start: at, end: end, strength: hard}
	}
	// What looks like letters before the name may be the end of an escape.
	for i := start + 1; i <= at && i <= start+16; i++ {
		if escapeEnd(text, i) {
			start = i
		}
	}
	for end > start && isOneOf(text[end-1], ".-") {
		end--
	}
	n := name{start: start, end: end}
	for n.start < end && isOneOf(text[n.start], "-._") {
		n.flag = n.flag || text[n.start] == '-'
		n.start++
	}
	if i := strings.LastIndexByte(text[n.start:end], '.'); i >= 0 && n.start+i < at {
		n.start += i + 1
	}
	sh := shapeOf(text[n.start:end])
	n.upper, n.dashed = sh.lower == 0, strings.IndexByte(text[n.start:end], '-') >= 0
	n.strength = strengthOf(text[n.start:end])
	if n.strength == none && n.start > start && text[n.start-1] == '.' {
		// api.key: two parts of a dotted name.
		n.strength = strengthOf(text[alnumSet.back(text, n.start-1, 16):end])
	}
	if n.strength == none && n.start >= 4 && text[n.start-1] == ' ' {
		// "API key", "access token" in a sentence.
		before := alnumSet.back(text, n.start-1, 12)
		if before < n.start-1 && n.end-before <= maxName && (n.end-n.start == 3 || n.end-n.start == 4) {
			n.strength = strengthOf(text[before:n.end])
		}
	}
	return n
}

// Endings of names, without separators, that announce a secret.
var hardNames = []string{"password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd", "secret", "secretkey",
	"privatekey", "secretaccesskey", "accountkey", "sharedaccesskey", "masterkey", "encryptionkey", "signingkey"}

var softNames = []string{"token", "apikey", "accesskey", "authkey", "appkey", "applicationkey", "servicekey", "serverkey", "storagekey",
	"subscriptionkey", "functionkey", "functionskey", "consumerkey", "writekey", "adminkey", "sessionkey", "licensekey",
	"deploykey", "webhookkey", "integrationkey", "routingkey", "hmackey", "cipherkey", "credential", "cred", "auth", "authorization",
	"bearer"}

// Endings of names that only sound like secrets.
var harmlessNames = []string{"pagetoken", "nexttoken", "continuationtoken", "synctoken", "cancellationtoken", "canceltoken",
	"starttoken", "endtoken", "stoptoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken", "masktoken", "designtoken"}

// Endings that leave a name what it is.
var neutralEndings = []string{"prod", "production", "staging", "dev", "test", "live", "old", "new", "value", "val", "default", "primary",
	"secondary", "plaintext", "base64", "b64", "base", "string", "str", "raw", "env"}

// strengthOf tells what a name announces, by its ending: db.password and API_KEY_PROD announce a secret,
// tokenCount and password_file do not.
func strengthOf(ident string) strength {
	var buf [maxName * 2]byte
	n := 0
	for i := 0; i < len(ident) && n < len(buf); i++ {
		switch c := ident[i]; kind[c] {
		case kUpper:
			buf[n] = c | 0x20
			n++
		case kLower, kDigit:
			buf[n] = c
			n++
		}
	}
	low := buf[:n]
	for range 4 {
		for len(low) > 0 && kind[low[len(low)-1]] == kDigit {
			low = low[:len(low)-1]
		}
		switch {
		case endsIn(low, harmlessNames) > 0:
			return none
		case endsIn(low, hardNames) > 0, passAlone(ident, low):
			return hard
		case endsIn(low, softNames) > 0:
			if e := len(low); hasSuffix(low, "auth") && e > 4 && !strings.HasSuffix(ident, "_auth") || hasSuffix(low, "cred") && e > 4 && !strings.HasSuffix(ident, "_cred") {
				return none // oauth, sacred
			}
			return soft
		}
		cut := endsIn(low, neutralEndings)
		if cut == 0 && len(low) > 4 && low[len(low)-1] == 's' && low[len(low)-2] != 's' {
			cut = 1
		}
		if cut == 0 {
			return none
		}
		low = low[:len(low)-cut]
	}
	return none
}

// passAlone reports whether a name ends in the word pass: DB_PASS, smtpPass, but not bypass.
func passAlone(ident string, low []byte) bool {
	if !hasSuffix(low, "pass") {
		return false
	}
	if len(low) == 4 {
		return true
	}
	for _, end := range []string{"_pass", "_PASS", "-pass", "Pass"} {
		if strings.HasSuffix(ident, end) {
			return true
		}
	}
	for _, who := range []string{"dbpass", "userpass", "smtppass", "ftppass", "mysqlpass", "pgpass"} {
		if string(low) == who {
			return true
		}
	}
	return false
}

// endsIn returns the length of the first of the endings that low has, or 0.
func endsIn(low []byte, endings []string) int {
	for _, e := range endings {
		if hasSuffix(low, e) {
			return len(e)
		}
	}
	return 0
}

func hasSuffix(b []byte, s string) bool { return len(b) >= len(s) && string(b[len(b)-len(s):]) == s }
