package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/internal/process"
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

// Owner is the process that runs a container.
type Owner struct {
	Host    string // the machine, and on Linux its pid namespace: process ids are unique only there
	PID     int
	Started string // start time of the process in the system's form; "" if unknown
}

// self returns this process.
var self = sync.OnceValue(func() Owner {
	return Owner{Host: thisHost(), PID: os.Getpid(), Started: process.Stamp(os.Getpid())}
})

// thisHost identifies the machine and its pid namespace.
var thisHost = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "" // then no container seems to have a dead owner
	}
	if space := process.Space(); space != "" {
		host += "/" + space
	}
	return host
})

// Here reports whether the owner is a process of this machine, dead or alive.
func (o Owner) Here() bool {
	return o.Host != "" && o.Host == thisHost() && o.PID > 0 && o.Started != ""
}

// Alive reports whether the owner may still run. An owner on another machine counts as alive.
func (o Owner) Alive() bool { return !o.Here() || process.Alive(o.PID, o.Started) }

// State returns alive, dead, or elsewhere: on another machine or in another PID namespace.
func (o Owner) State() string {
	switch {
	case !o.Here():
		return "elsewhere"
	case o.Alive():
		return "alive"
	}
	return "dead"
}

// The labels of our containers.
const (
	labelOurs    = "reverie.sandbox" // the version of these labels
	labelLoop    = "reverie.loop"
	labelOwner   = "reverie.owner"
	labelPID     = "reverie.pid"
	labelStarted = "reverie.started"
)

func (o Owner) labels() []string {
	return []string{labelOurs + "=1", labelOwner + "=" + o.Host, labelPID + "=" + strconv.Itoa(o.PID), labelStarted + "=" + o.Started}
}

// ownerOf parses the owner from labels.
func ownerOf(labels map[string]string) Owner {
	pid, _ := strconv.Atoi(labels[labelPID])
	return Owner{labels[labelOwner], pid, labels[labelStarted]}
}
