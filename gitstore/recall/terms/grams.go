package terms

// GramSize is the number of characters in a gram.
const GramSize = 4

// Grams returns the pieces of a word by which its relatives are found: every four characters in a
// row.
func Grams(word string) []string {
	var out []string
	var starts [GramSize]int // of the last characters, as a ring
	n := 0
	for i := range word {
		if n >= GramSize {
			out = append(out, word[starts[n%GramSize]:i])
		}
		starts[n%GramSize] = i
		n++
	}
	if n >= GramSize {
		out = append(out, word[starts[n%GramSize]:])
	}
	return out
}
