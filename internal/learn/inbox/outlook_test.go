package inbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestWordDiff(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"Lint the client.", "Never lint the client.", "[-Lint-] {+Never lint+} the client."},
		{"The port is 8080 here.", "The port is 9090 here.", "The port is [-8080-] {+9090+} here."},
		{"Use a.", "Use a.", "Use a."},
		{"Use a.", "", "[-Use a.-]"},
	} {
		if got := marked(Words(tt.before, tt.after)); got != tt.want {
			t.Errorf("%q to %q: %q", tt.before, tt.after, got)
		}
	}
}

// Each event is quoted once, however many models read it, with its speaker. A quote that its event
// does not contain has no speaker.
func TestQuotes(t *testing.T) {
	l := &Viewer{c: &clone.Clone{}, sessions: map[string][]transcript.Event{"demo/s": {
		{N: 0, Kind: transcript.User, Origin: transcript.Typed, Text: "The port\nis 9090."},
		{N: 1, Kind: transcript.Assistant, Text: "I changed the port."},
		{N: 2, Kind: transcript.Result, Text: "listening on 9090"},
		{N: 3, Kind: transcript.User, Origin: transcript.Injected, Text: "a reminder"},
	}}}
	sight := func(how record.How, model string, evidence ...record.Evidence) record.Sighting {
		return record.Sighting{Client: "demo", Session: "s", How: how, Model: model, Evidence: evidence}
	}
	quoted := func(n int, text string) record.Evidence { return record.Evidence{Event: n, Quote: text} }
	got := l.quotes(record.Operation{Sightings: []record.Sighting{
		sight(record.Model, "tiny", quoted(0, "The port is 9090."), quoted(1, "I changed the port."), quoted(2, "listening on 9090"), quoted(3, "a reminder"), quoted(2, "forged"), quoted(9, "gone")),
		sight(record.Said, "", quoted(0, "The port is 9090.")),
		sight(record.Model, "other", quoted(0, "The port is 9090.")),
		sight(record.Seen, "", quoted(2, "on 9090")),
	}})
	one := func(n int, text string, how record.How, by, model string) Quote {
		return Quote{Client: "demo", Session: "s", Event: n, Quote: text, How: string(how), By: by, Model: model}
	}
	want := []Quote{
		one(0, "The port is 9090.", record.Said, "person", ""),
		one(1, "I changed the port.", record.Model, "agent", "tiny"),
		one(2, "listening on 9090", record.Model, "tool", "tiny"),
		one(3, "a reminder", record.Model, "tool", "tiny"),
		one(2, "forged", record.Model, "", "tiny"),
		one(9, "gone", record.Model, "", "tiny"),
		one(2, "on 9090", record.Seen, "tool", ""),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Quote{})); diff != "" {
		t.Error(diff)
	}
}
