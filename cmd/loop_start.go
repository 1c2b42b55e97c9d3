package cmd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/program"
)

// runLoopStart begins a loop, and carries it on until it ends.
func runLoopStart(ctx context.Context, env *Env, file string, command []string, o loopOptions) error {
	if err := notInLoop("start"); err != nil {
		return err
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	record, s, lease, err := w.newRecord(ctx, file, command, o)
	if err != nil {
		return explainLoop(err)
	}
	if o.detach {
		return w.detachLoop(ctx, s, lease)
	}
	return w.carryOn(ctx, record, s, lease)
}

// newRecord is a loop that begins: its record and state, and its lease.
func (w *workspace) newRecord(ctx context.Context, file string, command []string, o loopOptions) (*worktree.Record, worktree.State, *worktree.Lease, error) {
	if o.inPlace {
		unlock, err := worktree.LockPlaces(ctx, w.Repo)
		if err != nil {
			return nil, worktree.State{}, nil, err
		}
		defer unlock()
	}
	s, plan, err := w.newLoop(ctx, file, command, o)
	if err != nil {
		return nil, s, nil, err
	}
	record, lease, err := w.beginLoop(ctx, &s, plan, o.name == "")
	return record, s, lease, err
}

// newLoop is the state of a loop as the command line asks for it. It changes nothing.
func (w *workspace) newLoop(ctx context.Context, file string, command []string, o loopOptions) (s worktree.State, plan worktree.Plan, err error) {
	text, err := w.env.planText(ctx, file)
	if err != nil {
		return s, plan, err
	}
	usual, err := w.usualLoop(ctx, command, o)
	if err != nil {
		return s, plan, err
	}
	set, err := w.loopSettings(usual, command, o, true)
	if err != nil {
		return s, plan, err
	}
	plan, wrong, doubtful := w.lintPlan(ctx, text, set)
	if len(wrong) > 0 {
		return s, plan, wrong[0]
	}
	if n := len(doubtful); n > 0 {
		w.env.Say("%s about the plan; see them: reverie loop lint %s", term.Count(n, "warning", "warnings"), file)
	}
	base, err := w.loopBase(ctx, o.base)
	if err != nil {
		return s, plan, err
	}
	if err := w.wantSandbox(ctx, &set, o); err != nil {
		return s, plan, err
	}
	if err := byHand(set); err != nil {
		return s, plan, err
	}
	programs := program.Place{Repo: w.Repo, Inside: sandboxed(set), Commit: base}
	if o.inPlace {
		programs.Dir = w.Repo.WorkTree
	}
	if err := lookForPrograms(ctx, programs, set); err != nil {
		return s, plan, err
	}
	if set.AuditModel != "" && set.AuditAgent == "" {
		if _, _, err := w.model(ctx, set.AuditModel); err != nil {
			return s, plan, err
		}
	}
	now := w.env.Now().UTC().Truncate(time.Second)
	s = worktree.State{Name: o.name, Title: plan.Title, Phase: worktree.Starting, Run: randomHex(8), Started: now, Changed: now, Base: base, Settings: set}
	if o.promise {
		s.Nonce = randomHex(6)
	}
	if o.inPlace {
		err = w.inPlace(ctx, &s, o)
	}
	return s, plan, err
}

// planText reads a plan.
func (env *Env) planText(ctx context.Context, name string) (string, error) {
	from := env.In
	if name != "-" {
		f, err := term.OpenFile(ctx, env.path(name))
		if err != nil {
			return "", fmt.Errorf("read the plan: %w", err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, worktree.MaxPlan+1))
	return string(text), err
}

// usualLoop are the settings of a loop for which the command line asks nothing: those of the user's file, as far as the team's let them. Of
// who codes and who audits, what the command line says takes the place of all.
func (w *workspace) usualLoop(ctx context.Context, command []string, o loopOptions) (worktree.Settings, error) {
	if err := w.Narrow(ctx); err != nil {
		return worktree.Settings{}, err
	}
	set, of := worktree.DefaultSettings(), w.Settings.Config.Loop
	if o.agent == "" && len(command) == 0 {
		set.Agent = of.Agent
	}
	none := o.set("min-audits") && o.minAudits == 0
	if o.audit == "" && o.auditAgent == "" && o.auditModel == "" && !none {
		if set.Audit, set.AuditAgent, set.AuditModel = of.Audit, of.AuditAgent, of.AuditModel; of.Audit != "" && (of.AuditAgent != "" || of.AuditModel != "") {
			return set, exit.New(exit.Failed, errors.New("the settings loop.audit, and loop.audit-agent or loop.audit-model, exclude each other"), "reverie config --user loop.audit ''")
		}
	}
	set.MaxIterations, set.MinAudits, set.MaxErrors, set.MaxStalls, set.MaxRepeats = of.MaxIterations, of.MinAudits, of.MaxErrors, of.MaxStalls, of.MaxRepeats
	set.StallTime, set.MaxFile, set.BlockOn = float64(of.Stall), int64(of.MaxFile), of.BlockOn
	return set, nil
}

// loopSettings are settings changed by the command line; all of them for a loop that begins.
func (w *workspace) loopSettings(set worktree.Settings, command []string, o loopOptions, begin bool) (worktree.Settings, error) {
	switch {
	case !begin && o.agent != "" && len(command) > 0:
		return set, exit.Usage("reverie loop resume NAME --agent "+agent.Names()[1]+", or: reverie loop resume NAME -- COMMAND…", "say who codes: an agent, or a command, and not both")
	case begin && (o.agent != "" && len(command) > 0 || set.Agent == "" && o.agent == "" && len(command) == 0):
		return set, exit.Usage("reverie loop start PLAN --agent "+agent.Names()[1]+", or: reverie loop start PLAN -- COMMAND…", "say who codes: an agent, or a command, and not both")
	case o.audit != "" && (o.auditAgent != "" || o.auditModel != ""):
		return set, exit.Usage("", "an audit is a command's, or an agent's or a model's, not both")
	case o.auditModel == config.Off:
		return set, exit.Usage("leave it out", "--audit-model off: it is the name of a model, or auto")
	case !begin && o.promise && !set.Promise:
		return set, exit.Usage("start another one from its branch: reverie loop start PLAN --base BRANCH --promise …", "--promise: the coder was not told what to say")
	case !begin && o.set("sandbox"):
		return set, exit.Usage("start another one from its branch: reverie loop start PLAN --base BRANCH --sandbox …", "--sandbox: a loop keeps what it was started with")
	}
	take := func(flag string, put func()) {
		if o.set(flag) {
			put()
		}
	}
	take("agent", func() { set.Agent, set.Command = o.agent, nil })
	take("model", func() { set.Model = o.model })
	if o.audit != "" || o.auditAgent != "" { // takes the place of who audited
		set.Audit, set.AuditAgent, set.AuditModel = "", "", ""
	} else if o.auditModel != "" { // an agent's, where one audits
		set.Audit = ""
	}
	take("audit", func() { set.Audit = o.audit })
	take("audit-agent", func() { set.AuditAgent = o.auditAgent })
	take("audit-model", func() { set.AuditModel = o.auditModel })
	take("promise", func() { set.Promise = o.promise })
	take("max", func() { set.MaxIterations = o.max })
	take("min-audits", func() { set.MinAudits = o.minAudits })
	take("max-errors", func() { set.MaxErrors = o.maxErrors })
	take("max-repeats", func() { set.MaxRepeats = o.maxRepeats })
	take("max-stalls", func() { set.MaxStalls = o.maxStalls })
	take("stall", func() { set.StallTime = o.stall.Seconds() })
	take("turn-time", func() { set.TurnTime = o.turn.Seconds() })
	take("verify-time", func() { set.VerifyTime = o.verify.Seconds() })
	take("time", func() { set.TotalTime = o.total.Seconds() })
	take("backoff", func() { set.Backoff = o.backoff.Seconds() })
	take("max-file", func() { set.MaxFile = o.maxFile })
	take("remove-worktree", func() { set.RemoveTree = o.removeTree })
	take("block-on", func() {
		set.BlockOn = strings.FieldsFunc(o.blockOn, func(c rune) bool { return c == ',' || c == ' ' })
	})
	if len(command) > 0 {
		set.Agent, set.Command = "", command
	}
	for flag, name := range map[string]string{"agent": set.Agent, "audit-agent": set.AuditAgent} {
		if name != "" && !(flag == "agent" && name == worktree.Hand) {
			if _, _, err := agent.Call(name, "", worktree.Coding, false); err != nil {
				return set, fmt.Errorf("--%s: %w", flag, err)
			}
		}
	}
	if set.AuditModel == config.Off { // a setting says so; an agent then asks the model of its own
		set.AuditModel = ""
	}
	switch {
	case set.Agent == "" && len(set.Command) == 0:
		return set, exit.Usage("--agent "+agent.Names()[1]+", or a command behind --", "nobody is said to code")
	case !set.Audited() && set.MinAudits > 0:
		return set, exit.Usage("--audit CMD, --audit-agent or --audit-model; to go by the plan's own commands alone: --min-audits 0", "nobody is said to look for defects")
	}
	for _, word := range set.BlockOn {
		if !slices.Contains([]worktree.Severity{worktree.Bug, worktree.Warning, worktree.Suggestion}, worktree.Severity(word)) {
			return set, exit.Usage("", "--block-on %s: severities are bug, warning and suggestion", word)
		}
	}
	for name, n := range map[string]float64{
		"max": float64(set.MaxIterations), "min-audits": float64(set.MinAudits), "max-errors": float64(set.MaxErrors), "max-repeats": float64(set.MaxRepeats), "max-stalls": float64(set.MaxStalls),
		"stall": set.StallTime, "turn-time": set.TurnTime, "verify-time": set.VerifyTime, "time": set.TotalTime, "backoff": set.Backoff, "max-file": float64(set.MaxFile),
	} {
		if n < 0 {
			return set, exit.Usage("", "--%s: less than nothing", name)
		}
	}
	return set, nil
}

// byHand refuses what a loop by hand cannot have.
func byHand(set worktree.Settings) error {
	switch {
	case set.Agent != worktree.Hand:
		return nil
	case sandboxed(set):
		return exit.Usage("--sandbox off", "--agent %s: in the work tree of a sandbox there is no git to commit with", worktree.Hand)
	case set.Promise:
		return exit.Usage("leave one of the two out", "--agent %s: nobody is there who could give a promise", worktree.Hand)
	}
	return nil
}

// loopBase is the commit that a loop begins from.
func (w *workspace) loopBase(ctx context.Context, rev string) (string, error) {
	if rev == "" {
		id, _, err := w.Repo.Head(ctx)
		if errors.Is(err, git.ErrNoRef) {
			return "", exit.New(exit.Failed, errors.New("there is no commit yet that a loop could begin from"), "git commit")
		}
		return id, err
	}
	ids, err := w.Repo.Commits(ctx, rev)
	if err == nil && ids[0] == "" {
		err = fmt.Errorf("--base %s: no such commit", rev)
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// inPlace has a loop work in the user's own work tree, if that is clean and on a branch.
func (w *workspace) inPlace(ctx context.Context, s *worktree.State, o loopOptions) error {
	_, branch, err := w.Repo.Head(ctx)
	switch {
	case err != nil:
		return err
	case w.Repo.WorkTree == "":
		return exit.Usage("", "--in-place: there is no work tree here")
	case o.base != "":
		return exit.Usage("", "--in-place begins at HEAD; leave out --base")
	case branch == "":
		return loopFailure(worktree.Refusal, errors.New("HEAD is on no branch"), "git switch BRANCH")
	}
	s.InPlace, s.Branch = w.Repo.WorkTree, "refs/heads/"+strings.TrimPrefix(branch, "refs/heads/")
	if err := w.alone(ctx, *s); err != nil {
		return err
	}
	place, err := worktree.PlaceOf(w.Repo, worktree.State{Name: "check", InPlace: s.InPlace, Branch: s.Branch}, w.Scanner)
	if err != nil {
		return err
	}
	return place.Clean(ctx)
}

// alone refuses a loop in a user's own work tree beside another that has not ended: each would commit what the other has not finished.
func (w *workspace) alone(ctx context.Context, s worktree.State) error {
	other, err := worktree.Beside(ctx, w.Repo, s)
	if err == nil && other != "" {
		err = loopFailure(worktree.Refusal, fmt.Errorf("the loop %s works in %s, on %s, and has not ended", other, s.InPlace, strings.TrimPrefix(s.Branch, "refs/heads/")),
			"'reverie loop status "+other+"' shows it, 'reverie loop cancel "+other+"' ends it")
	}
	return err
}

// beginLoop gives a loop its name and record. Another number is tried for a name that was not asked for.
func (w *workspace) beginLoop(ctx context.Context, s *worktree.State, plan worktree.Plan, free bool) (*worktree.Record, *worktree.Lease, error) {
	stem := s.Name
	if free {
		if stem = worktree.Slug(plan.Title); stem == "" {
			stem = "loop"
		}
	}
	own := s.Branch == ""
	for n := 1; n < 1000; n++ {
		if s.Name = stem; n > 1 {
			s.Name = fmt.Sprintf("%s-%d", stem, n)
		}
		if own {
			s.Branch = worktree.Branches + s.Name
		}
		if err := git.CheckRef(s.Branch); err != nil || worktree.Slug(s.Name) != s.Name && strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return nil, nil, exit.Usage("letters a to z, digits, and - _ . between them", "--name %s: no name for a loop", s.Name)
		}
		if own {
			if err := w.branchFree(ctx, s.Branch); err != nil {
				return nil, nil, err
			}
		}
		record := worktree.Open(w.Repo, s.Name, w.Scanner)
		lease, err := worktree.TakeLease(ctx, w.Repo, s.Name, "")
		if err == nil {
			if _, branchErr := w.Repo.ReadRef(ctx, s.Branch); own && branchErr == nil {
				err = fmt.Errorf("branch %s: %w", strings.TrimPrefix(s.Branch, "refs/heads/"), worktree.ErrTaken)
			}
			if err == nil {
				err = record.Create(ctx, *s, plan)
			}
			if err == nil {
				return record, lease, nil
			}
			lease.Release()
		}
		if !free || !errors.Is(err, worktree.ErrTaken) && !errors.Is(err, worktree.ErrHeld) {
			if errors.Is(err, worktree.ErrTaken) {
				err = exit.New(exit.Failed, err, "'reverie loop status' lists the loops; 'reverie loop resume' goes on with one; or give another --name")
			}
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("%s: %w", stem, worktree.ErrTaken)
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
