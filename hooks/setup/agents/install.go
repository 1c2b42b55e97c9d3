package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

// maxSettings bounds a settings file, in bytes.
const maxSettings = 16 << 20

// A RefusedError gives the reason that a user's file is not touched. Nothing was changed then.
type RefusedError struct {
	File string
	Line int // 0 for the file as a whole
	Why  string
}

func (e *RefusedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
	}
	return fmt.Sprintf("%s: %s", e.File, e.Why)
}

// Change holds the bytes of a file before and after an installation.
type Change struct {
	Target
	Old, New []byte
	Fresh    bool // there was no file

	made []string
	real string      // the file's path with links resolved
	mode fs.FileMode // it has, or gets
}

// Changed reports whether the file has to change.
func (c Change) Changed() bool { return c.Fresh || !bytes.Equal(c.Old, c.New) }

// Plan returns the change that Install would make, with the same errors.
func (in Installer) Plan(t Target, program, clone string) (Change, error) {
	j, err := in.read()
	if err != nil {
		return Change{}, err
	}
	return in.plan(t, program, j.claimed(t, clone))
}

func (in Installer) plan(t Target, program string, a artefact) (Change, error) {
	c, err := inspect(t)
	if err != nil {
		return c, err
	}
	if t.whole() {
		if !c.Fresh && !t.wrote(c.Old) {
			return c, &RefusedError{t.File, 0, "not written by Reverie, and in the place of its own"}
		}
		c.New = t.text(program, !t.Bare || pluginServes(c.Old))
		return c, nil
	}
	if c.Fresh {
		a.Made = nil
	}
	c.New, c.made, err = t.add(c.Old, program, in.filter(a), a.Made)
	return c, t.refusal(err)
}

// refusal names the file of an error in its text.
func (t Target) refusal(err error) error {
	if at := new(settingsError); errors.As(err, &at) {
		return &RefusedError{t.File, at.Line, at.Reason}
	}
	return err
}

// inspect reads a target's file and checks whether it may be written.
func inspect(t Target) (c Change, err error) {
	c = Change{Target: t, real: t.File, mode: 0o600}
	if t.Top != "" {
		c.mode = 0o644
	}
	refuse := func(why string) (Change, error) { return c, &RefusedError{t.File, 0, why} }
	info, err := os.Lstat(t.File)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if c.real, err = filepath.EvalSymlinks(t.File); err != nil {
			return refuse("a link to nothing")
		}
		info, err = os.Stat(c.real)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Fresh = true
	case err != nil:
		return refuse(reason(err))
	case !info.Mode().IsRegular():
		return refuse("not a plain file")
	case info.Mode().Perm()&0o200 == 0:
		return refuse("read-only")
	default:
		c.mode = info.Mode().Perm()
		if c.Old, err = readSettings(c.real); err != nil {
			return refuse(reason(err))
		}
	}
	folder := filepath.Dir(c.real)
	for {
		info, err := os.Stat(folder)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(folder) != folder {
			folder = filepath.Dir(folder)
			continue
		}
		switch {
		case err != nil:
			return refuse(reason(err))
		case !info.IsDir():
			return refuse(folder + " is not a folder")
		case info.Mode().Perm()&0o200 == 0:
			return refuse("its folder is read-only")
		}
		break
	}
	return c, t.contained(folder, c.real)
}

// contained refuses a file in a git directory, and a file of a project if a link leads out of the
// project. folder is the deepest existing folder on its path.
func (t Target) contained(folder, path string) error {
	top := ""
	if t.Top != "" {
		var err error
		if top, err = filepath.EvalSymlinks(t.Top); err != nil {
			return err
		}
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(top, real); err != nil || !filepath.IsLocal(rel) {
			return &RefusedError{t.File, 0, "a link leads out of this work tree, to " + real}
		}
	}
	at, err := file.Real(path)
	if err != nil {
		return &RefusedError{t.File, 0, reason(err)}
	}
	if dir := file.GitDir(at, top); dir != "" {
		return &RefusedError{t.File, 0, "it is in a git directory, " + dir}
	}
	return nil
}

