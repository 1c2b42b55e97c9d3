package vector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestWorthIsKept(t *testing.T) {
	dir := t.TempDir()
	v := vectorsOf(t, dir, testSpace, sentences(10))
	if w, known := v.Worth(); known {
		t.Errorf("before anything was measured: %+v", w)
	}
	want := Worth{Weight: 0.7, Alone: 0.25, Trials: 96}
	if err := v.Keep(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	want.Rows = 10
	again := Read(dir, testSpace)
	defer again.Close()
	if got, known := again.Worth(); !known || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for rows, old := range map[int]bool{7: true, 8: false, 10: false, 12: false, 13: true} {
		if want.Old(rows) != old {
			t.Errorf("of 10 vectors when there are %d: old is %v", rows, !old)
		}
	}
	path := again.path() + worthFile
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, known := again.Worth(); known {
				t.Fatalf("byte %d, bit %d: %+v", i, bit, got)
			}
		}
	}
	if err := os.WriteFile(path, good[:len(good)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if got, known := again.Worth(); known {
		t.Errorf("torn: %+v", got)
	}
	// A measurement of other vectors in the space is invalid.
	if err := Drop(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := v.Keep(t.Context(), want); !errors.Is(err, ErrDropped) {
		t.Errorf("kept after they were dropped: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the worth of dropped vectors is there")
	}
	other := vectorsOf(t, dir, testSpace, sentences(10))
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, known := other.Worth(); known {
		t.Errorf("of the vectors before: %+v", got)
	}
}

func TestTrialsAreOfTheMemoriesOwnWords(t *testing.T) {
	var all []record.Memory
	for i := range 200 {
		all = append(all, record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("a%d b%d c%d d%d e%d f%d", i, i, i, i, i, i)}))
	}
	v := vectorsOf(t, t.TempDir(), testSpace, all)
	var asked []string
	batches := 0
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		asked = append(asked, texts...)
		batches++
		return letters(64)(ctx, texts)
	}
	lexical := func(query string, n int) (ids []string) { return []string{query} }
	trials, err := v.Try(t.Context(), embed, all, lexical)
	if err != nil || len(trials) != 192 || batches != 6 || len(asked) != 192 {
		t.Fatalf("%d trials, %d batches, %v", len(trials), batches, err)
	}
	text := map[string]string{}
	for _, m := range all {
		text[m.ID] = m.Text
	}
	for i, trial := range trials {
		own := 0
		for word := range strings.FieldsSeq(trial.Lexical[0]) {
			if slices.Contains(strings.Fields(text[trial.Want]), word) {
				own++
			}
		}
		if want := []int{3, 4}[i/96]; own != want || len(trial.Near) == 0 || len(trial.Near) > 50 {
			t.Errorf("%q of %q: %d of its words, %d near", trial.Lexical[0], text[trial.Want], own, len(trial.Near))
		}
	}
	slices.Reverse(all) // the order does not matter
	again, err := v.Try(t.Context(), embed, all, lexical)
	if diff := cmp.Diff(trials, again); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	few, err := v.Try(t.Context(), embed, all[:2], lexical)
	if len(few) != 4 || err != nil {
		t.Errorf("%d trials of two memories, %v", len(few), err)
	}
	batches = 0
	for w, useless := range map[Worth]bool{
		{Alone: 0.04, Trials: 15, Rows: 1000}: false, // too few to say
		{Alone: 0.04, Trials: 16, Rows: 1000}: true,
		{Alone: 0.20, Trials: 96, Rows: 1000}: false,
		{Alone: 0.20, Trials: 96, Rows: 40}:   true, // chance alone makes 0.11
	} {
		if w.Useless() != useless {
			t.Errorf("%+v: useless is %v", w, !useless)
		}
	}
	if none, err := v.Try(t.Context(), embed, memories("Use make", "This one has no vector yet"), lexical); len(none)+batches > 0 || err != nil {
		t.Errorf("%d trials, %v", len(none), err)
	}
}

func TestPieces(t *testing.T) {
	for text, want := range map[string][]string{
		"Run the tests  with make":  {"Run", "the", "tests", "with", "make"},
		"提交信息使用英文书写，不要中文。":          {"提交信息", "使用英文", "书写", "不要中文"},
		"모든 커밋은 영어로 씁니다":            {"모든", "커밋은", "영어로", "씁니다"},
		"テストは make test で実行してください":  {"テストは", "make", "test", "で実行し", "てくださ", "い"},
		"averyveryverylongsentence": {"aver", "yver", "yver", "ylon", "gsen", "tenc", "e"},
		"":                          {},
	} {
		if diff := cmp.Diff(want, pieces(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
