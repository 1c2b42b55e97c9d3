package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
)

// loopSandbox runs the commands of a loop in containers, one a command.
type loopSandbox struct {
	w      *workspace
	engine *sandbox.Engine
	spec   sandbox.Spec
	base   string // the commit that the loop began at
}

// sandboxed reports whether a loop's commands run in containers.
func sandboxed(set worktree.Settings) bool { return set.Sandbox != "" && set.Sandbox != config.Off }

// insideOf is what the commands of a loop run in, with dir for their work tree; nil where they run on this machine.
func (w *workspace) insideOf(ctx context.Context, s worktree.State, dir string) (*loopSandbox, error) {
	if !sandboxed(s.Settings) {
		return nil, nil
	}
	c, err := w.env.sandboxSettings(ctx)
	if err != nil {
		return nil, err
	}
	in := &loopSandbox{w: w, base: s.Base}
	if in.spec, err = sandboxSpec(c); err != nil {
		return nil, err
	}
	in.spec.Image, in.spec.Loop, in.spec.Workspace = s.Settings.Image, s.Name, dir
	if in.engine, err = sandbox.Find(ctx, s.Settings.Sandbox); err != nil {
		return nil, loopSandboxFailure(err)
	}
	return in, nil
}

// loopSandboxFailure is how a loop ends that cannot have its sandbox.
func loopSandboxFailure(err error) error {
	f := new(failure)
	if errors.As(sandboxFailure(err), &f) {
		return loopFailure(worktree.SandboxFailed, err, f.hint)
	}
	return err
}

// wantSandbox finds what a loop that begins is to run in, and has a container look for what it will call. It makes nothing that stays.
func (w *workspace) wantSandbox(ctx context.Context, set *worktree.Settings, o loopOptions) error {
	c, err := w.env.sandboxSettings(ctx)
	if err != nil {
		return err
	}
	set.Sandbox = c.Mode
	if o.set("sandbox") {
		set.Sandbox = o.sandbox
	}
	switch {
	case set.Sandbox == "" || set.Sandbox == config.Off:
		set.Sandbox = config.Off
		if c.Mode != config.Off { // a person, or the team, wants one
			return w.wantsPerson("loop start --sandbox off")
		}
		return nil
	case !slices.Contains(sandbox.Engines(), set.Sandbox):
		return usage("", "--sandbox %s: known are %s, and off", set.Sandbox, strings.Join(sandbox.Engines(), ", "))
	case set.Agent == worktree.Hand:
		return byHand(*set)
	case o.inPlace:
		return usage("leave one of the two out", "--in-place works in your own work tree, and --sandbox keeps from it")
	}
	in, err := w.insideOf(ctx, worktree.State{Settings: *set}, "")
	if err != nil {
		return err
	}
	if set.Image, err = in.engine.Image(ctx, c.Image); err != nil {
		return loopSandboxFailure(err)
	}
	in.spec.Image = set.Image
	return in.try(ctx, *set)
}

// lookFor prints the first of its arguments that is no program.
const lookFor = `for p; do command -v "$p" >/dev/null || { echo "$p"; exit 1; }; done`

// try runs a container in an empty folder, and looks for the programs that a loop calls by name.
func (in *loopSandbox) try(ctx context.Context, set worktree.Settings) error {
	dir, done, err := in.w.tryFolder(ctx)
	if err != nil {
		return err
	}
	defer done()
	argv := []string{"sh", "-c", lookFor, "sh", "sh"}
	for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
		word, _, err := loopProgram(set, phase, true)
		if err != nil {
			return err
		}
		if word != "" && path.Base(word) == word {
			argv = append(argv, word)
		}
	}
	spec := in.spec
	spec.Workspace, spec.ReadOnly, spec.Network, spec.Limits.Time = dir, true, nil, tryTime
	r, err := in.engine.Run(ctx, spec, argv, nil)
	if err != nil {
		return loopSandboxFailure(err)
	}
	if r.Exit != 0 || r.Ended != sandbox.Exited {
		return loopFailure(worktree.Refusal, fmt.Errorf("the image has no program %s", visible(oneLine(strings.TrimSpace(string(r.Stdout)+string(r.Stderr)), 200))),
			"put it into the image: reverie sandbox build --dockerfile FILE")
	}
	return nil
}

