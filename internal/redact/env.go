package redact

import (
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
)

// maxEnvFile bounds the bytes read of a .env file.
const maxEnvFile = 1 << 20

// EnvValues returns the values of a .env file for New; most bounds their number. A private file,
// which no commit holds, gives every value of eight or more bytes with letters and digits. It omits
// values in public use: paths, hosts, URLs, numbers, dates, versions, and names of regions,
// charsets, algorithms and models.
//
// Any file gives values whose name announces a secret, unless they are plain words. It also gives
// values in a provider's format, random-looking values, and passwords in URLs.
//
// The path marks templates (.env.example), which hold no secrets. EnvValues skips unreadable and
// malformed lines, because the list only adds to the patterns.
func EnvValues(path string, r io.Reader, most int, private bool) []string {
	if template(path) {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(r, maxEnvFile))
	e := envValues{seen: map[string]bool{}, most: most, private: private}
	text := envText(data)
	if !e.json("", text) {
		for rest := text; rest != "" && len(e.values) < most; {
			var key, value string
			key, value, rest = envEntry(rest)
			e.entry(key, value)
		}
	}
	return e.values
}

// template reports whether a file's name says that it shows how another one looks: .env.example,
// env-template.env.
func template(path string) bool {
	words := strings.FieldsFunc(strings.ToLower(filepath.Base(path)), func(r rune) bool { return strings.ContainsRune("._- ", r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"example", "examples", "sample", "samples", "template", "tmpl", "tpl", "dist", "default", "defaults", "schema"}, w)
	})
}

// envText is the text of a file, without a byte order mark, also from the UTF-16 that PowerShell
// writes.
func envText(data []byte) string {
	if len(data) >= 2 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff) {
		low, high := 0, 1
		if data[0] == 0xfe {
			low, high = 1, 0
		}
		var units []uint16
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, uint16(data[i+low])|uint16(data[i+high])<<8)
		}
		return string(utf16.Decode(units))
	}
	return strings.TrimPrefix(string(data), "\ufeff")
}

// envValues collects values of a file.
type envValues struct {
	values  []string
	seen    map[string]bool
	most    int
	private bool
}

func (e *envValues) add(values ...string) {
	for _, v := range values {
		if v != "" && !e.seen[v] && len(e.values) < e.most {
			e.seen[v] = true
			e.values = append(e.values, v)
		}
	}
}

// entry adds what of one entry's value is secret.
func (e *envValues) entry(key, value string) {
	if len(value) < minValue || e.json(key, value) {
		return
	}
	if strings.Contains(value, "\n") {
		for line := range strings.Lines(value) { // they may be written with other line ends elsewhere
			line = strings.TrimSpace(line)
			if long := len(line) >= 32 && shapeOf(line).random(); long {
				e.add(line)
			} else if e.private && !strings.HasPrefix(line, "-----") {
				e.add(privateValues("", line)...)
			}
		}
		return
	}
	e.add(sharedValues(key, value)...)
	if e.private {
		e.add(privateValues(key, value)...)
	}
}

// json adds the values of a text that is a JSON object or list, and reports whether it is one.
func (e *envValues) json(key, text string) bool {
	if text = strings.TrimSpace(text); text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return false
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case string:
			e.entry(key, v)
		case []any:
			for _, item := range v {
				walk(key, item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(name, v[name])
			}
		}
	}
	walk(key, doc)
	return true
}

// envWords lists words before an entry in shells, Dockerfiles and PowerShell.
var envWords = []string{"export ", "declare -x ", "typeset -x ", "readonly ", "set -gx ", "set -x ", "setenv ", "set ", "ENV ", "$env:", "- "}

