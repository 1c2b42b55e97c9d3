package reflect

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/reflect/claim"
)

// finding is a candidate with the person's sentence it was made from, if any.
type finding struct {
	record.Candidate
	said *sentence
	why  string // the detector's own reason to refuse it, or empty
}

// A sentence is one statement in a person's typed words, verbatim in an event.
type sentence struct {
	claim.Claim
	event  int    // index of the User event
	raw    string // verbatim, without preface and politeness
	lang   string // en, zh, ja or ko, by its script
	theirs bool   // someone else's words, as its paragraph says
}

// Bounds of statements.
const (
	maxStatement = 320 // characters
	minStatement = 12  // bytes: four characters of Chinese say more than four letters
)

// typed appends the sentences of the message at an index.
func (v *view) typed(event int) {
	text := v.events[event].Text
	for _, c := range claim.Read(text) {
		raw := text[c.Start:c.End]
		v.sentences = append(v.sentences, sentence{Claim: c, event: event, raw: raw, lang: language(raw), theirs: claim.Theirs(text[c.From:c.To])})
	}
}

// minWeak is the probability from which a sentence that is not worth a proposal is kept as weak. It
// is kept if another statement may be about the same thing, because it may change that.
const minWeak = 0.2

// findSaid makes candidates of the sentences worth keeping. It marks a sentence as doubtful, for a
// person to decide, if it does not claim to last or the model is uncertain. A sentence that depends
// on the one before includes it.
func findSaid(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		weak := !s.Proposed()
		if weak && (s.Keep < minWeak || !s.May()) {
			continue
		}
		text, evidence := s.statement(), []record.Evidence{v.quote(s.event, s.raw)}
		if s.Leans || !weak && s.lang == "en" && pointless(text) {
			switch before := announcing(v, i); {
			case before != nil && (s.Leans && !weak || !wording.Read(before.raw).Specific()):
				text, evidence = finish(oneLine(before.raw))+" "+text, append([]record.Evidence{v.quote(s.event, before.raw)}, evidence...)
				if !s.Leans { // the one before only announced this one
					out = slices.DeleteFunc(out, func(f finding) bool { return f.said == before })
				}
			case s.Leans:
				continue
			}
		}
		if weak && !wording.Read(text).Specific() || !weak && !s.Lasts && evidence[len(evidence)-1].Doubt != "" {
			continue // neither its author nor its duration is certain
		}
		if !s.Accepted() {
			evidence = doubted(evidence)
		}
		f := say(s, record.Kind(s.Kind.String()), finish(text), evidence)
		f.Weak = weak
		out = append(out, f)
	}
	return out
}

// doubted returns quotes as words that may apply only this once, where no other doubt is known.
func doubted(evidence []record.Evidence) []record.Evidence {
	evidence = slices.Clone(evidence)
	for i := range evidence {
		evidence[i].Doubt = cmp.Or(evidence[i].Doubt, record.Passing)
	}
	return evidence
}

// statement returns the words of a sentence. A command at its end takes the place of the word that
// points at it, if only that can be meant.
func (s *sentence) statement() string {
	text, command := oneLine(s.raw), s.Command
	if command != "" {
		text = oneLine(s.raw[:strings.LastIndex(s.raw, command)])
		if at := strings.LastIndexAny(text, ":："); at >= 0 {
			text = text[:at]
		}
	} else if m := endsInCode.FindStringSubmatch(text); m != nil {
		text, command = m[1], m[2]
	} else {
		return text
	}
	if at := pointing.FindStringSubmatchIndex(text); at != nil {
		return text[:at[2]] + "`" + command + "`" + text[at[3]:]
	}
	return text + ": `" + command + "`"
}

var (
	endsInCode = lazy("^([^`]+):\\s+`([^`]+)`\\W*$")
	pointing   = lazy(`(?i)\b(?:run|use|execute|call|type|with|via) ((?:this|these|the following)(?: (?:exact )?(?:commands?|script|task|line|one))?)` +
		`(?:\s+(?:to|before|after|when(?:ever)?|if|for|in|on|at|every|each|first|from|once)\b[^,;:]*)?$`)
)

// announcing returns the sentence before another in its message, unless it asks, or nil.
func announcing(v *view, i int) *sentence {
	if i == 0 || v.sentences[i-1].event != v.sentences[i].event || v.sentences[i-1].Asks {
		return nil
	}
	return &v.sentences[i-1]
}

