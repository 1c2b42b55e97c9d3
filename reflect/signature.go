package reflect

import (
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

var (
	ansi      = lazy("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
	timestamp = lazy(`^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*`)
	position  = lazy(`^(?:[\w@.~-]*/)*[\w@.-]+\.\w+(?::\d+(?::\d+)?|\(\d+,\d+\)):?\s+(?:-\s+)?`)
	absolute  = lazy(`(?:/(?:home|Users|root|private|var|tmp|opt|usr|workspace|builds|app|repo)|[A-Za-z]:\\)(?:[/\\][\w@.+-]+)+`)
	prefix    = lazy(`^(?:[│┃|╷╵├└─]+|npm (?:ERR!|error)|error:? npm|\[[\w:. -]{1,20}\]|E  +|>+|[-*•✖✗×⨯^]|\p{So}\x{fe0f}?|` +
		`#\d+ [\d.]+|[\w.-]+ +\|)\s*`)
	errorLabel = lazy(`^(?i:(?:error|fatal|fail(?:ed)?|err)(?: code)?:|error\s+(?:in|-)\s)\s*`)
	number     = lazy(`0x[0-9a-f]{4,}|\b[0-9a-f]{12,64}\b|\(?\b\d+(?:\.\d+)?\s?m?s\)?$`)

	// the prefix of shells for a command that they cannot find
	shellName   = lazy(`^(?:bash|zsh|sh|dash|fish|\(eval\)|/(?:usr/)?bin/\w+):(?:\d+:)?\s+(?:line )?(?:\d+:\s+)?`)
	zshNotFound = lazy(`^command not found: (\S+)$`)
	// the words of Windows for such a command, in PowerShell's case also those of any language
	windowsNotFound = lazy(`(?:^|: )The term '([^'\s]+)' is not recognized as .*|^\+ CategoryInfo\s*: ObjectNotFound: \((\S+):String\) \[\], CommandNotFound.*|` +
		`^'([^'\s]+)' is not recognized as an internal or external .*`)

	// core matches the beginning of the part of a wrapped error that all callers share.
	core = lazy(`dial tcp |connect ECONNREFUSED|No module named |Cannot find module |relation "[^"]+" does not exist|` +
		`no such table|pattern \S+: no matching files|Unsupported class file|Executable doesn't exist`)

	// environment matches errors about something missing or wrong outside the code under test.
	environment = lazy(`(?i)not found\b|not recognized|\[\], CommandNotFound|no such (?:file|host|table)|(?:cannot|can't|could not) (?:find (?:module|package)|resolve|connect)|` +
		`no module named|importerror|failed to connect|unresolved import|econnrefused|connection refused|connect(?:ion)? (?:error|failed)|enotfound|` +
		`(?:does not|doesn't) exist|unknown database|pending\b|not set\b|missing (?:required )?(?:env|variable|config)|` +
		`environment variable|keyerror: '?[A-Z_]{3,}|undefined (?:variable|symbol)|daemon|unsupported (?:engine|class)|` +
		`requires (?:node|python|go|java|ruby)|mismatch\b.*version|version mismatch|incompatible with|wrong version|build constraints exclude all|` +
		`no matching files|no required module provides|missing go\.sum|updates to go\.|inconsistent vendoring|not installed|` +
		`is not available|did you (?:run|forget)|(?:please |try )run(?:ning)?[: ]|you (?:need|must|may need) to run|out of date|` +
		`outdated|not up[- ]to[- ]date|eresolve|peer dep|lock ?file|cannot open shared|fatal error: .*\.h|pkg-config|` +
		`permission denied|eacces|not (?:initialize|generated)|no generated|generated (?:code|files?|client)|submodule|certificate|` +
		`out of memory|heap limit|too many open files`)

	// failures matches lines that state a fault.
	failures = lazy(`(?i)^(?:\w*error\b|\w*exception\b|fatal\b|panic:|fail(?:ed|ure)?\b|err!)|error(?:\[\w+\]| ts\d+)?:|` +
		`\berror\b|exception:|cannot |could not |failed|not found|undefined:|denied|refused|timed? ?out|un(?:expected|recognized)|` +
		`mismatch|invalid|missing|unknown |not (?:properly )?formatted|would reformat|code style issues`)

	// noise matches lines that only report a failure, or that merely look like errors.
	noise = lazy(`(?i)^(?:\+ (?:CategoryInfo\s*: (?:[^O]|O[^b])|FullyQualifiedErrorId\b)|(?:zsh: )?command not found: #|exit (?:code|status)|make(?:\[\d+\])?: \*\*\*|error task failed|build failed|failure: build|` +
		`\* what went wrong|npm (?:err!|error) (?:a complete log|code|errno|path|command|lifecycle|syscall|workspace|location|` +
		`exited|test failed)|error: (?:process completed|command failed|recipe|script ".*" exited)|\s*at\s|\$ |\(pass\)|saved lockfile|` +
		`stack trace|traceback \(|note:|hint:|warning|warn\b|npm warn|info\b|debug\b|elifecycle|command failed|` +
		`failed to (?:run|execute) task|error running|lifecycle script|full logs?|\d+ (?:errors?|problems?|` +
		`failed|passed)|0 errors|found \d+ error|test(?:s| suites?| files)?:|tests? failed|fail(?:ed|ures?)?:?\s*\d*$|` +
		`fail\t|--- fail|=== |ok\s|pass\b|✓|running \d+|failed tests|test result:|error: test failed|error: aborting|` +
		`error: could not compile|for more information|see |run ` + "`" + `|collected |subprocess-exited-with-error|getting requirements to build|this error originates|short test summary|process exited)|error task failed|exited with (?:code|status|error) ?\d*|` +
		`err_pnpm_recursive|recursive_run_first_fail|returned non-zero|exit status \d+$|code 0\b|failed with exit code \d+$|sibling tool call`)
)

// A signature is the line of an output that states the fault.
type signature struct {
	text  string // cleaned: the part that is the same in every run, on every machine and day
	line  string // verbatim, for a quote
	env   bool   // it is about tools, services or configuration, not the code under test
	names string // text, and the word under a caret in the output
	odd   bool   // it uses no known words of complaint: it is only certain that it was printed
}

// maxSignature bounds an error in a statement, in bytes.
const maxSignature = 90

// maxTold bounds the lines of one output that are matched.
const maxTold = 400

// sign returns the signature of act i's output, without lines that successful runs also print.
func (v *view) sign(i int) signature {
	r := v.acts[i].result
	s, found := v.signs[r]
	if !found {
		s = sign(v.events[r].Text, v.passed())
		v.signs[r] = s
	}
	return s
}

// passed returns the hashes of masked lines that look like errors but that successful runs printed:
// tests that expect errors, and ignored warnings.
func (v *view) passed() map[uint64]bool {
	if v.harmless != nil {
		return v.harmless
	}
	v.harmless = map[uint64]bool{}
	last := -1
	for _, a := range v.acts {
		if a.edit || a.outcome != transcript.OK || a.result == last || readOnly.Has(a.step.words[0]) || ending(&v.events[a.result]) == transcript.Failed {
			continue // a step that passed in a chain that failed printed none of it for certain
		}
		last = a.result
		for line := range strings.Lines(v.events[a.result].Text) {
			if mayTell(line) {
				v.harmless[masked(line)] = true
			}
		}
	}
	return v.harmless
}

// masked returns a hash of a line without its numbers and spaces, and so without times and
// positions.
func masked(line string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for i := 0; i < len(line); i++ {
		if c := line[i]; c > ' ' && (c < '0' || c > '9') {
			h = (h ^ uint64(c)) * prime
		}
	}
	return h
}

// sign picks the first line of an output that states a fault, preferring one about the environment
// and ignoring harmless ones. The last of several commands that a runner printed is the failed one.
// A short output without known words of complaint is its own signature. It is linear in the output.
func sign(output string, harmless map[uint64]bool) signature {
	if at := strings.LastIndex(output, "\n$ "); at >= 0 {
		if s := sign(output[at+1:], harmless); s.text != "" {
			return s
		}
	}
	var best signature
	told, lines := 0, 0
	first, before := "", ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n \t")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if line == "" {
			continue
		}
		above := before
		before = line
		if lines++; first == "" && !strings.HasPrefix(line, "Exit code ") && !strings.HasPrefix(line, "$ ") {
			first = line
		}
		if len(line) > 2000 || !mayTell(line) || told == maxTold || harmless[masked(line)] {
			continue
		}
		told++
		clean := line
		if strings.IndexByte(line, 0x1b) >= 0 {
			clean = ansi.ReplaceAllString(line, "")
		}
		env := environment.MatchString(clean)
		if !env && (best.text != "" || !failures.MatchString(clean)) || noise.MatchString(strings.TrimSpace(clean)) {
			continue // after a first error only one of the environment replaces it
		}
		text := cleanError(clean)
		if len(text) < 8 || noise.MatchString(text) {
			continue
		}
		if env = environment.MatchString(text); !env && best.text != "" {
			continue
		}
		best = signature{text: text, line: strings.TrimSpace(line), env: env, names: text + " " + pointed(above, clean)}
		if env {
			break
		}
	}
	if best.text == "" && lines <= 3 {
		clean := ansi.ReplaceAllString(first, "")
		if text := cleanError(clean); len(text) >= 8 && strings.Contains(text, " ") && !noise.MatchString(text) && !noise.MatchString(strings.TrimSpace(clean)) {
			best = signature{text: text, line: strings.TrimSpace(first), names: text, odd: true}
		}
	}
	return best
}

