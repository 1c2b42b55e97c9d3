package terms

// gramSize is how many characters a gram has.
const gramSize = 4

// Grams are the pieces of a word by which its relatives are found: every four characters in a row.
func Grams(word string) []string {
	var out []string
	var starts [gramSize]int // of the last characters, as a ring
	n := 0
	for i := range word {
		if n >= gramSize {
			out = append(out, word[starts[n%gramSize]:i])
		}
		starts[n%gramSize] = i
		n++
	}
	if n >= gramSize {
		out = append(out, word[starts[n%gramSize]:])
	}
	return out
}
