package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// remark is a person's lesson that the detectors pass over, and found its statement by a model.
const (
	remark = "The load tests are on heron-2 because the laptops throttle after a minute."
	found  = "Load tests run on heron-2, because laptops throttle after a minute."
)

// reflecting answers a question about a session: found, with remark as its evidence. It gives the
// fields that the question's schema names.
func reflecting(r request) step {
	text := html.UnescapeString(r.text())
	at := regexp.MustCompile(`\[(\d+)\][^\n]*\n?[^\[]*?` + regexp.QuoteMeta(remark)).FindStringSubmatch(text)
	_, schema, _ := strings.Cut(text, "without a word beside it:\n")
	var q struct {
		Properties struct {
			Candidates struct {
				Items struct{ Properties map[string]any }
			}
		}
	}
	if json.NewDecoder(strings.NewReader(schema)).Decode(&q) != nil || at == nil {
		return step{Say: "The question has no schema, or no event with the remark."}
	}
	item := fields{}
	for name, value := range (fields{"why": "A person says so.", "kind": "fact", "text": found, "body": "", "scope": "repository", "confidence": "medium",
		"proof": "person", "paths": list{}, "evidence": list{fields{"event": json.Number(at[1]), "quote": remark}}}) {
		if _, known := q.Properties.Candidates.Items.Properties[name]; known {
			item[name] = value
		}
	}
	return step{Say: "```json\n" + string(asJSON(fields{"candidates": list{item}})) + "\n```"}
}