// envEntry splits the first entry, or an invalid line, off text. A quoted value may span lines.
func envEntry(text string) (key, value, rest string) {
	line, rest, _ := strings.Cut(text, "\n")
	entry := strings.TrimSpace(line)
	spaced := false // a shell's form, with a blank for the equals sign
	for _, word := range envWords {
		if after, ok := strings.CutPrefix(entry, word); ok {
			entry, spaced = strings.TrimSpace(after), spaced || strings.HasPrefix(word, "set")
		}
	}
	if entry == "" || entry[0] == '#' {
		return "", "", rest
	}
	key, value, ok := strings.Cut(entry, "=")
	if k, v, colon := strings.Cut(entry, ": "); colon && (!ok || len(k) < len(key)) {
		key, value, ok = k, v, true
	}
	if k, v, blank := strings.Cut(entry, " "); blank && spaced && len(k) < len(key) {
		key, value, ok = k, v, true
	}
	key, value = strings.Trim(strings.TrimSpace(key), `"'`), strings.TrimSpace(value)
	if !ok || strings.ContainsAny(key, " \t\"'") {
		return "", "", rest
	}
	if value == "" || !isOneOf(value[0], "\"'`") {
		return unquotedEntry(key, value, rest)
	}
	quote := value[0]
	whole := value[1:]
	if end := closing(whole, quote); end >= 0 {
		if after := strings.TrimLeft(whole[end+1:], " \t;"); assigns(after) { // export A="…" B="…"
			rest = after + "\n" + rest
		}
		return key, unquoted(whole[:end], quote), rest
	}
	end := closing(rest, quote)
	if end < 0 {
		return key, value[1:], rest // the quote never closes
	}
	whole += "\n" + rest[:end]
	_, rest, _ = strings.Cut(rest[end:], "\n")
	return key, unquoted(whole, quote), rest
}

// unquotedEntry parses an entry without quotes, up to a comment. In a shell's file, more entries
// may follow on the line.
func unquotedEntry(key, value, rest string) (string, string, string) {
	for i := 1; i < len(value); i++ {
		if value[i] == '#' && (value[i-1] == ' ' || value[i-1] == '\t') {
			value = strings.TrimSpace(value[:i])
			break
		}
	}
	if i := strings.IndexAny(value, " \t;"); i > 0 {
		if after := strings.TrimLeft(value[i:], " \t;"); assigns(after) {
			return key, value[:i], after + "\n" + rest
		}
	}
	return key, strings.TrimRight(value, ";"), rest
}

// assigns reports whether a text begins with an assignment.
func assigns(text string) bool {
	text = strings.TrimPrefix(text, "export ")
	name, _, ok := strings.Cut(text, "=")
	return ok && name != "" && identifier(name)
}

// closing returns where the quote closes, or -1.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