const (
	tryTime   = time.Minute
	longest   = 7 * 24 * time.Hour // of a command without a limit
	exitEnded = exitLimit          // of a command that a limit other than that of time ended
)

// run is the worktree.Runner of a sandbox. Of the environment of the command it takes what is given with it, and what the settings name.
func (in *loopSandbox) run(ctx context.Context, c worktree.Command) (worktree.Result, error) {
	var res worktree.Result
	spec := in.spec
	spec.Env = slices.Concat(spec.Env, c.Env)
	if spec.Limits.Time = c.Time; c.Time <= 0 {
		spec.Limits.Time = longest
	}
	out, text := worktree.Keep(c)
	spec.Stdout, spec.Stderr = out, out
	var stdin io.Reader
	if len(c.Stdin) > 0 {
		stdin = bytes.NewReader(c.Stdin)
	}
	r, err := in.engine.Run(ctx, spec, c.Args, stdin)
	if err == nil {
		for _, d := range r.Denied {
			fmt.Fprintf(out, "\n[not reached: %s]", d)
		}
		res.Code, res.TimedOut = r.Exit, r.Ended == sandbox.TimedOut
		switch l := spec.Limits; r.Ended {
		case sandbox.TooLong:
			fmt.Fprintf(out, "\n[ended: it printed more than %d MiB]\n", l.Output>>20)
		case sandbox.TooBig:
			fmt.Fprintf(out, "\n[ended: %s]\n", r.Why)
		case sandbox.NoMemory:
			fmt.Fprintf(out, "\n[ended: it used more than %d MiB of memory]\n", l.Memory>>20)
		}
		if r.Ended != sandbox.Exited && !res.TimedOut {
			res.Code = exitEnded
		}
	}
	res.Output = text()
	switch {
	case errors.Is(err, sandbox.ErrLeft): // it may still write
		return res, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	case ctx.Err() != nil:
		return res, ctx.Err()
	case err != nil:
		return res, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	}
	return res, in.w.scrub(ctx, in.base, spec.Workspace)
}

// interrupted puts the work tree back to where a turn began that the sandbox failed: it is begun anew when the loop goes on. What was made is kept by a ref.
func (l *looper) interrupted(ctx context.Context, t worktree.Turn, err error) error {
	if l.place == nil || errors.Is(err, sandbox.ErrLeft) {
		return err
	}
	_, back := l.place.Restore(ctx, t.Loop.State.Tip, true, l.w.env.Now())
	return errors.Join(err, back)
}

// insideText is what a prompt begins with in a sandbox.
const insideText = "You are in a sandbox: there is no git directory in this folder, git does not work here, and nothing but this folder and /tmp can be written.\n\n"

// guard has a place for a sandbox take out only what may leave it.
func (w *workspace) guard(s worktree.State, place *worktree.Place) {
	if !sandboxed(s.Settings) || place.InPlace {
		return
	}
	quiet := false           // nothing that another process has started is at work in there
	var known *worktree.Loop // as it was when something held was first asked for
	place.Ready = func(ctx context.Context) error {
		if !quiet {
			if err := w.endContainers(ctx, s); err != nil {
				return err
			}
			quiet = true
		}
		known = nil
		return w.scrub(ctx, s.Base, place.Dir)
	}
	place.Runs = sandbox.Runs
	place.Holds = func(name string) bool { return sandbox.Runs(name) == sandbox.GitObeys }
	place.Waived = func(ctx context.Context, name, rule string) (bool, error) {
		if known == nil {
			l, err := worktree.Open(w.repo, s.Name, w.scanner).Load(ctx)
			if err != nil {
				return false, err
			}
			known = &l
		}
		return slices.ContainsFunc(known.Findings, func(f worktree.Finding) bool {
			return f.State == worktree.Waived && f.By == worktree.ByHost && f.File == name && f.Rule == rule
		}), nil
	}
	place.Refused = func(ctx context.Context, changed []string) (map[string]string, error) {
		return w.refused(ctx, s, place.Dir, changed)
	}
}

