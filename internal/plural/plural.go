// Package plural formats numbers with their nouns.
package plural

import (
	"strconv"
	"time"
)

// Count returns "1 memory", "2 memories".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Ago formats the age of something in its largest unit.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Count(int(d/time.Minute), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return Count(int(d/time.Hour), "hour", "hours") + " ago"
	}
	return Count(int(d/(24*time.Hour)), "day", "days") + " ago"
}
