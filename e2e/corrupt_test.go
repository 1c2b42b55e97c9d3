package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The test flips a bit, or truncates or removes a file: any object, pack, index, ref, log, cache or
// state file. Each time check --deep names the damage, or it is harmless and the list is unchanged.
// Listed memories are always true, missing ones are named, and one damaged object hides only its
// own content.
func TestDamageIsNamedOrHarmless(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	samples := 30
	switch {
	case every:
		samples = 300
	case full:
		samples = 120
	}
	t.Logf("%d samples, -seed %d", samples, *seed)
	loose := knowing(t)
	dirs := []string{loose, packed(t, copyDir(t, loose))}
	want, holds := listed(t, loose), inventory(t, loose)
	var counting sync.Mutex
	count := map[string]int{}
	one := func(t *testing.T, n int) {
		t.Parallel()
		rnd := rand.New(rand.NewPCG(*seed, uint64(n)))
		dir := copyDir(t, dirs[n%2])
		// otherwise the lost objects are written again
		if err := os.RemoveAll(filepath.Join(dir, ".git", "reverie", "recent")); err != nil {
			t.Fatal(err)
		}
		cached := n%4 < 2
		if !cached {
			remove(t, filepath.Join(dir, ".git", "reverie", "cache"))
		}
		victims := ours(t, dir)
		victim := victims[rnd.IntN(len(victims))]
		hidden := hides(holds, victim)
		what := damage(t, rnd, victim)
		name, _ := filepath.Rel(filepath.Join(dir, ".git"), victim)
		t.Logf("%s: %s; with a cache: %v", name, what, cached)
		verdict := judge(t, dir, want, hidden)
		if t.Failed() {
			verdict = "failed"
		}
		counting.Lock()
		defer counting.Unlock()
		count[verdict]++
		if verdict == "named" && strings.HasPrefix(name, "objects/") {
			count["named objects"]++
		}
	}
	t.Run("samples", func(t *testing.T) { // it returns when all of them have ended
		for n := range samples {
			t.Run(fmt.Sprint(n), func(t *testing.T) { one(t, n) })
		}
	})
	t.Logf("%v", count)
	if count["named"] < samples/5 || count["named objects"] == 0 || count["harmless"] == 0 {
		t.Errorf("of %d samples: %v; the damage was not such that it could be found", samples, count)
	}
}

// judge examines a damaged repository as a user would. hidden reports the paths that the damage may
// hide.
func judge(t *testing.T, dir string, want map[string]string, hidden func(path string) bool) (verdict string) {
	t.Helper()
	list := reverie(t, dir, "list", "--all", "--json")
	got := parseList(t, list)
	same := true
	for id, m := range got {
		if stricter(m, want[id]) {
			same = false // a lost approval withholds a memory from agents, and is reported
		} else if want[id] != m {
			t.Errorf("list shows %s\nnot %s", m, want[id])
		}
	}
	if list.code != 0 && strings.TrimSpace(list.err) == "" {
		t.Errorf("list fails without a word: %s", list)
	}
	for id, m := range want {
		path := pathOf(m)
		switch {
		case got[id] != "":
		case list.code == 0 && !strings.Contains(list.err, id) && !strings.Contains(list.err, "the last commit made here"):
			t.Errorf("list leaves out %s silently: %s", id, list.err)
		case !hidden(path):
			t.Errorf("list leaves out %s, which is not damaged: %s", path, list.err)
		}
	}
	check := reverie(t, dir, "check", "--deep")
	switch {
	case check.code == 0 && list.code == 0 && len(got) == len(want) && same:
		verdict = "harmless"
	case check.code == 0 && list.code == 0 && len(got) == len(want):
		verdict = "withheld"
	case check.code == 0:
		t.Errorf("check finds nothing, but %s", list)
	case check.code == 1 && strings.TrimSpace(check.out) != "":
		verdict = "named"
	case check.code == 12 && strings.Contains(check.err, "git update-ref"):
		verdict = "named" // a ref is gone, and the message explains how to restore it
	default:
		t.Errorf("%s", check)
	}
	shown := 0
	for id, m := range want { // in no order
		show := reverie(t, dir, "show", "--json", id)
		show.out = asListed(show.out)
		switch {
		case show.code == 0 && strings.TrimSpace(show.out) != m && !stricter(strings.TrimSpace(show.out), m):
			t.Errorf("show %s says %s\nnot %s", id, show.out, m)
		case show.code != 0 && strings.TrimSpace(show.err) == "":
			t.Errorf("show fails without a word: %s", show)
		case got[id] != "" && strings.TrimSpace(show.out) != got[id]:
			t.Errorf("list has %s, but %s", id, show)
		}
		if shown++; shown == 1 && !full || shown == 5 && !every {
			break
		}
	}
	if full {
		writeOver(t, dir)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%d of %d listed\n%s%s", len(got), len(want), list.err, check)
	}
	return verdict
}

