package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// privateFolder is the folder, readable by its owner alone, in which each container of ours has one
// while it runs. It lies with temporary files and has a name that can be guessed, so that Prune
// finds it; one that is not ours is refused. Each engine has its own: another one does not know its
// containers.
func privateFolder(engine string) (string, error) {
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return "", err
	}
	name := filepath.Join(temp, "reverie-"+engine+"-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(name, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !ownedByUs(info) || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%w: %s is not a folder of yours alone; move it away", ErrBadSpec, name)
	}
	return name, nil
}

// given is what a container is given of ours, in a folder named as it.
type given struct{ dir string }

func (e *Engine) give(name string) (given, error) {
	g := given{filepath.Join(e.folder, name)}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		return g, err
	}
	owner, err := json.Marshal(self())
	if err != nil {
		return g, err
	}
	if err := os.WriteFile(g.owner(), owner, 0o600); err != nil {
		return g, err
	}
	if err := os.Mkdir(g.emptyFolder(), 0o555); err != nil {
		return g, err
	}
	if err := os.WriteFile(g.hosts(), []byte("127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\n"), 0o444); err != nil {
		return g, err
	}
	if err := os.WriteFile(g.emptyFile(), nil, 0o444); err != nil || e.facts.filter == "" {
		return g, err
	}
	filter, err := narrowFilter(e.facts.filter)
	if err != nil {
		return g, err
	}
	return g, os.WriteFile(g.filter(), filter, 0o400)
}

func (g given) emptyFolder() string { return filepath.Join(g.dir, "folder") } // stands in the place of a git directory
func (g given) emptyFile() string   { return filepath.Join(g.dir, "file") }   // stands in the place of a file that names one
func (g given) owner() string       { return filepath.Join(g.dir, "owner") }  // says whose it is
func (g given) socket() string      { return filepath.Join(g.dir, "proxy") }
func (g given) filter() string      { return filepath.Join(g.dir, "filter") }
func (g given) hosts() string       { return filepath.Join(g.dir, "hosts") } // Podman would show the host's

func (g given) remove() error { return os.RemoveAll(g.dir) }

// unusedFor is how old a folder is of which nothing says whose it is: one that is younger may be
// about to.
const unusedFor = 10 * time.Minute

// sweep removes what was given to containers of owners that are not alive. Podman has no process
// that ends what a killed client had begun: what is left then of a container that never came to be
// has no labels, but its name, which is that of the folder.
func (e *Engine) sweep(alive func(Owner) bool) error {
	entries, err := os.ReadDir(e.folder)
	for _, f := range entries {
		if !strings.HasPrefix(f.Name(), "reverie-") {
			continue
		}
		g := given{filepath.Join(e.folder, f.Name())}
		var o Owner
		text, rerr := os.ReadFile(g.owner())
		if rerr == nil && json.Unmarshal(text, &o) == nil {
			if alive(o) {
				continue
			}
		} else if info, ierr := f.Info(); ierr != nil || time.Since(info.ModTime()) < unusedFor {
			continue
		}
		if e.Name == "podman" {
			if gone := e.remove(f.Name()); gone != nil {
				err = errors.Join(err, fmt.Errorf("%w: %s: %w", ErrLeft, f.Name(), gone))
				continue
			}
		}
		err = errors.Join(err, g.remove())
	}
	return err
}
