// Package doctor checks an installation of Reverie: git, the memory, agents' settings, git's hooks
// and models. Begin with Checks. A check returns its findings as data, and changes nothing except
// the search index, which it brings up to date.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Check examines one thing.
type Check struct {
	Name string
	Run  func(context.Context) []Finding
}

// State grades a finding.
type State string

const (
	OK     State = "ok"
	Note   State = "note" // worth knowing, and no fault
	Broken State = "broken"
)

// Finding is a result of a check.
type Finding struct {
	What   string
	State  State
	Detail string
	Fix    string // something a person can do
	Err    error  // behind Detail

	Mend func(context.Context) (notes []string, err error) // nil if only a person can
}

// Checks returns the checks in order. Without a repository, r is nil and err gives the reason.
// filterOf is that of setup.AgentOptions.
func Checks(r *reader.Reader, filterOf func(commonDir string) hooks.Filter, err error) []Check {
	checks := []Check{{"git", checkGit}}
	if job.Disabled() {
		off := Finding{State: Note, Detail: "turned off in this shell by " + job.DisableVariable + " or " + job.Depth}
		checks = append(checks, Check{"hooks", one(off)})
	}
	if r == nil {
		return append(checks, Check{"repository", one(fault(err))}, Check{"agents", agentCheck{filterOf: filterOf}.run})
	}
	m := &memoryCheck{Reader: r}
	return append(checks,
		Check{"memory", m.records}, Check{"objects", m.objects}, Check{"index", m.index}, Check{"trust", m.trust}, Check{"your memory", m.own},
		Check{"agents", agentCheck{clone: r.Clone, filterOf: filterOf}.run}, Check{"git hooks", gitHookCheck{r.Clone}.run},
		Check{"hooks", logCheck{r.Clone}.run}, Check{"prompts", modelCheck{r}.prompts}, Check{"model", modelCheck{r}.models})
}

// Run runs checks. A finding without a subject gets the name of its check, and one without a fix
// the hint of its error.
func Run(ctx context.Context, checks []Check) (all []Finding) {
	for _, c := range checks {
		for _, f := range c.Run(ctx) {
			f.What = cmp.Or(f.What, c.Name)
			if f.Err != nil && f.Fix == "" {
				_, f.Fix = hint.For(f.Err)
			}
			all = append(all, f)
		}
	}
	return all
}

func one(f Finding) func(context.Context) []Finding {
	return func(context.Context) []Finding { return []Finding{f} }
}

// fault returns the finding of a failed check.
func fault(err error) Finding { return Finding{State: Broken, Detail: err.Error(), Err: err} }

