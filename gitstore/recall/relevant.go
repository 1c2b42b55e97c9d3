package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A prompt is no question to the memory, and most of them have nothing to do with it. Relevant answers only where a
// memory clearly is about what the prompt names, and else nothing.
//
// Each word of the prompt has a weight. A name (an identifier, a path, an option, an error code, a number with a
// unit) weighs nameWeight; a word that people use of any work at all, as fix, test or file, weighs commonWeight;
// every other word 1. What only the body of a memory has counts half, and so does a name of one part that a memory
// writes otherwise. A memory is relevant if the words it has weigh enough together, and are a large enough share of
// all: see relevant.
const (
	nameWeight   = 3.0
	commonWeight = 0.25
	pairWeight   = 0.5 // of two neighbouring characters of Han, kana or Hangul
)

// What makes a memory relevant.
const (
	enough     = 2.0  // weight of the words it has
	share      = 0.5  // of the weight of all words of the prompt that any memory has, and of half of the others
	nameShare  = 0.12 // the same, where a name is among them that few memories have
	ownShare   = 0.5  // of the weight of the words of its own statement: a long prompt that says it again
	few        = 3    // memories that may have such a name, or one in rare
	rare       = 20
	maxPrompt  = 8 << 10 // bytes of a prompt that are looked at: its beginning
	maxAsked   = 400     // terms
	fewestOwn  = 3       // words of the statement that a long prompt has to say
	pathWeight = 3.0     // of a path in the prompt that the memory's globs match
)

// Prompt is what a user typed, taken apart.
type Prompt struct {
	text  string
	words []asked
	paths []string
}

// asked is one word of a prompt.
type asked struct {
	text   string
	terms  []string
	weight float64
}

// Relevance is a memory that a prompt is about.
type Relevance struct {
	Memory record.Memory
	Weight float64  // of the words
	Words  []string // of the prompt, that made it relevant: the heaviest first
}

