package dreams

import (
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestSessionFilter(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	all := []record.Reflection{{Session: "none"}, {Session: "a", Started: day(1), Client: "claude"}, {Session: "b", Started: day(2)}, {Session: "c", Started: day(2)}, {Session: "d", Started: day(3)}}
	for _, c := range []struct {
		SessionFilter
		want string
	}{
		{SessionFilter{}, "none a b c d"}, {SessionFilter{Last: 2}, "c d"}, {SessionFilter{Last: 9}, "none a b c d"},
		{SessionFilter{Since: day(2)}, "b c d"}, {SessionFilter{Since: day(4)}, ""}, {SessionFilter{Since: day(2), Last: 2}, "c d"}, {SessionFilter{Since: day(3), Last: 2}, "d"},
		{SessionFilter{client: "claude"}, "a"}, {SessionFilter{Last: 1, client: "claude"}, "a"}, {SessionFilter{Since: day(2), client: "claude"}, ""},
	} {
		var got []string
		for _, r := range c.of(all) {
			got = append(got, r.Session)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v: %q, want %q", c.SessionFilter, s, c.want)
		}
	}
}