// endContainers removes the containers of processes that are gone, and is an error unless nothing of the loop is left.
func (w *workspace) endContainers(ctx context.Context, s worktree.State) error {
	e, err := sandbox.Find(ctx, s.Settings.Sandbox)
	if err == nil {
		_, err = e.Prune(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("%w: whether something is at work in the work tree: %w", worktree.ErrSandbox, err)
	}
	return nil
}

// maxTaken is the size of a file that is looked at where the loop has no limit, in bytes.
const maxTaken = 1 << 40

// refused are the paths of what must not leave a sandbox, of those that are different, each with the reason.
func (w *workspace) refused(ctx context.Context, s worktree.State, dir string, changed []string) (map[string]string, error) {
	wanted := map[string]bool{}
	var gone []string
	for _, name := range changed {
		name = strings.TrimSuffix(name, "/")
		wanted[name] = true
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, name)
		}
	}
	before := sync.OnceValues(func() (map[string]committed, error) { return w.committedAt(ctx, s.Base, "") })
	how := sandbox.Collecting{
		MaxFile: s.Settings.MaxFile, MaxTotal: maxTaken, MaxFiles: 1 << 20, Gone: gone,
		Skip: func(p string, folder bool) bool { return !folder && !wanted[p] },
		Before: func(p string) (string, bool) {
			all, err := before()
			if entry, ok := all[p]; err != nil || !ok || entry.mode != "120000" {
				return "", false
			}
			target, err := w.repo.Git(ctx, nil, "cat-file", "blob", all[p].blob)
			return string(target), err == nil
		},
		Take: func(sandbox.File, io.Reader) error { return nil },
	}
	if how.MaxFile <= 0 {
		how.MaxFile = maxTaken
	}
	files, no, err := sandbox.Collect(ctx, dir, how)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	}
	all := map[string]string{}
	for _, r := range no {
		all[r.Path] = "it was refused: " + r.Why
	}
	same := map[string]bool{} // of a folder, whether it is as the base has it: git lists files that were only written again
	for _, f := range files {
		if f.Runs != sandbox.BareRepository && f.Runs != sandbox.OtherRepository {
			continue
		}
		folder := path.Dir(f.Path)
		if _, known := same[folder]; !known {
			if same[folder], err = w.asCommitted(ctx, s.Base, dir, folder); err != nil {
				return nil, err
			}
		}
		if !same[folder] {
			all[f.Path] = f.Runs
		}
	}
	return all, nil
}

// askPerson is an error that stops a sandboxed loop in which nothing but what a person has to look at is left to do.
func askPerson(l worktree.Loop) error {
	if !sandboxed(l.State.Settings) || !l.State.Verified {
		return nil
	}
	n := 0
	for _, f := range l.Findings {
		switch {
		case !l.State.Settings.Blocks(f):
		case f.OfContent():
			n++
		default:
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s that the host would obey; look at them: reverie loop status %s; then reverie loop findings %s --waive ID", worktree.ErrPerson, count(n, "file was made or changed", "files were made or changed"), l.State.Name, l.State.Name)
}

// runsJSON is a file of a sandboxed loop that the host would obey, and that nobody has waived.
type runsJSON struct {
	File    string `json:"file"`
	Why     string `json:"why"`
	Finding string `json:"finding"` // its id
}

func runsOf(findings []worktree.Finding) []runsJSON {
	all := []runsJSON{}
	for _, f := range findings {
		if f.State == worktree.OpenFinding && f.OfContent() {
			all = append(all, runsJSON{f.File, f.Text, f.ID})
		}
	}
	return all
}
