package reflect

import (
	"slices"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

const failing = "error: want 3 rows, got 4 of them"

func TestDiagnosisIsTheAgentsWord(t *testing.T) {
	for said, want := range map[string]string{
		"Hm. It turns out that `Pool.Close()` blocks while a row is open, in every driver. Let me see.": "An agent's diagnosis: It turns out that `Pool.Close()` blocks while a row is open, in every driver.",
		"## Root cause\n\n**`Pool.Close()` blocks while a row is open**, in every driver.":              "An agent's diagnosis: `Pool.Close()` blocks while a row is open, in every driver.",
		"It turns out that `driver` v4.2 blocks while a row is open, in every pool.":                    "An agent's diagnosis: It turns out that `driver` v4.2 blocks while a row is open, in every pool.",
		"Root cause: `Pool.Close()` blocks while a row is open, in every driver.":                       "An agent's diagnosis: `Pool.Close()` blocks while a row is open, in every driver.",
	} {
		r := wants(t, script{run("make test", 1, failing), agent(said), edit("a.go", "1", "2"), run("make test", 0, "")}, want)
		if len(r.Candidates) == 0 || r.Candidates[0].How != record.Model || r.Candidates[0].Kind != record.Failure {
			t.Errorf("%+v", r.Candidates)
		}
	}
}

// Work in between does not change what a version does.
func TestDiagnosisOfAVersionMayBeLate(t *testing.T) {
	const said = "It turns out that `driver` v4.2 blocks while a row is open, in every pool."
	s := slices.Concat(script{run("make test", 1, failing)}, busy, script{agent(said), run("make test", 0, "")})
	wants(t, s, "An agent's diagnosis: "+said)
}

// busy is work of many events.
var busy = slices.Repeat(script{run("ls", 0, "a b")}, besideEvents/2)

func TestDiagnosisThatIsNone(t *testing.T) {
	const said = "It turns out that `Pool.Close()` blocks while a row is open."
	fail, pass := run("make test", 1, failing), run("make test", 0, "")
	for name, s := range map[string]script{
		"nothing failed":              {agent(said), pass},
		"nothing passed":              {fail, agent(said)},
		"names nothing":               {fail, agent("It turns out that closing it blocks while there is one open."), pass},
		"what was repaired":           {fail, agent("The root cause was that `Pool.Close()` blocked."), pass},
		"a plan":                      {fail, agent("Let me find the root cause in `Pool.Close()` and its callers."), pass},
		"no cause is announced":       {fail, agent("`Pool.Close()` blocks while a row is open, in every driver."), pass},
		"a check is switched off":     {fail, agent("It turns out that `git commit` needs --no-verify while a row is open."), pass},
		"lines of the moment":         {fail, agent("It turns out that `Pool.Close()` blocks (lines 12, 40) while a row is open."), pass},
		"a file then repaired":        {fail, agent("It turns out that `Pool.Close()` in `db/pool.go` blocks while a row is open."), edit("/w/db/pool.go", "1", "2"), pass},
		"a person's words":            {fail, user("it turns out that `Pool.Close()` blocks?"), pass},
		"a look around had failed":    {run("grep x y", 1, ""), agent(said), pass},
		"its code, then repaired":     {fail, agent("It turns out that `closeAll` forgets the rows of an open pool."), edit("db/pool.go", "1", "2"), pass},
		"in a file without a name":    {fail, agent("It turns out that `closeAll` forgets the rows of an open pool."), edit("", "1", "2"), pass},
		"repaired after another pass": {fail, run("go test ./other", 0, ""), agent("It turns out that `closeAll` forgets the rows of an open pool."), edit("db/pool.go", "1", "2"), pass},
		"a method of a class":         {fail, agent(said), edit("db/pool.ts", "1", "  close(force) {\n  async Close(): Promise<void> {"), edit("db/pool.ts", "2", "  Close() {"), pass},
		"a file of docs":              {fail, agent("It turns out that `docs/build.ts` forgets to flush after 2.5 seconds."), edit("lib/out.ts", "1", "2"), pass},
		"a method defined here":       {fail, agent(said), edit("db/pool.go", "1", "func (p *Pool) Close() {"), pass},
		"long after the failure":      slices.Concat(script{fail}, busy, script{agent(said), pass}),
		"a ticket of the moment":      {fail, agent("It turns out that `Pool.Close()` blocks while a row is open, as #343 says."), pass},
	} {
		t.Run(name, func(t *testing.T) { wants(t, s) })
	}
}
