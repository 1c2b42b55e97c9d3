package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Finding is a candidate with the sentence it was made from, if a person said it.
type finding struct {
	record.Candidate
	said *sentence
	why  string // the detector's own reason to refuse it; empty: none
}

var (
	reason = lazy(`(?i)\bbecause\b|\bsince\b|\botherwise\b|\bor else\b|\bso that\b|\bas (?:it|they|that|we|the|our|` +
		`ci)\b|\bdue to\b|\bor (?:it|ci|the \w+|we|they|you) (?:will |'ll )?(?:break|fail|lose|get|crash|` +
		`reject|leak|hang)\w*|[,:;—–-]\s*(?:it|they|that|this|ci|we|which|the \w+|[\w.-]+) (?:will |would |` +
		`can |do not |don't |doesn't |may |also |always |silently |then )?(?:break|fail|lose|reject|crash|` +
		`leak|hang|need|cause|make|set|write|overwrite|depend|expect|ban|bill|is|are|can't|cannot|rewrite|` +
		`regenerate|flake|slow|conflict|skip|miss|corrupt|run|use|go|come|generate|own|manage|maintain|` +
		`handle|update|produce|create)\w*|\bto (?:avoid|prevent|keep)\b|[,;:—-]\s*(?:we|i|it|they|\w+) (?:once |` +
		`already )?(?:got|had|lost|broke|shipped|were|was|burned|burnt|spent|wasted)\b`)
	because = lazy(`(?i)\b(?:because|since|so that|due to|otherwise|the reason (?:is|being))\b|原因是|理由是|因为|` +
		`因為|由于|否则|不然|以免|から|ため|ので|때문|니까|아서|어서|해서`)
	pathName = lazy("(?:^|[\\s`('\"])((?:\\.{0,2}/)?(?:[\\w@.*-]+/)+[\\w@.*-]*|[\\w*-]+\\.(?:go|ts|tsx|js|jsx|mjs|" +
		"cjs|py|rs|rb|java|kt|swift|c|cc|h|cpp|cs|php|sql|md|mdx|json|jsonc|ya?ml|toml|lock|proto|sh|env|" +
		"css|scss|html|vue|svelte|tf|graphql|prisma|txt|xml|gradle|mod|sum)\\b|Makefile|Dockerfile|Justfile|" +
		"justfile|AGENTS\\.md|\\.env(?:\\.\\w+)?)")
	symbol = lazy("`[^`]+`|\\b\\w+\\.\\w+\\(\\)|\\b[a-z]+[A-Z]\\w+\\b|\\b[A-Z]\\w+(?:\\.|::)[A-Z]\\w+\\b|\\b[a-z]+\\.[A-Z]\\w+\\b|" +
		"\\b\\w+_\\w+\\b|\\b[A-Z]{2,}[A-Z0-9_]*s?\\b|--?[a-z][\\w-]+")
	namedAny = lazy(`(?i)\b(?:` + tools + `)\b`)
	nounAny  = lazy(`(?i)\b(?:` + nouns + `)\b`)
	replies  = lazy(`(?i)\b(?:answer|reply|respond|explain|talk|speak|summari[sz]e|repl(?:y|ies)|responses?|explanations?|` +
		`answers|summar(?:y|ies)|tone|emojis? in (?:your |the )?(?:answers|replies|responses|chat)|terse|` +
		`concise|verbose|chatty|english|german|french|spanish|chinese|japanese|korean|apologi[sz]e|address me|` +
		`call me)\b|用(?:中文|英文|英语|日语)|中文(?:回答|回复|解释)|回答|回复|日本語で|英語で|한국어로|영어로|返信|답변`)
	scope = lazy(`(?i)\b(?:in|under|inside|outside(?: of)?|within|from|to|into|on|for|across|during|with) (?:the |` +
		`our |any |all |every |new |a |an )?(?:\w+[- ])?(?:` + nouns + `|main|master|develop|production|prod|staging|` +
		`ci|migrations?|web|frontend|backend|server|client|public api)\b`)
	clauseEnd   = lazy(`(?i)[,;:—]\s|\s-\s|\b(?:because|since|otherwise)\b`)
	definiteAny = lazy(`(?i)\b(?:the|my|your|his|her|its|their|another|other|same)\s+[\w-]+`)
	wellKnown   = lazy(`(?i)\b(?:the|our|its|their)\s+(?:(?:production|prod|staging|public|test|existing|whole|entire|` +
		`main|old|legacy)\s+)?(?:code|codebase|database|db|network|filesystem|file system|internet|tests|` +
		`test suite|docs|build|ci|pipeline|repo|repository|api|apis|ui|cli|main branch|master branch|schema|` +
		`changelog|readme|linter|formatter|compiler|type checker|standard library|stdlib|clock|wall clock|` +
		`environment|root|user|users|database|lock ?file|source|source tree|cache|default branch|server|` +
		`client|browser|clipboard|package manager|command line|team|history|style guide|\w+ layer|vendor directory|` +
		`same (?:file|folder|directory|package|commit|pr))\b`)
)