// An agent as the model reads its own session: without tools, outside of the repository, and
// without a trace in what Reverie learns from.
func TestClientsReflect(t *testing.T) {
	inClients(t, looping, func(l *lab) {
		t := l.t
		l.install()
		bin := l.onPath()
		l.model.play(l.fixing("Mend the test."))
		l.run(l.c.session("Mend the test. " + remark)...)
		l.eventually("the session is kept", func() bool { return len(l.kept()) == 1 && len(l.story(l.kept()[0])) > 4 })
		l.settle()
		session := l.kept()[0]
		before := l.must("--json", "sessions", "show", session)
		l.must("config", "model.name", "agent:"+l.c.Name)
		if a := l.begun(bin, nil, "status").wait(); !strings.Contains(a.out, "agent:"+l.c.Name+" reads sessions and dreams; 1 session still to be read") {
			t.Errorf("status: %s", a)
		}
		if a := l.begun(bin, nil, "doctor").wait(); !strings.Contains(a.out, "agent:"+l.c.Name+" by "+bin) {
			t.Errorf("doctor: %s", a)
		}

		// it hangs, and is asked once more; OpenCode starts slowly on a busy machine
		l.model.heard()
		l.model.playBare(turn{remark, slices.Repeat([]step{{Stall: true}}, 9)}) // a client may try again
		const patience = 30 * time.Second
		l.must("config", "--user", "model.patience", "30")
		began := time.Now()
		a := l.begun(bin, nil, "reflect", session).wait()
		if took := time.Since(began); a.code != 128 || !strings.Contains(a.err, "it took too long") || took > 3*patience {
			t.Errorf("a hanging agent, after %v: %s", took, a)
		}
		l.settle()
		if got := l.model.heard(); len(got) == 0 {
			t.Error("it did not come to ask its model")
		}

		// it answers no JSON, twice
		l.must("config", "--user", "model.patience", "300")
		l.model.playBare(turn{remark, []step{{Say: "I would rather not."}, {Say: "No."}}})
		if a := l.begun(bin, nil, "reflect", session).wait(); a.code != 128 || !strings.Contains(a.err, "no usable answer") || !strings.Contains(a.err, "the detectors' candidates are kept") {
			t.Errorf("an answer without JSON: %s", a)
		}
		if err := os.RemoveAll(filepath.Join(l.repo, ".git", "reverie", "answers")); err != nil {
			t.Fatal(err)
		}

		// it answers; a model of Codex tries to leave a file before
		l.model.heard()
		left, steps := filepath.Join(l.repo, "left.txt"), []step{{Decide: reflecting}}
		if l.c.Name == "codex" {
			steps = slices.Insert(steps, 0, step{Calls: []call{{"apply_patch", fields{"input": "*** Begin Patch\n*** Add File: " + left + "\n+x\n*** End Patch\n"}}}})
		}
		l.model.playBare(turn{remark, steps})
		a = l.begun(bin, nil, "reflect", session).wait()
		asked := l.model.heard()
		if _, err := os.Stat(left); !os.IsNotExist(err) {
			t.Errorf("the model wrote a file: %v", err)
		}
		if a.code != 0 || !strings.Contains(a.out, "\tmodel\t"+found) {
			t.Fatalf("reflect: %s\n%.3000s", a, newest(asked).text())
		}
		if len(asked) != len(steps) || asked[0].Tools != 0 {
			t.Errorf("%d questions, with %d tools", len(asked), asked[0].Tools)
		}
		if text := asked[0].text(); !strings.Contains(text, remark) || strings.Contains(text, "<reverie-memory") || strings.Contains(text, l.repo+"\n") {
			t.Errorf("the question:\n%.4000s", text)
		}

		// it dreams
		l.model.playBare(turn{found, []step{{Say: `{"operations": []}`}}})
		a = l.begun(bin, nil, "dream").wait()
		if asked = l.model.heard(); a.code != 0 || len(asked) != 1 || asked[0].Tools != 0 || !strings.Contains(a.err, "agent:"+l.c.Name+": 1 question about") {
			t.Errorf("dream, %d questions: %s", len(asked), a)
		}
		if got := l.must("review"); !strings.Contains(got, found) {
			t.Errorf("the inbox:\n%s", got)
		}
		if got := l.must("list"); strings.Contains(got, found) {
			t.Errorf("a model's finding became memory:\n%s", got)
		}

		// nothing of that is learned, neither by hooks nor from the agent's store
		l.settle()
		l.must("learn")
		l.settle()
		if diff := cmp.Diff([]string{session}, l.kept()); diff != "" {
			t.Errorf("sessions (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(before, l.must("--json", "sessions", "show", session)); diff != "" {
			t.Errorf("the session (-before +after)\n%s", diff)
		}
		_, id, _ := strings.Cut(session, "/")
		for _, name := range l.spool() { // its own session may still be there
			for event := range strings.Lines(read(t, name)) {
				if !strings.Contains(event, id) {
					t.Errorf("hooks delivered %s", event)
				}
			}
		}
		place := filepath.Join(l.home, ".cache", "reverie", "questions")
		if left := files(t, place); !slices.Equal(left, []string{filepath.Join(place, l.c.Name+".lock")}) {
			t.Errorf("left in %s: %q", place, left)
		}
		t.Logf("its own record of the questions: %q", l.records(place))

		// the program goes
		if err := os.Remove(filepath.Join(bin, l.c.Name)); err != nil {
			t.Fatal(err)
		}
		missing := l.c.Name + ": its program is not on PATH"
		for _, args := range [][]string{{"doctor"}, {"status"}, {"reflect", session}} {
			if a := l.begun(bin, nil, args...).wait(); !strings.Contains(a.out+a.err, missing) {
				t.Errorf("no program: %s", a)
			}
		}
	})
}

// records lists the agent's files, by their path in its home, that mention the folder of questions.
func (l *lab) records(place string) (all []string) {
	for _, path := range files(l.t, l.home) {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), place) {
			name, _ := filepath.Rel(l.home, path)
			all = append(all, name)
		}
	}
	return all
}

