package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds adds some texts of the corpus.
func seeds(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for i, p := range plantedSecrets(r) {
		if i%7 == 0 {
			f.Add(carriers[i%len(carriers)].write(r, p), "plum-jam-42")
		}
	}
	f.Add("password=[redacted:assignment]x9Kq2 [redacted:literal", "redacted")
	f.Add("日本語のパスワード：Xk9mPq2vL7 です \xff\xfe", "assignment")
	f.Add("-----BEGIN PRIV"+"ATE KEY-----\\n", "[redacted:")
}

func FuzzText(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text, literal string) {
		s := New(literal)
		once, report := s.Text(text)
		if utf8.ValidString(text) && !utf8.ValidString(once.String()) {
			t.Fatalf("%q became invalid UTF-8: %q", text, once)
		}
		if (report.Found == 0) != (once.String() == text) {
			t.Fatalf("found %d, but %q became %q", report.Found, text, once)
		}
		if twice, again := s.Text(once.String()); again.Found != 0 || twice != once {
			t.Fatalf("%q, then %q, then %q", text, once, twice)
		}
	})
}

func FuzzJSON(f *testing.F) {
	r := rand.New(rand.NewPCG(6, 6))
	for i, p := range plantedSecrets(r) {
		if i%9 == 0 {
			f.Add(carriers[3+i%2].write(r, p), "plum-jam-42")
		}
	}
	f.Add(`{"a\ud800":["\u0070assword=hunter2","\\",{"password":"\ud83d\ude00x9\"y8z7"}]}`, "x9")
	f.Fuzz(func(t *testing.T, doc, literal string) {
		s := New(literal)
		once, report, err := s.JSON([]byte(doc))
		if (err == nil) != json.Valid([]byte(doc)) {
			t.Fatalf("%q: %v", doc, err)
		}
		if err != nil {
			return
		}
		if report.ByRule[ruleUnstable] > 0 {
			return
		}
		if (report.Found == 0) != (once.String() == doc) {
			t.Fatalf("found %d, but %q became %q", report.Found, doc, once)
		}
		if before, after := skeleton(doc), skeleton(once.String()); before != after {
			t.Fatalf("structure of %q changed in %q:\n%s\n%s", doc, once, before, after)
		}
		if twice, again, err := s.JSON(once.Bytes()); err != nil || again.Found != 0 || twice != once {
			t.Fatalf("%q, then %q, then %q, %v", doc, once, twice, err)
		}
	})
}

// skeleton returns the tokens of a document with its strings left out, as an independent decoder
// sees them.
func skeleton(doc string) string {
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(doc))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return b.String() + "|" + err.Error()
		}
		switch v := tok.(type) {
		case json.Delim:
			b.WriteString(v.String())
		case string:
			b.WriteString(`"`)
		case json.Number:
			b.WriteString(v.String())
		case bool, nil:
			b.WriteString("v")
		}
		b.WriteByte(' ')
	}
}

func TestShuffledPiecesSettle(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := rand.New(rand.NewPCG(7, 7))
	var pieces []string
	for i, p := range plantedSecrets(r) {
		text := carriers[i%len(carriers)].write(r, p)
		pieces = append(pieces, p.text, p.text[:len(p.text)/2], text[:len(text)/2], text[len(text)/3:])
	}
	glue := []string{"", " ", "\n", "=", ":", ": ", "\"", "'", "\\\"", "\\n", ",", "/", "@", "://", "[redacted:jwt]", "[redacted:", "]", "password", "token ",
		"\x1b[31m", "%3D", "&", "é", "密码", "-----", "secret=", "Bearer ", "\xff", "<", "|"}
	for i := range 4000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			b.WriteString(glue[r.IntN(len(glue))])
			b.WriteString(glue[r.IntN(len(glue))])
		}
		text := b.String()
		s := New(pieces[r.IntN(len(pieces))])
		once, report := s.Text(text)
		if report.ByRule[ruleUnstable] > 0 {
			t.Fatalf("text %d does not settle: %q", i, text)
		}
		if twice, again := s.Text(once.String()); again.Found > 0 || twice != once {
			t.Fatalf("text %d: %q, then %q, then %q", i, text, once, twice)
		}
		if utf8.ValidString(text) && !utf8.ValidString(once.String()) {
			t.Fatalf("text %d: %q became invalid UTF-8", i, text)
		}
		doc, err := json.Marshal(map[string]any{"password": text, "list": []string{text, pieces[i%len(pieces)]}})
		if err != nil {
			t.Fatal(err)
		}
		inJSON, _, err := s.JSON(doc)
		if err != nil || !json.Valid(inJSON.Bytes()) || skeleton(inJSON.String()) != skeleton(string(doc)) {
			t.Fatalf("document %d: %v: %s became %s", i, err, doc, inJSON)
		}
		if twice, again, _ := s.JSON(inJSON.Bytes()); again.Found > 0 || twice != inJSON {
			t.Fatalf("document %d: %s, then %s, then %s", i, doc, inJSON, twice)
		}
	}
}
