package redact

import (
	"cmp"
	"crypto/dsa" //lint:ignore SA1019 such keys are still in use
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"math/big"
	mathrand "math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"time"

	"pgregory.net/rapid"
)

// sameKeys makes every run of a test draw the same keys, whichever test runs first. About one
// random line in 4,500 looks like words, and one block in 300 spells a name such as pw between
// slashes.
func sameKeys(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	privateKeys()
	publicTexts()
	cryptotest.SetGlobalRandom(t, 2)
}

func newRand() *mathrand.Rand { return mathrand.New(mathrand.NewPCG(12, 12)) }

// testKey is a private key in the form of a file.
type testKey struct {
	kind string
	text string
	body string // the part that must be gone, without line ends
	cuts bool   // it has enough lines to be recognised without labels
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	must(rand.Read(b))
	return b
}

func wrap(v string, width int) string {
	var b strings.Builder
	for i := 0; i < len(v); i += width {
		b.WriteString(v[i:min(len(v), i+width)] + "\n")
	}
	return b.String()
}

// armour joins labels at run time, so that this file holds none.
func armour(label, headers string, body []byte, width int) (text, encoded string) {
	encoded = base64.StdEncoding.EncodeToString(body)
	return "-----BEGIN " + label + "-----\n" + headers + wrap(encoded, width) + "-----END " + label + "-----\n", encoded
}

const privateKey = "PRIV" + "ATE KEY"

// openSSH returns the file of an OpenSSH key, from the public and the private part of its kind.
func openSSH(kind string, public, private []byte) []byte {
	str := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	name := str([]byte(kind))
	check := randomBytes(4)
	secret := slices.Concat(check, check, name, public, private, str([]byte("ann@example.com")))
	for i := byte(1); len(secret)%8 != 0; i++ {
		secret = append(secret, i)
	}
	none := str([]byte("none"))
	return slices.Concat([]byte("openssh-key-v1\x00"), none, none, str(nil), []byte{0, 0, 0, 1}, str(slices.Concat(name, public)), str(secret))
}

// privateKeys generates a key of each kind.
var privateKeys = sync.OnceValue(func() []testKey {
	var all []testKey
	add := func(kind, label, headers string, body []byte, width int) {
		text, encoded := armour(label, headers, body, width)
		all = append(all, testKey{kind, text, encoded, len(encoded) > 2*width})
	}
	r := must(rsa.GenerateKey(rand.Reader, 2048))
	rsa1 := x509.MarshalPKCS1PrivateKey(r)
	e256 := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	e521 := must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))
	edPublic, ed, _ := ed25519.GenerateKey(rand.Reader)
	var d dsa.PrivateKey
	d.P, d.Q, d.G = new(big.Int).SetBytes(randomBytes(128)), new(big.Int).SetBytes(randomBytes(20)), new(big.Int).SetBytes(randomBytes(128))
	d.Y, d.X = new(big.Int).SetBytes(randomBytes(128)), new(big.Int).SetBytes(randomBytes(20))
	add("RSA PKCS #1", "RSA "+privateKey, "", rsa1, 64)
	add("RSA PKCS #8", privateKey, "", must(x509.MarshalPKCS8PrivateKey(r)), 64)
	add("EC SEC 1", "EC "+privateKey, "", must(x509.MarshalECPrivateKey(e256)), 64)
	add("EC P-521", "EC "+privateKey, "", must(x509.MarshalECPrivateKey(e521)), 64)
	add("EC PKCS #8", privateKey, "", must(x509.MarshalPKCS8PrivateKey(e256)), 64)
	add("Ed25519 PKCS #8", privateKey, "", must(x509.MarshalPKCS8PrivateKey(ed)), 64)
	add("DSA", "DSA "+privateKey, "", must(asn1.Marshal([]*big.Int{big.NewInt(0), d.P, d.Q, d.G, d.Y, d.X})), 64)
	str := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	add("OpenSSH Ed25519", "OPENSSH "+privateKey, "", openSSH("ssh-ed25519", str(edPublic), str(ed)), 70)
	add("OpenSSH RSA", "OPENSSH "+privateKey, "", openSSH("ssh-rsa", slices.Concat(str([]byte{1, 0, 1}), str(r.N.Bytes())),
		slices.Concat(str(r.D.Bytes()), str(randomBytes(128)), str(r.Primes[0].Bytes()), str(r.Primes[1].Bytes()))), 70)
	add("RSA encrypted", "RSA "+privateKey, "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,"+strings.ToUpper(hex.EncodeToString(randomBytes(16)))+"\n\n", randomBytes(1200), 64)
	pbes2 := must(hex.DecodeString("3082052d305706092a864886f70d01050d304a302906092a864886f70d01050c301c0408"))
	add("PKCS #8 encrypted", "ENCRYPTED "+privateKey, "", slices.Concat(pbes2, randomBytes(1290)), 64)
	add("PGP", "PGP "+privateKey+" BLOCK", "Version: GnuPG v2\nComment: a key\n\n", slices.Concat([]byte{0x95, 3, 0x98, 4}, randomBytes(1100)), 64)
	all[len(all)-1].text = strings.Replace(all[len(all)-1].text, "-----END", "=aB3x\n-----END", 1)
	add("SSH2", "SSH2 ENCRYPTED "+privateKey, "Subject: ann\nComment: \"rsa-key-20261120\"\n", slices.Concat([]byte{0x3f, 0x6f, 0xf9, 0xeb}, randomBytes(900)), 70)
	all[len(all)-1].text = strings.NewReplacer("-----BEGIN", "---- BEGIN", "-----END", "---- END", "KEY-----", "KEY ----").Replace(all[len(all)-1].text)

	secret := base64.StdEncoding.EncodeToString(randomBytes(600))
	all = append(all, testKey{"PuTTY", "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: ann\nPublic-Lines: 6\n" +
		wrap(base64.StdEncoding.EncodeToString(slices.Concat([]byte("\x00\x00\x00\x07ssh-rsa"), randomBytes(260))), 64) +
		"Priv" + fmt.Sprintf("ate-Lines: %d\n", (len(secret)+63)/64) + wrap(secret, 64) + "Priv" + "ate-MAC: " + hex.EncodeToString(randomBytes(32)) + "\n", secret, true})
	static := hex.EncodeToString(randomBytes(256))
	all = append(all, testKey{"OpenVPN static", "#\n# 2048 bit OpenVPN static key\n#\n-----BEGIN Open" + "VPN Static key V1-----\n" + wrap(static, 32) + "-----END Open" + "VPN Static key V1-----\n", static, false})
	return all
})

