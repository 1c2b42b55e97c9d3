package attack

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Exceptions make a match innocent. Each looks only at the words of the match itself. The rest of
// the line proves nothing, because the attacker writes it too.

// against matches words that may warn of the words after them. Its groups are the head of the
// warning and the words between.
var against = pattern.New("(?i)\\b(never|do not|don't|must not|avoid|not to|instead of|rather than|no more|refuse to|stop)\\s+((?:[\\w-]+\\s+){0,4})[`\"'*_(\\s]*$")

// negated matches a text that reverses a warning after it: "do not avoid".
var negated = pattern.New(`(?i)(\b(never|not|cannot|no|without|forget|fail|hesitate)|n't)\b[^.;!?\n]*$`)

// plainWords may occur between "never" and the forbidden action. With other words the sentence may
// say the opposite: "do not forget to", "never hesitate to", "do not put off".
var plainWords = pattern.NewWords("a an any the this that these those it its them anything something everything ever again just simply blindly directly here there " +
	"run runs running use uses using do doing execute executing call calling invoke invoking start starting type typing paste pasting copy copying pipe piping " +
	"install installing deploy deploying build building set setting up let allow try trying to with via by through from in on as of like and or " +
	"command commands script scripts line lines root sudo bare plain raw such things thing recommend suggest document add commit download fetch " +
	"ci agents agent users anyone anybody us you we be have read print send upload post disable skip bypass turn off")

// warnsOf reports whether the text before a match forbids the match.
func warnsOf(before string) bool {
	at := against.FindStringSubmatchIndex(before)
	if at == nil {
		return false
	}
	for word := range strings.FieldsSeq(strings.ToLower(before[at[4]:at[5]])) {
		if !plainWords.Has(word) {
			return false
		}
	}
	return !negated.MatchString(before[:at[2]])
}

// beginsAnew matches the places after which a warning no longer holds.
var beginsAnew = pattern.New(`(?i)[;!?]\s|[.,]\s+(but |instead |then |please |just |always )?(run|use|do|start|try|call|execute)\b|&&|\bbut\b|\binstead\b`)

var (
	anAddress  = pattern.New("(?i)\\b[a-z][a-z0-9+.-]*:[/\\\\]{2}[^\\s\"'`<>]*")
	thisHost   = pattern.New(`(?i)^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$`)
	testHost   = pattern.New(`(?i)^(localhost|127\.0\.0\.1|\[::1\]|[\w-]+(\.[\w-]+)*\.(local|internal|test|example))(:\d+)?$`)
	otherRoute = pattern.New(`(?i)\s--(resolve|connect-to|proxy|preproxy|socks)|\s-x\s|\S+@\S+:|[\w-]@[\w-]+\.\w`)
	bareHost   = pattern.New(`(?i)^(([\w-]+\.)+[a-z]{2,}|[\d.]{7,}|0x[\da-f]+|\[[\da-f:.]+\])(:\d+)?([/?#].*)?$`)
	fileEnding = pattern.New(`(?i)\.(json|txt|env|ya?ml|xml|html?|log|toml|crt|out|tmp)$`)
)

// addresses removes all addresses from a text, and returns their hosts.
func addresses(text string) (rest string, hosts []string) {
	rest = anAddress.ReplaceAllStringFunc(text, func(a string) string {
		_, host, _ := strings.Cut(a, ":")
		host = strings.TrimLeft(host, `/\`)
		if end := strings.IndexAny(host, `/?#`); end >= 0 {
			host = host[:end]
		}
		hosts = append(hosts, strings.TrimRight(host, ".,;:)]}"))
		return " "
	})
	return rest, hosts
}

// onlyHosts reports whether a text has addresses, and all have hosts that match form.
func onlyHosts(text string, form *pattern.Pattern) bool {
	rest, hosts := addresses(text)
	return len(hosts) > 0 && !otherRoute.MatchString(rest) && !slices.ContainsFunc(hosts, func(h string) bool { return !form.MatchString(h) })
}

// staysHere reports whether a command, which extends to the end of its line, sends data only to
// this machine. A remark after it is ignored.
func staysHere(line string) bool {
	command, _, _ := strings.Cut(line, " #")
	rest, hosts := addresses(command)
	here := len(hosts) > 0
	for token := range strings.FieldsSeq(rest) {
		token = strings.Trim(token, "`\"',;()")
		if host, _, _ := strings.Cut(token, "/"); thisHost.MatchString(host) {
			here = true
		} else if bareHost.MatchString(token) && !fileEnding.MatchString(token) {
			return false
		}
	}
	_, all := addresses(line)
	return here && !otherRoute.MatchString(rest) && !slices.ContainsFunc(all, func(h string) bool { return !thisHost.MatchString(h) })
}

// staysInTest reports whether the data goes only to hosts reserved for tests.
func staysInTest(line string) bool { return onlyHosts(line, testHost) }

// staysLocal reports whether all addresses are on this machine.
func staysLocal(line string) bool { return onlyHosts(line, thisHost) }

// inTable reports whether a line is a row of a table.
func inTable(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|'
}
