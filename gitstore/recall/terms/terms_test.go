package terms

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
)

func texts(tokens []Token) string {
	var out []string
	for _, t := range tokens {
		out = append(out, t.Text)
	}
	return strings.Join(out, " ")
}

func TestQuery(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"… — !?":                          "",
		"Use pnpm, never npm":             "use pnpm never npm",
		"the tests were running":          "test run",
		"how do I":                        "how do i",
		"don't forget the parser's state": "forget parser state",
		"“never don’t” ‘isn’t’":           "never",
		"“the parser’s”, the tree’s—root":     "parser tree root",
		"the parser's本 don't漢":                "parser 本 漢",
		"l’eau, d'accord, O'Brien":            "l eau d accord o brien",
		"parseHTTPHeader_v2":                  "parsehttpheaderv2 pars http header 2",
		"parse_http_header":                   "parsehttphead pars http header",
		"HTTPServer":                          "httpserver http server",
		"is_on":                               "ison",
		"_private __init__":                   "privat init",
		"pre-commit --dry-run":                "pre commit dri run",
		"web/src/app.ts":                      "web src app ts",
		"error E0308 in utf8":                 "error e0308 0308 utf8 utf 8",
		"go 1.26.8, v2.0 and 3.":              "go 1.26.8 1.26 2.0 3",
		"127.0.0.1:5433":                      "127.0.0.1 127.0 5433",
		"2026-11-22":                          "2026 11 22",
		"9a2663322c330ff11275abafd612e9c9":    "9a2663322c330ff11275abafd612e9c9 9a26633",
		"C++ and C# and F#, a+b":              "c++ c# f# b",
		"ＦＵＬＬ ｗｉｄｔｈ ﬁle":                      "full width file",
		"Überprüfung naïve façade":            "uberprufung naiv facad",
		"GRÜSSE STRAẞE Grüße Straße":          "gruss strass gruss strass",
		"Işık IŞIK ışık":                      "isik isik isik",
		"كيفيت کیفیت":                         "کیفیت کیفیت",
		"сохранёнными файлами":                "сохраненными фаилами",
		"用中文写提交":                              "用中 中文 文写 写提 提交",
		"テストを run する":                         "テス スト トを run する",
		"サーバー":                                "サー ーバ バー",
		"は":                                   "は",
		"커밋 메시지":                              "커밋 메시 시지",
		"ｶﾀｶﾅ":                                "カタ タカ カナ",
		"บันทึก":                              "บั ัน นท ทึ ึก",
		"हिन्दी":                              "हिन्दी",
		"git提交hook":                           "git 提交 hook",
		"x":                                   "x",
		"怎么部署":                                "么部 部署",
		"部署失败是为什么":                            "部署 署失 失败 败是 是为",
		"怎么样":                                 "怎么 么样",
		"谁管数据库":                               "谁管 管数 数据 据库",
		"キャッシュはどこ":                            "キャ ャッ ッシ シュ ュは はど",
		"どうやって消す":                             "て消 消す",
		"어떻게 배포":                              "배포",
		"무엇을 배포하나요":                           "배포 포하 하나 나요",
		"왜 느린가":                               "느린 린가",
		"왜곡 어떤가":                              "왜곡",
		"어디에서":                                "어디 디에 에서",
		strings.Repeat("a", 70) + " " + "日本語": strings.Repeat("a", 64) + " 日本 本語",
		strings.Repeat("é", 40):               strings.Repeat("e", 40),
		strings.Repeat("ж", 40):               strings.Repeat("ж", 32),
		"tokenUsage tokens":                   "tokenusag token usag token",
		"deadbeef facade accede":              "deadbeef facad acced",
		"\xff\xfeconfig\x00":                  "config",
		"a an the":                            "a an the",
		"It's the parser's, isn't it?":        "parser",
		"sha256 of x86_64":                    "sha256 sha 256 x8664 86 64",
		"ECONNREFUSED: connection refused":    "econnrefus connect refus",
		"--no-verify never off":               "no verifi never off",
		"https://example.org/a?b=c&key=value": "https exampl org b c key valu",
	} {
		if diff := cmp.Diff(want, texts(new(Analyzer).Query(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// A document keeps its question words, and those of a query count as positions.
func TestQuestionWordsOfDocuments(t *testing.T) {
	var a Analyzer
	if got := texts(a.Append(nil, "怎么部署 어떻게", Body)); got != "怎么 么部 部署 어떻 떻게" {
		t.Error(got)
	}
	asked, said := a.Query("提交怎么部署 pnpm"), a.Append(nil, "提交怎么部署 pnpm", Body)
	for _, token := range asked {
		if !slices.ContainsFunc(said, func(u Token) bool { return u.Text == token.Text && u.Word == token.Word }) {
			t.Errorf("%+v stands elsewhere in %+v", token, said)
		}
	}
}

func TestPlaces(t *testing.T) {
	var a Analyzer
	got := a.Append(nil, "Use the parseHeader", Statement)
	got = a.Append(got, "web", Tags)
	got = a.Append(got, "One line.\n\n中文字\nand more", Body)
	want := []Token{
		{Text: "use", Written: "use", Gram: true},
		{Text: "parsehead", Written: "parseheader", Word: 2, Gram: true},
		{Text: "pars", Written: "parse", Word: 2, Gram: true, Part: true},
		{Text: "header", Written: "header", Word: 2, Gram: true, Part: true},
		{Text: "web", Written: "web", Field: Tags, Word: 10, Passage: 1, Gram: true},
		{Text: "one", Written: "one", Field: Body, Word: 18, Passage: 2, Gram: true},
		{Text: "line", Written: "line", Field: Body, Word: 19, Passage: 2, Gram: true},
		{Text: "中文", Field: Body, Word: 20, Passage: 3},
		{Text: "文字", Field: Body, Word: 21, Passage: 3},
		{Text: "more", Written: "more", Field: Body, Word: 24, Passage: 4, Gram: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A long line is split at the ends of sentences.
func TestSentencesOfALongLineArePassages(t *testing.T) {
	long := strings.Repeat("word ", 11) + "end. "
	got := new(Analyzer).Append(nil, long+"Short one. "+long+long, Body)
	var passages []uint16
	for _, tok := range got {
		if tok.Text == "end" {
			passages = append(passages, tok.Passage)
		}
	}
	if diff := cmp.Diff([]uint16{0, 1, 2}, passages); diff != "" {
		t.Error(diff)
	}
}

func TestScripts(t *testing.T) {
	for term, want := range map[string][2]bool{ // joined, hiragana
		"": {}, "word": {}, "提交": {true, false}, "です": {true, true}, "する": {true, true}, "テス": {true, false}, "をテ": {true, false}, "커": {true, false}, "ー": {true, false},
	} {
		if got := [2]bool{Joined(term), Kana(term)}; got != want {
			t.Errorf("%q: %v, want %v", term, got, want)
		}
	}
}

func TestGrams(t *testing.T) {
	for word, want := range map[string][]string{
		"": nil, "abc": nil, "abcd": {"abcd"}, "abcdef": {"abcd", "bcde", "cdef"}, "файлы": {"файл", "айлы"},
	} {
		if diff := cmp.Diff(want, Grams(word)); diff != "" {
			t.Errorf("%q: %s", word, diff)
		}
	}
}

// For any text, terms are short, valid and not empty, and positions only grow. A second analysis
// gives the same, even by a used analyser.
func FuzzAppend(f *testing.F) {
	for _, s := range []string{"parseHTTPHeader_v2 don't 1.2.3", "用中文 C++ ｶﾞ", "\xff__a__.ß’s İ ǅ ﷺ", "e\u0301\u0301 ัน 9a2663322c", "가\u1100\u1161 ー々"} {
		f.Add(s, s)
	}
	var used Analyzer
	f.Fuzz(func(t *testing.T, statement, body string) {
		var a Analyzer
		got := a.Append(a.Append(nil, statement, Statement), body, Body)
		if diff := cmp.Diff(got, used.Append(used.Append(nil, statement, Statement), body, Body)); diff != "" {
			t.Fatal(diff)
		}
		var last Token
		for _, tok := range got {
			if tok.Text == "" || len(tok.Text) > MaxTerm || !utf8.ValidString(tok.Text) {
				t.Fatalf("%q", tok.Text)
			}
			if tok.Word < last.Word || tok.Passage < last.Passage || tok.Field < last.Field {
				t.Fatalf("%+v after %+v", tok, last)
			}
			if Joined(tok.Text) && (tok.Gram || utf8.RuneCountInString(tok.Text) > 2) {
				t.Fatalf("%+v", tok)
			}
			for _, g := range Grams(tok.Text) {
				if !strings.Contains(tok.Text, g) || utf8.RuneCountInString(g) != GramSize {
					t.Fatalf("%q: %q", tok.Text, g)
				}
			}
			last = tok
		}
		if s := norm.NFKC.String(statement); norm.NFKC.String(s) == s {
			if diff := cmp.Diff(texts(a.Query(statement)), texts(a.Query(s))); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("Before the tests of internal/store are run, start the database: parseHeader must not allocate.\n", 4)
	var a Analyzer
	var out []Token
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		out = a.Append(out[:0], text, Body)
	}
}