// Ask takes a prompt apart.
func Ask(prompt string) Prompt {
	if len(prompt) > maxPrompt {
		prompt = strings.ToValidUTF8(prompt[:maxPrompt], "")
	}
	p := Prompt{text: prompt}
	seen := map[string]bool{}
	total := 0
	for _, word := range strings.FieldsFunc(prompt, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`\"'“”‘’,;()[]{}<>|，。！？、；：（）「」", r)
	}) {
		word = strings.Trim(word, ".:!?*…=&")
		if word == "" || total > maxAsked {
			continue
		}
		name := isName(word) && !common.Has(strings.ToLower(strings.TrimLeft(word, "-")))
		if strings.Contains(word, "/") && name {
			p.paths = append(p.paths, strings.TrimPrefix(strings.TrimLeft(word, "@"), "./"))
		}
		if name {
			p.add(seen, word, slices.DeleteFunc(allTerms(word), func(t string) bool { return stop.Has(t) }), nameWeight)
			total++
			continue
		}
		for _, term := range allTerms(word) {
			total++
			switch {
			case stop.Has(term), chat.Has(term), len(term) == 1 && term[0] < 0x80:
			case common.Has(term):
				p.add(seen, word, []string{term}, commonWeight)
			case unicode.In([]rune(term)[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
				p.add(seen, term, []string{term}, pairWeight)
			default:
				p.add(seen, word, []string{term}, 1)
			}
		}
	}
	return p
}

func (p *Prompt) add(seen map[string]bool, word string, terms []string, weight float64) {
	key := strings.Join(terms, "\x00")
	if len(terms) == 0 || seen[key] {
		return
	}
	seen[key] = true
	p.words = append(p.words, asked{word, terms, weight})
}

// allTerms are the terms of a word.
func allTerms(word string) (out []string) {
	eachTerm(word, func(t []byte) { out = append(out, string(t)) })
	return out
}

// Tells reports whether any memory at all could be relevant.
func (p Prompt) Tells() bool {
	return weightOf(p.words) >= enough
}

func weightOf(words []asked) (sum float64) {
	for _, w := range words {
		sum += w.weight
	}
	return sum
}

// found are the words that a hit has.
func (p Prompt) found(h Hit) (out []asked) {
	has := func(t string) bool { return slices.ContainsFunc(h.Terms, func(p Part) bool { return p.Term == t }) }
	for _, w := range p.words {
		if !slices.ContainsFunc(w.terms, func(t string) bool { return !has(t) }) {
			out = append(out, w)
		}
	}
	return out
}

// isName reports whether a word is written as no word of prose is: somName, some_name, a/path, file.ext, --option,
// E1234, ErrNotFound, 127.0.0.1.
func isName(word string) bool {
	letters, digits, inner, upper := 0, 0, false, 0
	var last rune
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r < 0x80 && unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
				inner = inner || unicode.IsLower(last)
			}
		case r >= 0x80:
			return false
		}
		last = r
	}
	switch {
	case letters+digits < 3:
		return false
	case inner, strings.Contains(strings.Trim(word, "_"), "_"), strings.HasPrefix(word, "--"), strings.Contains(word, "::"):
		return true
	case strings.Contains(strings.Trim(word, "/"), "/"), strings.HasSuffix(word, "/"):
		return letters > 2 && !strings.Contains(word, "//") && !slash.Has(strings.ToLower(word))
	case strings.Contains(word, "."):
		i := strings.LastIndexByte(word, '.')
		return len(word)-i <= 6 && i > 0 && !strings.HasSuffix(strings.ToLower(word), "e.g") && !strings.HasSuffix(strings.ToLower(word), "i.e")
	case letters > 0 && digits > 0:
		return letters+digits >= 4
	case upper >= 4 && upper == letters: // ECONNREFUSED; not API, which anybody says
		return true
	}
	return digits >= 4 && strings.Contains(word, ":")
}

// slash are words joined by one that is no path.
var slash = pattern.NewWords("and/or client/server input/output read/write on/off yes/no true/false tcp/ip ci/cd")

// Relevant returns the memories that the prompt clearly is about, the heaviest first, and those of the same weight in
// the order of Search. One that has no word of the prompt but common ones never is.
func (p Prompt) Relevant(memories []record.Memory) []Relevance {
	if !p.Tells() {
		return nil
	}
	hits := Search(p.possible(memories), p.text, 0)
	df := map[string]int{}
	for _, h := range hits {
		for _, t := range h.Terms {
			df[t.Term]++
		}
	}
	known := func(w asked) int { // memories that have its rarest term
		n := math.MaxInt
		for _, t := range w.terms {
			n = min(n, df[t])
		}
		return n
	}
	all := 0.0
	for _, w := range p.words {
		if known(w) > 0 {
			all += w.weight
		} else {
			all += w.weight / 2
		}
	}
	var out []Relevance
	for _, h := range hits {
		path := matches(h.Memory.Paths, p.paths)
		found := p.found(h)
		if path == "" && weightOf(found) < enough {
			continue
		}
		r := Relevance{Memory: h.Memory}
		named := false
		var words []asked
		head, written := headOf(h.Memory)
		for _, w := range found {
			if !hasAll(head, w.terms) {
				w.weight /= 2
			}
			if w.weight > 1 && len(w.terms) == 1 && !strings.Contains(written, w.text) {
				w.weight /= 2
			}
			r.Weight += w.weight
			words = append(words, w)
			named = named || w.weight >= nameWeight && known(w) <= max(few, len(memories)/rare)
		}
		if path != "" {
			r.Weight += pathWeight
			words = append(words, asked{text: path, weight: pathWeight})
		}
		if !relevant(h, r.Weight, all, named || path != "", words) {
			continue
		}
		slices.SortStableFunc(words, func(a, b asked) int { return cmp.Compare(b.weight, a.weight) })
		for _, w := range words {
			if len(r.Words) < 3 && !slices.Contains(r.Words, w.text) {
				r.Words = append(r.Words, w.text)
			}
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Relevance) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// possible are the memories that may have a word of the prompt which is not common: to look for some letters costs a
// thirtieth of taking a text apart. What is not written in ASCII is not looked through.
func (p Prompt) possible(memories []record.Memory) []record.Memory {
	var probes []string
	for _, w := range p.words {
		probe := ""
		for _, t := range w.terms {
			whole := slices.ContainsFunc(w.terms, func(part string) bool { return part != t && strings.HasPrefix(t, part) })
			if !whole && len(t) > len(probe) && strings.Contains(strings.ToLower(w.text), t) {
				probe = t
			}
		}
		switch {
		case w.weight < pairWeight:
		case probe == "":
			return memories
		default:
			probes = append(probes, probe, strings.ToUpper(probe[:1])+probe[1:], strings.ToUpper(probe))
		}
	}
	foreign := func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 }
	has := func(s string) bool {
		return slices.ContainsFunc(probes, func(p string) bool { return strings.Contains(s, p) })
	}
	var out []record.Memory
	for _, m := range memories {
		may := matches(m.Paths, p.paths) != "" || slices.ContainsFunc(m.Tags, has) || slices.ContainsFunc(m.Paths, has)
		for _, v := range m.Texts() {
			may = may || has(v.Text) || has(v.Body) || foreign(v.Text) || foreign(v.Body)
		}
		if may {
			out = append(out, m)
		}
	}
	return out
}

// headOf are the terms of a memory that say what it is about, and all that it says.
func headOf(m record.Memory) (terms map[string]bool, written string) {
	var about []string
	for _, v := range m.Texts() {
		about = append(about, v.Text)
		written += v.Text + "\n" + v.Body + "\n"
	}
	about = append(append(about, m.Tags...), m.Paths...)
	terms = map[string]bool{}
	for _, text := range about {
		eachTerm(text, func(t []byte) { terms[string(t)] = true })
	}
	return terms, written + strings.Join(about, "\n")
}

func relevant(h Hit, weight, all float64, named bool, words []asked) bool {
	switch {
	case weight < enough:
		return false
	case weight/all >= share:
		return true
	case named && weight/all >= nameShare:
		return true
	}
	plain := 0
	for _, w := range words {
		if w.weight >= 1 {
			plain++
		}
	}
	return plain >= fewestOwn && ownWords(h) >= ownShare
}

// ownWords is the share of the words of a memory's statement, those that say something, that a prompt has.
func ownWords(h Hit) float64 {
	in := map[string]bool{}
	for _, t := range h.Terms {
		in[t.Term] = true
	}
	n, found := 0, 0
	for _, t := range uniq(Terms(h.Memory.Text)) {
		if common.Has(t) || chat.Has(t) || stop.Has(t) {
			continue
		}
		n++
		if in[t] {
			found++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(found) / float64(n)
}

// matches returns the first of some paths that one of the globs covers, or that is its fixed part, or "". A glob whose
// fixed part is shorter than two characters says too little.
func matches(globs, paths []string) string {
	for _, glob := range globs {
		root := Root(glob)
		if len(root) < 2 {
			continue
		}
		for _, p := range paths {
			if clean(p) == root || Covers(glob, p) {
				return p
			}
		}
	}
	return ""
}

// chat are words that people say to whoever works for them, in the form of terms; common are those that they use of any
// work in any repository.
var (
	chat = pattern.NewWords(`please thank thanks ok okay yes no nope yeah sure great good nice perfect cool fine right wrong sorry hi hello hey continue go going proceed
		keep start stop done again now then still just also only too very more less some any all every same other one two three first second next last
		me us him her them they he she there here let want need like would could might must have has had got get give take put see look show tell
		try help think know mean say said ask answer explain understand wait hold about into out up down off over back away not dont didnt doesnt isnt wont cant
		so but because well maybe actually really instead before after while until than will wa were been being am im ive youre thats its lets
		thing stuff way lot bit kind sort anything everything something nothing much many few
		继续 谢谢 好的 可以 请你 帮我 一下 这个 那个 什么 怎么 为什 什么 现在 还是 不是 没有 我们 你的 我的 下一 一步 的话 看看 试试 再试 请帮 请把
		ます です した して くだ ださ さい この その ある する いる ない お願 願い 続け けて
		해줘 해주 주세 세요 계속 고마 감사 이거 그거`)
	common = pattern.NewWords(`fix fixed test tests run running ran make code file files change changed changes add added update updated remove removed delete create new old
		error errors fail failed failing failure bug issue problem work works working broken build write read use using used function method class
		variable name line lines command commit push pull branch merge review check feature task todo project repo repository directory folder
		implement refactor rename move clean improve move set value type data output input result log logs message text string list number default option
		config setting version import package module library app application page button api call return print case step part top bottom end
		pr ci git github gitlab python javascript typescript macos linux window json jsonl yaml html open close comment active complete empty plan related
		question current different instead support help verbose debug force
		测试 修复 修改 代码 文件 运行 错误 问题 添加 删除 更新 提交 项目 函数 方法
		テス スト コー ード ファ ァイ イル 修正 エラ ラー 실행 수정 파일 코드 오류 테스 스트`)
)

func hasAll(in map[string]bool, terms []string) bool {
	return !slices.ContainsFunc(terms, func(t string) bool { return !in[t] })
}