// say makes the finding of a sentence.
func say(s *sentence, kind record.Kind, text string, evidence []record.Evidence) finding {
	return finding{
		Candidate: record.Candidate{Kind: kind, Text: text, Paths: pathsIn(text), Topic: topic(text), How: record.Said, Evidence: evidence},
		said:      s,
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// finish adds the capital and the full stop to a statement.
func finish(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), " .!,;:。！，；：…-–—")
	if text == "" {
		return ""
	}
	if strings.Count(text, "(") > strings.Count(text, ")") {
		text += ")"
	}
	word, _, _ := strings.Cut(text, " ")
	if plainWord(word) && !unspaced.MatchString(text) { // else it may be a name
		r, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(r)) + text[size:]
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return text + "。"
	}
	return text + "."
}

// plainWord reports whether a word may be capitalised, unlike a path, a command or a symbol.
func plainWord(w string) bool {
	w = strings.TrimRight(w, ",.:;'")
	for i, r := range w {
		if !unicode.IsLetter(r) && r != '\'' && r != '-' || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	switch w {
	case "":
		return false
	case "open", "find", "sort", "read", "set", "help", "test", "wait", "code", "clear": // also words
		return true
	}
	return wording.Tool(w) == "" && !readOnly.Has(w)
}

// language returns the language of a text by its script: Korean, Japanese, Chinese, else en.
func language(s string) string {
	lang := "en"
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Han, r):
			lang = "zh"
		}
	}
	return lang
}

// pathName matches paths and file names in a statement.
var pathName = lazy("(?:^|[\\s`('\"])((?:\\.{0,2}/)?(?:[\\w@.*-]+/)+[\\w@.*-]*|[\\w*-]+\\.(?:go|ts|tsx|js|jsx|mjs|" +
	"cjs|py|rs|rb|java|kt|swift|c|cc|h|cpp|cs|php|sql|md|mdx|json|jsonc|ya?ml|toml|lock|proto|sh|env|" +
	"css|scss|html|vue|svelte|tf|graphql|prisma|txt|xml|gradle|mod|sum)\\b|Makefile|Dockerfile|Justfile|" +
	"justfile|AGENTS\\.md|\\.env(?:\\.\\w+)?)")

// pathsIn returns the paths in a statement: with an extension, a final slash, or a place word
// before them. Words joined by a slash are often something else (net/http).
func pathsIn(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range pathName.FindAllStringSubmatchIndex(text, 8) {
		p := strings.TrimRight(strings.TrimPrefix(text[m[2]:m[3]], "./"), ".,:;")
		if p == "" || seen[p] || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "..") || strings.HasPrefix(p, "@") || andOr.MatchString(p) {
			continue
		}
		base := p[strings.LastIndexByte(p, '/')+1:]
		if base != "" && !strings.Contains(base, ".") && strings.Contains(p, "/") && !placeWord.MatchString(text[:m[2]]) && !strings.HasPrefix(p, "src/") {
			continue
		}
		seen[p] = true
		if strings.HasSuffix(p, "/") {
			p += "**"
		}
		out = append(out, p)
	}
	return out
}

var placeWord = lazy("(?i)(?:\\b(?:in|under|inside|within|into|below|folder|directory|dir|edit|touch|modify|files? in|" +
	"outside|outside of|neben|unter)|在|放在|于)\\s*(?:the\\s+)?`?$")

// andOr matches words joined by a slash that are no path: and/or, he/she, CI/CD.
var andOr = lazy(`(?i)^(?:and/or|he/she|ci/cd|i/o|n/a|w/o|tcp/ip|read/write|yes/no|input/output|client/server|on/off|` +
	`up/down|true/false|his/her|s/he|he/she/they|http/2|http/1\.1|application/json|text/\w+|origin/\w+|(?:feature|` +
	`feat|fix|bugfix|hotfix|release|chore|origin|refs|heads)/|` +
	`owner/\w+)$`)

// pointless reports whether an English statement refers to something that only its session knows. A
// reason may refer back to its own rule.
func pointless(text string) bool {
	if at := reasonClause.FindStringIndex(text); at != nil && at[0] > minStatement {
		return unresolved(text[:at[0]], "en")
	}
	return unresolved(text, "en")
}

var reasonClause = lazy(`(?i)[,;:]\s|\s[–—-]\s|\b(?:because|cause|cuz|since|otherwise|as it|as they|so that)\b`)

// restAPI matches REST in its technical sense, not as the remainder.
var restAPI = lazy(`\bREST(?:ful)?\b|(?i:\brest (?:apis?|endpoints?|clients?|interface|controllers?|layer|handlers?|routes?)\b)`)

