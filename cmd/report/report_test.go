package report

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/preview"
)

func TestHeadlineCountsReturns(t *testing.T) {
	for sessions, want := range map[int]string{2: "1 failure that came back once", 3: "1 failure that came back 2 times"} {
		p := &preview.Preview{Sessions: 3, Failures: []preview.Failure{{Sessions: sessions}}}
		if got := headline(p); !strings.HasSuffix(got, want) {
			t.Errorf("in %d sessions: %s", sessions, got)
		}
	}
}
