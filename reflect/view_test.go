package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestActsStandWhereTheyRan(t *testing.T) {
	in := func(dir, command string) func(*[]transcript.Event) {
		exit := 0
		return ran(transcript.Event{Command: command, Dir: dir}, &exit, "", "")
	}
	const root = "/home/dev/project"
	events := script{
		in("", "cd web && bun run lint"),
		in(root+"/web", "cd "+root+" && bun run lint"),
		in(root+"/web", "bun run lint"),
		in(root+"/web", "cd ../api && make"),
	}.events()
	var got []string
	for _, a := range digest(transcript.Session{Client: "claude", ID: "s1", Dir: root}, events).acts {
		got = append(got, a.step.dir+": "+a.step.key)
	}
	want := []string{"web: bun run lint", ": bun run lint", "web: bun run lint", "api: make"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Claude Code notes the folder of a call when the model asks for it. Calls that it asks for at once
// run one after the other in one shell.
func TestActsOfCallsAtOnceStandWhereTheShellWent(t *testing.T) {
	events := script{run("cd web && bun run css", 0, ""), run("bun run lint", 1, `error: Script not found "lint"`),
		run("cd /home/dev/project && bun run lint", 0, "")}.events()
	events[1], events[2] = events[2], events[1] // both calls, then both results
	for client, want := range map[string]string{"claude": "web", "codex": ""} {
		acts := digest(transcript.Session{Client: client, ID: "s1", Dir: "/home/dev/project"}, events).acts
		if got := acts[1].step.dir; got != want || acts[2].step.dir != "" {
			t.Errorf("%s: %q, then %q, want %q and the top", client, got, acts[2].step.dir, want)
		}
	}
}

func TestSessionsOnWindowsTeach(t *testing.T) {
	events := script{
		run(`cd /d/work/shop && npm test`, 1, "Error: Cannot find module '.prisma/client'\n    at Object.<anonymous> (D:\\work\\shop\\y.js:1:1)"),
		run(`cd "D:\work\shop" && npx prisma generate`, 0, ""),
		run(`cd /mnt/d/work/shop && npm test`, 0, "5 passed"),
	}.events()
	r := Study(transcript.Session{Client: "claude", ID: "s1", Dir: `D:\work\shop`}, events)
	want := []string{"Before `npm test`, run `npx prisma generate`: else it fails with \"Cannot find module '.prisma/client'\"."}
	if diff := cmp.Diff(want, texts(r)); diff != "" {
		t.Error(diff)
	}
}
