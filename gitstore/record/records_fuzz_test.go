package record

import (
	"bytes"
	"strings"
	"testing"
)

// Parsing any bytes does not panic, and a parsed record survives writing and reading.
func FuzzRecords(f *testing.F) {
	r := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born}
	read := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born, Model: "m:7b", Digest: "0d0d", Prompt: strings.Repeat("cd", 32)}
	op := NewOperation(Operation{Op: Add, How: Seen, Memory: fact("one")})
	d := NewDream(Dream{Time: born, Reflections: []string{"a", "b"}, Notes: "- x"}, "tree")
	c := Checkpoint{Client: "claude", Session: "s-1", N: 1, Reason: "asked", Time: born, Text: "t"}
	rej := Rejection{ID: "0123456789abcdef", Text: "x"}
	forms := []struct {
		path  string
		form  func() ([]byte, error)
		again func([]byte) ([]byte, error)
	}{
		{r.Path(), r.Format, reformat(r.Path(), ParseReflection, Reflection.Format)},
		{read.Path(), read.Format, reformat(read.Path(), ParseReflection, Reflection.Format)},
		{OperationPath(op.ID), op.Format, reformat(OperationPath(op.ID), ParseOperation, Operation.Format)},
		{d.Path(), func() ([]byte, error) { return d.Format(), nil }, reformat(d.Path(), ParseDream, func(d Dream) ([]byte, error) { return d.Format(), nil })},
		{c.Path(), c.Format, reformat(c.Path(), ParseCheckpoint, Checkpoint.Format)},
		{RejectionPath(rej.ID), rej.Format, reformat(RejectionPath(rej.ID), ParseRejection, Rejection.Format)},
	}
	for i, form := range forms {
		text, err := form.form()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, text)
		f.Add(i, text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		again := forms[uint(which)%uint(len(forms))].again
		once, err := again(data)
		if err != nil {
			return
		}
		twice, err := again(once)
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, once)
		}
		if !bytes.Equal(once, twice) {
			t.Fatalf("not stable:\n%s\nthen\n%s", once, twice)
		}
	})
}

func reformat[T any](path string, parse func(string, []byte) (T, error), format func(T) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		v, err := parse(path, data)
		if err != nil {
			return nil, err
		}
		return format(v)
	}
}