// lineCarriers wrap each line of a file in other text.
var lineCarriers = []struct {
	name  string
	write func(n int, line string) string
}{
	{"plain", func(n int, l string) string { return l }},
	{"Read", func(n int, l string) string { return fmt.Sprintf("%6d→%s", n, l) }},
	{"cat -n", func(n int, l string) string { return fmt.Sprintf("%6d\t%s", n, l) }},
	{"number and colon", func(n int, l string) string { return fmt.Sprintf("%d: %s", n, l) }},
	{"OpenCode read", func(n int, l string) string { return fmt.Sprintf("%05d| %s", n, l) }},
	{"grep -n", func(n int, l string) string { return fmt.Sprintf("%d:%s", n, l) }},
	{"grep -rn", func(n int, l string) string { return fmt.Sprintf("deploy/tls/server.pem:%d:%s", n, l) }},
	{"grep -A", func(n int, l string) string { return fmt.Sprintf("server.pem-%d-%s", n, l) }},
	{"diff -", func(n int, l string) string { return "-" + l }},
	{"diff +", func(n int, l string) string { return "+" + l }},
	{"diff", func(n int, l string) string { return []string{" ", "+", "-"}[n%3] + l }},
	{"coloured diff", func(n int, l string) string { return "\x1b[32m+\x1b[m\x1b[32m" + l + "\x1b[m" }},
	{"coloured diff, escaped", func(n int, l string) string { return `\u001b[31m-` + l + `\u001b[0m` }},
	{"combined diff", func(n int, l string) string { return "++" + l }},
	{"word diff", func(n int, l string) string { return "[-" + l + "-]" }},
	{"timestamp", func(n int, l string) string { return fmt.Sprintf("2026-11-20T10:00:%02d.123456789Z %s", n%60, l) }},
	{"compose", func(n int, l string) string { return "web-1  | " + l }},
	{"compose, coloured", func(n int, l string) string { return "\x1b[36mweb-1  |\x1b[0m 2026-11-20 10:00:00 " + l }},
	{"GitHub Actions", func(n int, l string) string {
		return "build\tRun make\t2026-11-20T10:00:00.0000000Z " + l
	}},
	{"GitLab", func(n int, l string) string { return "2026-11-20T10:00:00.000000Z 00O " + l }},
	{"journald", func(n int, l string) string { return "Nov 20 10:00:00 build-7 deploy[4711]: " + l }},
	{"blame", func(n int, l string) string {
		return fmt.Sprintf("4f2c9d1e8b (Ann Example 2026-11-20 10:00:00 +0100 %3d) %s", n, l)
	}},
	{"blame -l", func(n int, l string) string {
		return fmt.Sprintf("4f2c9d1e8b7a6f5e4d3c2b1a09f8e7d6c5b4a392 (Ann 2026-11-20 10:00:00 +0100 %3d) %s", n, l)
	}},
	{"//", func(n int, l string) string { return "// " + l }},
	{"//, tight", func(n int, l string) string { return "//" + l }},
	{"#", func(n int, l string) string { return "# " + l }},
	{"*", func(n int, l string) string { return " * " + l }},
	{"--", func(n int, l string) string { return "-- " + l }},
	{"quote", func(n int, l string) string { return "> > " + l }},
	{"margin", func(n int, l string) string { return "| " + l }},
	{"Markdown table", func(n int, l string) string { return fmt.Sprintf("| %d | `%s` | a note |", n, l) }},
	{"box", func(n int, l string) string { return fmt.Sprintf("│ %-70s │", l) }},
	{"HTML table", func(n int, l string) string { return fmt.Sprintf("<tr><td>%d</td><td>%s</td></tr>", n, l) }},
	{"YAML", func(n int, l string) string { return "      " + l }},
	{"YAML list", func(n int, l string) string { return "  - " + l }},
	{"tabs", func(n int, l string) string { return "\t\t" + l }},
	{"CRLF", func(n int, l string) string { return l + "\r" }},
	{"Go", func(n int, l string) string { return "\t\"" + l + `\n" +` }},
	{"Python", func(n int, l string) string { return "    b'" + l + `\n'` }},
	{"JavaScript", func(n int, l string) string { return "  '" + l + `',` }},
	{"shell", func(n int, l string) string { return "echo " + l + " >> key.pem \\" }},
	{"CSV", func(n int, l string) string { return fmt.Sprintf(`%d,"%s",x`, n, l) }},
	{"log of JSON", func(n int, l string) string {
		return fmt.Sprintf(`{"level":"info","ts":1763632800.%d,"caller":"deploy/tls.go:42","msg":"%s","stream":"stdout"}`, n, l)
	}},
	{"hexadecimal numbers", func(n int, l string) string { return fmt.Sprintf("%08x  %s", n*64, l) }},
	{"xml", func(n int, l string) string { return "<line>" + l + "</line>" }},
	{"trailing blanks", func(n int, l string) string { return l + "   " }},
}

