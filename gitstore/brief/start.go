package brief

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/reader"
)

// The block for a session's start is prepared once per state of its inputs, in the state folder. A
// hook that finds it reads some refs and small files, but no memories. The files may be deleted at
// any time; one that is torn, too old or of another version is ignored.
const (
	PreparedDir   = "context"
	contextFiles  = 32 // a few worktrees, folders and agents, and where they were before
	contextFormat = 7  // grows when the same inputs give another text
)

// memoryState holds the inputs that decide which memories agents are given. Memory and Journal
// represent the memories themselves.
type memoryState struct {
	Version  string
	Memory   string // commit of the branch, or of origin's before there is one here
	Journal  string
	Own      string // commit of the person's own memory, or unreadable
	Branch   string // of the code
	Settings string // all values
	Approved string // sum of trust.json
	Judged   string // sum of the authors and keys that decided about withheld memories
}

// unreadable stands for the commit of a damaged memory of the person.
const unreadable = "unreadable"

// memoryStateOf reads the state. It runs no git where refs are files.
func memoryStateOf(ctx context.Context, repo *git.Repo, c config.Config) (s memoryState, head string) {
	ref := func(name string) string { id, _ := repo.Refs().Read(ctx, name); return id }
	s = memoryState{Version: version(), Memory: ref(c.Ref), Journal: ref(clone.JournalRef), Settings: fmt.Sprintf("%+v", c)}
	own, err := clone.OwnTip(ctx, repo, c)
	if s.Own = own; err != nil {
		s.Own = unreadable
	}
	if branch, ok := strings.CutPrefix(c.Ref, "refs/heads/"); ok && s.Memory == "" {
		s.Memory = ref("refs/remotes/origin/" + branch)
	}
	head, s.Branch, _ = repo.Head(ctx)
	s.Approved, s.Judged = trust.Sums(clone.StateOf(repo))
	return s, head
}

// startState holds the inputs of the block of a session's start. The ledger is no input: the use of
// memories changes their order at the next preparation only.
type startState struct {
	memoryState
	Format int
	Head   string
	Main   git.Default
	Shown  string // the block that the agent reads in the work tree
	Notes  string // the agent, and the inbox with its notes, if it is given those
	Stated string // memories that the work tree states, and which of its files the agent reads
	Dir    string // the asker's folder, below the top
	Budget int
	Bare   bool

	request Request
	config  config.Config
}

// startInputs reads the state. It runs no git where refs are files.
func startInputs(ctx context.Context, repo *git.Repo, c config.Config, r Request) startState {
	s := startState{Format: contextFormat, Budget: r.Budget, Bare: r.Bare, request: r, config: c}
	s.memoryState, s.Head = memoryStateOf(ctx, repo, c)
	main, err := repo.Refs().Default(ctx, c.Main)
	if s.Main = main; err != nil || len(r.Files) > 0 { // files are others at each call
		s.Memory = "" // not comparable
	}
	s.Shown = derived.Sum([]byte(blockInSight(repo.WorkTree, c.Agents, r.agent())))
	if c.AgentNotes {
		inbox, _ := repo.Refs().Read(ctx, clone.InboxRef)
		s.Notes = r.agent() + " " + inbox
	}
	s.Stated = statedSum(repo, r.agent())
	s.Dir = reader.Below(repo.WorkTree, r.Dir)
	return s
}

// again returns the state now: the decisions about withheld memories may be newer.
func (s startState) again(ctx context.Context, repo *git.Repo) startState {
	now := startInputs(ctx, repo, s.config, s.request)
	same := now
	if same.Judged = s.Judged; same.key() != s.key() {
		now.Memory = "" // an input moved meanwhile: keep nothing
	}
	return now
}

// key names the state.
func (s startState) key() string {
	data, _ := json.Marshal(s) // strings and numbers always encode
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// prepared is a file of the folder.
type prepared struct {
	Injection Injection `json:"injection"`
	Text      string    `json:"text"`
	Until     time.Time `json:"until,omitzero"` // when it holds no more
	Last      string    `json:"last,omitempty"` // the session about whose stop it tells

	Seen []anchor.Sight `json:"seen,omitempty"` // files of the work tree that memories rest on
}

// read returns the block that was prepared for the state.
func (s startState) read(repo *git.Repo, now time.Time) (Injection, bool) {
	if s.Memory == "" {
		return Injection{}, false
	}
	file := filepath.Join(clone.StateOf(repo), PreparedDir, s.key())
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return Injection{}, false
	}
	var p prepared
	if !derived.Read(file, &p) || !p.Until.IsZero() && !now.Before(p.Until) || p.Last != "" && p.Last == s.request.Session || !anchor.Unchanged(repo, p.Seen) {
		return Injection{}, false
	}
	in := p.Injection
	in.SetText(p.Text)
	return in, in.Hash == p.Injection.Hash && in.For == Start && Framed(in.Text)
}

// contextName matches the files of the folder.
var contextName = pattern.New(`^[0-9a-f]{32}$`)

// write keeps the block that was prepared for the state. A failure costs the next session time, and
// nothing else.
func (s startState) write(repo *git.Repo, p prepared) {
	if s.Memory == "" {
		return
	}
	text, err := derived.Encode(p)
	if err != nil || repo.State().Cache(PreparedDir+"/"+s.key(), text) != nil {
		return
	}
	files := file.ByAge(filepath.Join(clone.StateOf(repo), PreparedDir), func(name string) bool { return contextName.MatchString(name) || git.StateTemp(name) })
	for _, file := range files[min(contextFiles, len(files)):] {
		os.Remove(file)
	}
}

// Prepared returns the block for a session's start if one was prepared, reading only small files.
// If found is false, call Give. A resumed session has none, because it may get its own checkpoint.
// Prepared records the injection; the error concerns only that.
func Prepared(ctx context.Context, l Ledger, c config.Config, r Request, now time.Time) (in Injection, found bool, err error) {
	if c.Budget == 0 {
		return in, true, nil
	}
	if r.Resumed {
		return in, false, nil
	}
	in, found = startInputs(ctx, l.Repo, c, r).read(l.Repo, now)
	if !found {
		return in, false, nil
	}
	err = l.record(&in, r, now)
	return in, true, err
}

// version returns the version of this program. Another may render another text.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
