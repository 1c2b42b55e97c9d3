package prompts

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// In a question, each block of data is between two lines that end in a number. The number is
// derived from all data of the question and occurs nowhere in it. So no line of data can equal one
// of those lines.

// render fills blocks of data into the user part.
func (p *prompt) render(blocks map[string]string) Rendered {
	shown := map[string]string{}
	var all []string
	for _, l := range p.user {
		if l.block {
			shown[l.text] = Shown(strings.Trim(blocks[l.text], "\n"))
			all = append(all, shown[l.text])
		}
	}
	nonce := nonceOf(all)
	var user []string
	for _, l := range p.user {
		if l.block {
			user = append(user, fence(l.text, shown[l.text], nonce))
		} else {
			user = append(user, l.text)
		}
	}
	return Rendered{
		Name:    p.name,
		System:  p.system,
		User:    strings.TrimSpace(strings.Join(user, "\n")),
		Schema:  p.raw,
		Hash:    p.hash,
		Longest: p.longest,
	}
}

// fence puts shown text between its two lines.
func fence(name, shown, nonce string) string {
	if strings.TrimSpace(shown) == "" {
		shown = "(none)"
	}
	return "BEGIN " + name + " " + nonce + "\n" + shown + "\nEND " + name + " " + nonce
}

// nonceOf returns a number that depends on the texts and occurs in none of them: 12 hex digits.
func nonceOf(texts []string) string {
	return free(texts, func(try int) string {
		h := sha256.New()
		fmt.Fprintf(h, "%d\n", try)
		for _, t := range texts {
			fmt.Fprintf(h, "%d:%s", len(t), t)
		}
		return fmt.Sprintf("%x", h.Sum(nil)[:6])
	})
}

// free returns the first of many words that occurs in none of the texts.
func free(texts []string, word func(try int) string) string {
	for try := 0; ; try++ {
		w := word(try)
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, w) }) {
			return w
		}
	}
}

// Shown returns a text in the form of a question. Invalid UTF-8 becomes U+FFFD. Control characters,
// and those without width or that change the direction of text, become <U+001B>; line feeds and
// tabs stay. A space follows the bracket in words that servers take for the borders of a chat.
// Shown is idempotent.
//
// A model's quote refers to the text as shown.
func Shown(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsFunc(text, unseen) {
		var b strings.Builder
		for _, r := range text {
			if unseen(r) {
				fmt.Fprintf(&b, "<U+%04X>", r)
			} else {
				b.WriteRune(r)
			}
		}
		text = b.String()
	}
	return borders().Replace(text)
}

// unseen reports whether a character has no width, changes the direction of text, or is a control
// or a foreign line end. It keeps joiners of emoji and scripts.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return false
	case r == '\u00ad' || r == '\u180e' || r == '\u200b' || r == '\ufeff' || r == '\u2028' || r == '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r >= 0x2060 && r <= 0x2064 || r >= 0xe0000 && r <= 0xe007f
}

// borders breaks the tokens by which chat templates separate the system, the user and the model. A
// server recognises them anywhere, even inside our text.
var borders = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, token := range []string{
		"<|", "<｜", "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<s>", "</s>", "<<SYS>>", "<</SYS>>",
		"[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
		"[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[THINK]", "[/THINK]", "<think>", "</think>",
		"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<start_of_image>", "<end_of_image>",
	} {
		pairs = append(pairs, token, token[:1]+" "+token[1:])
	}
	return strings.NewReplacer(pairs...)
})

// oneLine returns text without line breaks, with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// hang indents all lines of a text except the first, so that none looks like the beginning of an
// item.
func hang(text string) string {
	text = strings.ReplaceAll(strings.Trim(text, "\r\n"), "\r\n", "\n")
	return strings.ReplaceAll(text, "\n", "\n    ")
}

// list returns items, each after a dash.
func list(items []string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("- " + hang(item) + "\n")
	}
	return b.String()
}