func eachLineOf(text string, write func(n int, line string) string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = write(i+1, l)
	}
	return strings.Join(lines, "\n") + "\n"
}

func jsonArray(text string) string {
	return asJSON(map[string]any{"structuredPatch": []any{map[string]any{"oldStart": 1, "lines": strings.Split(strings.TrimSuffix(text, "\n"), "\n")}}})
}

// textCarriers embed a whole file in another format.
var textCarriers = []struct {
	name  string
	json  bool // it makes a JSON document
	write func(text string) string
}{
	{"itself", false, func(t string) string { return t }},
	{"prose", false, func(t string) string { return "Here is the file:\n\n```\n" + t + "```\n\nIt should work now.\n" }},
	{"JSON", true, func(t string) string { return asJSON(map[string]string{"type": "tool_result", "content": t}) }},
	{"JSON in JSON", true, func(t string) string { return asJSON(map[string]string{"out": asJSON(map[string]string{"text": t})}) }},
	{"JSON in JSON in JSON", true, func(t string) string {
		return asJSON(map[string]string{"out": asJSON(map[string]string{"out": asJSON(map[string]string{"text": t})})})
	}},
	{"JSON, escaped slashes", true, func(t string) string {
		return strings.NewReplacer("/", `\/`, "+", `\u002b`, "=", `\u003d`).Replace(asJSON(map[string]string{"t": t}))
	}},
	{"JSON, array of lines", true, jsonArray},
	{"JSON, object a line", true, func(t string) string {
		var all []any
		for i, l := range strings.Split(strings.TrimSuffix(t, "\n"), "\n") {
			all = append(all, map[string]any{"line": i, "text": l, "type": "context"})
		}
		return asJSON(map[string]any{"lines": all})
	}},
	{"one line", false, func(t string) string { return "KEY=\"" + strings.ReplaceAll(strings.TrimSpace(t), "\n", `\n`) + "\"\n" }},
	{"blanks for line ends", false, func(t string) string { return strings.ReplaceAll(t, "\n", " ") }},
	{"HTML", false, func(t string) string {
		return "<pre>" + strings.NewReplacer("+", "&#43;", "=", "&equals;", "/", "&#x2F;").Replace(html.EscapeString(t)) + "</pre>"
	}},
	{"HTML, dashes too", false, func(t string) string {
		return "<p>" + strings.NewReplacer("-", "&#45;", "\n", "<br>", "+", "&plus;").Replace(html.EscapeString(t)) + "</p>"
	}},
	{"form", false, func(t string) string { return "key=" + url.QueryEscape(t) + "&x=1" }},
	{"path", false, func(t string) string { return "/k/" + url.PathEscape(t) }},
	{"quoted-printable", false, func(t string) string { return strings.NewReplacer("=", "=3D", "+", "=2B").Replace(t) }},
	{"CDATA", false, func(t string) string { return "<key><![CDATA[" + t + "]]></key>" }},
}

