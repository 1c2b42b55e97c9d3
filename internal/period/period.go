// Package period parses and formats times and durations as users type them: 90m, 12h, 7d, 2w.
package period

import (
	"fmt"
	"strconv"
	"time"
)

// Parse parses a duration. ok is false if text is invalid or negative.
func Parse(text string) (d time.Duration, ok bool) {
	if text == "" {
		return 0, false
	}
	days := map[byte]int{'d': 1, 'w': 7}[text[len(text)-1]]
	if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && days > 0 && n >= 0 && n < 1e4 {
		return time.Duration(days*n) * 24 * time.Hour, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// Since parses a date, or how long ago. Empty text is the zero time.
func Since(text string, now time.Time) (since time.Time, ok bool) {
	if text == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	d, ok := Parse(text)
	if !ok {
		return time.Time{}, false
	}
	return now.Add(-d), true
}

// Short formats a duration in its largest unit: 6d, 5h, 40m, 9s.
func Short(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}
