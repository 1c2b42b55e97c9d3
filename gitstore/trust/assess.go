package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
)

// judged is the outcome for one commit of a ref. A blob belongs to one memory, because its file
// holds the id.
type judged struct {
	Tip      gitstore.ID         `json:"tip"`
	People   [][]string          `json:"people"`   // names of untrusted authors
	Withheld map[gitstore.ID]int `json:"withheld"` // by blob: index in People
	// Given has, by path, the replacements for withheld or removed files.
	Given map[string]line        `json:"given,omitempty"`
	Texts map[gitstore.ID]string `json:"texts,omitempty"` // replacement texts that git may lack
	Sum   string                 `json:"sum,omitempty"`   // hash of Withheld and Given

	known map[gitstore.ID]bool // by blob: all others are withheld too; nil if there are no others
}

// line is a stored instead. Each command reads all lines, but parses few of them.
type line string

// instead describes the version that agents get in place of another.
type instead struct {
	now  gitstore.ID // withheld current content, or ""
	then gitstore.ID // content that agents get
	when time.Time   // date of then; zero if unknown
	by   int         // of People: the author of the change since
}

func (i instead) line() line {
	now, when := i.now, int64(0)
	now = cmp.Or(now, "-")
	if !i.when.IsZero() {
		when = i.when.Unix()
	}
	return line(fmt.Sprintf("%s %s %d %d", now, i.then, when, i.by))
}

// instead parses a line; ok is false if line did not write it.
func (l line) instead() (i instead, ok bool) {
	f := strings.Fields(string(l))
	if len(f) != 4 {
		return i, false
	}
	if i.then = gitstore.ID(f[1]); f[0] != "-" {
		i.now = gitstore.ID(f[0])
	}
	when, err := strconv.ParseInt(f[2], 10, 64)
	if when != 0 {
		i.when = time.Unix(when, 0).UTC()
	}
	var err2 error
	i.by, err2 = strconv.Atoi(f[3])
	return i, err == nil && err2 == nil
}

// given parses the replacement for a path. ok is false without one, and for a line of a damaged
// file that names no author in People.
func (j *judged) given(path string) (i instead, ok bool) {
	l, there := j.Given[path]
	if !there {
		return i, false
	}
	i, ok = l.instead()
	return i, ok && i.by >= 0 && i.by < len(j.People)
}

// judgement is withheld.json.
type judgement struct {
	Key  string            `json:"key"`  // of the settings and approvals behind it
	Own  string            `json:"own"`  // this clone's address at the time
	Keys string            `json:"keys"` // by which signatures were checked
	Refs map[string]judged `json:"refs"`
}

// judgementFormat is part of the key. It changes when the same history gives another outcome.
const judgementFormat = "3"

// Sums returns hashes of the two inputs of a decision: the approvals of this clone, and the header
// of withheld.json with its authors and keys. They change whenever a decision may change. They cost
// two small reads.
func Sums(state string) (approved, judged string) {
	text, _ := file.Read(filepath.Join(state, ApprovedFile), file.MaxState)
	return derived.Sum(text), judges(filepath.Join(state, WithheldFile))
}

func judges(path string) string {
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 4<<10)
	n, _ := f.Read(head)
	before, _, _ := strings.Cut(string(head[:n]), `"refs":`)
	return derived.Sum([]byte(before))
}

// authorName returns an author's address, or words for a person if git knows none.
func authorName(a gitstore.Author) string {
	switch {
	case a.Email != "":
		return a.Email
	case a.Commit != "":
		return "an author without an address"
	}
	return "an author whose commits are not in this clone"
}

// sound reports whether each number in Withheld has names in People. A stored outcome that was
// changed by hand must not crash a reader.
func (j judgement) sound() bool {
	for _, ref := range j.Refs {
		person := func(i int) bool { return i >= 0 && i < len(ref.People) && len(ref.People[i]) > 0 }
		for _, i := range ref.Withheld {
			if !person(i) {
				return false
			}
		}
	}
	return true
}