// cuts reduce a file to the part that the scanner sees.
var cuts = []struct {
	name string
	cut  func(lines []string) []string
}{
	{"whole", func(l []string) []string { return l }},
	{"no end", func(l []string) []string { return l[:len(l)-1] }},
	{"no beginning", func(l []string) []string { return l[1:] }},
	{"beginning", func(l []string) []string { return l[:max(1, len(l)*2/3)] }},
	{"end", func(l []string) []string { return l[len(l)/2:] }},
	{"middle", func(l []string) []string {
		first := slices.IndexFunc(l, func(s string) bool { return len(s) >= 60 && !strings.Contains(s, " ") })
		if first < 0 {
			return l
		}
		return l[first:min(len(l)-1, first+6)]
	}},
	{"body", func(l []string) []string {
		first := slices.IndexFunc(l, func(s string) bool { return len(s) >= 60 && !strings.Contains(s, " ") })
		if first < 0 {
			return l
		}
		return l[first : len(l)-1]
	}},
}

var plainRuns = strings.NewReplacer(`\\/`, "/", `\/`, "/", `\u002b`, "+", `\u003d`, "=", "&#43;", "+", "&plus;", "+", "&#x2F;", "/", "&equals;", "=", "%2B", "+", "%2F", "/", "=2B", "+")

// leaked returns a window of twelve characters of a key that is still in a text, or "".
func leaked(out string, windows map[string]bool) string {
	for _, text := range []string{out, plainRuns.Replace(out)} {
		n := 0
		for i := range len(text) {
			if !sets[base64Set].has(text[i]) {
				n = 0
			} else if n++; n >= 12 && windows[text[i-11:i+1]] {
				return text[i-11 : i+1]
			}
		}
	}
	return ""
}

func windowsOf(body string) map[string]bool {
	w := make(map[string]bool)
	for i := 0; i+12 <= len(body); i++ {
		if strings.Trim(body[i:i+12], "A") != "" { // zeros
			w[body[i:i+12]] = true
		}
	}
	return w
}

// claimed reports whether a part of a key has a label, or enough lines to be recognised without.
func (k testKey) claimed(cut string) bool { return k.cuts || cut != "middle" && cut != "body" }

// keyMatrix counts the clean texts by kind and by carrier.
func keyMatrix(tb testing.TB, double bool) (byKind, byCarrier map[string]recall, misses []string) {
	byKind, byCarrier = make(map[string]recall), make(map[string]recall)
	var s Scanner
	for n, k := range privateKeys() {
		windows := windowsOf(k.body)
		lines := strings.Split(strings.TrimSuffix(k.text, "\n"), "\n")
		for i, inner := range lineCarriers {
			for j, outer := range textCarriers {
				if !double && i > 0 && j > 0 {
					continue
				}
				for _, c := range cuts {
					if !k.claimed(c.name) || inner.name == "log of JSON" && strings.Contains(k.text, `"`) {
						continue
					}
					text := outer.write(eachLineOf(strings.Join(c.cut(lines), "\n"), inner.write))
					out, _ := s.Text(text)
					left := leaked(out.String(), windows)
					if left == "" && outer.json {
						doc, _, err := s.JSON([]byte(text))
						if err != nil || !json.Valid(doc.Bytes()) || skeleton(text) != skeleton(doc.String()) {
							tb.Fatalf("%s, %s in %s, %s: %v: %s", k.kind, inner.name, outer.name, c.name, err, doc)
						}
						left = leaked(doc.String(), windows)
						out = doc
					}
					count := func(r recall) recall {
						r.all++
						if left == "" {
							r.hidden++
						}
						return r
					}
					byKind[k.kind] = count(byKind[k.kind])
					byCarrier["line: "+inner.name] = count(byCarrier["line: "+inner.name])
					byCarrier["text: "+outer.name] = count(byCarrier["text: "+outer.name])
					byCarrier["cut: "+c.name] = count(byCarrier["cut: "+c.name])
					if left != "" && len(misses) < 2000 {
						misses = append(misses, fmt.Sprintf("%s (%d), %s in %s, %s: %s of %.1500q", k.kind, n, inner.name, outer.name, c.name, left, out.String()))
					}
				}
			}
		}
	}
	return byKind, byCarrier, misses
}

func TestPrivateKeysInEveryCarrier(t *testing.T) {
	sameKeys(t)
	byKind, byCarrier, misses := keyMatrix(t, !testing.Short())
	for _, by := range []map[string]recall{byKind, byCarrier} {
		names := make([]string, 0, len(by))
		for name := range by {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			t.Logf("%-32s %6d of %6d", name, by[name].hidden, by[name].all)
		}
	}
	for i, m := range misses {
		if i%(1+len(misses)/15) == 0 {
			t.Error(m)
		}
	}
}

// publicTexts generates texts that imitate the lines of keys without being secret.
var publicTexts = sync.OnceValue(func() map[string]string {
	r := must(rsa.GenerateKey(rand.Reader, 2048))
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, NotAfter: time.Unix(2e9, 0)}
	texts := make(map[string]string)
	for label, body := range map[string][]byte{
		"CERTIFICATE": must(x509.CreateCertificate(rand.Reader, c, c, &r.PublicKey, r)), "CERTIFICATE REQUEST": must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, r)),
		"PUBLIC KEY": must(x509.MarshalPKIXPublicKey(&r.PublicKey)), "RSA PUBLIC KEY": x509.MarshalPKCS1PublicKey(&r.PublicKey), "PGP PUBLIC KEY BLOCK": randomBytes(900),
		"PGP SIGNATURE": randomBytes(400), "X509 CRL": randomBytes(500), "DH PARAMETERS": randomBytes(260), "AGE ENCRYPTED FILE": randomBytes(300),
	} {
		texts[label], _ = armour(label, "", body, 64)
	}
	return texts
})