// unresolved reports whether a statement refers to something that only its session knows.
func unresolved(text, lang string) bool {
	switch lang {
	case "zh":
		return zhPoints.MatchString(strings.NewReplacer("这个项目", "项目", "这个仓库", "仓库").Replace(text))
	case "ja":
		return jaPoints.MatchString(strings.NewReplacer("このプロジェクト", "", "このリポジトリ", "", "このレポ", "", "そのまま", "", "それ以外", "").Replace(text))
	case "ko":
		return koPoints.MatchString(strings.NewReplacer("이 프로젝트", "", "이 저장소", "", "이 레포", "", "그대로", "").Replace(text))
	}
	t := strings.ToLower(restAPI.ReplaceAllString(hereInRepo.ReplaceAllString(text, "in the repository$1"), "api"))
	t = thisRepo.ReplaceAllString(t, "repository")
	return enPoints.MatchString(t) || enThat.MatchString(t) || enIt.MatchString(t)
}

var (
	thisRepo = lazy(`\bthe rest of (?:the|our) \w+|\b(?:this|the) (?:repo|repository|project|codebase|code base|` +
		`monorepo|app|application|team|company|` +
		`organi[sz]ation|service|workspace|package manager|machine)\b`)
	enPoints = lazy(`\b(?:this|these|those|here|there(?:'s)?|above|below|the (?:same|former|latter|first|second|third|` +
		`last|previous|next|other|rest|new one|old one|one)|other (?:one|ones|file|way)|(?:option|approach|` +
		`plan|solution|alternative|idea|version|variant|item|point|step|issue|problem|bug|phase|finding|` +
		`comment|question) [a-d0-9#]+|(?:go|going) with [a-d1-4]\b|as (?:discussed|mentioned|before|described|suggested)|like (?:before|` +
		`(?:you|i) (?:did|do|said|say|had|have|suggested|mentioned|described|wrote))|you (?:just|already|said|suggested|wrote|made|added|created|have)|your (?:last|previous|` +
		`suggestion|plan|proposal|version|change|changes|code|approach|way|idea|answer)|so(?: please)?$|` +
		`such|either of|mine|ours|him|her|he|she|did it|do so|(?:#|issue )\d+)\b`)
	enThat = lazy(`(?:^|[,;:]\s*)that\b|\bthat(?:'s)?(?:[.,;:!]|$)|\b(?:do|use|like|of|for|with|about|to|from|in|` +
		`on|than|and|or|not|is|was|keep|want|call|run|put|make|see|at|by|after|before|add|remove|change|` +
		`at) that\b|\bthat (?:one|file|function|way|approach|thing|test|line|change|error|command|folder|` +
		`directory|branch|pr|bug|method|value|case|code|part|stuff|flag|name|type|class|module|package|` +
		`instead|again|anymore|too|either|for|in|on|to|with)\b`)
	enIt = lazy(`^(?:\W*\w+\W+){0,2}?(?:it|they|them|its|it's)\b|^\W*(?:\w+ ){1,3}(?:it|them)[.,;:!]?$|^(?:do not|` +
		`don't|never|always|just|only)\s+(?:\w+\s+){1,2}(?:it|them)\b|^(?:\w+ ){1,2}(?:one|ones)\b|[,;:.] (?:please |` +
		`so |and |then )?\w+ (?:it|them)[.]?$|\b(?:outside|inside|in|from|of|with|into|on|under|around) (?:it|them)[.]?$`)
	zhPoints = lazy(`^(?:这|那|它|他|此|其)|这个|那个|这些|那些|这样|那样|刚才|前面(?:的|说)|同样的|另一个|这种|` +
		`那种|(?:上面|下面)(?:的|这|那|说)|[不别]要?(?:它|` +
		`它们)|(?:把|将|用|改|删)(?:它|他)|^[^，]*(?:这里|那里)|第[一二三四]个|方案[一二三ABab]`)
	jaPoints = lazy(`^(?:これ|それ|あれ|ここ|そこ)|この|その|あの|これ(?:を|は|で|に|が)|それ(?:を|は|で|に|が)|` +
		`こちら|そちら|上記|下記|先ほど|さきほど|同じように`)
	koPoints = lazy(`^(?:이거|그거|저거|이것|그것|여기|거기)|이거|그거|이것|그것|이렇게|그렇게|여기|거기|위의|` +
		`아래의|방금|(?:^| )(?:이|그|저) `)
)