// assessor serves one call of a Judge. Its past is the stored outcome if that has the same inputs.
type assessor struct {
	*Judge
	trust    config.Trust
	approved approvals
	past     judgement
	changed  bool    // past must be written
	asked    bool    // identity is known
	keys     bool    // check signatures even if none counts
	doubts   []error // reasons that history could not be read
}

func (j *Judge) assessor(c config.Trust) (*assessor, error) {
	g := &assessor{Judge: j, trust: c}
	approved, err := file.Read(filepath.Join(j.State, ApprovedFile), file.MaxState)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read what was approved here: %w", err)
	}
	settings, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	// A deeper clone knows more history.
	shallow, _ := file.Read(filepath.Join(j.Memory.Repo().CommonDir, "shallow"), file.MaxState)
	key := derived.Sum(slices.Concat([]byte(judgementFormat), settings, approved, shallow))
	if !derived.Read(filepath.Join(j.State, WithheldFile), &g.past) || g.past.Key != key || g.past.Refs == nil || !g.past.sound() {
		g.past = judgement{Key: key, Own: g.past.Own, Keys: g.past.Keys, Refs: map[string]judged{}}
	}
	return g, nil
}

// straight bounds how many of our own commits we follow without git, and keepFrom how many make the
// outcome worth writing. Reading one takes about 0.05 ms.
const (
	straight = 64
	keepFrom = 16
)

// of returns the memories withheld at a commit of a ref. keep marks the ref's newest commit, whose
// outcome the next command can reuse.
func (g *assessor) of(ctx context.Context, s *gitstore.Store, at gitstore.ID, keep bool) (judged, error) {
	past := g.past.Refs[s.Ref()]
	if past.Tip == at {
		return past, nil
	}
	if keep && g.past.Own != "" && !g.trust.Signed {
		own := func(a gitstore.Author) bool { return a.Email == g.past.Own }
		// our own changes have other blobs
		if n, ok := s.Authors().Straight(ctx, past.Tip, at, straight, own); ok {
			past.Tip = at
			decided, err := past.decided(ctx, s)
			if err != nil {
				return judged{}, err
			}
			g.past.Refs[s.Ref()] = past
			g.changed = g.changed || decided || n >= keepFrom
			return past, nil
		}
	}
	if err := g.ask(ctx); err != nil {
		return judged{}, err
	}
	var err error
	if g.approved, err = g.approvals(); err != nil {
		return judged{}, err
	}
	j, err := g.look(ctx, s, at, keep)
	if ctx.Err() != nil {
		return judged{}, err
	}
	if err != nil {
		g.doubts = append(g.doubts, err)
		return g.nothing(ctx, s, at)
	}
	if keep {
		g.past.Refs[s.Ref()], g.changed = j, true
	}
	return j, nil
}

// decided drops replacements for files that changed since, and reports whether it dropped any.
func (j *judged) decided(ctx context.Context, s *gitstore.Store) (some bool, err error) {
	if len(j.Given) == 0 {
		return false, nil
	}
	given := maps.Clone(j.Given)
	err = s.ViewAt(ctx, string(j.Tip), func(t *gitstore.Tree) error {
		for file := range j.Given {
			g, ok := j.given(file)
			if now, err := t.Stat(file); !ok || err == nil && now != g.now || err != nil && g.now != "" {
				delete(given, file)
			}
		}
		return nil
	})
	if some = len(given) < len(j.Given); some {
		j.Given = given
		j.sum()
	}
	return some, err
}

// sum sets Sum; it is empty if nothing is withheld or replaced.
func (j *judged) sum() {
	if j.Sum = ""; len(j.Withheld)+len(j.Given) > 0 {
		// Strings always encode, and maps in order.
		text, _ := json.Marshal([]any{slices.Sorted(maps.Keys(j.Withheld)), j.Given})
		j.Sum = derived.Sum(text)
	}
}