func TestPublicBlocksStay(t *testing.T) {
	sameKeys(t)
	var s Scanner
	for label, text := range publicTexts() {
		for _, inner := range lineCarriers {
			for _, outer := range textCarriers[:8] {
				in := outer.write(eachLineOf(text, inner.write))
				if got, _ := s.Text(in); got.String() != in {
					t.Fatalf("%s, %s in %s became %s", label, inner.name, outer.name, got)
				}
			}
		}
	}
}

func TestBundleLosesTheKeyAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	sameKeys(t)
	certificate := publicTexts()["CERTIFICATE"]
	var s Scanner
	for _, k := range privateKeys() {
		windows := windowsOf(k.body)
		for w := range windows {
			if strings.Contains(certificate, w) { // an object's identifier
				delete(windows, w)
			}
		}
		for _, c := range lineCarriers {
			text := eachLineOf(certificate+k.text+certificate, c.write)
			got, _ := s.Text(text)
			if left := leaked(got.String(), windows); left != "" {
				t.Errorf("%s in %s: %s of the key is left", k.kind, c.name, left)
			}
			for n, line := range strings.Split(strings.TrimSpace(certificate), "\n") {
				if strings.Count(got.String(), line) != 2 && n > 0 && n < 16 {
					t.Fatalf("%s in %s: line %d of the certificate is gone in %s", k.kind, c.name, n, got)
				}
			}
		}
	}
}

func TestDamagedLabels(t *testing.T) {
	sameKeys(t)
	body := base64.StdEncoding.EncodeToString(randomBytes(40)) // one line: nothing else tells
	pri := "PRIV" + "ATE"
	for _, label := range []string{
		"-----BEGIN RSA " + pri + " KEY-----", "----BEGIN " + pri + " KEY----", "------BEGIN " + pri + " KEY-------", "-BEGIN " + pri + " KEY-",
		"—–BEGIN EC " + pri + " KEY–—", "‐‐‐‐‐BEGIN " + pri + " KEY‐‐‐‐‐", "-----begin rsa " + strings.ToLower(pri) + " key-----", "-----Begin Private Key-----",
		"----- BEGIN " + pri + " KEY -----", "-----BEGIN  RSA  " + pri + "  KEY-----", "-----BEGIN_RSA_" + pri + "_KEY-----", "-----BEGIN+RSA+" + pri + "+KEY-----",
		"-----BEGIN%20RSA%20" + pri + "%20KEY-----", "%2D%2D%2D%2D%2DBEGIN%20" + pri + "%20KEY%2D%2D%2D%2D%2D", "=2D=2D=2D=2DBEGIN " + pri + " KEY=2D=2D=2D",
		"&#45;&#45;&#45;BEGIN " + pri + " KEY&#45;&#45;", "&ndash;&ndash;BEGIN&nbsp;" + pri + "&nbsp;KEY&ndash;", `\u002d\u002d\u002d\u002d\u002dBEGIN ` + pri + ` KEY\u002d\u002d`,
		`\u2014\u2014BEGIN ` + pri + ` KEY\u2014`, "-----BEGIN \x1b[31mRSA\x1b[0m \x1b[32m" + pri + "\x1b[0m \x1b[1mKEY\x1b[0m-----", `-----BEGIN \u001b[31m` + pri + `\u001b[0m KEY-----`,
		"\x1b[31m-----BEGIN \x1b[0m" + pri + " KEY-----", "BEGIN RSA " + pri + " KEY", "RSA " + pri + " KEY-----", "IN " + pri + " KEY-----",
		"    12→-----BEGIN RSA\n    13→" + pri + " KEY-----", "    12→-----BEGIN RSA " + pri + "\n    13→KEY-----", "web-1  | -----BEGIN OPENSSH PRIV\nweb-1  | ATE KEY-----",
		"+-----BEGIN\n+" + pri + " KEY-----", "-----BEGIN " + pri + " KEY", "-----BEGIN ANY " + pri + " KEY-----", "-----BEGIN PGP " + pri + " KEY BLOCK-----",
		"== BEGIN " + pri + " KEY ==", "* * * BEGIN " + pri + " KEY", "---- BEGIN SSH2 ENCRYPTED " + pri + " KEY ----", "  9: Priv" + "ate-Lines: 8",
	} {
		for _, c := range []string{"§\n" + body + "\n", "    1→§\n    2→" + body + "\n", "-§\n-" + body + "\n", "§ " + body} {
			text := strings.Replace(c, "§", label, 1)
			got, _ := new(Scanner).Text(text)
			if left := leaked(got.String(), windowsOf(body)); left != "" {
				t.Errorf("%q: %s is left in %q", label, left, got)
			}
		}
		if end := strings.NewReplacer("BEGIN", "END", "begin", "end", "Begin", "End", "Lines: 8", "MAC: 0").Replace(label); end != label {
			text := "    1→" + body + "\n    2→" + end + "\n"
			got, _ := new(Scanner).Text(text)
			if left := leaked(got.String(), windowsOf(body)); left != "" {
				t.Errorf("%q: %s is left in %q", end, left, got)
			}
		}
	}
}