// writeOver requires that a writer refuses, or adds to the rest and harms nothing.
func writeOver(t *testing.T, dir string) {
	t.Helper()
	before := parseList(t, reverie(t, dir, "list", "--all", "--json"))
	write := reverie(t, dir, "remember", "written over the damage")
	relist := reverie(t, dir, "list", "--all", "--json")
	after := parseList(t, relist)
	for id, m := range before {
		if after[id] != m {
			t.Errorf("after %s\n%s\nis %s", write, m, after[id])
		}
	}
	if id := strings.TrimSpace(write.out); write.code == 0 && after[id] == "" && relist.code == 0 {
		t.Errorf("acknowledged and not listed: %s", write)
	} else if write.code != 0 && len(after) != len(before) {
		t.Errorf("refused, but done: %s", write)
	}
}

// stricter reports whether a memory is unchanged, except that it is withheld.
func stricter(now, was string) bool {
	return now != was && !strings.Contains(was, `"withheld":true`) && strings.HasPrefix(now, strings.TrimSuffix(was, "}")+`,"withheld":true,`)
}

// pathOf returns the file of a memory given as JSON.
func pathOf(m string) string {
	var memory struct{ Path string }
	_ = json.Unmarshal([]byte(m), &memory)
	return memory.Path
}

// inventory maps each object of a repository's newest trees to its content of memories: paths of
// files or folders. An empty path means everything.
func inventory(t *testing.T, dir string) map[string][]string {
	t.Helper()
	holds := map[string][]string{}
	for _, ref := range []string{"refs/heads/reverie/memory", "refs/reverie/journal"} {
		for _, whole := range []string{ref, ref + "^{tree}", ref + ":memories"} {
			id := git(t, dir, "rev-parse", whole)
			holds[id] = append(holds[id], "")
		}
		for line := range strings.Lines(git(t, dir, "ls-tree", "-rt", ref)) {
			fields := strings.Fields(line)
			path := fields[3]
			if path == "reverie.toml" {
				path = "" // a team's restrictions are no longer known
			}
			holds[fields[2]] = append(holds[fields[2]], path)
		}
	}
	return holds
}

// hides returns a function that reports which memories damage to a file may hide. A file with more
// than one object, or a ref, may hide all.
func hides(holds map[string][]string, victim string) func(path string) bool {
	id := filepath.Base(filepath.Dir(victim)) + filepath.Base(victim)
	single := len(id) == 40 && strings.Contains(filepath.ToSlash(victim), "/objects/")
	return func(path string) bool {
		return !single || slices.ContainsFunc(holds[id], func(held string) bool {
			return held == "" || path == held || strings.HasPrefix(path, held+"/")
		})
	}
}

// ours returns the files of a repository that hold Reverie's data, each repeated by the weight of
// its kind.
func ours(t *testing.T, dir string) []string {
	t.Helper()
	gitDir := filepath.Join(dir, ".git")
	reached := map[string]bool{}
	for line := range strings.Lines(git(t, dir, "rev-list", "--objects", "refs/heads/reverie/memory", "refs/reverie/journal", "refs/reverie/inbox")) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		reached[id] = true
	}
	var objects, others []string
	for _, path := range files(t, filepath.Join(gitDir, "objects")) {
		id := filepath.Base(filepath.Dir(path)) + filepath.Base(path)
		switch {
		case reached[id]:
			objects = append(objects, path)
		case strings.HasSuffix(path, ".pack"), strings.HasSuffix(path, ".idx"):
			others = append(others, path, path)
		}
	}
	for _, name := range []string{"refs/heads/reverie", "refs/reverie", "logs/refs/heads/reverie", "logs/refs/reverie", "reverie"} {
		others = append(others, files(t, filepath.Join(gitDir, filepath.FromSlash(name)))...)
	}
	if p := filepath.Join(gitDir, "packed-refs"); exists(p) {
		others = append(others, p)
	}
	slices.Sort(others)
	// As many objects as others, so that neither kind dominates.
	all := others
	for i := range len(others) {
		if len(objects) > 0 {
			all = append(all, objects[i*len(objects)/len(others)])
		}
	}
	return all
}

// damage damages a file and describes how.
func damage(t *testing.T, rnd *rand.Rand, path string) string {
	t.Helper()
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch rnd.IntN(4) {
	case 0:
		remove(t, path)
		return "dropped"
	case 1:
		n := rnd.IntN(max(1, len(data)))
		if err := os.Truncate(path, int64(n)); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("cut from %d to %d bytes", len(data), n)
	}
	if len(data) == 0 {
		return "empty: nothing to turn"
	}
	at, bit := rnd.IntN(len(data)), rnd.IntN(8)
	data[at] ^= 1 << bit
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("bit %d of byte %d of %d turned", bit, at, len(data))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// listed returns every memory as JSON, by its id.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	a := reverie(t, dir, "list", "--all", "--json")
	if a.code != 0 || a.err != "" {
		t.Fatalf("%s", a)
	}
	return parseList(t, a)
}

// asListed takes the facts of history, which list does not have, off the end of a memory that show
// printed.
func asListed(out string) string {
	for _, key := range []string{`,"author":{`, `,"edits":{`, `,"given":{`, `,"related":[`} {
		if rest, _, cut := strings.Cut(out, key); cut {
			return rest + "}"
		}
	}
	return out
}

func parseList(t *testing.T, a answer) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(a.out) {
		var m struct{ ID string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if all[m.ID] != "" {
			t.Errorf("list shows %s twice", m.ID)
		}
		all[m.ID] = strings.TrimSpace(line)
	}
	return all
}
