package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/reader"
)

// The block of a session's start is prepared once for a state of all that it is made from, and kept in the state
// folder. A hook that finds it there reads some refs and small files, and no memories. The files may be deleted at any
// time; one that is torn, too old or of another version is passed over.
const (
	contextDir    = "context"
	contextFiles  = 32 // a few worktrees, folders and agents, and where they were before
	contextFormat = 5  // grows when the same inputs give another text
)

// startState is all that the block of a session's start is made from, but what its memories say, which Memory and
// Journal stand for. The use of memories, which the ledger tells, changes their order at the next preparation only: a
// block stays as it is while what is known does.
type startState struct {
	Format   int
	Version  string
	Memory   string // commit of the branch, or of origin's before there is one here
	Journal  string
	Head     string
	Branch   string
	Main     git.Default
	Settings string // all values
	Approved string // sum of trust.json
	Judged   string // by whom, and by which keys, what is withheld was decided
	Shown    string // the block that the agent reads in the work tree
	Stated   string // memories that the work tree states, and which of its files the agent reads
	Dir      string // where the asker stands, below the top
	Budget   int

	request contextRequest
	config  config.Config
}

// startInputs looks at the state as it is. It runs no git where refs are files.
func startInputs(ctx context.Context, repo *git.Repo, c config.Config, r contextRequest) startState {
	s := startState{Format: contextFormat, Version: version(), Budget: r.Budget, request: r, config: c}
	ref := func(name string) string { id, _ := repo.ReadRef(ctx, name); return id }
	s.Memory = ref(c.Ref)
	if branch, ok := strings.CutPrefix(c.Ref, "refs/heads/"); ok && s.Memory == "" {
		s.Memory = ref("refs/remotes/origin/" + branch)
	}
	s.Journal = ref(clone.JournalRef)
	s.Head, s.Branch, _ = repo.Head(ctx)
	main, err := repo.Default(ctx, c.Main)
	if s.Main = main; err != nil || len(r.Files) > 0 { // files are others at each call
		s.Memory = "" // nothing is known to be the same
	}
	s.Settings = fmt.Sprintf("%+v", c)
	s.Approved, s.Judged = trust.Sums(filepath.Join(repo.CommonDir, "reverie"))
	s.Shown = derived.Sum([]byte(blockInSight(repo.WorkTree, c.Agents, r.agent())))
	s.Stated = statedSum(repo, r.agent())
	s.Dir = reader.Below(repo.WorkTree, r.Dir)
	return s
}

// again is the state now: what is withheld may have been decided since.
func (s startState) again(ctx context.Context, repo *git.Repo) startState {
	now := startInputs(ctx, repo, s.config, s.request)
	same := now
	if same.Judged = s.Judged; same.key() != s.key() {
		now.Memory = "" // something moved meanwhile: nothing is kept
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
	Injection injection `json:"injection"`
	Text      string    `json:"text"`
	Until     time.Time `json:"until,omitzero"` // when it holds no more
}

// read is what was prepared for the state.
func (s startState) read(repo *git.Repo, now time.Time) (injection, bool) {
	if s.Memory == "" {
		return injection{}, false
	}
	file := filepath.Join(repo.CommonDir, "reverie", contextDir, s.key())
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return injection{}, false
	}
	var p prepared
	if !derived.Read(file, &p) || !p.Until.IsZero() && !now.Before(p.Until) {
		return injection{}, false
	}
	in := p.Injection
	in.setText(p.Text)
	return in, in.Hash == p.Injection.Hash && in.For == forStart && framed(in.text)
}

// contextName is the name of a file of the folder.
var contextName = pattern.New(`^[0-9a-f]{32}$`)

// write keeps what was prepared for the state. That it could not be kept costs the next session time, and nothing else.
func (s startState) write(repo *git.Repo, in injection, until time.Time) {
	if s.Memory == "" {
		return
	}
	text, err := derived.Encode(prepared{in, in.text, until})
	if err != nil || repo.WriteState(contextDir+"/"+s.key(), text, false) != nil {
		return
	}
	files := file.ByAge(filepath.Join(repo.CommonDir, "reverie", contextDir), func(name string) bool { return contextName.MatchString(name) || git.StateTemp(name) })
	for _, file := range files[min(contextFiles, len(files)):] {
		os.Remove(file)
	}
}

// preparedContext answers the start of a session without opening anything but small files, from what was prepared
// before; found is false where nothing was, and workspace.context has to be asked. It notes what it gives.
func preparedContext(ctx context.Context, env *Env, repo *git.Repo, c config.Config, r contextRequest) (text string, found bool) {
	if c.Budget == 0 {
		return "", true
	}
	if r.Dir == "" {
		r.Dir = env.Dir
	}
	in, ok := startInputs(ctx, repo, c, r).read(repo, env.Now())
	if !ok {
		return "", false
	}
	w := &workspace{Reader: &reader.Reader{Clone: &clone.Clone{Repo: repo, State: filepath.Join(repo.CommonDir, "reverie")}}, env: env}
	w.unlessGiven(&in, r)
	w.note(&in, r)
	return in.text, true
}