func TestFoldedKeys(t *testing.T) {
	sameKeys(t)
	for width := 8; width <= 120; width++ {
		body := base64.StdEncoding.EncodeToString(randomBytes(600))
		text := "-----BEGIN " + privateKey + "-----\n" + wrap(body, width) + "-----END " + privateKey + "-----\n"
		got, _ := new(Scanner).Text(text)
		if left := leaked(got.String(), windowsOf(body)); left != "" {
			t.Errorf("width %d: %s is left in %q", width, left, got)
		}
	}
}

func TestKeysInOneLine(t *testing.T) {
	sameKeys(t)
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := must(rsa.GenerateKey(rand.Reader, 2048))
	e := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	b64, raw := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	pkcs12 := must(hex.DecodeString("30820a0c02010330820" + "9cc06092a864886f70d010701"))
	wire := b64(randomBytes(32))
	age := "AGE-SECRET-KEY-" + "1" + draw(newRand(), "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
	d := raw(r.D.FillBytes(make([]byte, 256)))
	for _, k := range []struct{ kind, text, body string }{
		{"PKCS #1", b64(x509.MarshalPKCS1PrivateKey(r)), ""},
		{"PKCS #8", b64(must(x509.MarshalPKCS8PrivateKey(r))), ""},
		{"EC", b64(must(x509.MarshalECPrivateKey(e))), ""},
		{"EC PKCS #8", b64(must(x509.MarshalPKCS8PrivateKey(e))), ""},
		{"Ed25519", b64(must(x509.MarshalPKCS8PrivateKey(ed))), ""},
		{"OpenSSH", b64(openSSH("ssh-ed25519", nil, randomBytes(200))), ""},
		{"PKCS #12", b64(append(pkcs12, randomBytes(700)...)), ""},
		{"Java key store", b64(append([]byte{0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2}, randomBytes(700)...)), ""},
		{"minisign", b64(append([]byte("EdScB2"), randomBytes(152)...)), ""},
		{"signify", b64(append([]byte("EdBK\x00\x00\x00\x2a"), randomBytes(96)...)), ""},
		{"age", age, ""},
		{"WireGuard", "[Interface]\nPrivateKey = " + wire + "\nAddress = 10.0.0.1/24", wire},
		{"JWK", `{"kty":"RSA","n":"` + raw(r.N.Bytes()) + `","e":"AQAB","d":"` + d + `"}`, d},
		{"JWK of EC", "{\n  \"kty\": \"EC\",\n  \"crv\": \"P-256\",\n  \"x\": \"" + raw(randomBytes(32)) + "\",\n  \"d\": \"" + d[:43] + "\"\n}", d[:43]},
		{"JWK with a dash first", `{"kty":"EC","crv":"P-256","d":"-_` + d[:41] + `"}`, "-_" + d[:41]},
		{"PEM", b64(pem.EncodeToMemory(&pem.Block{Type: privateKey, Bytes: must(x509.MarshalPKCS8PrivateKey(e))})), ""},
		{"PEM, cut", b64(pem.EncodeToMemory(&pem.Block{Type: "RSA " + privateKey, Bytes: x509.MarshalPKCS1PrivateKey(r)}))[:1501], ""},
	} {
		windows := windowsOf(cmp.Or(k.body, k.text))
		for _, inner := range lineCarriers {
			if inner.name == "log of JSON" && strings.Contains(k.text, `"`) {
				continue
			}
			for _, outer := range textCarriers {
				text := outer.write(eachLineOf(k.text, inner.write))
				got, _ := new(Scanner).Text(text)
				if left := leaked(got.String(), windows); left != "" {
					t.Fatalf("%s, %s in %s: %s is left in %q", k.kind, inner.name, outer.name, left, got)
				}
			}
		}
	}
}

func TestKeysOverTexts(t *testing.T) {
	sameKeys(t)
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, k := range privateKeys() {
		windows := windowsOf(k.body)
		lines := strings.Split(strings.TrimSuffix(k.text, "\n"), "\n")
		for _, size := range []int{3, 4, 5, 7, 12} {
			for _, c := range lineCarriers {
				if c.name == "log of JSON" {
					continue
				}
				stream, texts := (*Scanner)(nil).Stream(), (*Scanner)(nil).Stream()
				var resumed *Stream
				var out, plain, later strings.Builder
				for part := range slices.Chunk(strings.Split(strings.TrimSuffix(eachLineOf(strings.Join(lines, "\n"), c.write), "\n"), "\n"), size) {
					text := strings.Join(part, "\n") + "\n"
					doc := asJSON(map[string]any{"kind": "tool_result", "tool_use_id": "toolu_01A09f8e7D6c5B4a3928Zq", "text": text})
					clean, _, err := stream.JSON([]byte(doc))
					if err != nil || !strings.Contains(clean.String(), "toolu_01A09f8e7D6c5B4a3928Zq") {
						t.Fatalf("%s: %v: %s", k.kind, err, clean)
					}
					out.WriteString(clean.String() + "\n")
					one, _ := texts.Text(text)
					plain.WriteString(one.String())
					resumed = (*Scanner)(nil).Stream() // as another process does
					resumed.Skip(later.String())
					clean, _, _ = resumed.JSON([]byte(doc))
					later.WriteString(clean.String() + "\n")
				}
				for way, got := range map[string]string{"documents": out.String(), "texts": plain.String(), "resumed": later.String()} {
					if left := leaked(got, windows); left != "" && !(len(lines)%size == 1 && len(lines[len(lines)-1]) < minCluster) {
						t.Errorf("%s, %s, %d lines a text, %s: %s is left in %q", k.kind, c.name, size, way, left, got)
					}
				}
			}
		}
	}
}

func TestGlanceShowsNoLineOfAKey(t *testing.T) {
	sameKeys(t)
	for _, k := range privateKeys()[:12] {
		windows := windowsOf(k.body)
		body := strings.Split(strings.TrimSpace(wrap(k.body, 64)), "\n")
		for n := range body {
			if n == len(body)-1 {
				break
			}
			text := "Compiling …\n" + eachLineOf(strings.Join(body[1:n+1], "\n"), func(n int, l string) string { return fmt.Sprintf("%d: %s", n, l) })
			if left := leaked((*Scanner)(nil).Glance(text).String(), windows); n > 0 && left != "" {
				t.Errorf("%s, after %d lines: %s", k.kind, n, left)
			}
		}
	}
}

func TestStreamForgetsAfterItsReach(t *testing.T) {
	sameKeys(t)
	stream := new(Scanner).Stream()
	stream.Skip("-----BEGIN " + privateKey + "-----\n")
	token := base64.RawStdEncoding.EncodeToString(randomBytes(36))
	if got, _ := stream.Text("x " + token + "\n"); strings.Contains(got.String(), token) {
		t.Errorf("a key behind its label is left: %s", got)
	}
	for _, text := range []string{"/tmp/TestKeyOverEventsDoesNotReachTheSpool4219738270/002/t.jsonl", "/Users/Ann/Library/4b91b8f5-93c1-4344-b8d6-0d7fad1bbbf3/aaaaaaaa-1111-4222-8333-444444444444.jsonl",
		"github.com/reverie-memory/reverie/internal/redact/TestKeysInRandomCarriers", `{"session":"4b91b8f593c14344b8d60d7fad1bbbf3","id":"msg_011CWzQWRk82heojjQ5z8JTp"}`} {
		if got, _ := stream.Text(text); got.String() != text {
			t.Errorf("behind a label %s became %s", text, got)
		}
	}
	stream.Skip(strings.Repeat("ordinary text\n", Reach/14+1))
	if got, _ := stream.Text("x " + token + "\n"); !strings.Contains(got.String(), token) {
		t.Errorf("what is further away is gone: %s", got)
	}
	stream.Skip("-----BEGIN " + privateKey + "-----\n-----END " + privateKey + "-----\n")
	if got, _ := stream.Text("x " + token + "\n"); !strings.Contains(got.String(), token) {
		t.Errorf("what follows the end of a key is gone: %s", got)
	}
}

// A key in any nesting of carriers leaves no run of 16 characters.
func TestKeysInRandomCarriers(t *testing.T) {
	sameKeys(t)
	keys := privateKeys()
	rapid.Check(t, func(t *rapid.T) {
		k := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "key")]
		text := k.text
		for range rapid.IntRange(1, 2).Draw(t, "lines") {
			c := lineCarriers[rapid.IntRange(0, len(lineCarriers)-1).Draw(t, "carrier")]
			if c.name != "log of JSON" {
				text = eachLineOf(text, c.write)
			}
			prefix := rapid.StringMatching(`[a-z0-9:|/>#*. -]{0,24}`).Draw(t, "prefix") + " "
			text = eachLineOf(text, func(n int, l string) string { return prefix + l })
		}
		for range rapid.IntRange(0, 2).Draw(t, "texts") {
			text = textCarriers[rapid.IntRange(0, 6).Draw(t, "text")].write(text)
		}
		got, _ := new(Scanner).Text(text)
		out := plainRuns.Replace(got.String())
		for i := 0; i+16 <= len(k.body); i++ {
			if w := k.body[i : i+16]; strings.Contains(out, w) && strings.Trim(w, "A") != "" {
				t.Fatalf("%s: %s is left in %q", k.kind, w, got)
			}
		}
	})
}