// An agent is asked about its own sessions only, and of others its dreams show nothing.
func TestClientsReadTheirOwnSessionsOnly(t *testing.T) {
	inClients(t, []string{"claude"}, func(l *lab) {
		t := l.t
		l.install()
		bin := l.onPath()
		other := filepath.Join(l.home, "other.jsonl")
		write(t, other, fmt.Sprintf(`{"agent":"demo","started_at":"2026-03-01T10:00:00Z","metadata":{"opencode_session_id":"s1"},"messages":[`+
			`{"index":0,"role":"user","content":%s},{"index":1,"role":"assistant","content":"Good."}]}`, asJSON(rule+" "+remark)))
		l.must("ingest", other)
		l.must("config", "model.name", "agent:claude")
		if a := l.begun(bin, nil, "reflect", "demo/s1").wait(); a.code != 128 || !strings.Contains(a.err, "demo/s1: agent:claude is asked about its own sessions only") {
			t.Errorf("reflect: %s", a)
		}
		if a := l.begun(bin, nil, "reflect", "--pending").wait(); a.code != 0 {
			t.Errorf("reflect --pending: %s", a)
		}
		if a := l.begun(bin, nil, "dream").wait(); a.code != 0 || !strings.Contains(a.err, "agent:claude: nothing new to ask") {
			t.Errorf("dream: %s", a)
		}
		if got := l.model.heard(); len(got) > 0 {
			t.Errorf("it was asked %d times", len(got))
		}
	})
}

// A person has the agent of a session read an earlier one, without a setting, by one command.
// Copilot CLI and Qwen Code get the same text: TestClientsTakeCommands shows that it arrives.
func TestClientsReflectByThemselves(t *testing.T) {
	inClients(t, looping, func(l *lab) {
		t := l.t
		l.install()
		l.model.play(l.fixing("Mend the test."))
		l.run(l.c.session("Mend the test. " + remark)...)
		l.eventually("the session is kept", func() bool { return len(l.kept()) == 1 && len(l.story(l.kept()[0])) > 4 })
		l.settle()
		session := l.kept()[0]
		l.model.forget() // the question repeats that turn's words
		question := ""
		run := func(command string) step { return step{Calls: []call{l.c.shell("'" + l.binary() + "' " + command)}} }
		l.model.play(turn{"Then read one session yourself", []step{
			run("reflect " + session),
			run("--json reflect " + session + " --print-prompt"),
			{Decide: func(r request) step {
				for _, s := range r.Said { // the last is the newest output
					if q := asked(s.Text); q != "" {
						question = q
					}
				}
				answer := reflecting(request{Said: []said{{"user", question}}})
				_, object, _ := strings.Cut(strings.TrimSuffix(answer.Say, "\n```"), "\n")
				return run("reflect " + session + " --import - --model scripted <<'EOF'\n" + object + "\nEOF")
			}},
			run("dream --no-model"),
			{Say: "One waits for you."},
		}})
		l.run(l.slashed("reflect", session)...)
		if !strings.Contains(question, remark) {
			t.Errorf("the question:\n%.3000s", question)
		}
		if got := l.must("--json", "review"); !strings.Contains(got, found) || !strings.Contains(got, `"scripted"`) {
			t.Errorf("the inbox:\n%s", got)
		}
		l.settle()
		l.must("learn")
		if got := l.must("list"); strings.Contains(got, "heron-2") {
			t.Errorf("a model's finding became memory:\n%s", got)
		}
	})
}

// asked returns the question of --json --print-prompt in a tool's output, as an agent is asked it.
// Other output gives "".
func asked(output string) string {
	var gemini struct{ Response struct{ Output string } }
	if json.Unmarshal([]byte(output), &gemini) == nil && gemini.Response.Output != "" {
		output = gemini.Response.Output
	}
	var q struct {
		System, User string
		Schema       json.RawMessage
	}
	start := strings.LastIndex(output, `{"session":`)
	if start < 0 || json.NewDecoder(strings.NewReader(output[start:])).Decode(&q) != nil {
		return ""
	}
	return q.System + "\n" + q.User + "\nwithout a word beside it:\n" + string(q.Schema)
}
