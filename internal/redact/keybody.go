package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// headLen is the number of base64 characters that identify the start of a key.
const headLen = 96

// secretHead reports whether base64 begins like a private key: the DER of PKCS #1, PKCS #8, SEC 1,
// PKCS #12 or DSA, an OpenSSH key, a Java key store, or a secret key of minisign or signify.
func secretHead(v string) bool {
	for i := range min(len(v), 24) {
		if i > 0 && !isOneOf(v[i-1], "+/") { // which may be glued to it
			continue
		}
		for _, head := range []string{"b3BlbnNzaC1rZXktdjE", "RWRTY0Iy", "RWQAAEIy", "RWRCS", "/u3+7QAAAA", "zs7OzgAAAA"} {
			if strings.HasPrefix(v[i:], head) {
				return true
			}
		}
		if v[i] != 'M' || len(v)-i < 32 {
			continue
		}
		var der [headLen]byte
		b := strings.TrimRight(v[i:], "=")
		n, _ := base64.RawStdEncoding.Decode(der[:], []byte(b[:len(b)/4*4]))
		if secretDER(der[:n]) {
			return true
		}
	}
	return false
}

// secretDER reports whether DER, or its beginning, belongs to a private key.
func secretDER(b []byte) bool {
	seq, ok := derBody(b, 0x30)
	if !ok {
		return false
	}
	// EncryptedPrivateKeyInfo: an algorithm of PKCS #5 or of PKCS #12
	if inner, ok := derBody(seq, 0x30); ok {
		oid, ok := derBody(inner, 0x06)
		return ok && (hasBytes(oid, "\x2a\x86\x48\x86\xf7\x0d\x01\x05") || hasBytes(oid, "\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01"))
	}
	if len(seq) < 5 || seq[0] != 0x02 || seq[1] != 1 {
		return false
	}
	version, rest := seq[2], seq[3:]
	algorithm, isSeq := derBody(rest, 0x30)
	switch {
	case isSeq && version == 3: // PKCS #12
		return len(algorithm) > 1 && algorithm[0] == 0x06
	case isSeq: // PKCS #8
		return version <= 1 && len(algorithm) > 1 && algorithm[0] == 0x06
	case rest[0] == 0x02: // PKCS #1, DSA
		return version <= 1 && len(rest) > 2
	}
	return version == 1 && rest[0] == 0x04 // SEC 1
}

func hasBytes(b []byte, prefix string) bool {
	return strings.HasPrefix(string(b[:min(len(b), len(prefix))]), prefix)
}

// derBody returns the available content of an element with this tag.
func derBody(b []byte, tag byte) ([]byte, bool) {
	if len(b) < 4 || b[0] != tag {
		return nil, false
	}
	n := 2
	if b[1] > 0x80 {
		n += int(b[1] & 0x7f)
	}
	if n > 6 || n > len(b) {
		return nil, false
	}
	return b[n:], true
}

// publicWords are parts of the labels of public data, letters alone.
var publicWords = []string{"CERTIFICATE", "PUBLICKEY", "PARAMETERS", "PKCS7", "CMS", "CRL", "REQUEST", "SIGNATURE", "MESSAGE", "ENCRYPTEDFILE"}

// publicBlock reports whether text[start:end] is the body of a certificate or of a public key by a
// label beside it. If strict, it needs both labels.
func publicBlock(text string, start, end int, strict bool) bool {
	before := letters(text[max(0, start-maxHeaders):start])
	begins, ends := false, false
	if i := strings.LastIndex(before, "BEGIN"); i >= 0 {
		begins = publicLabel(before[i:]) && !strings.Contains(before[i:], "END")
	}
	if i := strings.LastIndex(before, "PUBLICLINES"); i >= 0 && !strings.Contains(before[i:], "PRIVATE") {
		return true
	}
	after := letters(text[end:min(len(text), end+maxHeaders)])
	if i := strings.Index(after, "END"); i >= 0 && !strings.Contains(after[:i], "BEGIN") {
		ends = publicLabel(after[i:])
	}
	if strict {
		return begins && ends
	}
	return begins || ends
}

// publicLabel reports whether the label at the start of letters marks public data.
func publicLabel(label string) bool {
	label = label[:min(len(label), 40)]
	for _, w := range publicWords {
		if i := strings.Index(label, w); i >= 0 {
			return !strings.Contains(label[:i], "PRIVATE")
		}
	}
	return false
}

