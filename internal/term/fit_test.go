package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The widths follow Unicode's East Asian Width and emoji presentation, counted by hand.
func TestFitCutsByCells(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		cells      int // of the whole text
		want       string
	}{
		{"ASCII", "abcdef", 6, 6, "abcdef"},
		{"ASCII, cut", "abcdef", 5, 6, "abcd…"},
		{"Chinese", "中文字符", 8, 8, "中文字符"},
		{"half of a character does not fit", "中文字符", 6, 8, "中文…"},
		{"Japanese", "データベース", 7, 12, "データ…"},
		{"Korean", "배포는 매주", 8, 11, "배포는 …"},
		{"Korean in parts", "\u1112\u1161\u11ab\u1100\u1173\u11af", 4, 4, "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"combining marks", "cafe\u0301 cre\u0300me", 6, 10, "cafe\u0301 …"},
		{"several marks", "a\u0301\u0323bcd", 3, 4, "a\u0301\u0323b…"},
		{"a family", "x👨‍👩‍👧‍👦yz", 4, 5, "x👨‍👩‍👧‍👦…"},
		{"half of a family", "x👨‍👩‍👧‍👦yz", 3, 5, "x…"},
		{"flags", "🇯🇵🇫🇷🇩🇪", 5, 6, "🇯🇵🇫🇷…"},
		{"a colour of skin", "👍🏽ok!", 4, 5, "👍🏽o…"},
		{"a sign made an emoji", "⚠\ufe0f ok", 5, 5, "⚠\ufe0f ok"},
		{"fullwidth forms", "ＡＰＩ！", 5, 8, "ＡＰ…"},
		{"halfwidth kana", "ｱｲｳｴｵ", 4, 5, "ｱｲｳ…"},
		{"a tab is a space", "a\tb", 3, 3, "a b"},
		{"a line feed too", "a\n b", 3, 3, "a b"},
		{"what moves a cursor", "a\x1b[2J", 9, 6, "a^[[2J"},
		{"what turns text", "a\u202eb", 20, 10, "a<U+202E>b"},
		{"what has no width", "a\u200bb", 20, 10, "a<U+200B>b"},
	} {
		if got := OneLine(tt.text, tt.width); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := displaywidth.String(OneLine(tt.text, 1000)); got != tt.cells {
			t.Errorf("%s: %d cells, want %d", tt.name, got, tt.cells)
		}
	}
}

func TestFlowBreaksLines(t *testing.T) {
	for _, tt := range []struct {
		name        string
		text        string
		first, rest int
		want        []string
	}{
		{"fits", "one two", 7, 7, []string{"one two"}},
		{"between words", "one two three", 8, 8, []string{"one two", "three"}},
		{"further lines are shorter", "one two three four", 9, 5, []string{"one two", "three", "four"}},
		{"spaces at a break go, others stay", "  a  b     c", 6, 6, []string{"  a  b", "c"}},
		{"a tab is a space", "one\ttwo three", 8, 8, []string{"one two", "three"}},
		{"line feeds are kept", "one\n\ntwo", 9, 9, []string{"one", "", "two"}},
		{"nothing", "", 9, 9, []string{""}},
		{"a long word", "abcdefghij", 4, 4, []string{"abcd", "efgh", "ij"}},
		{"a long path, behind a slash", "see internal/store/index.go", 16, 12, []string{"see internal/", "store/", "index.go"}},
		{"a path that fits the next line", "see internal/store", 12, 14, []string{"see", "internal/store"}},
		{"Chinese", "所有公开接口必须兼容", 8, 8, []string{"所有公开", "接口必须", "兼容"}},
		{"no line begins with a full stop", "所有公开。接口", 8, 8, []string{"所有公", "开。接口"}},
		{"no line ends with an opening bracket", "所有公「接口」", 8, 8, []string{"所有公", "「接口」"}},
		{"Latin words in Chinese", "使用pnpm代替npm命令", 9, 9, []string{"使用pnpm", "代替npm命", "令"}},
		{"Japanese, small kana", "データチェック", 8, 8, []string{"データ", "チェック"}},
		{"Korean breaks between words", "배포는 매주 화요일", 12, 12, []string{"배포는 매주", "화요일"}},
		{"a Korean word that is too long", "배포는매주화요일", 8, 8, []string{"배포는매", "주화요일"}},
		{"combining marks stay", "cafe\u0301cafe\u0301", 4, 4, []string{"cafe\u0301", "cafe\u0301"}},
		{"a family stays together", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 5, 5, []string{"👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"}},
		{"flags stay whole", "🇯🇵🇫🇷🇩🇪", 3, 3, []string{"🇯🇵", "🇫🇷", "🇩🇪"}},
		{"fullwidth forms", "ＡＰＩを使う", 6, 6, []string{"ＡＰＩ", "を使う"}},
		{"a command stays whole", "both are kept; next: reverie remember --replace 38d4 'it'\\''s, now' ID; or a long rest", 30, 20, []string{"both are kept; next:", `reverie remember --replace 38d4 'it'\''s, now' ID;`, "or a long rest"}},
		{"a command in quotes", "left: 'git config --global core.x' says where it is", 12, 12, []string{"left:", "'git config --global core.x'", "says where", "it is"}},
		{"a command with a range", "to check it: reverie check --diff origin/main...topic", 24, 24, []string{"to check it:", "reverie check --diff origin/main...topic"}},
		{"commands that fit", "next: reverie list, or git log x (or: reverie ui)", 20, 20, []string{"next: reverie list,", "or git log x (or:", "reverie ui)"}},
		{"a program in prose", "ask what reverie is for", 12, 12, []string{"ask what", "reverie is", "for"}},
		{"git, the program", "the git hooks are in it", 8, 8, []string{"the git", "hooks", "are in", "it"}},
		{"no room at all", "中a", 1, 1, []string{"中", "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range flow([]Styled{{"", tt.text}}, tt.first, tt.rest) {
				got = append(got, lineText(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func lineText(line []Styled) string {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(s.Text)
	}
	return b.String()
}

// For any text, every line fits, no text is lost, and each character is whole and keeps its style.
func TestFlowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom([]string{" ", "  ", "/", "word", "。", "「", "中文", "데이터", "👨‍👩‍👧‍👦", "🇯🇵", "e\u0301", "ＡＢ", "a/b/c", "verylongwordindeed"}), rapid.StringN(0, 4, -1))
		var spans []Styled
		for _, text := range rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces") {
			text = strings.Map(func(r rune) rune {
				if Visible(string(r)) != string(r) || r == '\n' || r == '\t' {
					return -1
				}
				return r
			}, text)
			if utf8.ValidString(text) {
				spans = append(spans, Styled{rapid.SampledFrom([]string{"", Bold, Dim}).Draw(t, "style"), text})
			}
		}
		first, rest := rapid.IntRange(2, 40).Draw(t, "first"), rapid.IntRange(2, 40).Draw(t, "rest")
		var want, got, looks, gotLooks strings.Builder
		for _, g := range glyphsOf(spans) {
			if !g.space() {
				want.WriteString(g.text)
				looks.WriteString(g.style)
			}
		}
		for i, line := range flow(spans, first, rest) {
			text, limit := lineText(line), rest
			if i == 0 {
				limit = first
			}
			if w := displaywidth.String(text); w > limit {
				t.Fatalf("line %d has %d cells of %d: %q", i, w, limit, text)
			}
			if text != strings.TrimRight(text, " ") {
				t.Fatalf("line %d ends with a space: %q", i, text)
			}
			for _, g := range glyphsOf(line) {
				if !g.space() {
					got.WriteString(g.text)
					gotLooks.WriteString(g.style)
				}
			}
		}
		if got.String() != want.String() || gotLooks.String() != looks.String() {
			t.Fatalf("%q became %q", want.String(), got.String())
		}
	})
}

