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

// privateFolder returns the folder, readable by its owner alone, that holds one folder for each
// of our running containers. It is among temporary files under a fixed name, so that Prune finds
// it; a foreign one is refused. Each engine has its own, because it does not know the containers of
// others.
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

// given holds our files for a container, in a folder with its name.
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

// emptyFolder replaces a git directory.
func (g given) emptyFolder() string { return filepath.Join(g.dir, "folder") }

// emptyFile replaces a file that names one.
func (g given) emptyFile() string { return filepath.Join(g.dir, "file") }
func (g given) owner() string     { return filepath.Join(g.dir, "owner") } // names the owner
func (g given) socket() string    { return filepath.Join(g.dir, "proxy") }
func (g given) filter() string    { return filepath.Join(g.dir, "filter") }

// hosts hides the host's own file, which Podman would show.
func (g given) hosts() string { return filepath.Join(g.dir, "hosts") }

func (g given) remove() error { return os.RemoveAll(g.dir) }

// unusedFor is the minimum age for removing a folder without an owner: a younger one may be about
// to get it.
const unusedFor = 10 * time.Minute

// sweep removes the folders of containers with dead owners. Podman has no daemon that completes the
// work of a killed client. The rest of an unfinished container has no labels, but it has its name,
// which is that of the folder.
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
