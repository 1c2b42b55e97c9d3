package reflect

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A topic is the subject of a statement, so that two statements on one topic can be compared.

// isSubject reports whether a topic allows only one truth: two different statements on it
// contradict each other, or the later replaces the earlier.
func isSubject(topic string) bool {
	for i := range topicForms {
		if topicForms[i].name == topic {
			return true
		}
	}
	return false
}

var topicForms = []struct {
	form *pattern.Pattern
	name string
}{
	{lazy(`(?i)\b(?:answer|reply|respond|talk|speak|explain)\w*\b.*\b(?:in )(?:english|german|french|spanish|` +
		`chinese|japanese|korean|portuguese|russian|italian)\b|(?:中文|英文|英语)(?:回答|回复|交流|解释)|用(?:中文|英文|英语)(?:回答|` +
		`回复|交流)|(?:日本語|英語)で(?:答|返|回答|説明)|(?:한국어|영어)로 (?:답|대답|설명)`), "language of replies"},
	{lazy(`(?i)\bcomments?\b.*\bin (?:english|german|chinese|japanese|korean)\b|注释.*(?:中文|英文)|(?:中文|英文).*注释|コメント.*(?:日本語|英語)|주석.*(?:한국어|영어)`), "language of comments"},
	{lazy(`(?i)\b(?:single|double) quotes\b`), "quotes"},
	{lazy(`(?i)\bsemicolons\b`), "semicolons"},
	{lazy(`(?i)\b(?:squash|rebase|merge commits?)\b.*\b(?:prs?|merge|branch|pull requests?|main|history)\b`), "merge strategy"},
	{lazy(`(?i)\bconventional commits\b|\bcommit (?:messages?|subjects?)\b.*\b(?:format|prefix|start|imperative|lower)`), "commit message style"},
}

var (
	latinWord = lazy(`[A-Za-z][\w.'-]*[A-Za-z0-9]|[A-Za-z]|[` + unspacedScripts + `]+`)
	// anyWord matches words of every script.
	anyWord   = lazy(spacedLetter + `(?:[\pM\pN_.'\x{200c}-]|` + spacedLetter + `)*(?:[\pM\pN]|` + spacedLetter + `)|` + spacedLetter + `|[` + unspacedScripts + `]+`)
	stopWords = set("a an the and or but of to in on at for with by from as is are be been was were do does did don't " +
		"not never always only use using used run running must should shall may can cannot can't will " +
		"would it its they them we our you your i my me this that these those so if when whenever before " +
		"after while because since otherwise instead rather than over no every each all any please prefer " +
		"avoid keep make sure ever again also just into out up via per then else more most other same " +
		"new such without within during under inside outside until unless told asking ask first have has " +
		"had need needs which who what where how there here let's let lets get set")
)

// calling matches the rest of a command without code marks: "npm run gen".
var calling = lazy(`^ (?:(?:run|install|ci|i|test|add|start|exec|build|publish|update|audit|init)\b|-)`)

// contrasted matches a command that a statement refuses beside another.
var contrasted = lazy("(?i)\\b(?:not|never|instead of|rather than)\\s+`")

// topic names the subject of a statement, or returns "": a form, or the job of a tool that it
// chooses or refuses. Tools that are named in passing too often make no topic.
func topic(text string) string {
	for _, f := range topicForms {
		if f.form.MatchString(text) {
			return f.name
		}
	}
	chosen := contrasted.MatchString(text)
	text = concrete.ReplaceAllStringFunc(text, func(code string) string {
		program, _, command := strings.Cut(code, " ")
		if command && !chosen {
			return "" // it names its program in passing
		}
		return program
	})
	for _, at := range latinWord.FindAllStringSubmatchIndex(text, -1) {
		switch job := wording.Tool(text[at[0]:at[1]]); {
		case job == "", job == "task runner", job == "container tool":
		case strings.HasSuffix(text[:at[0]], "/"), strings.HasPrefix(text[at[1]:], "/"), calling.MatchString(text[at[1]:]):
		default:
			return job
		}
	}
	return ""
}

// unspaced matches scripts whose runs of letters are clauses, not words.
var unspaced = lazy(`[` + unspacedScripts + `]`)

const (
	unspacedScripts = `\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}`
	spacedLetter    = `[^\PL` + unspacedScripts + `]` // a letter of any other script
)

// contentWords returns the meaningful words of a text, folded, in order, each once: Latin ones, and
// runs of scripts without spaces.
func contentWords(text string) []string { return meaningful(latinWord, text) }

func meaningful(word *pattern.Pattern, text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(strings.ReplaceAll(text, "’", "'")), -1) {
		w = strings.Trim(w, ".-_")
		if n := utf8.RuneCountInString(w); n < 2 || n < minOther && isOtherScript(w) || stopWords.Has(w) || seen[w] {
			continue
		}
		seen[w] = true
		out = append(out, w)
	}
	return out
}

// minOther is the least length of a meaningful word in a script whose stop words are unknown here,
// in letters.
const minOther = 4

// isOtherScript reports whether a word is of a script with spaces that is not Latin.
func isOtherScript(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && !unspaced.MatchString(w)
}

// sharedWords counts the meaningful words that two texts share.
func sharedWords(a, b string) int { return common(contentWords(a), contentWords(b)) }

// common counts the words of b that a has.
func common(a, b []string) (n int) {
	for _, w := range b {
		if slices.Contains(a, w) {
			n++
		}
	}
	return n
}