// reason returns a system error without its path.
func reason(err error) string {
	if path := new(fs.PathError); errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Install makes an agent call program on behalf of a clone, which its common git directory names.
// Repeating it is harmless.
func (in Installer) Install(ctx context.Context, t Target, program, clone string) (Change, error) {
	j, end, err := in.open(ctx)
	if err != nil {
		return Change{}, err
	}
	defer end()
	a := j.claimed(t, clone)
	c, err := in.plan(t, program, a)
	if err != nil {
		return c, err
	}
	return c, in.apply(j, a, c)
}

// apply records a change in the journal and writes it.
func (in Installer) apply(j *journal, a artefact, c Change) error {
	if known := a.After != ""; !known || hash(c.Old) != a.After {
		if err := in.before(&a, c, known); err != nil {
			return c.refusal(err)
		}
	}
	a.Made = slices.Compact(slices.Sorted(slices.Values(c.made)))
	for dir := filepath.Dir(c.real); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		a.Folders = slices.Insert(slices.DeleteFunc(a.Folders, func(d string) bool { return d == dir }), 0, dir)
	}
	a.After, a.Filter = hash(c.New), ""
	j.put(a)
	if err := in.write(j); err != nil { // first: an entry without a file is harmless
		return err
	}
	if !c.Changed() {
		return nil
	}
	return c.write()
}

// Refresh makes the files of a clone start a hook for the calls that clones' memories are about by
// now, and returns the changes. It changes no entry for a session, and no file without one. If
// nothing changed, it only reads the journal and the filters.
func (in Installer) Refresh(ctx context.Context, clone string) (changed []Change, err error) {
	due := func(a artefact) bool {
		t := a.target()
		return t.Hooks() && !t.whole() && slices.Contains(a.Clones, clone) && a.Filter != hashOf(in.filter(a))
	}
	j, err := in.read()
	if err != nil || !slices.ContainsFunc(j.Artefacts, due) {
		return nil, err
	}
	j, end, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	for _, a := range slices.Clone(j.Artefacts) {
		if !due(a) {
			continue
		}
		c, failed := in.refresh(j, a)
		if err = errors.Join(err, failed); failed == nil && !bytes.Equal(c.Old, c.New) {
			changed = append(changed, c)
		}
	}
	return changed, err
}

// refresh updates the entries for calls in the file of an artefact.
func (in Installer) refresh(j *journal, a artefact) (Change, error) {
	c, err := inspect(a.target())
	if err != nil {
		return c, err
	}
	f := in.filter(a)
	if !c.Fresh {
		if c.New, c.made, err = refreshCalls(c.Old, c.Agent, f, a.Made); err != nil {
			return c, c.refusal(err)
		}
	}
	if !bytes.Equal(c.Old, c.New) {
		return c, in.apply(j, a, c)
	}
	a.Filter = hashOf(f)
	j.put(a)
	return c, in.write(j)
}

// before determines and stores the file's content without us.
func (in Installer) before(a *artefact, c Change, known bool) (err error) {
	a.Before = ""
	if c.Fresh {
		a.Made = nil
		return nil
	}
	if c.whole() {
		return nil // no file existed before ours
	}
	without, err := c.cut(c.Old, a.Made, known)
	if err != nil {
		return err
	}
	a.Before, err = in.keep(without)
	return err
}

// write puts the new bytes in place and reads them again.
func (c Change) write() error {
	mode := fs.FileMode(0o700)
	if c.Top != "" {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(c.real), mode); err != nil {
		return err
	}
	if err := exchange(c.real, c.Old, c.New, c.mode); err != nil {
		return fmt.Errorf("write %s: %w", c.File, err)
	}
	now, err := readSettings(c.real)
	if err == nil && !c.whole() {
		_, err = c.cut(now, nil, false) // as uninstall will
	}
	if err != nil || !bytes.Equal(now, c.New) {
		return fmt.Errorf("write %s: it does not hold what was written: %w", c.File, errors.Join(errChanged, err))
	}
	return nil
}

// Fate names the effect of an uninstall on a file.
type Fate string

const (
	Stays   Fate = "stays"   // another clone uses it too
	Goes    Fate = "goes"    // we made it
	Returns Fate = "returns" // to the bytes it had
	Cut     Fate = "cut"     // our entries go, and later changes stay
	Gone    Fate = "gone"    // it has no entry of Reverie's
	Refused Fate = "refused" // it cannot be read or written; Why gives the reason
)

// Installed is a file that a clone asked for.
type Installed struct {
	Target
	Fate   Fate
	Why    error // reason for Refused
	Others int   // clones that use it too
}

