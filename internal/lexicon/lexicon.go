// Package lexicon recognises the words with which a sentence states a rule, in the languages that
// people write to their agents. A new language adds its words to each list. Case is ignored.
package lexicon

import "github.com/reverie-memory/reverie/internal/pattern"

// Words between letters of other words do not count, except in scripts without spaces.
const (
	start = `(?i)(?:^|[^\pL\pN_])(?:`
	end   = `)(?:[^\pL\pN_]|$)`
)

const (
	always = `always|immer|stets|toujours|siempre|sempre|altijd|alltid|zawsze|daima|her zaman|всегда|завжди|همیشه|دائم[اً]+|हमेशा`
	never  = `never|nie|niemals|jamais|nunca|jamás|non (?:\pL+ ){1,2}mai|nooit|aldrig|nigdy|asla|никогда|ніколи|هرگز|أبد[اً]+|कभी नहीं`
	must   = `must|muss|müssen|doit|doivent|il faut|debe|deben|deve|devem|devono|moet|moeten|måste|musi|muszą|обязательно|долж(?:ен|на|но|ны)|повин(?:ен|на|но|ні)|باید|يجب`
	banned = `mustn['’]?t|forbidden|prohibited|not allowed|under no circumstances|darf|dürfen|verboten|untersagt|interdite?s?|prohibid[oa]s?|proibid[oa]s?|vietat[oa]|` +
		`verboden|förbjud\pL*|zabronion\pL*|nie wolno|yasak|нельзя|запрещ\pL*|заборонен\pL*|نباید|ممنوع`
	should = `should|shall|sollte[nt]?|devrait|debería|deveria|dovrebbe|следует|нужно|слід|потрібно`
	not    = `nicht|kein\pL*|ohne|statt|anstatt|vermeid\pL*|pas|sans|évit\pL*|sin|evit\pL*|não|non|niet|geen|inte|bez|не|нет|без|вместо|избега\pL*|замість|уника\pL*`

	alwaysHere = `总是|始终|一律|永远|統一|统一|常に|항상|언제나`
	neverHere  = `绝不|決して|绝对不|절대`
	mustHere   = `必须|必須|务必|絶対に|必ず|반드시|해야`
	bannedHere = `禁止|不得|不准|严禁|不允许|不能|금지`
	shouldHere = `应该|應該|べき(?:だ|で(?:す|ある)|[。、！!]|$)`
	notHere    = `不要|勿|しないで|しないこと|하지 ?마|마세요|하지 않`
)

var (
	// General matches words for always and never. In Chinese, Japanese and Korean it also matches the
	// strongest words for must and must not.
	General = pattern.New(start + always + `|` + never + end + `|` + alwaysHere + `|` + neverHere + `|必须|严禁|絶対に|必ず|반드시`)

	// Binding matches words for must, never and must not.
	Binding = pattern.New(start + must + `|` + never + `|` + banned + end + `|` + mustHere + `|` + neverHere + `|` + bannedHere)

	// Ruling matches the words of General and Binding, for should, and orders not to do something.
	Ruling = pattern.New(start + always + `|` + never + `|` + must + `|` + banned + `|` + should + end + `|` +
		alwaysHere + `|` + neverHere + `|` + mustHere + `|` + bannedHere + `|` + shouldHere + `|` + notHere)

	// Refusing matches words for never, must not and not, in other languages than English.
	Refusing = pattern.New(start + never + `|` + banned + `|` + not + end + `|` + neverHere + `|` + bannedHere + `|` + notHere + `|` +
		`(?:^|[^特类级分区识])别|[不無无避]|ない|ません|な[。！!]?$|마|말|않|안|대신`)
)