func TestLinesThatAreNoKeys(t *testing.T) {
	r := newRand()
	line := func(chars string, width int) string {
		var b strings.Builder
		for range 12 {
			b.WriteString(draw(r, chars, width) + "\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"digests":         line(lowHex, 64),
		"capital digests": line("0123456789ABCDEF", 64),
		"sha512sum":       line(lowHex, 128),
		"integrity":       eachLineOf(line(alphanumeric+"+/", 64), func(_ int, l string) string { return `    "integrity": "sha384-` + l + `",` }),
		"go.sum":          eachLineOf(line(alphanumeric+"+/", 64), func(_ int, l string) string { return "example.com/a v1.0.0 h1:" + l }),
		"separators":      strings.Repeat(strings.Repeat("=", 70)+"\n"+strings.Repeat("-", 70)+"\n", 9),
		"numbers":         line(digits, 64),
		"words":           strings.Repeat("ICoreWebView2WindowCloseRequestedEventHandlerInterfaceDefinedHere\n", 9),
		"identifiers": eachLineOf("Alpha\nBravo\nDelta\nGamma\n", func(_ int, l string) string {
			return "TestTheServerAnswersRequestsThatAreTooLongWith413Or400Of" + l + "Kind()"
		}),
		"short lines":        line(alphanumeric, 40),
		"images":             "data:image/png;base64,iVBORw0KGgo" + draw(r, alphanumeric+"+/", 9000),
		"image in lines":     "iVBORw0KGgo" + draw(r, alphanumeric, 65) + "\n" + line(alphanumeric, 76),
		"text in lines":      wrap(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20))), 76),
		"ids":                eachLineOf(line(alphanumeric, 24), func(_ int, l string) string { return `{"id":"msg_` + l + `"}` }),
		"ids after a label":  "grep -r 'BEGIN RSA PRIV" + "ATE KEY' .\n" + eachLineOf(line(alphanumeric, 24), func(_ int, l string) string { return `{"tool_use_id":"` + l + `","type":"text"}` }),
		"code about keys":    "if strings.Contains(s, \"-----BEGIN PRIV" + "ATE KEY-----\") {\n\treturn x509.ParsePKCS8PrivateKeyFromEncryptedContainer(block.EncryptedContainer)\n}\n",
		"two lines":          draw(r, alphanumeric, 64) + "\n" + draw(r, alphanumeric, 64) + "\nand text\n",
		"repeated":           strings.Repeat(draw(r, alphanumeric, 64)+"\n", 5),
		"signatures of JSON": eachLineOf(line(alphanumeric+"+/", 88), func(n int, l string) string { return fmt.Sprintf(`{"n":%d,"signature":"%s"}`, n, l[:70+n]) }),
	} {
		if got, report := new(Scanner).Text(text); report.Found > 0 {
			t.Errorf("%s became %s", name, got)
		}
	}
}