// Installed lists the files of a clone with the effect of Remove on each. It includes other files
// that call us without an entry in the journal.
func (in Installer) Installed(clone string, others []Target) ([]Installed, error) {
	j, err := in.read()
	if err != nil {
		return nil, err
	}
	var found []Installed
	for _, a := range j.Artefacts {
		if !slices.Contains(a.Clones, clone) && len(a.alive()) > 0 {
			// Without any claim, a moved clone had it, maybe this one.
			continue
		}
		r, err := in.removal(a, clone)
		if err != nil {
			r.fate = Refused
		}
		found = append(found, Installed{a.target(), r.fate, err, a.others(clone)})
	}
	for _, t := range others {
		if j.find(t.File) != nil {
			continue
		}
		r, err := in.removal(artefact{File: t.File, Agent: t.Agent.Name, Top: t.Top}, clone)
		if err == nil && r.fate != Gone { // a file that cannot be read shows no entry
			found = append(found, Installed{t, r.fate, nil, 0})
		}
	}
	return found, nil
}

// InstalledIn returns the effect that Remove would have on a file on behalf of AllClones. Others
// counts the clones other than clone.
func (in Installer) InstalledIn(t Target, clone string) (Installed, error) {
	j, err := in.read()
	if err != nil {
		return Installed{}, err
	}
	a := artefact{File: t.File, Agent: t.Agent.Name, Top: t.Top}
	if known := j.find(t.File); known != nil {
		a = *known
	}
	i := Installed{Target: t, Others: a.others(clone)}
	a.Clones = nil
	r, err := in.removal(a, clone)
	if i.Fate = r.fate; err != nil {
		i.Fate, i.Why = Refused, err
	}
	return i, nil
}

// removal holds the effect of Remove on a file.
type removal struct {
	Change
	fate   Fate
	remove bool // the file, instead of writing New
}

func (in Installer) removal(a artefact, clone string) (r removal, err error) {
	r.fate = Gone
	t := a.target()
	if slices.ContainsFunc(a.alive(), func(c string) bool { return c != clone }) {
		r.fate = Stays
		return r, nil
	}
	if r.Change, err = inspect(t); err != nil {
		return r, err
	}
	known := a.After != ""
	switch now := hash(r.Old); {
	case r.Fresh:
		return r, nil
	case r.whole():
		if t.wrote(r.Old) {
			r.fate, r.remove = Goes, true
		}
		return r, nil
	case known && now == a.After && a.Before == "":
		r.fate, r.remove = Goes, true
		return r, nil
	case known && now == a.After:
		if r.New, err = in.backup(a.Before); err == nil {
			r.fate = Returns
			return r, nil
		}
	}
	if r.New, err = t.cut(r.Old, a.Made, known); err != nil {
		return r, r.refusal(err)
	}
	if bytes.Equal(r.New, r.Old) {
		return r, nil
	}
	r.fate = Cut
	if rest := strings.TrimSpace(strings.TrimPrefix(string(r.New), "\xef\xbb\xbf")); known && a.Before == "" && (rest == "{}" || rest == versioned || rest == "" && t.table()) {
		r.fate, r.remove = Goes, true
	}
	return r, nil
}

// AllClones selects all clones with a claim to a file.
const AllClones = ""

// Remove ends a clone's claim to a file, or the claims of AllClones. It removes our entries if no
// other existing clone has a claim.
func (in Installer) Remove(ctx context.Context, t Target, clone string) (Fate, error) {
	j, end, err := in.open(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	a := artefact{File: t.File, Agent: t.Agent.Name, Top: t.Top}
	if known := j.find(t.File); known != nil {
		known.Clones = slices.DeleteFunc(known.alive(), func(c string) bool { return c == clone || clone == AllClones })
		a = *known
	}
	r, err := in.removal(a, clone)
	if err != nil {
		return "", err
	}
	switch {
	case r.fate == Stays:
		if err := in.write(j); err != nil || !t.Hooks() || t.whole() {
			return r.fate, err
		}
		_, _ = in.refresh(j, a) // after an error, a Refresh of another clone tries again
		return r.fate, nil
	case r.remove:
		err = os.Remove(r.real)
		if info, lerr := os.Lstat(a.File); err == nil && lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = os.Remove(a.File) // a link to nothing, by now
		}
	case r.fate != Gone:
		err = r.write()
	}
	if err != nil {
		return "", err
	}
	file.Sweep(filepath.Dir(r.real))
	for _, dir := range slices.Backward(a.Folders) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !strings.HasPrefix(a.File, dir+string(filepath.Separator)) || os.Remove(dir) != nil {
			// The folder is not empty, or not made by us.
			break
		}
		a.Folders = a.Folders[:len(a.Folders)-1]
	}
	j.drop(t.File)
	j.inherit(a.Folders)
	return r.fate, in.write(j)
}