// pointed returns the word of a line to which the caret in the next line points.
func pointed(line, below string) string {
	at := strings.IndexByte(below, '^')
	if at < 0 || strings.TrimSpace(below[:at]) != "" || at >= len(line) {
		return ""
	}
	from := strings.LastIndexByte(line[:at], ' ') + 1
	word, _, _ := strings.Cut(line[from:], " ")
	return word
}

// usage matches errors about the spelling of a command.
var usage = lazy(`(?i)\bun(?:known|recognized|recognised|expected|supported)\b|\bno such (?:option|command|flag)|\binvalid\b|not found\b|\bis not\b|` +
	`\baccepts\b|\bdoes not (?:exist|support|accept)`)

// mentions reports whether a text has a whole word: no letter, digit or dash beside it.
func mentions(text, word string) bool {
	word = strings.Trim(shell.Unquote(word), `'",:`)
	if len(word) < 2 {
		return false
	}
	part := func(c byte) bool {
		return c == '-' || c == '_' || c == '/' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	stop := func(s string) bool { return s == "" || !part(s[0]) && (s[0] != '.' || len(s) == 1 || !part(s[1])) }
	for rest := text; ; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		if (at == 0 || !part(rest[at-1]) && rest[at-1] != '.') && stop(rest[at+len(word):]) {
			return true
		}
		rest = rest[at+1:]
	}
}

