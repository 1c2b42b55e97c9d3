package reflect

import (
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/cut"
)

var (
	ansi      = lazy("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
	timestamp = lazy(`^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*`)
	position  = lazy(`^(?:[\w@.~-]*/)*[\w@.-]+\.\w+(?::\d+(?::\d+)?|\(\d+,\d+\)):?\s+(?:-\s+)?`)
	absolute  = lazy(`(?:/(?:home|Users|root|private|var|tmp|opt|usr|workspace|builds|app|repo)|[A-Za-z]:\\)(?:[/\\][\w@.+-]+)+`)
	prefix    = lazy(`^(?:[│┃|╷╵├└─]+|npm (?:ERR!|error)|error:? npm|\[[\w:. -]{1,20}\]|E  +|>+|[-*•✖✗×⨯❌]|` +
		`#\d+ [\d.]+|[\w.-]+ +\|)\s*`)
	errorLabel = lazy(`^(?i:(?:error|fatal|fail(?:ed)?|err)(?: code)?:|error\s+(?:in|-)\s)\s*`)
	number     = lazy(`0x[0-9a-f]{4,}|\b[0-9a-f]{12,64}\b|\(?\b\d+(?:\.\d+)?\s?m?s\)?$`)

	// what shells put around a command they cannot find
	shellName   = lazy(`^(?:bash|zsh|sh|dash|fish|/(?:usr/)?bin/\w+):\s+(?:line )?(?:\d+:\s+)?`)
	zshNotFound = lazy(`^command not found: (\S+)$`)

	// core is where the part of a wrapped error begins that is the same for all callers.
	core = lazy(`dial tcp |connect ECONNREFUSED|No module named |Cannot find module |relation "[^"]+" does not exist|` +
		`no such table|pattern \S+: no matching files|Unsupported class file|Executable doesn't exist`)

	// environment errors say that something outside the code under test is missing or wrong.
	environment = lazy(`(?i)command not found|: not found$|not recognized as an internal|no such file or directory|` +
		`cannot find (?:module|` +
		`package)|can't find module|modulenotfounderror|no module named|importerror|could not resolve|` +
		`unresolved import|cannot resolve|econnrefused|connection refused|could not connect|can't connect|` +
		`cannot connect|failed to connect|connect(?:ion)? (?:error|failed)|no such host|enotfound|relation ".*" does not exist|` +
		`no such table|table .* (?:doesn't|does not) exist|unknown database|database ".*" does not exist|` +
		`p10\d\d\b|pending migration|migrations? (?:are|is) pending|is not set|not set\b|missing (?:required )?(?:env|` +
		`environment|variable|config)|environment variable|keyerror: '?[A-Z_]{3,}|undefined variable|docker daemon|` +
		`daemon running|executable (?:doesn't|does not) exist|executable file not found|unsupported engine|` +
		`requires (?:node|python|go|java|ruby)|version mismatch|incompatible with|wrong version|build constraints exclude all|` +
		`no matching files|unsupported class file|no required module provides|missing go\.sum|updates to go\.(?:mod|` +
		`sum) needed|inconsistent vendoring|not installed|is not available|did you (?:run|forget)|(?:please |` +
		`try )run(?:ning)?[: ]|you (?:need|must|may need) to run|out of date|not up[- ]to[- ]date|stale|` +
		`eresolve|peer dep|lock ?file|library not found|cannot open shared object|fatal error: .*\.h|pkg-config|` +
		`undefined symbol|permission denied|eacces|@prisma/client did not initialize|not generated|no generated|` +
		`generated (?:code|files?|client)|submodule|certificate|out of memory|heap limit|too many open files|` +
		`outdated`)

	// failures are lines that tell what went wrong.
	failures = lazy(`(?i)^(?:\w*error\b|\w*exception\b|fatal\b|panic:|fail(?:ed|ure)?\b|err!)|error(?:\[\w+\]| ts\d+)?:|` +
		`\berror\b|exception:|cannot |could not |failed|not found|undefined:|denied|refused|timed? ?out|` +
		`unexpected|mismatch|invalid|missing|unknown |not (?:properly )?formatted|would reformat|code style issues`)

	// noise are lines that only say that something failed, or that look like errors and are not.
	noise = lazy(`(?i)^(?:exit (?:code|status)|make(?:\[\d+\])?: \*\*\*|error task failed|build failed|failure: build|` +
		`\* what went wrong|npm (?:err!|error) (?:a complete log|code|errno|path|command|lifecycle|syscall|` +
		`exited|test failed)|error: (?:process completed|command failed|recipe|script ".*" exited)|\s*at\s|` +
		`stack trace|traceback \(|note:|hint:|warning|warn\b|npm warn|info\b|debug\b|elifecycle|command failed|` +
		`failed to (?:run|execute) task|error running|lifecycle script|full logs?|\d+ (?:errors?|problems?|` +
		`failed|passed)|0 errors|found \d+ error|test(?:s| suites?| files)?:|tests? failed|fail(?:ed|ures?)?:?\s*\d*$|` +
		`fail\t|--- fail|=== |ok\s|pass\b|✓|running \d+|failed tests|test result:|error: test failed|error: aborting|` +
		`error: could not compile|for more information|see |run ` + "`" + `|collected |subprocess-exited-with-error|getting requirements to build|this error originates|short test summary|process exited)|error task failed|exited with (?:code|status|error) ?\d*|` +
		`err_pnpm_recursive|recursive_run_first_fail|returned non-zero|exit status \d+$|code 0\b|failed with exit code \d+$`)
)

// A signature is the line of an output that tells what went wrong.
type signature struct {
	text string // cleaned: what stays the same from one run, machine and day to another
	line string // as the output has it, for a quote
	env  bool   // it speaks of tools, services or configuration, not of the code under test
}

// maxSignature is the longest error told in a statement, in bytes.
const maxSignature = 90

// sign picks the first line of an output that says what went wrong, one about the
// environment before any other. It is empty if none does. Linear in the output.
func sign(output string) signature {
	var best signature
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n \t")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if len(line) > 2000 || line == "" {
			continue
		}
		clean := ansi.ReplaceAllString(line, "")
		if !mayTell(clean) || !environment.MatchString(clean) && (best.text != "" || !failures.MatchString(clean)) {
			continue // after a first error only one of the environment can take its place
		}
		text := cleanError(clean)
		if len(text) < 8 || noise.MatchString(strings.TrimSpace(clean)) || noise.MatchString(text) {
			continue
		}
		env := environment.MatchString(text)
		if !env && best.text != "" {
			continue
		}
		best = signature{text: text, line: strings.TrimSpace(line), env: env}
		if env {
			break
		}
	}
	return best
}

