package reflect

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// A command's output comes from the author of the test, tool or fetched page. Only errorQuote
// copies words of an output into a statement. It accepts only error text: names of things, and
// words in which programs complain. If a sentence orders, addresses or invites the reader, the
// statement names the exit code instead.

// maxErrorQuote bounds a quoted error in a statement, in bytes.
const maxErrorQuote = 80

// maxOddWords bounds the words of an error that are neither complaints nor look like names.
const maxOddWords = 2

// errorQuote returns the part of an output's line that a statement may quote, or "".
func errorQuote(text string) string {
	text = plain(strings.TrimSpace(text))
	if len(text) > maxErrorQuote {
		text = clip(text, maxErrorQuote-len("…"))
	}
	if !complains(text) {
		return ""
	}
	return text
}

// complains reports whether a text is only an error.
func complains(text string) bool {
	odd, known := 0, 0
	before := ""
	for raw := range strings.FieldsSeq(text) {
		token := strings.Trim(raw, "\"'`()[]{}<>,.:;!?…")
		lower := strings.ToLower(token)
		switch {
		case strings.ContainsFunc(raw, func(r rune) bool { return r > unicode.MaxASCII && r != '…' || r < ' ' || r == 0x7f }):
			return false
		case strings.Contains(lower, "://"), strings.HasPrefix(lower, "www."), strings.Contains(lower, "@") && mailName.MatchString(lower),
			hostPath.MatchString(lower) && before != "package" && before != "module":
			return false
		case !isName(raw) && addresses(token), orders(token):
			return false
		case errorWords.Has(lower):
			known++
		case isName(raw), !isPlainWord(token):
			if errorName.MatchString(token) {
				known++
			}
		default:
			if odd++; odd > maxOddWords {
				return false
			}
		}
		before = lower
	}
	return known > 0
}

// isName reports whether a word is in quotes of its own.
func isName(raw string) bool {
	raw = strings.TrimRight(raw, ".,:;")
	return len(raw) > 2 && (raw[0] == '\'' || raw[0] == '"') && raw[len(raw)-1] == raw[0]
}

// addresses reports whether a token names a possible reader.
func addresses(token string) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(token), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if addressWords.Has(part) {
			return true
		}
	}
	return false
}