// look finds the author of each memory in the history, unless all of it is by trusted people.
func (g *assessor) look(ctx context.Context, s *gitstore.Store, at gitstore.ID, keep bool) (judged, error) {
	if _, err := os.Stat(g.authorsFile(s)); err != nil || !keep {
		var not gitstore.ID
		if past := g.past.Refs[s.Ref()]; keep && len(past.Withheld)+len(past.Given) == 0 {
			not = past.Tip // all authors up to there are trusted
		}
		only, err := s.Authors().Only(ctx, at, not, g.signatures(), g.trusts)
		if err != nil || only {
			return judged{Tip: at}, err
		}
	}
	found, err := g.origins(ctx, s, at, keep)
	if err != nil {
		return judged{}, err
	}
	return g.decide(at, found), nil
}

// ask finds this clone's identity and the accepted keys. If they changed, stored outcomes are
// invalid.
func (g *assessor) ask(ctx context.Context) error {
	if g.asked {
		return nil
	}
	id, err := g.Memory.Repo().Config().Identity(ctx)
	if err != nil {
		return err
	}
	keys := ""
	if len(g.trust.Signers) > 0 {
		if keys, err = g.Memory.Repo().Config().Believes(ctx); err != nil {
			return err
		}
	}
	g.asked = true
	if own := strings.ToLower(id.Email); own != g.past.Own || keys != g.past.Keys {
		g.past, g.changed = judgement{g.past.Key, own, keys, map[string]judged{}}, true
	}
	return nil
}

// signatures reports whether to check signatures, which costs a process each. It is true if the
// settings trust a signer or the caller asked for all keys.
func (g *assessor) signatures() bool { return g.keys || len(g.trust.Signers) > 0 }

// origins returns the authors of every memory of a ref at a commit, and starts from the stored
// answer.
func (g *assessor) origins(ctx context.Context, s *gitstore.Store, at gitstore.ID, keep bool) (*gitstore.Origins, error) {
	file := g.authorsFile(s)
	since := new(gitstore.Origins)
	if !derived.Read(file, since) || since.Tip != at && !keep {
		since = nil
	}
	if keep { // keep known authors, even after a squash by others
		since = g.untilHere(ctx, s, since)
	}
	found, err := s.Authors().Origins(ctx, at, record.MemoryDir, since, g.signatures(), g.belief(ctx))
	if err == nil && keep {
		g.Keep(file, found)
	}
	return found, err
}

// belief returns the rules for gitstore.Origins. Its key covers the settings, the approvals and
// this clone's address, so a stored answer under other rules is not reused.
func (g *assessor) belief(ctx context.Context) gitstore.Belief {
	return gitstore.Belief{Key: g.past.Key + " " + g.past.Own, Author: g.trusts, Approved: g.approved.of, Join: record.Resolve(ctx)}
}

// untilHere extends an earlier answer, which may be nil, to the newest commit made here, unless
// that one is older or on another history. Without it, skipped commits of this clone would be
// forgotten if a squash removed them.
func (g *assessor) untilHere(ctx context.Context, s *gitstore.Store, since *gitstore.Origins) *gitstore.Origins {
	last := s.Authors().LastMade(ctx)
	if last == "" {
		return since
	}
	if since != nil {
		later, err := g.Memory.Repo().History().IsAncestor(ctx, string(since.Tip), string(last))
		if err != nil || !later {
			return since
		}
	}
	until, err := s.Authors().Origins(ctx, last, record.MemoryDir, since, g.signatures(), g.belief(ctx))
	if err != nil {
		return since
	}
	return until
}

// authorsFile returns the path of the stored origins of a ref.
func (g *assessor) authorsFile(s *gitstore.Store) string {
	name := "memory"
	if s.Ref() == g.Journal.Ref() {
		name = "journal"
	}
	return filepath.Join(g.State, "authors-"+name+".json")
}