// definite tells whether a text speaks of one thing of the moment ("the helper"), not of
// what every project has ("the database").
func definite(text string) bool {
	if at := clauseEnd.FindStringIndex(text); at != nil {
		text = text[:at[0]] // what follows is the reason
	}
	return definiteAny.MatchString(wellKnown.ReplaceAllString(text, " "))
}

// concreteWords tells whether a text names something to hold on to: a path, a symbol, a
// tool, or a thing that rules about a repository are about.
func concreteWords(text string) bool {
	return pathName.MatchString(text) || symbol.MatchString(text) || namedAny.MatchString(text) || nounAny.MatchString(text)
}

// statementOf makes the statement of a sentence, with the reason along where the next
// sentence gives it.
func (v *view) statementOf(i int) (text string, evidence []record.Evidence) {
	s := &v.sentences[i]
	text = s.form
	evidence = []record.Evidence{v.quote(s.event, s.raw)}
	if text == "" || !s.more || i+1 >= len(v.sentences) || reason.MatchString(text) {
		return text, evidence
	}
	next := v.sentences[i+1]
	if next.event != s.event || next.asking || next.lang != s.lang {
		return text, evidence
	}
	m := reasonLead.FindStringSubmatch(next.text)
	if m == nil && s.lang == "en" && onlyThe.MatchString(next.form) && !strings.Contains(s.form, ": ") {
		m = []string{"", ""} // it says what of the same kind is otherwise
	}
	if m == nil && s.lang == "en" && (pointsBack(s, &next) || sameThing(s, &next)) && !unresolved(next.text, "en") && !imperative.MatchString(next.form) {
		m = []string{"", ""} // it speaks of what was just said
	}
	if m == nil || m[0] != "" && status.MatchString(next.text) && s.lang == "en" && !strings.HasPrefix(strings.ToLower(next.text), "otherwise") {
		return text, evidence
	}
	why := finish(next.text, s.lang)
	stop := why[len(strings.TrimRight(why, ".。")):]
	why = strings.TrimRight(why, ".。")
	var joined string
	switch {
	case s.lang == "en":
		glue := ": "
		if strings.EqualFold(m[1], "because") || strings.EqualFold(m[1], "since") {
			glue = " "
		}
		joined = strings.TrimRight(text, ".") + glue + lowerFirst(why) + stop
	default:
		joined = strings.TrimRight(text, "。.") + "：" + why + stop
		if s.lang == "ko" {
			joined = strings.TrimRight(text, ".") + ": " + why + stop
		}
	}
	if len(joined) > maxStatement {
		return text, evidence
	}
	return joined, append(evidence, v.quote(next.event, next.raw))
}

// sameThing tells whether a sentence says how the thing of the one before is.
func sameThing(s, next *sentence) bool {
	form, subject := formOf(next.form, plainWords(next.form))
	return form == being && sharedWords(s.text, strings.Join(subject, " ")) > 0
}

// onlyThe is a claim that only a contrast before makes whole: "only the endpoint in X validates".
var onlyThe = lazy(`(?i)^only (?:the )?(?:[\w-]+ ){1,4}\w+s[.!]*$`)

// pointsBack tells whether a sentence is about the thing of the one before. What begins with "the"
// may bring a thing of its own, which its pronoun then stands for.
func pointsBack(s, next *sentence) bool {
	return backward.MatchString(next.text) &&
		(!strings.HasPrefix(strings.ToLower(next.text), "the ") || sharedWords(s.text, next.text) > 0)
}

