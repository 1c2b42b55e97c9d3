package pattern

import "testing"

func TestWords(t *testing.T) {
	w := NewWords("one two\n\t\tthree aaaab 一个 ab")
	for word, want := range map[string]bool{"one": true, "two": true, "three": true, "ab": true, "一个": true,
		"": false, "one two": false, "thre": false, "hree": false, "One": false, "aaa": false, "aab": false, "一": false, "\t": false} {
		if got := w.Has(word); got != want {
			t.Errorf("Has(%q) = %v", word, got)
		}
	}
}
