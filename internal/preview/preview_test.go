package preview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect"
)

// A copy of a history adds nothing to a failure, a sub-agent's session counts with its parent's,
// and one of a single session counts only with its remedy.
func TestFailuresAreCountedOnce(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC) }
	refused := func(day, times int) reflect.Failed {
		return reflect.Failed{Time: at(day), Command: "go test", Error: "connection refused", Quoted: "connection refused", Times: times}
	}
	in := func(id, parent string, failed ...reflect.Failed) studied {
		return studied{record.Reflection{Client: "claude", Session: id, Parent: parent}, failed}
	}
	missing := reflect.Failed{Time: at(4), Command: "make", Error: "no rule", Quoted: "no rule", Times: 3}
	all := []studied{
		in("a", "", refused(1, 2)),
		in("a2", "", refused(1, 2), refused(2, 1)), // it continues a
		in("sub", "b", refused(3, 1)),
		in("b", "", refused(4, 1), missing, reflect.Failed{Time: at(4), Command: "ls", Error: "no such file", Times: 9}),
	}
	var p Preview
	p.fail(all, []lesson{
		{Statement{Text: "Start the database.", Keep: true}, record.Trigger{Command: "go test", Errors: []string{"connection refused"}}},
		{Statement{Text: "Run configure.", Sessions: 1}, record.Trigger{Command: "make", Errors: []string{"no rule"}}},
		{Statement{Text: "Of another error."}, record.Trigger{Command: "make", Errors: []string{"another"}}},
	})
	want := []Failure{
		{Command: "go test", Error: "connection refused", Times: 5, Sessions: 3, Agent: "claude", Time: at(4), Lesson: "Start the database.", Keep: true},
		{Command: "make", Error: "no rule", Times: 3, Sessions: 1, Agent: "claude", Time: at(4), Lesson: "Run configure."},
	}
	if diff := cmp.Diff(want, p.Failures); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Statement{{Text: "Of another error."}}, p.Lessons); diff != "" {
		t.Error(diff)
	}
	if failures, returns := p.Returns(); failures != 1 || returns != 2 {
		t.Errorf("%d failures came back %d times, want 1 and 2", failures, returns)
	}
}
