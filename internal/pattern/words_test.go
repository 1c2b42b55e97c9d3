package pattern

import "testing"

func TestWords(t *testing.T) {
	w := NewWords("one two\n\t\tthree")
	for word, want := range map[string]bool{"one": true, "two": true, "three": true, "": false, "one two": false, "thre": false, "One": false} {
		if got := w.Has(word); got != want {
			t.Errorf("Has(%q) = %v", word, got)
		}
	}
}