func checkGit(ctx context.Context) []Finding {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return []Finding{{State: Broken, Detail: err.Error(), Fix: "install git, and have it in PATH"}}
	}
	return []Finding{{State: OK, Detail: strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")}}
}

// memoryCheck checks the memory of a clone.
type memoryCheck struct {
	*reader.Reader
	sound bool // records found no fault
}

// records checks whether there is a memory, and reads every record in it.
func (m *memoryCheck) records(ctx context.Context) []Finding {
	f := Finding{State: OK}
	err := m.View(ctx, func(v *record.View) error {
		f.Detail = m.Branch() + ", " + inForce(v)
		if len(v.Bad()) > 0 {
			f.State, f.Detail = Broken, f.Detail+", and "+plural.Count(len(v.Bad()), "file", "files")+" that cannot be read"
			f.Fix = "reverie check"
		}
		return nil
	})
	switch {
	case clone.NoMemory(err):
		f.State, f.Detail, f.Fix = Note, "none in this repository: hooks do nothing here", "reverie init"
	case err != nil:
		f = fault(err)
	default:
		if info, err := os.Lstat(m.State); f.State == OK && (err != nil || !info.IsDir()) {
			f.State, f.Detail, f.Fix = Note, f.Detail+"; not started in this clone: hooks do nothing here", "reverie init"
		}
	}
	m.sound = f.State == OK
	return []Finding{f}
}

// objects checks whether a store reaches missing objects. A store without a fault gives no finding.
func (m *memoryCheck) objects(ctx context.Context) (found []Finding) {
	for _, o := range []struct{ name, ref, lane string }{
		{m.Branch(), m.Config.Ref, "memory"}, {"the journal", clone.JournalRef, "journal"}, {"the inbox", clone.InboxRef, "inbox"},
	} {
		store := gitstore.Open(m.Repo, o.ref)
		broken, err := store.Broken(ctx)
		switch {
		case err != nil:
			found = append(found, Finding{State: Broken, Detail: o.name + ": " + err.Error(), Fix: "reverie check --deep"})
		case broken:
			found = append(found, Finding{State: Broken, Detail: o.name + " reaches objects that are gone", Mend: func(ctx context.Context) ([]string, error) {
				done, err := store.Repair(ctx, "refs/reverie/remotes/*/"+o.lane)
				return repaired(o.name, done), err
			}})
		}
	}
	return found
}

// index updates the index, and checks whether the update was stored.
func (m *memoryCheck) index(ctx context.Context) []Finding {
	if !m.sound {
		return nil
	}
	return []Finding{CheckIndex(ctx, m.Reader)}
}

// CheckIndex checks whether the index of a clone can be stored.
func CheckIndex(ctx context.Context, r *reader.Reader) Finding {
	if err := r.RefreshIndex(ctx); err != nil {
		return indexFault(err, filepath.Join(r.State, reader.CatalogFile))
	}
	return Finding{State: OK, Detail: "up to date"}
}

// indexFault returns the finding of an index that could not be stored in a file.
func indexFault(err error, path string) Finding {
	f := Finding{State: Broken, Detail: "every search indexes all memories again: " + err.Error(), Err: err}
	if !errors.Is(err, syscall.ENOSPC) { // which has a hint of its own
		f.Fix = "look who may write to " + path + ", or remove it"
	}
	return f
}

// trust checks whether agents get the memories. Without a memory there is no finding.
func (m *memoryCheck) trust(ctx context.Context) []Finding {
	held, err := m.AllHeld(ctx)
	f := Finding{State: OK, Detail: "nothing is withheld from agents for its author"}
	switch {
	case clone.NoMemory(err):
		return nil
	case err != nil:
		f = fault(err)
	case len(held) > 0:
		f = Finding{State: Note, Detail: reader.DescribeHeld(held), Fix: "reverie trust"}
	case m.Settings.Trust.Text != nil:
		f = Finding{State: Note, Detail: reader.WhySettings(m.Reader), Fix: "reverie trust approve " + trust.SettingsPath}
	}
	if _, err := m.Memory.Tip(ctx); err != nil && len(held) == 0 {
		return nil
	}
	return []Finding{f}
}

// inForce counts the memories in force, as status does.
func inForce(v *record.View) string {
	n := 0
	for _, m := range v.Memories() {
		if m.Status != record.Retired {
			n++
		}
	}
	return plural.Count(n, "memory", "memories")
}

// own checks the person's own memory. Without one there is no finding.
func (m *memoryCheck) own(ctx context.Context) []Finding {
	c, err := clone.OpenOwn(ctx, m.Clone)
	f := Finding{State: OK}
	if err == nil {
		err = c.View(ctx, func(v *record.View, _ clone.Team) error {
			f.Detail = inForce(v) + " in " + c.Repo.CommonDir
			return nil
		})
	}
	switch {
	case clone.NoOwn(err):
		return nil
	case err != nil:
		f = Finding{State: Note, Detail: "not read, and hooks do without: " + err.Error(), Fix: "look into " + config.OwnStore() + ", or turn it off: reverie config --user user.memory false"}
	case !m.Config.UserMemory:
		f.State, f.Detail = Note, f.Detail+", turned off by user.memory"
	default:
		if info, err := os.Stat(c.Repo.CommonDir); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			f.State, f.Detail, f.Fix = Note, f.Detail+", which others may read", "chmod 700 "+c.Repo.CommonDir
		}
	}
	return []Finding{f}
}

// repaired describes a repair of a store.
func repaired(name string, done gitstore.Repaired) (notes []string) {
	if done.Restored > 0 {
		notes = append(notes, fmt.Sprintf("%s: restored %s from those kept of the last writes", name, plural.Count(done.Restored, "object", "objects")))
	}
	if done.To != "" {
		notes = append(notes, fmt.Sprintf("%s: went back from %.12s, of which objects are gone, to %.12s, which %s has: what was written between is lost here; reverie sync brings what a remote has of it",
			name, done.From, done.To, done.Source))
	}
	return notes
}