// backward is a sentence that may be about the thing of the one before.
var backward = lazy(`(?i)^(?:our|the|people|customers|reviewers|clients|each|every|some|most)\b.*\b(?:it|them|` +
	`they|their|its)\b`)

var reasonLead = lazy(`(?i)^(because|since|otherwise|it|they|that|ci|the reason|or else|this (?:is because|way)|否则|不然|` +
	`因为|因為|原因|その理由|理由は|なぜなら|そうしないと|안 그러면|그렇지 않으면|왜냐하면)\b?`)

func lowerFirst(s string) string {
	word, _, _ := strings.Cut(s, " ")
	switch strings.ToLower(word) {
	case "because", "since", "otherwise", "it", "they", "that", "the", "or", "this", "it's", "they're", "only":
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// say makes the finding of sentence i.
func (v *view) say(i int, kind record.Kind) finding {
	text, evidence := v.statementOf(i)
	return v.sayAs(i, kind, text, evidence)
}

// sayAs makes the finding of sentence i with a statement of its own.
func (v *view) sayAs(i int, kind record.Kind, text string, evidence []record.Evidence) finding {
	return finding{
		Candidate: record.Candidate{
			Kind:     kind,
			Text:     text,
			Paths:    pathsIn(withoutReason(text)),
			Topic:    topic(text),
			How:      record.Said,
			Evidence: evidence,
		},
		said: &v.sentences[i],
	}
}

// withoutReason is the part of a statement before its reason.
func withoutReason(text string) string {
	from := 0
	if at := scoped.FindStringIndex(text); at != nil {
		from = at[1] // its colon begins the rule
	}
	if at := reasonClause.FindStringIndex(text[from:]); at != nil {
		return text[:from+at[0]]
	}
	return text
}

var reasonClause = lazy(`(?i):\s|：|\b(?:because|since|otherwise|as it|as they|so that)\b|[,;–—-]\s+(?:it|they|that|this)\b|` +
	`因为|因為|由于|否则|不然|なぜなら|왜냐하면`)

// pathsIn returns the paths a statement names: with an extension, a slash at the end, or a
// place word before them. Words joined by a slash are often something else (net/http).
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

// pointless tells whether a statement in English points at something only its session
// knows. A reason may point back at the rule it stands with.
func pointless(text string) bool {
	if at := explains.FindStringIndex(text); at != nil && at[0] > 12 {
		why := strings.ToLower(thisRepo.ReplaceAllString(text[at[0]:], "repository"))
		if placeNamed.MatchString(why) {
			why = thereLast.ReplaceAllString(why, "$1")
		}
		return unresolved(text[:at[0]], "en") || enPoints.MatchString(why)
	}
	return unresolved(text, "en")
}

// A "there" at the end means the place that the same reason names.
var (
	placeNamed = lazy(`\bthe (?:\w+ )?(?:box|boxes|machines?|hosts?|servers?|clusters?|environments?|network|image|container|` +
		`region|runners?|vm|account|site)\b.*\bthere[.!]?$`)
	thereLast = lazy(`\s+there([.!]?)$`)
)

// restAPI is no rest of something.
var restAPI = lazy(`\bREST(?:ful)?\b|(?i:\brest (?:apis?|endpoints?|clients?|interface|controllers?|layer|handlers?|routes?)\b)`)

// unresolved tells whether a statement points at something that only its session knows.
func unresolved(text, lang string) bool {
	switch lang {
	case "zh":
		return zhPoints.MatchString(strings.NewReplacer("这个项目", "项目", "这个仓库", "仓库").Replace(text))
	case "ja":
		return jaPoints.MatchString(strings.NewReplacer("このプロジェクト", "", "このリポジトリ", "", "このレポ", "", "そのまま", "", "それ以外", "").Replace(text))
	case "ko":
		return koPoints.MatchString(strings.NewReplacer("이 프로젝트", "", "이 저장소", "", "이 레포", "", "그대로", "").Replace(text))
	}
	t := strings.ToLower(restAPI.ReplaceAllString(text, "api"))
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
		`you|i)|you (?:just|already|said|suggested|wrote|made|added|created|have)|your (?:last|previous|` +
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