// BenchmarkPrivateKeys prints, per kind, the number of carriers with the key removed.
func BenchmarkPrivateKeys(b *testing.B) {
	for b.Loop() {
		byKind, byCarrier, _ := keyMatrix(b, false)
		for _, by := range []map[string]recall{byKind, byCarrier} {
			for name, r := range by {
				b.ReportMetric(r.rate(), strings.ReplaceAll(name, " ", "_"))
			}
		}
	}
}

// BenchmarkHostileKeys scans text in which labels and columns are slow to find.
func BenchmarkHostileKeys(b *testing.B) {
	encoded := base64.StdEncoding.EncodeToString(randomBytes(700_000))
	begin, end := "-----BEGIN "+privateKey+"-----", "-----END "+privateKey+"-----"
	for _, c := range []struct{ name, text string }{
		{"begin", strings.Repeat(begin+"\n", 36_000)}, {"begin and words", strings.Repeat(begin+"\nsomeLongIdentifierName1234 ", 18_000)},
		{"end", strings.Repeat(end+"\n", 36_000)}, {"words and label", strings.Repeat("end private key ", 65_000)}, {"label over lines", strings.Repeat("PRI-VATE\n", 110_000)},
		{"base64", encoded}, {"base64 behind a label", begin + encoded}, {"lines", wrap(encoded, 64)},
		{"lines with numbers", eachLineOf(wrap(encoded, 64), func(n int, l string) string { return fmt.Sprintf("%6d→%s", n, l) })},
		{"certificates", strings.Repeat(publicTexts()["CERTIFICATE"], 900)}, {"beginnings", strings.Repeat("MIIE+", 210_000)},
		{"backslashes", strings.Repeat(`\`, 1<<20)}, {"percent", strings.Repeat("%25", 350_000)}, {"ampersands", strings.Repeat("&amp;", 210_000)},
		{"colours", strings.Repeat("\x1b[0m", 260_000)}, {"kty", strings.Repeat(`"kty":"d":`, 100_000)}, {"V", strings.Repeat("v", 1<<20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				new(Scanner).Text(c.text)
			}
		})
	}
}