// letters returns the letters of a text as capitals, digits too, without its escapes and colours.
func letters(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c, n := unit(text, i)
		switch kind[c] {
		case kLower:
			b = append(b, c&^0x20)
		case kUpper, kDigit:
			b = append(b, c)
		}
		i += n
	}
	return string(b)
}

// harmless reports whether base64 belongs to an image or a font, or to text without secrets.
func harmless(text string, runs []keyRun) bool {
	if imageData(text[runs[0].start:runs[0].end]) {
		return true
	}
	inner, ok := innerText(text, runs)
	return ok && len(findKeys(inner, 0, false)) == 0 && len(findTriggered(inner)) == 0
}

// holdsKey reports whether a run is base64 of text with a private key in it, such as a PEM file.
func holdsKey(text string, r keyRun) bool {
	inner, ok := innerText(text, []keyRun{r})
	return ok && len(findKeys(inner, 0, false)) > 0
}

// innerText decodes base64 of text. Its beginning may be cut off or have text glued to it.
func innerText(text string, runs []keyRun) (string, bool) {
	head := body(text, runs, 256)
	for shift := range min(4, len(head)) {
		if plain := decode(head[shift:]); len(plain) >= 40 && textual(plain[24:]) {
			return strings.ToValidUTF8(string(decode(body(text, runs, 1<<30)[shift:])), "?"), true
		}
	}
	return "", false
}

// body returns at most most characters of runs, without padding.
func body(text string, runs []keyRun, most int) string {
	var b strings.Builder
	for _, r := range runs {
		if b.Len() >= most {
			break
		}
		b.WriteString(strings.Trim(r.characters(text, most-b.Len()), "="))
	}
	return b.String()
}

// decode decodes base64 up to the first invalid character.
func decode(v string) []byte {
	coding := base64.RawStdEncoding
	if strings.ContainsAny(v, "-_") {
		coding = base64.RawURLEncoding
	}
	out := make([]byte, coding.DecodedLen(len(v)))
	n, _ := coding.Decode(out, []byte(v[:len(v)/4*4]))
	return out[:n]
}

// textual reports whether bytes are text, at least as far as the last of them.
func textual(b []byte) bool {
	for cut := range min(4, len(b)) {
		if utf8.Valid(b[:len(b)-cut]) {
			return printable(b)
		}
	}
	return false
}

// jwkNames lists the secret members of a JSON Web Key.
var jwkNames = []string{"d", "p", "q", "dp", "dq", "qi", "k"}

// findJWK looks for the secret members of JSON Web Keys.
func findJWK(text string, found []keySpan) []keySpan {
	const reach = 8 << 10
	for at, done := 0, 0; ; {
		i := strings.Index(text[at:], "kty")
		if i < 0 {
			return found
		}
		at += i
		if at > 0 && !boundary(text, at) || separatorEnd(text, at+len("kty")) < 0 {
			at += len("kty")
			continue
		}
		from, to := max(done, at-reach), min(len(text), at+reach)
		for i := from; i < to; i++ {
			if c := text[i]; c != 'd' && c != 'p' && c != 'q' && c != 'k' || i == 0 || !isOneOf(text[i-1], "\"' \n\t;,{") && !escapeEnd(text, i) {
				continue
			}
			for _, name := range jwkNames {
				if !strings.HasPrefix(text[i:], name) {
					continue
				}
				if r, ok := valueAfter(text, i+len(name), true); ok && r.width >= 20 && r.upper > 0 && r.lower > 0 {
					found = append(found, keySpan{span{r.start, r.end, rulePrivateKey}, false})
					i = r.end
					break
				}
			}
		}
		at, done = at+len("kty"), to
	}
}

// findAge looks for age's secret keys with escaped dashes or text glued to them.
func findAge(text string, found []keySpan) []keySpan {
	const word = "AGE"
	for at := 0; ; at += len(word) {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return found
		}
		at += i
		end := spell(text, at+len(word), "SECRETKEY")
		if end < 0 {
			continue
		}
		lexer := keyLexer{text: text, at: end}
		if r, ok := lexer.next(minCluster, min(len(text), end+16)); ok && r.lower == 0 && r.digit > 2 {
			found = append(found, keySpan{span{at, r.end, rulePrivateKey}, false})
			at = r.end - len(word)
		}
	}
}
