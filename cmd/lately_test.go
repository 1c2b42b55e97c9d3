package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestLately(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	all := []record.Reflection{{Session: "none"}, {Session: "a", Started: day(1)}, {Session: "b", Started: day(2)}, {Session: "c", Started: day(2)}, {Session: "d", Started: day(3)}}
	for _, c := range []struct {
		lately
		want string
	}{
		{lately{}, "none a b c d"}, {lately{last: 2}, "c d"}, {lately{last: 9}, "none a b c d"},
		{lately{since: day(2)}, "b c d"}, {lately{since: day(4)}, ""}, {lately{day(2), 2}, "c d"}, {lately{day(3), 2}, "d"},
	} {
		var got []string
		for _, r := range c.of(all) {
			got = append(got, r.Session)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v: %q, want %q", c.lately, s, c.want)
		}
	}
}
