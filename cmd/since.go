package cmd

import (
	"strconv"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
)

// parseSince reads a date, or how long ago.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	days := map[byte]int{'d': 1, 'w': 7}[text[len(text)-1]]
	if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && days > 0 && n >= 0 && n < 1e6 {
		return now.AddDate(0, 0, -days*n), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, exit.Usage("use 2026-11-01, 30d, 2w or 12h", "--since: %q is not a time", text)
}
