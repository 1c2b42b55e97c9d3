package sandbox

import (
	"os"
	"strconv"
	"sync"

	"github.com/reverie-memory/reverie/internal/process"
)

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
