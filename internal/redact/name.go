package redact

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// name is an identifier or a noun that may announce a secret: text[start:end].
type name struct {
	start, end int
	strength   strength
	flag       bool // a command line option: --password
	upper      bool // it has no lower case letter: an environment variable
	dashed     bool // x-api-key: a header
	pin        bool // its value is a number of four to eight digits
}

// unspaced reports whether a name ends in a script behind which the text may go on without a blank.
func (n name) unspaced(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text[n.start:n.end])
	return unspaced(last)
}

// maxName bounds how far, in bytes, a name is followed to either side of the trigger word.
const maxName = 48

// nameAt returns the name around the word of a trigger.
func nameAt(text string, at int) name {
	start := dotSet.back(text, at, maxName)
	end := dotSet.run(text, at, maxName)
	if at-start == maxName {
		return name{start: start, end: end} // no name is that long
	}
	// Apparent letters before the name may be the end of an escape.
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
	ident := text[n.start:end]
	n.strength = strengthOf(ident)
	if n.strength <= weak && n.start > start && text[n.start-1] == '.' {
		// api.key: two parts of a dotted name.
		n.strength = max(n.strength, strengthOf(text[alnumSet.back(text, n.start-1, 16):end]))
	}
	if n.strength <= weak && n.start >= 4 && text[n.start-1] == ' ' {
		// "API key", "access token" in a sentence.
		before := alnumSet.back(text, n.start-1, 12)
		if before < n.start-1 && n.end-before <= maxName && (n.end-n.start == 3 || n.end-n.start == 4) {
			n.strength = max(n.strength, strengthOf(text[before:n.end]))
		}
	}
	if n.strength == none {
		return n
	}
	sh := shapeOf(ident)
	n.upper, n.dashed = sh.lower == 0, strings.IndexByte(ident, '-') >= 0
	if low := strings.TrimRight(ident, "0123456789"); len(low) >= 3 && strings.EqualFold(low[len(low)-3:], "pin") {
		n.pin = true
	}
	return n
}

// ending is the end of a name, in lower case and without separators, that decides the name's
// strength.
type ending struct {
	text     string
	strength strength
	place    place
}

// place says where in a name an ending counts.
type place int

const (
	anywhere     place = iota
	aWord              // at the start of a word of the name: DB_PASS and dbPass, not bypass
	aWordOrUpper       // the same, or in a name without lower case letters: ROOTPW
)

// endingsByLetter groups the endings by their last letter. It is built at the first name, because
// every command would pay for it at the start. The first matching ending decides, so the harmless
// ones come first.
var endingsByLetter = sync.OnceValue(func() *[32][]ending {
	var by [32][]ending
	add := func(st strength, at place, texts string) {
		for _, t := range strings.Fields(texts) {
			last := t[len(t)-1] & 31
			by[last] = append(by[last], ending{t, st, at})
		}
	}
	// Harmless names that only sound secret.
	add(none, anywhere, `pagetoken nexttoken continuationtoken synctoken cancellationtoken canceltoken starttoken startingtoken endtoken
		stoptoken eostoken bostoken padtoken unktoken septoken masktoken designtoken ggmltoken creationtoken purchasetoken updatetoken
		clienttoken resumetoken
		publickey pubkey primarykey foreignkey partitionkey sortkey cachekey rowkey rangekey indexkey objectkey idempotencykey
		translationkey messagekey i18nkey localekey lookupkey uniquekey groupkey querykey statekey eventkey bucketkey filekey hostkey
		verifykey verifyingkey sitekey publishablekey registrykey keykey mapkey hotkey shiftkey ctrlkey altkey metakey monkey turkey
		donkey contextkey dictkey configkey settingkey headerkey labelkey tagkey fieldkey columnkey jsonkey resultkey inputkey outputkey s3key blobkey websocketkey vkey verifierkey`)
	add(hard, anywhere, `password passwd passphrase passcode motdepasse passwort kennwort pwd secret secretkey privatekey privkey secretaccesskey
		accountkey sharedaccesskey masterkey encryptionkey signingkey presharedkey sharedkey psk`)
	add(hard, aWord, `pass dbpass userpass rootpass adminpass smtppass ftppass mysqlpass pgpass redispass ldappass keypass storepass
		sshpass mypass keystorepass truststorepass requirepass masterauth pw rootpw userpw adminpw dbpw smtppw sudopw bindpw mysqlpw ldappw apppw svcpw ftppw`)
	add(soft, anywhere, `token apikey accesskey authkey appkey applicationkey servicekey serverkey storagekey subscriptionkey
		functionkey functionskey consumerkey writekey adminkey sessionkey licensekey deploykey webhookkey integrationkey routingkey
		hmackey cipherkey credential authorization bearer`)
	add(soft, aWord, `auth cred`)
	add(weak, anywhere, `key connectionstring connstring connstr`)
	add(weak, aWordOrUpper, `salt pin pincode pepper dsn seed hmac signing jwt`)
	return &by
})

// Endings that do not change a name's meaning.
var neutralEndings = []string{"prod", "production", "staging", "dev", "test", "live", "old", "new", "value", "val", "default", "primary",
	"secondary", "plaintext", "base64", "b64", "base", "string", "str", "raw", "env", "hex"}

// strengthOf classifies a name by its ending: db.password and API_KEY_PROD announce a secret,
// tokenCount and password_file do not.
func strengthOf(ident string) strength {
	var buf [maxName * 2]byte
	var begins [maxName * 2]bool // a word of the name
	byLetter := endingsByLetter()
	n, before, upper := 0, kSymbol, true
	for i := 0; i < len(ident) && n < len(buf); i++ {
		c := ident[i]
		k := kind[c]
		switch k {
		case kUpper, kLower, kDigit, kHigh:
			begins[n] = before == kSymbol || k == kUpper && before != kUpper || before == kDigit && k != kDigit
			buf[n] = c
			if k == kUpper {
				buf[n] |= 0x20
			}
			upper = upper && k != kLower
			n++
		}
		before = k
	}
	low := buf[:n]
	if string(low) == "key" && !upper {
		return none // it names everything
	}
	for range 4 {
		for len(low) > 0 && kind[low[len(low)-1]] == kDigit {
			low = low[:len(low)-1]
		}
		if len(low) == 0 {
			return none
		}
		for _, e := range byLetter[low[len(low)-1]&31] {
			if hasSuffix(low, e.text) && (e.place == anywhere || begins[len(low)-len(e.text)] || e.place == aWordOrUpper && upper) {
				return e.strength
			}
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
