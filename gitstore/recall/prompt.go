package recall

import (
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Bounds of the part of a prompt that we read.
const (
	maxPrompt = 8 << 10 // bytes, from the beginning
	maxAsked  = 400     // words
)

// Prompt is a parsed user prompt.
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

// Ask parses a prompt.
func Ask(prompt string) Prompt { return Where{}.Ask(prompt) }

// Ask parses a prompt, with paths relative to w.
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
			if strings.Contains(word, "/") && len(p.paths) < maxPaths {
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

// telling returns the meaningful parts of a word of prose, with their weights.
func telling(word string) (out []asked) {
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		low := strings.ToLower(part)
		one := strings.TrimSuffix(low, "s")
		switch {
		case strings.IndexFunc(part, terms.Unspaced) >= 0:
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

func (p *Prompt) add(seen map[string]bool, w asked) {
	key := strings.Join(w.terms, "\x00")
	if len(w.terms) == 0 || seen[key] {
		return
	}
	seen[key] = true
	p.words = append(p.words, w)
}

// termsOf returns the terms of a word; for an identifier, the whole and its parts.
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

// isName reports whether a word has a form that prose lacks: someName, some_name, a/path, file.ext,
// --option, E1234, ErrNotFound, 127.0.0.1.
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

// chat are words in talk to an assistant, as terms; common are words for any work in any
// repository.
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
