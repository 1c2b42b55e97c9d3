package recall

import (
	"math"
	"slices"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

func TestOverlap(t *testing.T) {
	two, three, four := math.Log2(3)/2, 2.0/3, math.Log2(5)/4
	for text, want := range map[string][]float64{
		"parse_header 提交信息": {1, 1, 1, 1, 1, 1}, // identifiers' parts, and Han
		"メッセージ":             {four, four, four, four},
		"메시지를 커밋":           {three, three, three, 1},
		"메시지 커밋을":           {two, two, two, two}, // two words
		"ログを読む":             {1, 1, 1, 1},         // ログ, グを, を読, 読む
		"サーバー設定":            {three, three, three, 1, 1},
	} {
		var a terms.Analyzer
		got := overlap(a.Query(text))
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A long word in katakana does not outweigh two words in kanji.
func TestOneWordCountsOnce(t *testing.T) {
	x := indexOf(t, docsOf("メッセージを暗号化して送る", "改行なしの本文を末尾に保存する", "キャッシュを消す", "接続を再利用する", "設定を読む"), 1)
	if got := keys(x, x.Rank(Request{Text: "メッセージの末尾の改行を保存", N: 2, Apart: true})); len(got) == 0 || got[0] != "001" {
		t.Errorf("found %v", got)
	}
}

func TestHiraganaTellsLittle(t *testing.T) {
	for term, want := range map[string]float64{"した": kanaShare, "を": kanaShare, "定を": endingShare, "グに": endingShare, "使う": endingShare, "設定": 1, "ログ": 1, "parse": 1, "提": 1} {
		if got := hiragana(term); got != want {
			t.Errorf("%s keeps %v, want %v", term, got, want)
		}
	}
}