// signAbout picks the line of an output that tells of a conflict of versions and names a
// package. It is empty if none does.
func signAbout(output, pack string) signature {
	if len(pack) < 3 {
		return signature{}
	}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if len(line) < 2000 && strings.Contains(line, pack) && versionConflict.MatchString(line) {
			text := ansi.ReplaceAllString(line, "")
			return signature{text: cleanError(noteLabel.ReplaceAllString(text, "")), line: line, env: true}
		}
	}
	return signature{}
}

var (
	versionConflict = lazy(`(?i)different versions|incompatible|conflict|requires|peer dep|multiple (?:versions|` +
		`instances)|not compatible|mismatch`)
	noteLabel = lazy(`(?i)^\s*(?:=\s*)?(?:note|hint|help|warning|warn)\b\W*`)
)

// tellTale holds a piece of every line that failures or environment can match. Looking for
// pieces costs a hundredth of the patterns, and most lines of an output have none.
var tellTale = sync.OnceValue(func() []string {
	return strings.Fields("err exception fatal panic fail cannot can't could not no_ missing denied refused undefined time " +
		"unexpected mismatch invalid unknown unresolved resolve econn enotfound connect exist p10 pending " +
		"require unsupported incompatible wrong exclude go.sum go.mod vendor did_you run need stale peer " +
		"lock libr fatal pkg-config symbol eacces generated submodule certificate memory too_many limit " +
		"date outdated reformat issues migration environment daemon")
})

// mayTell tells whether a line may say what went wrong.
func mayTell(line string) bool {
	line = strings.ReplaceAll(strings.ToLower(line), " ", "_")
	for _, piece := range tellTale() {
		if strings.Contains(line, piece) {
			return true
		}
	}
	return false
}

// cleanError takes off a line of error output what differs between runs.
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

// clip cuts text to at most n bytes, at a word where it can and never inside a rune.
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
	failWords = lazy(`(?m)^(?:FAIL\b|--- FAIL|FAILED|error(?:\[\w+\]| TS)|panic:|npm ERR!|Traceback|make(?:\[\d+\])?: \*\*\*)|` +
		`task failed|(?i:\b[1-9]\d* (?:failed|failing|failures?|errors?|issues:)|exit(?:ed with)?(?: (?:code|` +
		`status))?[:=]? ?[1-9]\d*|build failed|tests? failed|command not found)`)
	passWords = lazy(`(?m)^(?:PASS\b|ok\s+\S+|OK\b|test result: ok)|(?i:\b0 (?:issues|errors|failed|failures)|all (?:tests|` +
		`checks) pass|\b[1-9]\d* (?:passed|passing)|exit(?: (?:code|status))?[:=]? ?0\b|build succe|compiled successfully|` +
		`successfully|no (?:issues|errors|problems) found|✓|done in|finished in)`)
)

// verdict reads from an output what a hidden exit code would have told: 1 passed, -1
// failed, 0 it does not say. Tools sum up at the end, so only the end is read.
func verdict(output string) int {
	const end = 4 << 10
	if len(output) > end {
		output = output[len(output)-end:]
	}
	output = ansi.ReplaceAllString(output, "")
	mayFail := false
	for _, piece := range []string{"rror", "ERROR", "FAIL", "ail", "panic", "Traceback", "***", "fatal", "xit", "issues", "not found"} {
		mayFail = mayFail || strings.Contains(output, piece)
	}
	switch {
	case mayFail && failWords.MatchString(output):
		return -1
	case passWords.MatchString(output):
		return 1
	case mayFail && weakFails.MatchString(output):
		return -1
	}
	return 0
}