func TestIndentKeepsCodeAndLists(t *testing.T) {
	const body = "A paragraph that is longer than the screen is wide.\n\n" +
		"- an item that is longer than the screen is, too\n  and its second line, which is as long as that\n" +
		"10. a numbered item that goes on and on and on\n" +
		"```sh\nmake lint LINT_FLAGS=\"--timeout 10m --new\" && echo fine\n\n- no item but code, however long it is, you know\n```\n" +
		"> a quotation that is longer than the screen is\n\n" +
		"    code by indentation that is longer than the screen\n" +
		"| a table | that is longer | than the screen | is wide |\n" +
		"~~~\n``` inside is no end, however long this line may be\n~~~\n" +
		"段落も、端末の幅に合わせて折り返されるべきである。  "
	const want = "..A paragraph that is longer than the\n..screen is wide.\n\n" +
		"..- an item that is longer than the screen\n..  is, too\n..  and its second line, which is as long\n..  as that\n" +
		"..10. a numbered item that goes on and on\n..    and on\n" +
		"..```sh\n..make lint LINT_FLAGS=\"--timeout 10m --new\" && echo fine\n\n..- no item but code, however long it is, you know\n..```\n" +
		"..> a quotation that is longer than the\n..> screen is\n\n" +
		"..    code by indentation that is longer than the screen\n" +
		"..| a table | that is longer | than the screen | is wide |\n" +
		"..~~~\n..``` inside is no end, however long this line may be\n..~~~\n" +
		"..段落も、端末の幅に合わせて折り返されるべ\n..きである。\n"
	var out bytes.Buffer
	(&Terminal{Out: &out, Screen: true, Width: 42}).Indent("  ", body)
	if diff := cmp.Diff(strings.ReplaceAll(want, "..", "  "), out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	(&Terminal{Out: &out, Width: 42}).Indent("", body)
	if diff := cmp.Diff(strings.TrimRight(body, " ")+"\n", out.String()); diff != "" {
		t.Errorf("where it is no screen: %s", diff)
	}
	out.Reset()
	(&Terminal{Out: &out, Screen: true, Width: 300}).Indent("", strings.Repeat("word ", 40))
	for line := range strings.Lines(out.String()) {
		if len(line) > MaxMeasure+1 {
			t.Errorf("a line of %d cells on a wide screen", len(line)-1)
		}
	}
}

// Wide characters take two cells, and text after the columns is not laid out.
func TestColumns(t *testing.T) {
	got := Columns(2, [][]string{{"a", "日本", "rest", "more"}, {"long", "x"}, {"b", "y", "z"}})
	if d := cmp.Diff([]string{"a     日本  rest  more", "long  x", "b     y     z"}, got); d != "" {
		t.Error(d)
	}
}