// signAbout picks the line of an output that reports a version conflict and names a package, or
// returns the zero value.
func signAbout(output, pack string) signature {
	if len(pack) < 3 {
		return signature{}
	}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if len(line) < 2000 && strings.Contains(line, pack) && versionConflict.MatchString(line) {
			text := cleanError(noteLabel.ReplaceAllString(ansi.ReplaceAllString(line, ""), ""))
			return signature{text: text, line: line, env: true, names: text}
		}
	}
	return signature{}
}

var (
	versionConflict = lazy(`(?i)different versions|incompatible|conflict|requires|peer dep|multiple (?:versions|` +
		`instances)|not compatible|mismatch`)
	noteLabel = lazy(`(?i)^\s*(?:=\s*)?(?:note|hint|help|warning|warn)\b\W*`)
)

// tellTale marks pieces of every line that failures or environment can match; deciding does so for
// verdict. Looking for pieces costs a hundredth of the patterns, and most lines have none.
var (
	tellTale = sync.OnceValue(func() *pieces {
		return marked("erro err! exce fata pani fail cann can't coul not_ no_s no_m no_r no_g miss deni refu unde time timi unex " +
			"mism inva unkn unre reso econ conn enot exis pend requ unsu inco wron excl go.s go.m upda vend did_ run_ run: you_ plea need stal " +
			"peer eres lock libr pkg- eacc gene subm cert out_ heap too_ outd refo styl envi daem impo keye")
	})
	deciding = sync.OnceValue(func() *pieces {
		return marked("fail erro err! pani trac fata exit issu not_ pass succ done fini ***_ no_e no_i no_p")
	})
)

// pieces marks the hashes of four letters.
type pieces [1 << 16]bool

func marked(words string) *pieces {
	var out pieces
	for w := range strings.FieldsSeq(words) {
		out[quad(w[0], w[1], w[2], w[3])] = true
	}
	return &out
}

func (p *pieces) in(line string) bool {
	for i := 0; i+3 < len(line); i++ {
		if p[quad(line[i], line[i+1], line[i+2], line[i+3])] {
			return true
		}
	}
	return false
}

// quad returns a hash of four bytes, ignoring case and treating a space as a dash.
func quad(a, b, c, d byte) uint16 {
	w := uint32(lowered[a])<<24 | uint32(lowered[b])<<16 | uint32(lowered[c])<<8 | uint32(lowered[d])
	return uint16(w * 2654435761 >> 16)
}

