// Package plural writes numbers with their nouns.
package plural

import "strconv"

// Count returns "1 memory", "2 memories".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