func unquoted(s string, quote byte) string {
	if quote != '"' || !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\$`, "$").Replace(s)
}

// sharedValues returns what of an entry's value is secret by its name or by how it looks.
func sharedValues(key, v string) []string {
	if reference(v, shapeOf(v), exported) {
		return nil
	}
	if i := strings.Index(v, "://"); i > 0 {
		_, password := userinfo(v[i+3:])
		if !trivial(password) {
			return []string{password}
		}
		return nil
	}
	if trivial(v) {
		return nil
	}
	sh := shapeOf(v)
	switch {
	case digest(v), path(v) && !sh.random():
		return nil
	case strengthOf(key) != none, formatOf(v) != "":
		return []string{v}
	case sh.random() && sh.n >= 16 && sh.space == 0 && !isHex(v) && !isULID(v) && !dotted(v) && !public(key, v):
		return []string{v}
	}
	return nil
}

// userinfo is the name and the password before the host of a URL, from what stands behind its
// scheme.
func userinfo(v string) (name, password string) {
	if end := strings.IndexAny(v, "/?#"); end >= 0 && strings.LastIndexByte(v, '@') < end {
		v = v[:end]
	}
	sign := strings.LastIndexByte(v, '@')
	if sign < 0 {
		return "", ""
	}
	name, password, _ = strings.Cut(v[:sign], ":")
	return name, password
}

// chunk is the size, in bytes, of the pieces by which an overlong value is searched.
const chunk = 1 << 10

// privateValues returns what of a value of a private file is secret, whatever its name.
func privateValues(key, v string) []string {
	switch {
	case len(v) < minPrivate, storeReference(v):
		return nil
	case strings.Contains(v, "://"):
		return urlValues(v)
	case strings.Contains(v, "${"), strings.Contains(v, "$("):
		var parts []string
		envForms.once.Do(makeEnvForms)
		for _, part := range envForms.interpolation.Split(v, -1) {
			if part != v {
				parts = append(parts, privateValues(key, part)...)
			}
		}
		return parts
	}
	sh := shapeOf(v)
	if sh.digit == 0 || sh.letters()+sh.high == 0 || public(key, v) {
		return nil
	}
	var all []string
	for ; len(v) > maxValue; v = v[chunk:] {
		all = append(all, v[:chunk])
	}
	return append(all, v)
}

// storeReference reports whether a value names where a secret is kept.
func storeReference(v string) bool {
	return v[0] == '<' && strings.HasSuffix(v, ">") || strings.HasPrefix(v, "{{") || v[0] == '$' && identifier(v[1:]) ||
		slices.ContainsFunc([]string{"op://", "vault:", "ssm:", "arn:", "file://", "secretref:"}, func(p string) bool { return strings.HasPrefix(v, p) })
}

// urlValues returns the user's name and password in a URL, also without its escapes, and what is
// random or announced in its path and query.
func urlValues(v string) []string {
	_, rest, _ := strings.Cut(v, "://")
	var all []string
	add := func(value string, least int) {
		for _, one := range []string{value, unescaped(value)} {
			if sh := shapeOf(one); len(one) >= least && sh.mixed() && !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	name, password := userinfo(rest)
	add(password, minPrivate)
	add(name, 2*minPrivate) // a token stands there alone
	_, rest, _ = strings.Cut(rest, "/")
	at, query, _ := strings.Cut(rest, "?")
	for _, segment := range strings.Split(at, "/") {
		if shapeOf(segment).random() && !isUUID(segment) {
			add(segment, 2*minPrivate)
		}
	}
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if key, value, _ := strings.Cut(pair, "="); strengthOf(key) != none || shapeOf(value).random() {
			add(value, minPrivate)
		}
	}
	return all
}

// unescaped is a part of a URL without percent signs, or as it is where they are no escapes.
func unescaped(v string) string {
	if text, err := url.PathUnescape(v); err == nil {
		return text
	}
	return v
}

// envForms are the expressions of this file, made when the first private value is looked at.
var envForms struct {
	once                  sync.Once
	interpolation, public *regexp.Regexp
}

func makeEnvForms() {
	envForms.interpolation = regexp.MustCompile(`\$\{[^}]*\}|\$\([^)]*\)`)
	var all []string
	for _, f := range publicForms {
		all = append(all, f.pattern)
	}
	envForms.public = regexp.MustCompile(`^(?:` + strings.Join(all, "|") + `)$`)
}

// publicForms are forms of values with letters and digits that are in public use. Each is about the
// whole value.
var publicForms = []struct{ name, pattern string }{
	{"number, with a unit", `[-+]?(?:0x[0-9a-fA-F]{1,16}|[\d_.,:]*\d(?:e[-+]?\d+)?) ?(?:%|px|ns|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?|[kKmMgGtT]i?[bB]?|bytes?|(?:kilo|mega|giga|tera)bytes)?`},
	{"date", `\d{4}-?\d\d-?\d\d(?:[T ][\d:.]+ ?(?:Z|UTC|[-+]\d\d:?\d\d)?)?`},
	{"version", `v?\d+(?:\.\d+)+(?:[-+.](?:alpha|beta|rc|dev|pre|post|final|snapshot|lts)?[-.]?\d*)*`},
	{"image", `[a-z0-9._/-]+:v?\d+(?:\.\d+)*(?:-(?:alpine|slim|bookworm|bullseye|buster|jammy|noble|focal|management|debian|ubuntu)[\d.]*)*`},
	{"host or address", `(?:\*?\.)?(?:[a-z0-9_-]+\.)+(?:[a-z]{2}|com|org|net|dev|app|local|localhost|localdomain|internal|intranet|lan|home|corp|svc|cluster|cloud|info|site|online|example|test|invalid|tech|io)(?::\d{1,5})?`},
	{"host with a port", `[a-z][a-z0-9_-]*:\d{2,5}`},
	{"IPv6 or MAC address", `\[?(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}\]?(?:/\d+)?(?:%\w+)?(?::\d+)?`},
	{"file", `[\w.-]+\.(?:log|txt|json|ya?ml|toml|ini|conf|cfg|pem|crt|cer|key|pub|p12|pfx|jks|db|sqlite3?|csv|xml|html?|[jt]sx?|mjs|py|go|rb|sh|sql|tar|gz|tgz|zip|png|jpe?g|svg|ico|env|lock|md|pdf|so|jar)`},
	{"path", `(?:\.{0,2}/|~/?|[A-Za-z]:[\\/]|\\\\)[\w@.+~ *$-]+(?:[\\/][\w@.+~ *$-]*)*`},
	{"relative path", `[a-z0-9_.@*-]+(?:/[a-z0-9_.@*-]*)+`},
	{"option", `--[a-z][a-z-]*(?:[= ].*)?`},
	{"region", `(?:us|eu|ap|sa|ca|me|af|il|mx|cn|europe|asia|australia|northamerica|southamerica|africa)(?:-(?:gov|iso[a-f]?))?-(?:north|south|east|west|central)+-?\d{1,2}(?:-?[a-f])?`},
	{"locale or charset", `[a-z]{2}[_-][A-Z]{2}\.(?:[uU][tT][fF]-?8|[iI][sS][oO]-?8859-?\d+)|(?:utf8mb[34]|latin1)(?:_\w+)?|(?i:iso-?8859-?\d+|windows-125\d)`},
	{"algorithm", `(?i:(?:aes|rsa|rsassa|sha|hmac|ecdsa|ecdh|tlsv?|secp|argon|chacha|blake|curve|pbkdf|x)[-_]?\d+(?:\.\d)?(?:[-_]?(?:\d{3,4}|gcm|cbc|ctr|poly1305|sha-?\d+|with[a-z]+|id|[bs]|[kr]1))*|hmac[-_]?sha-?\d+)`},
	{"model", `(?:gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|gemma|text-embedding|nomic-embed|bge)[a-z]*[-.:0-9][a-z0-9.:-]*`},
}

// revisions are words of names whose hexadecimal value is git's, or a digest's, and no secret.
var revisions = []string{"commit", "sha", "rev", "release", "version", "revision", "digest", "build", "checksum", "hash", "ref"}

// jumble reports whether a part of a path looks random rather than chosen by a person.
func jumble(part string) bool { return len(part) >= 20 && shapeOf(part).random() }

// public reports whether a value is in public use. A list with commas is so where each part with
// letters and digits is.
func public(key, v string) bool {
	if isHex(v) {
		words := strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return strings.ContainsRune("_-.", r) })
		return strengthOf(key) == none && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(revisions, w) })
	}
	if digest(v) {
		return true
	}
	if strings.ContainsAny(v, `/\`) && slices.ContainsFunc(strings.FieldsFunc(v, func(r rune) bool { return r == '/' || r == '\\' }), jumble) {
		return false // of base64
	}
	envForms.once.Do(makeEnvForms)
	any := false
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); shapeOf(part).mixed() {
			if any = envForms.public.MatchString(part); !any {
				return false
			}
		}
	}
	return any
}