var lowered = func() (out [256]byte) {
	for i := range out {
		out[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		out[c] = byte(c) + 'a' - 'A'
	}
	out[' '] = '_'
	return out
}()

// mayTell reports whether a line may state a fault.
func mayTell(line string) bool { return tellTale().in(line) }

// cleanError removes the parts of an error line that differ between runs.
func cleanError(line string) string {
	s := strings.TrimSpace(line)
	for {
		t := timestamp.ReplaceAllString(s, "")
		t = prefix.ReplaceAllString(t, "")
		t = position.ReplaceAllString(t, "")
		if t = strings.TrimSpace(t); t == s {
			break
		}
		s = t
	}
	s = shellName.ReplaceAllString(s, "")
	s = zshNotFound.ReplaceAllString(s, "$1: command not found")
	if m := windowsNotFound.FindStringSubmatch(s); m != nil {
		s = strings.Join(m[1:], "") + ": command not found"
	}
	if t := errorLabel.ReplaceAllString(s, ""); len(t) >= 8 {
		s = t
	}
	s = absolute.ReplaceAllStringFunc(s, func(p string) string {
		if i := strings.LastIndexAny(p, `/\`); i >= 0 {
			return p[i+1:]
		}
		return p
	})
	s = strings.TrimSpace(number.ReplaceAllString(s, ""))
	if m := core.FindStringIndex(s); m != nil {
		s = s[m[0]:]
	}
	if i := strings.Index(s, ". "); i >= 20 {
		s = s[:i]
	}
	return strings.TrimRight(clip(strings.Join(strings.Fields(s), " "), maxSignature), " .:,;")
}

// clip cuts text to at most n bytes, at a word if possible and never inside a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = cut.Bytes(s, n)
	n = len(s)
	if i := strings.LastIndexAny(s, ",;"); i > n/2 {
		return s[:i]
	}
	if i := strings.LastIndexByte(s, ' '); i > n*2/3 {
		s = s[:i]
	}
	return s + "…"
}

var (
	weakFails = lazy(`(?m)^(?:ERROR\b|error:|Error:|fatal:)`)
	failWords = lazy(`(?m)^(?:FAIL\b|--- FAIL|FAILED|Failed to compile|error(?:\[\w+\]| TS)|panic:|npm ERR!|Traceback|make(?:\[\d+\])?: \*\*\*)|` +
		`task failed|(?i:\b[1-9]\d* (?:failed|failing|failures?|errors?|issues:|fail\b)|exit(?:ed with)?(?: (?:code|` +
		`status))?[:=]? ?[1-9]\d*|build (?:failed|error occurred)|tests? failed|command not found|` +
		`is not recognized as (?:the name of|an internal or external)|\bCommandNotFoundException\b|^the command '\S+' could not be found)`)
	passWords = lazy(`(?m)^(?:PASS\b|ok\s+\S+|OK\b|test result: ok)|(?i:\b0 (?:issues|errors|fail(?:ed|ures)?\b)|all (?:tests|` +
		`checks) pass|\b[1-9]\d* (?:passed|passing|pass\b)|exit(?: (?:code|status))?[:=]? ?0\b|build succe|compiled successfully|` +
		`successfully|no (?:issues|errors|problems) found|✓|done in|finished in)`)
)

// isComment reports whether a line is what zsh says to a comment of a command line. It goes on.
func isComment(line string) bool { return strings.HasSuffix(line, "command not found: #") }

// unfound reports whether an output says that the shell did not find a program.
func unfound(program, output string) bool {
	if !strings.Contains(output, program) {
		return false
	}
	want := program + ": command not found"
	for line := range strings.Lines(output) {
		if len(line) < 1000 && strings.Contains(line, program) && mayTell(line) && environment.MatchString(line) && cleanError(line) == want {
			return true
		}
	}
	return false
}

// verdict infers a hidden exit code from an output: 1 passed, -1 failed, 0 unknown. Tools sum up at
// the end, so it reads only the end.
func verdict(output string) int {
	const end = 4 << 10
	if len(output) > end {
		output = output[len(output)-end:]
	}
	marks := deciding()
	passed, weak := false, false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if strings.IndexByte(line, 0x1b) >= 0 {
			line = ansi.ReplaceAllString(line, "")
		}
		if !marks.in(line) && !strings.HasPrefix(line, "ok") && !strings.HasPrefix(line, "OK") && !strings.Contains(line, "✓") {
			continue
		}
		if failWords.MatchString(line) && !isComment(line) {
			return -1
		}
		passed = passed || passWords.MatchString(line)
		weak = weak || weakFails.MatchString(line)
	}
	switch {
	case passed:
		return 1
	case weak:
		return -1
	}
	return 0
}