// decide turns the authors of a commit's files into its outcome. The order of People does not
// depend on the order of the maps.
func (g *assessor) decide(at gitstore.ID, found *gitstore.Origins) judged {
	j := judged{Tip: at, Withheld: map[gitstore.ID]int{}, Given: map[string]line{}, Texts: map[gitstore.ID]string{}}
	files := map[string]bool{}
	for _, paths := range []iter.Seq[string]{maps.Keys(found.Files), maps.Keys(found.Held)} {
		for file := range paths {
			files[file] = true
		}
	}
	people := map[string]int{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		o, held := found.Files[file], found.Held[file]
		by, now := o.By, o.Blob
		if now == "" {
			by = held.Gone
		}
		_, isHeld := found.Held[file]
		if held.Blob == now || !isHeld && now != "" {
			continue
		}
		names := g.names(by)
		i, known := people[strings.Join(names, "\n")]
		if !known {
			i, j.People = len(j.People), append(j.People, names)
			people[strings.Join(names, "\n")] = i
		}
		if now != "" {
			j.Withheld[now] = i
		}
		if _, ok := record.MemoryID(file); ok && held.Blob != "" {
			j.Given[file] = instead{now, held.Blob, held.When, i}.line()
			if held.Text != "" {
				j.Texts[held.Blob] = held.Text
			}
		}
	}
	j.sum()
	return j
}

// names returns the names of the untrusted authors in by, each once. It is never empty, because a
// withheld file needs a reason.
func (g *assessor) names(by []gitstore.Author) (names []string) {
	for _, a := range by {
		if n := authorName(a); g.strange(a) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		names = []string{authorName(gitstore.Author{})}
	}
	return names
}

func (g *assessor) strange(a gitstore.Author) bool { return !g.trusts(a) }

// nothing withholds every unapproved memory, for a history that cannot be read.
func (g *assessor) nothing(ctx context.Context, s *gitstore.Store, at gitstore.ID) (judged, error) {
	found := &gitstore.Origins{Files: map[string]gitstore.Origin{}, Held: map[string]gitstore.Held{}}
	err := eachFile(ctx, s, at, func(file string, blob gitstore.ID) {
		found.Files[file] = gitstore.Origin{Blob: blob, By: []gitstore.Author{{}}}
		if approved, _, ok := g.approved.of(file); !ok || approved != blob {
			found.Held[file] = gitstore.Held{}
		}
	})
	return g.decide(at, found), err
}

// blobsAt returns the blobs of all memories at a commit.
func blobsAt(ctx context.Context, s *gitstore.Store, at gitstore.ID) (map[gitstore.ID]bool, error) {
	blobs := map[gitstore.ID]bool{}
	err := eachFile(ctx, s, at, func(_ string, blob gitstore.ID) { blobs[blob] = true })
	return blobs, err
}

// eachFile calls fn for each file of a memory at a commit. It skips entries that git itself would
// refuse.
func eachFile(ctx context.Context, s *gitstore.Store, at gitstore.ID, fn func(file string, blob gitstore.ID)) error {
	err := s.ViewAt(ctx, string(at), func(t *gitstore.Tree) error {
		return t.Walk(record.MemoryDir, func(file string, blob gitstore.ID) error {
			fn(file, blob)
			return nil
		})
	})
	var bad gitstore.EntryErrors
	if errors.As(err, &bad) {
		err = nil
	}
	return err
}

// idOf returns the id in a memory's path. SettingsPath is its own id.
func idOf(file string) string {
	id, _, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".md"), "-")
	return id
}

// trusts reports whether agents get an author's changes without approval.
func (g *assessor) trusts(a gitstore.Author) bool {
	if a.Here {
		return true
	}
	for _, s := range g.trust.Signers {
		if a.Key != "" && (s == a.Key || strings.EqualFold(s, a.Key) && !strings.HasPrefix(s, "SHA256:") || strings.EqualFold(s, a.Owner) || s == a.Name) {
			return true
		}
	}
	if g.trust.Signed || a.Email == "" {
		return false
	}
	return a.Email == g.past.Own || Lists(g.trust, a.Email)
}

// Lists reports whether an address is among the trusted authors, or fits a pattern there.
func Lists(c config.Trust, address string) bool {
	return slices.ContainsFunc(c.Authors, func(p string) bool {
		ok, err := path.Match(strings.ToLower(p), strings.ToLower(address))
		return ok && err == nil
	})
}

func (g *assessor) save() {
	if g.changed {
		g.Keep(filepath.Join(g.State, WithheldFile), g.past)
	}
}
