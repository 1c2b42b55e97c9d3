package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
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
	two        = 0.58 // of the prompt's information, as Found.Covered has it, for two words that are no names
	much       = 0.55 // likewise for several: then they need be no share of its words
	little     = 0.40 // likewise, where they are
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
func Ask(prompt string) Prompt { return Where{}.Ask(prompt) }

// Ask takes a prompt apart that was typed here.
func (at Where) Ask(prompt string) Prompt {
	if len(prompt) > maxPrompt {
		prompt = strings.ToValidUTF8(prompt[:maxPrompt], "")
	}
	prompt = withoutPositions(at.relative(prompt))
	p := Prompt{text: prompt}
	seen := map[string]bool{}
	var a terms.Analyzer
	for _, word := range strings.FieldsFunc(prompt, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`\"'“”‘’,;()[]{}<>|，。！？、；：（）「」", r)
	}) {
		word = strings.Trim(word, ".:!?*…=&")
		if word == "" || len(p.words) > maxAsked {
			continue
		}
		if isName(word) && !common.Has(strings.ToLower(strings.TrimLeft(word, "-"))) {
			if strings.Contains(word, "/") {
				p.paths = append(p.paths, strings.TrimPrefix(strings.TrimLeft(word, "@"), "./"))
			}
			p.add(seen, asked{word, termsOf(&a, word), nameWeight})
			continue
		}
		for _, part := range telling(word) {
			found := termsOf(&a, part.text)
			if part.weight != pairWeight {
				p.add(seen, asked{part.text, found, part.weight})
				continue
			}
			for _, t := range found { // pairs of neighbours, each by itself
				if !chat.Has(t) && !common.Has(t) {
					p.add(seen, asked{t, []string{t}, pairWeight})
				}
			}
		}
	}
	return p
}

// telling are the parts of a word of prose that say something, with their weights.
func telling(word string) (out []asked) {
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		low := strings.ToLower(part)
		one := strings.TrimSuffix(low, "s")
		switch {
		case strings.IndexFunc(part, unparted) >= 0:
			out = append(out, asked{text: part, weight: pairWeight})
		case len(part) == 1, terms.IsStop(low), chat.Has(low), chat.Has(one):
		case common.Has(low), common.Has(one):
			out = append(out, asked{text: part, weight: commonWeight})
		default:
			out = append(out, asked{text: part, weight: 1})
		}
	}
	return out
}

// unparted reports whether a character is of a script that puts no spaces between words.
func unparted(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func (p *Prompt) add(seen map[string]bool, w asked) {
	key := strings.Join(w.terms, "\x00")
	if len(w.terms) == 0 || seen[key] {
		return
	}
	seen[key] = true
	p.words = append(p.words, w)
}

// termsOf are the terms of a word: of an identifier the whole and its parts.
func termsOf(a *terms.Analyzer, word string) (out []string) {
	for _, t := range a.Query(word) {
		out = append(out, t.Text)
	}
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

// most is how many memories are looked at closely: the best by their words, and of those about a path in the prompt.
const most = 60

// Relevant returns the memories of an index that the prompt clearly is about, the heaviest first, and those of the same
// weight in the order of Rank. One that has no word of the prompt but common ones never is. keep says which may be
// found; nil is all. With an error the index is spoilt.
func (p Prompt) Relevant(x *Index, keep func(Ref) bool) ([]Relevance, error) {
	if !p.Tells() || x.Totals().Docs == 0 {
		return nil, nil
	}
	known := make([]int, len(p.words)) // memories that have its rarest term
	all := 0.0
	for i, w := range p.words {
		known[i] = math.MaxInt
		for _, t := range w.terms {
			known[i] = min(known[i], x.DF(t))
		}
		if known[i] > 0 {
			all += w.weight
		} else {
			all += w.weight / 2
		}
	}
	found := x.Rank(Request{Text: p.text, N: most, Keep: keep})
	if near := x.about(p.paths); near != nil {
		for _, f := range x.Rank(Request{Text: p.text, N: most, Keep: func(at Ref) bool { return near(at) && (keep == nil || keep(at)) }}) {
			if !slices.ContainsFunc(found, func(g Found) bool { return g.Ref == f.Ref }) {
				found = append(found, f)
			}
		}
	}
	var a terms.Analyzer
	var out []Relevance
	for _, f := range found {
		m, err := x.Memory(f.Ref)
		if err != nil {
			return nil, err
		}
		path := matches(m.Paths, p.paths)
		held := holdingOf(&a, m)
		r := Relevance{Memory: m}
		named := false
		var words []asked
		for i, w := range p.words {
			if !hasAll(held.all, w.terms) {
				continue
			}
			if !hasAll(held.head, w.terms) {
				w.weight /= 2
			}
			if w.weight > 1 && len(w.terms) == 1 && !strings.Contains(held.written, w.text) {
				w.weight /= 2
			}
			r.Weight += w.weight
			words = append(words, w)
			named = named || w.weight >= nameWeight && known[i] <= max(few, x.Totals().Docs/rare)
		}
		if path != "" {
			r.Weight += pathWeight
			words = append(words, asked{text: path, weight: pathWeight})
		}
		if !p.clearly(m, r.Weight, all, f.Covered, named || path != "", words) {
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
	return out, nil
}

// DF is how many documents have a term.
func (x *Index) DF(term string) (n int) {
	for _, s := range x.segments {
		if id, ok := s.Term(term); ok {
			n += s.DF(id)
		}
	}
	return n
}

// about says which documents have a glob that one of some paths matches; nil where none can.
func (x *Index) about(paths []string) func(Ref) bool {
	if len(paths) == 0 {
		return nil
	}
	matching := make([]map[uint32]bool, len(x.segments))
	any := false
	for k, s := range x.segments {
		matching[k] = map[uint32]bool{}
		for id, label := range s.AllLabels() {
			if glob, ok := strings.CutPrefix(string(label), labelPath); ok && matches([]string{glob}, paths) != "" {
				matching[k][uint32(id)], any = true, true
			}
		}
	}
	if !any {
		return nil
	}
	var ids []uint32
	return func(at Ref) bool {
		ids = x.segments[at.Segment].Labels(at.Doc, ids[:0])
		return slices.ContainsFunc(ids, func(id uint32) bool { return matching[at.Segment][id] })
	}
}

// holding is what a memory has.
type holding struct {
	head, all map[string]bool // terms: of what says what it is about, and of everything
	written   string          // all that it says, as it says it
}

func holdingOf(a *terms.Analyzer, m record.Memory) holding {
	h := holding{head: map[string]bool{}, all: map[string]bool{}}
	add := func(text string, head bool) {
		h.written += text + "\n"
		for _, t := range a.Append(nil, text, terms.Body) {
			h.all[t.Text] = true
			if head {
				h.head[t.Text] = true
			}
		}
	}
	for _, v := range m.Texts() {
		add(v.Text, true)
		add(v.Body, false)
	}
	for _, about := range [][]string{m.Tags, m.Paths} {
		for _, text := range about {
			add(text, true)
		}
	}
	return h
}

// clearly reports whether a memory is relevant: its words are a large share of the prompt's, or say much of its own statement
// again, and they hold so much of the prompt's information that this is no chance. What words a project uses of everything,
// nobody can know beforehand; that few memories have them, the index does.
func (p Prompt) clearly(m record.Memory, weight, all, covered float64, named bool, words []asked) bool {
	pairs := 0
	for _, w := range words {
		if len(w.terms) == 1 && strings.IndexFunc(w.text, unparted) == 0 {
			pairs++
		}
	}
	several := weight >= 1.25*enough || pairs >= 4
	switch {
	case weight < enough:
		return false
	case several && covered >= much:
		return true
	case named, covered >= two, several && covered >= little:
		return p.relevant(m, weight, all, named, words)
	}
	return false
}

func (p Prompt) relevant(m record.Memory, weight, all float64, named bool, words []asked) bool {
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
	return plain >= fewestOwn && p.ownWords(m) >= ownShare
}

// ownWords is the share of the words of a memory's statement, those that say something, that a prompt has.
func (p Prompt) ownWords(m record.Memory) float64 {
	in := map[string]bool{}
	for _, w := range p.words {
		for _, t := range w.terms {
			in[t] = true
		}
	}
	n, found := 0, 0
	for _, w := range Ask(m.Text).words {
		if w.weight == commonWeight {
			continue
		}
		n++
		if hasAll(in, w.terms) {
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
