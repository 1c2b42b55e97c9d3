package help

import (
	"slices"
	"strings"
)

// synonyms lists words of other programs for our commands.
var synonyms = []struct{ command, words string }{
	{"recall", "search find grep query ask lookup"},
	{"remember", "add note save store"},
	{"list", "ls memories"},
	{"show", "cat view get"},
	{"edit", "change update set"},
	{"forget", "rm delete del remove retire"},
	{"revert", "rollback"},
	{"review", "inbox pending approve"},
	{"sync", "push pull fetch"},
	{"log", "history"},
	{"status", "st state"},
	{"init", "install setup start"},
	{"check", "fsck verify validate"},
	{"config", "settings"},
	{"purge", "erase"},
	{"loop start", "run"},
	{"help --all", "commands"},
}

// synonym returns our command for a word of another program, or "".
func synonym(word string) string {
	for _, s := range synonyms {
		if slices.Contains(strings.Fields(s.words), strings.ToLower(word)) {
			return s.command
		}
	}
	return ""
}

// Nearest returns the name that a word abbreviates, or else one that differs by a typing error, or
// by two in a longer word. Without such a name it returns "".
func Nearest(names []string, word string) string {
	word = strings.ToLower(word)
	best, least := "", 3
	if len(word) <= 4 {
		least = 2
	}
	for _, name := range names {
		if len(word) >= 3 && strings.HasPrefix(name, word) {
			return name
		}
		if d := slips(name, word); d < least {
			best, least = name, d
		}
	}
	return best
}

// slips counts the letters inserted, left out, replaced or swapped with the next between a and b,
// within their first 30 bytes (optimal string alignment distance).
func slips(a, b string) int {
	a, b = a[:min(30, len(a))], b[:min(30, len(b))]
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := range rows[i][1:] {
			j++
			if i == 0 {
				rows[i][j] = j
				continue
			}
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
