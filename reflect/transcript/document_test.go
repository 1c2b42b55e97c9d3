package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walk takes a document apart and puts it together again, through a buffer smaller than it is.
func walk(input []byte, limit int) ([]byte, error) {
	d := &document{r: bufio.NewReaderSize(bytes.NewReader(input), 16), max: limit, n: 1}
	var out bytes.Buffer
	first := true
	next := func() error {
		if !first {
			out.WriteByte(',')
		}
		first = false
		raw, err := d.value()
		if errors.Is(err, ErrLineTooLong) {
			raw, err = []byte(`"too long"`), nil
		}
		out.Write(raw)
		return err
	}
	c, err := d.peekByte()
	if err != nil {
		return nil, err
	}
	if c == '[' {
		out.WriteByte('[')
		err = d.array(next)
		out.WriteByte(']')
		return out.Bytes(), err
	}
	out.WriteByte('{')
	err = d.object(func(key string) error {
		name, _ := json.Marshal(key)
		if !first {
			out.WriteByte(',')
		}
		first = true
		out.Write(append(name, ':'))
		return next()
	})
	out.WriteByte('}')
	return out.Bytes(), err
}

func TestDocumentsAreWalked(t *testing.T) {
	got, err := walk([]byte(`{ "a" : [1, {"b":"]}\"\\"}], "long":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","n":-1.5e3 , "t":true}`), 30)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(`{"a":[1, {"b":"]}\"\\"}],"long":"too long","n":-1.5e3,"t":true}`, string(got)); d != "" {
		t.Error(d)
	}
	for _, cutOff := range []string{`{"a":1`, `{"a"`, `{"a":"`, `[1,`, `[{"a":1}`, `{`} {
		if _, err := walk([]byte(cutOff), 30); !errors.Is(err, errCutOff) {
			t.Errorf("%s: error %v", cutOff, err)
		}
	}
	for _, broken := range []string{`{"a" 1}`, `{a:1}`, `[1 2]`, `[,]`, `{"a":}`, `{"a":1]`} {
		if _, err := walk([]byte(broken), 30); err == nil || errors.Is(err, errCutOff) {
			t.Errorf("%s: error %v", broken, err)
		}
	}
}

// encoding/json is the judge: what it takes for an object or array, the walk takes apart and
// puts together again as the same.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(geminiDocument))
	f.Add([]byte(`[1,"a\\\"]",{"b":[null,true,-2e9]},[]]`))
	f.Add([]byte(`{"a":{},"a":"}"}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		got, err := walk(input, 1<<20)
		trimmed := bytes.TrimSpace(input)
		if !json.Valid(trimmed) || len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var want, have any
		if json.Unmarshal(trimmed, &want) != nil {
			return // a number out of range
		}
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Error(d)
		}
	})
}
