package recall

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// indexOf returns an in-memory index, brought to docs in steps. Earlier steps also have documents
// that are removed later.
func indexOf(t testing.TB, docs []catalog.Doc, steps int) *Index {
	t.Helper()
	x := Open("")
	for step := 1; step <= steps; step++ {
		now := slices.Clone(docs[:len(docs)*step/steps])
		if step < steps {
			for i := range 3 {
				now = append(now, catalog.Doc{Key: fmt.Sprintf("gone%d-%d", step, i), Tokens: tokensOf("gone with the cursor of parseHeader "+fmt.Sprint(i), "")})
			}
		}
		x = bringTo(t, x, now)
	}
	t.Cleanup(x.Close)
	return x
}

// bringTo returns an index of documents, all of them indexed, made from another, which it closes.
func bringTo(t testing.TB, x *Index, docs []catalog.Doc) *Index {
	t.Helper()
	ch := x.change()
	want := map[string]catalog.Doc{}
	for _, d := range docs {
		d.Indexed = true
		want[d.Key] = d
	}
	for _, s := range ch.Segments {
		for doc := range s.Len() {
			if key := s.Key(doc); s.Live(doc) && want[key].Key == key {
				delete(want, key)
			} else if s.Live(doc) {
				s.Remove(doc)
			}
		}
	}
	for _, d := range want {
		if err := ch.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := ch.Commit(t.Context(), catalog.State{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	return of(c)
}

func tokensOf(text, body string) []catalog.Token {
	return Tokens(new(terms.Analyzer), record.Memory{Text: text, Body: body})
}

func docsOf(texts ...string) (docs []catalog.Doc) {
	for i, text := range texts {
		statement, body, _ := strings.Cut(text, "\n")
		docs = append(docs, catalog.Doc{Key: fmt.Sprintf("%03d", i), Tokens: tokensOf(statement, body)})
	}
	return docs
}

// The index ranks like the plain oracle, in one segment and in several with removed documents.
func TestRankAgreesWithOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	vocabulary := strings.Fields("parseHeader parser header cursor index segment lock file_lock config configuration configure cache retry timeout " +
		"v1.2.3 E0308 提交信息 检索 消息 エラー 設定 について これは 커밋 메시지를 überprüfen über deadlock the of is, database db. postgres sqlite pytest python test\n queue\n a/b/c.go")
	r := rand.New(rand.NewPCG(1, 2))
	some := func(n int) string {
		var out []string
		for range 1 + r.IntN(n) {
			out = append(out, vocabulary[r.IntN(len(vocabulary))])
		}
		return strings.Join(out, " ")
	}
	for round := range 12 {
		var docs []catalog.Doc
		for i := range 20 + r.IntN(40) {
			d := catalog.Doc{Key: fmt.Sprintf("%03d", i), Tokens: tokensOf(some(6), some(20))}
			if i > 30 { // in the order of keys, as the oracle has it
				d.Group = fmt.Sprint("session", i/10)
			}
			if n := r.IntN(20); n < 12 {
				d.Labels = []string{fmt.Sprint(labelPath, "src/", n/2, ".go"), fmt.Sprint(labelPath, "src/", n, ".go")}
			}
			docs = append(docs, d)
		}
		o := newOracle(docs)
		for _, steps := range []int{1, 3} {
			x := indexOf(t, docs, steps)
			for range 10 {
				query := some(5)
				if r.IntN(3) == 0 {
					query += " confguration parsre " + []string{"retires", "dealdokc", "tiemouts", "headres", "configuratoins", "uberprufne", "segmnets segment"}[r.IntN(7)]
				}
				want := o.rank(query)
				got := x.Rank(Request{Text: query, Apart: true})
				scores := map[string]Parts{}
				for i, f := range got {
					scores[x.segments[f.Segment].Key(f.Doc)] = f.Parts
					if i > 0 && f.Score > got[i-1].Score {
						t.Fatalf("round %d: %q: hit %d is better than the one before", round, query, i)
					}
				}
				for i, h := range want {
					if i < besideOf || h.parts.Words+h.parts.Grams > 0 { // the others need not be found
						if diff := cmp.Diff(h.parts, scores[h.key], cmpopts.EquateApprox(1e-4, 1e-5)); diff != "" {
							t.Fatalf("round %d, %d steps: %q: %s: %s", round, steps, query, h.key, diff)
						}
					}
				}
				if err := x.Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Equal answers have a fixed order, the newest first, regardless of the order of indexing and of a
// limit on hits.
func TestEqualAnswersStandInOneOrder(t *testing.T) {
	var texts, want []string
	for range 3 * depth {
		texts = append(texts, "retry the upload")
	}
	docs := docsOf(texts...)
	for i := range docs {
		docs[i].Time = int64(1 + i*7%5)
		if i%10 == 0 {
			docs[i].Group = "session"
		}
	}
	for _, d := range slices.SortedStableFunc(slices.Values(docs), func(a, b catalog.Doc) int { return int(b.Time - a.Time) }) {
		want = append(want, d.Key)
	}
	for _, n := range []int{0, 10, depth + 20} {
		var first []string
		for _, steps := range []int{1, 2, 7} {
			x := indexOf(t, docs, steps)
			if steps > 1 && len(x.Segments()) < 2 {
				t.Fatalf("%d steps leave one segment", steps)
			}
			got := keys(x, x.Rank(Request{Text: "upload retry", N: n, Apart: true}))
			if first == nil {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("%d hits, %d steps: %s", n, steps, diff)
			}
		}
		plain := slices.DeleteFunc(slices.Clone(first), func(key string) bool { return strings.HasSuffix(key, "0") })
		in := slices.DeleteFunc(slices.Clone(want), func(key string) bool { return strings.HasSuffix(key, "0") })
		if len(plain) < n/2 || !slices.Equal(plain, in[:len(plain)]) {
			t.Errorf("%d hits: %v, want the newest first", n, plain)
		}
	}
}

func keys(x *Index, found []Found) (out []string) {
	for _, f := range found {
		out = append(out, x.segments[f.Segment].Key(f.Doc))
	}
	return out
}

// Real questions, each with the intended memory.
func TestRankFinds(t *testing.T) {
	texts := []string{
		"Before the store tests, start the database\nelse they fail with ECONNREFUSED on port 5433",
		"Always use pnpm in web/, never npm",
		"parseHeader must not allocate: it runs for every request",
		"The retry loop of file_lock sleeps 20 ms\nlonger sleeps made commits slow",
		"提交信息用中文写，不要用英文",
		"ビルドの前にキャッシュを消す",
		"커밋 메시지는 한국어로 작성한다",
		"Node 20.11.1 is needed: 18 cannot build the site",
		"Datenbankverbindungen werden nach 30 Sekunden geschlossen",
	}
	x := indexOf(t, docsOf(texts...), 1)
	for query, want := range map[string]int{
		"why is the connection refused with ECONNREFUSED": 0, "databse tests": 0, "parse header allocation": 2, "PARSE_HEADER": 2,
		"fileLock": 3, "sleep in the rety loop": 3, "用英文": 4, "中": 4, "キャッシュ": 5, "메시지": 6, "node 20.11": 7, "Datenbankverbindung": 8, "Verbindungen zur Datenbank": 8,
		"npm or pnpm?": 1,
	} {
		got := x.Rank(Request{Text: query, N: 1})
		if len(got) == 0 {
			t.Errorf("%q: nothing", query)
		} else if got[0].Doc != want {
			t.Errorf("%q: %q", query, texts[got[0].Doc])
		}
	}
	for _, query := range []string{"", "?!", "kubernetes ingress", "the of", "\xff"} {
		if got := x.Rank(Request{Text: query}); len(got) > 0 {
			t.Errorf("%q: %v", query, keys(x, got))
		}
	}
}

// The subject of a question counts, not its form: in a small memory a question word is as rare as a
// name.
func TestQuestionWordsDoNotOutrankNames(t *testing.T) {
	texts := []string{
		"为什么怎么写提交信息很重要", "部署 billing 之前跑数据库迁移",
		"どうやってどのように書くかを決める", "デプロイは金曜にしない",
		"어떻게 무엇을 적을지 정한다", "배포는 금요일에 하지 않는다",
	}
	x := indexOf(t, docsOf(texts...), 1)
	for query, want := range map[string]int{
		"怎么部署": 1, "怎么跑 billing 的迁移": 1, "为什么要迁移": 1,
		"どうやってデプロイするか": 3, "どのように金曜に": 3,
		"어떻게 배포": 5, "무엇을 금요일에": 5,
		"怎么": 0, "どのように": 2, "어떻게": 4, // nothing else is left
	} {
		if got := x.Rank(Request{Text: query, N: 1}); len(got) == 0 || got[0].Doc != want {
			t.Errorf("%q: %v, want %s", query, keys(x, got), texts[want])
		}
	}
}

func TestPhrasesAndExclusions(t *testing.T) {
	x := indexOf(t, docsOf("the retry loop waits", "a loop and a retry", "retry the loop", "loop retry_loop", "提交信息", "信息提交"), 2)
	for _, c := range []struct {
		text         string
		phrases, not []string
		want         []string
	}{
		{"retry loop", nil, nil, []string{"000", "001", "002", "003"}},
		{"retry loop", []string{"retry loop"}, nil, []string{"000"}},
		{"retry loop", []string{"retry the loop"}, nil, []string{"002"}},
		{"retry loop", []string{"retry_loop"}, nil, []string{"003"}},
		{"retry loop", nil, []string{"waits"}, []string{"001", "002", "003"}},
		{"retry loop", nil, []string{"retry loop", "retryLoop"}, []string{"001", "002"}},
		{"提交信息", []string{"提交信息"}, nil, []string{"004"}},
		{"提交信息", []string{"交"}, nil, []string{"004", "005"}},
		{"loop", []string{"nowhere"}, nil, nil},
	} {
		got := keys(x, x.Rank(Request{Text: c.text, Phrases: c.phrases, Not: c.not}))
		slices.Sort(got)
		if c.text == "提交信息" && c.phrases[0] == "交" && slices.Equal(got, []string{"004"}) {
			continue // the last of a run is in no pair that begins with it
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q %q %q: %s", c.text, c.phrases, c.not, diff)
		}
	}
}

func TestWhatSaysTheSameIsOneHit(t *testing.T) {
	long := "Before the store tests start the database with docker compose up, wait for port 5433, set a password, load the schema, seed two tenants, disable telemetry, check disk space and warm the cache twice"
	x := indexOf(t, docsOf("use pnpm", "Use PNPM!", "use pnpm 9", long, long+" slowly", "tests of the store"), 2)
	got := x.Rank(Request{Text: "use pnpm", N: 5})
	if diff := cmp.Diff([]string{"000", "002"}, keys(x, got)); diff != "" {
		t.Fatal(diff)
	}
	if len(got[0].Alike) != 1 || len(got[1].Alike) != 0 {
		t.Errorf("alike: %v and %v, want the other spelling only", got[0].Alike, got[1].Alike)
	}
	got = x.Rank(Request{Text: "store tests database", N: 5})
	if diff := cmp.Diff([]string{"003", "005"}, keys(x, got)); diff != "" {
		t.Error(diff)
	}
	if got := x.Rank(Request{Text: "use pnpm", N: 5, Apart: true}); len(got) != 3 {
		t.Errorf("%v with those that say the same", keys(x, got))
	}
}

func TestCoveredIsShareOfQuery(t *testing.T) {
	x := indexOf(t, docsOf("use pnpm in the web folder", "parseHeader allocates nothing", "the retry loop", "数据库连接"), 1)
	for _, c := range []struct {
		query    string
		from, to float64
	}{
		{"use pnpm in the web folder", 1, 1},
		{"pnpm", 1, 1},
		{"parseHeader", 1, 1},
		{"parse the header", 1, 1},
		{"headerParse", 0.99, 1}, // its parts are there, in another order
		{"pnpm kubernetes", 0.3, 0.6},
		{"pnpm kubernetes ingress controller", 0.1, 0.3},
		{"数据库", 1, 1},
		{"foldre pnpm", 0.7, 0.99},
	} {
		got := x.Rank(Request{Text: c.query})
		if len(got) == 0 {
			t.Errorf("%q: nothing", c.query)
		} else if v := got[0].Covered; v < c.from-1e-9 || v > c.to+1e-9 {
			t.Errorf("%q: covered %v, want %v to %v", c.query, v, c.from, c.to)
		}
	}
}

// A fresh memory precedes an equally good old one, and never a better one.
func TestPriorNeverOutvotesWords(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	docs := docsOf("the retry loop waits 20 ms", "the retry loop waits 30 ms", "the loop of the scheduler")
	fact, constraint := KindNumber(record.Fact), KindNumber(record.Constraint)
	for i, d := range []struct {
		age  time.Duration
		kind uint8
	}{{400 * day, fact}, {day, fact}, {0, constraint}} {
		docs[i].Time, docs[i].Kind = now.Add(-d.age).Unix(), d.kind
	}
	x := indexOf(t, docs, 1)
	got := keys(x, x.Rank(Request{Text: "how long does the retry loop wait", Now: now, HalfOf: HalfLife}))
	if diff := cmp.Diff([]string{"001", "000", "002"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrior(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		age, half time.Duration
		want      float64
	}{
		{0, 60 * day, 1.1}, {60 * day, 60 * day, 1}, {120 * day, 60 * day, 0.95}, {100 * 365 * day, 30 * day, 0.9}, {100 * 365 * day, 0, 1.1}, {-day, 30 * day, 1.1},
	} {
		if got := prior(now, now.Add(-c.age).Unix(), c.half); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of %v: %v, want %v", c.age, c.half, got, c.want)
		}
	}
	if got := prior(now, 0, day); got != 1 {
		t.Errorf("no time: %v", got)
	}
}

func TestFilesThatAreEditedCountALittle(t *testing.T) {
	for _, c := range []struct {
		paths, anchors []string
		file           string
		first          bool
	}{
		{[]string{"web/**"}, nil, "web/a.ts", true},
		{[]string{"web/**"}, nil, "./web/a.ts", true},
		{[]string{"web/**"}, nil, "webs/a.ts", false},
		{nil, []string{`build.ninja@0123456789abcdef "rule cc"`}, "build.ninja", true},
		{nil, []string{`build.ninja@0123456789abcdef`, `web/a.ts@0123456789abcdef`}, "./web/a.ts", true},
		{nil, []string{`build.ninja@0123456789abcdef "rule cc"`}, "build.ninja.in", false},
		{nil, []string{"no anchor"}, "no anchor", false},
	} {
		x, err := Of([]record.Memory{{ID: "0", Kind: record.Fact, Text: "build with make"}, {ID: "1", Kind: record.Fact, Text: "build with ninja", Paths: c.paths, Anchors: c.anchors}})
		if err != nil {
			t.Fatal(err)
		}
		got := x.Rank(Request{Text: "build", Files: []string{c.file}})
		if len(got) != 2 || (x.segments[0].Key(got[0].Doc) == "1") != c.first {
			t.Errorf("%q %q, at %s: %v", c.paths, c.anchors, c.file, keys(x, got))
		}
		if got := keys(x, x.Rank(Request{Text: "build with make", Files: []string{c.file}})); got[0] != "0" {
			t.Errorf("%v first: the file outvotes the words", got)
		}
		x.Close()
	}
}

// A turn of a conversation that answers another shares few words with the question.
func TestNeighboursOfASession(t *testing.T) {
	docs := docsOf("What is the name of your dog?", "Rex!", "Rex is a king", "dogs are animals", "cats too")
	for i := range 2 {
		docs[i].Group, docs[i].Time = "s1", int64(i+1)
	}
	for _, steps := range []int{1, 2} {
		x := indexOf(t, docs, steps)
		got := keys(x, x.Rank(Request{Text: "name of the dog"}))
		if !slices.Contains(got, "001") || slices.Contains(got, "002") {
			t.Errorf("%v found, want the answer 001, which stands beside the question, and not 002", got)
		}
	}
}

func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		word := func() (w []rune) {
			for range r.IntN(9) {
				w = append(w, 'a'+rune(r.IntN(3)))
			}
			return w
		}
		a, b := word(), word()
		want, got := slowDistance(a, b), distance(a, b, 2)
		if want <= 2 && got != want || want > 2 && got <= 2 {
			t.Fatalf("%q %q: %d, want %d", string(a), string(b), got, want)
		}
	}
}

func TestSnippet(t *testing.T) {
	text := "The store.\nIts tests need a database: start it with docker compose. Then wait for the port, which takes some seconds on a slow machine.\n数据库连接在三十秒后关闭，重试循环等待二十毫秒。"
	for _, c := range []struct {
		query string
		width int
		want  string
	}{
		{"database tests", 60, "Its tests need a database: start it with docker compose.…"},
		{"slow machines", 60, "…for the port, which takes some seconds on a slow machine."},
		{"毫秒", 12, "…重试循环等待二十毫秒。"},
		{"store", 60, "The store."},
		{"kubernetes", 60, ""},
	} {
		if got := new(Snippets).Of(Hit{Memory: record.Memory{Body: text}}, c.query, c.width); got != c.want {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
}

// A hit shows its passage if that adds to the statement, however much the two cover together.
func TestSnippetOfHit(t *testing.T) {
	m := record.New(record.Memory{Kind: record.Fact, Text: "The exporter retries twice", Body: "Both are needed.\nThe exporter sleeps between retries.\nIts lock file lies beside the queue: 队列在磁盘上。"})
	x, err := Of([]record.Memory{m, record.New(record.Memory{Kind: record.Fact, Text: "The queue of the importer"})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	var all Snippets
	for query, want := range map[string]string{
		"exporter":                        "",
		"exporter retries":                "",
		"the exporter retries kubernetes": "",
		"exporter sleeps":                 "The exporter sleeps between retries.",
		"retries of the lock file":        "Its lock file lies beside the queue: 队列在磁盘上。",
		"slepes":                          "The exporter sleeps between retries.", // for sleeps
		"exporter 盘":                      "Its lock file lies beside the queue: 队列在磁盘上。",
		"needed":                          "Both are needed.",
	} {
		found := x.Rank(Request{Text: query})
		n := slices.IndexFunc(found, func(f Found) bool { got, err := x.Memory(f.Ref); return err == nil && got.ID == m.ID })
		if n < 0 {
			t.Errorf("%q does not find it", query)
			continue
		}
		if got := all.Of(Hit{Memory: m, Found: found[n]}, query, 60); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if got := all.Of(Hit{Memory: m}, "when does it sleep", 60); got != "The exporter sleeps between retries." {
		t.Errorf("found by other means: %q", got)
	}
}