// orders reports whether a token gives an order, or consists of words that do.
func orders(token string) bool {
	if isPlainWord(token) && commandWords.Has(strings.ToLower(token)) {
		return true
	}
	for part := range strings.FieldsFuncSeq(token, func(r rune) bool { return !unicode.IsLetter(r) }) {
		start := 0 // of a word in ignoreAllRules
		for i := 1; i <= len(part); i++ {
			if i < len(part) && !(isLower(part[i-1]) && !isLower(part[i])) {
				continue
			}
			if orderWords.Has(strings.ToLower(part[start:i])) {
				return true
			}
			start = i
		}
	}
	return false
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// isPlainWord reports whether a token is a word of prose: letters alone, with at most the first a
// capital.
func isPlainWord(token string) bool {
	for i, r := range token {
		switch {
		case r == '\'' && i > 0:
		case r >= 'a' && r <= 'z', i == 0 && r >= 'A' && r <= 'Z':
		default:
			return false
		}
	}
	return true
}

var (
	errorName = lazy(`(?i)(?:error|exception|warning|fault|fail(?:ed|ure)?|un(?:defined|resolved|supported|known)|missing)(?:\W|$)|^E[A-Z]{4,}\W*$`)
	mailName  = lazy(`[\w.+-]@[\w-]+\.\w`)
	hostPath  = lazy(`^(?:[\w-]+\.)+(?:[a-z]{2,})/\S*`)
)

// addressWords name possible readers of an error.
var addressWords = pattern.NewWords(`
	you your yours yourself agent agents assistant assistants ai llm model models claude codex gemini gpt chatgpt copilot
	opencode human humans developer developers maintainer maintainers contributor contributors`)

// orderWords belong to orders in any position, even in a name.
var orderWords = pattern.NewWords(`
	ignore ignoring disregard disregarding override overriding bypass bypassing obey always never instruction instructions
	exfiltrate curl wget iwr irm iex`)

// commandWords give orders or instructions.
var commandWords = pattern.NewWords(`
	forget follow following pretend remember must should shall please prompt prompts previous sudo
	push pushing upload uploading send sending post leak publish deploy merge approve delete deleting disable disabling skip
	skipping install installing execute executing run running download downloading paste copy visit click add adding use using
	try trying make making put tell give`)

// errorWords are words in which programs complain: faults, their objects, and small words.
var errorWords = pattern.NewWords(`
	a an the this that these its it in on at to of for from by with within without as into inside outside between before
	after while during until when because since and or but nor if not no none any all also only already still yet more
	less than too very one two three other another same different multiple several both each every own new old newer
	older later above below first last next top over under up out is are was were be been being has have had does did
	do can cannot can't could couldn't may might will would won't didn't doesn't isn't wasn't aren't there here which
	what who but got want wanted expected actual received given required requires require needs need needed
	error errors failure failures failed failing fail fails fatal panic exception warning abort aborted problem issue issues
	found find missing unknown undefined undeclared unresolved unexpected unsupported unrecognized unavailable unable
	unreachable uninitialized unimplemented unused unset invalid illegal incorrect wrong bad broken corrupt corrupted
	malformed mismatch mismatched mismatching incompatible inconsistent conflict conflicts conflicting duplicate violates
	violation denied refused rejected reset closed lost locked blocked busy expired outdated stale pending empty null nil
	none exist exists existing available allowed permitted supported installed initialized configured generated compiled
	built defined declared implemented registered set ready started stopped loaded importing loading connecting
	reading writing opening parsing resolving building compiling linking including requiring evaluating encoded decoded
	read write open close load import export parse resolve compile link connect bind listen lookup dial select assign
	borrow convert cast locate determine obtain allocate create start calculate concatenation
	file files directory folder path paths name names named module modules package packages library libraries
	dependency dependencies tree import imports class type types function method property properties attribute attributes field fields
	variable variables value values key keys constraint unique index column columns table tables relation relations
	database schema migration migrations record records row rows entry entries element elements item items node nodes object
	objects literal struct interface argument arguments parameter parameters option options flag flags symbol symbols scope
	reference references definition declaration declarations statement expression operator operand syntax token tokens
	character string number integer float byte bytes line lines end header headers
	connection connections host hosts port ports address server client socket network timeout timed service services
	daemon docker container image pool process thread session transaction operation operations request response status code
	exit signal level version versions major minor revision branch commit submodule submodules ref checksum hash
	signature certificate key format formatted style test tests testing suite case assertion assert locator build builds
	environment env config configuration settings context backend frontend engine compiler interpreter
	runtime executable binary command commands program script target targets platform architecture
	permission access memory disk space limit quota size length depth range bounds stack heap recursion cycle circular
	deadlock detected resource resources lock cache state mode code source sources matching match matches pattern
	constraints exclude excludes excluded known specify specified corresponding possible impossible
	date such up main global local locally remote public private internal external default current top
	mutable immutable addressable map corresponding neither properly reformat rejecting resolved promise instead
	used being checked return returned returns calling call called initialization`)

// fails states that a command fails, in the words of its error if they can be quoted.
func (v *view) fails(a act, sig signature) string {
	if why := errorQuote(sig.text); why != "" {
		return `fails with "` + why + `"`
	}
	if exit := v.events[a.result].Exit; exit != nil && *exit != 0 {
		return fmt.Sprintf("fails with exit code %d", *exit)
	}
	return "fails"
}

// maxProse bounds the consecutive plain words of a configuration line.
const maxProse = 3

// configLine reports whether a statement may quote a configuration line: it is no sentence in a
// comment or a string.
func configLine(line string) bool {
	row := 0
	for raw := range strings.FieldsSeq(line) {
		if strings.Contains(raw, "://") {
			return false
		}
		if token := strings.Trim(raw, "\"'`,.;!"); isPlainWord(token) && token != "" {
			if row++; row > maxProse {
				return false
			}
		} else {
			row = 0
		}
	}
	return true
}
