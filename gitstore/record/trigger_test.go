package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTriggerIsKept(t *testing.T) {
	want := Trigger{Command: "go test", Errors: []string{`no module "x" 'y'`, "refused"}}
	m := New(Memory{Kind: Failure, Text: "Run it so", Source: Source{By: "human", How: Written}, Extra: []Field{{"zebra", "1"}}})
	m = m.WithTrigger(Trigger{Command: "old"}).WithTrigger(want)
	got, err := ParseMemory(m.Path(), m.Format())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Trigger()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(string(m.Format()), string(got.Format())); diff != "" {
		t.Error(diff)
	}
	if len(got.Extra) != 3 {
		t.Errorf("keys: %v", got.Extra)
	}
	if got := got.WithTrigger(Trigger{}); len(got.Extra) != 1 {
		t.Errorf("keys without a trigger: %v", got.Extra)
	}
	if got := (Memory{Extra: []Field{{"command", "[1]"}, {"errors", "7"}}}).Trigger(); got.Command != "" || len(got.Errors) > 0 {
		t.Errorf("rubbish is read as %+v", got)
	}
}
