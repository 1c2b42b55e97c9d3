package purge

import (
	"fmt"
	"strings"
)

// Refused is the error of a purge that needs a person's decision or action.
type Refused struct {
	Why  Why
	Name string // subject of Why
	Lane string // the memory or the journal of a remote
	Said string // the server's answer
	Err  error  // of NotWhole
}

// Why is the reason of a Refused.
type Why int

const (
	// HoldsSettings: reverie.toml on the branch Name holds the target, and a store needs that file.
	HoldsSettings    Why = iota
	NamesSettings        // a record by others names that file
	LoopGoesOn           // the record of the loop Name has to go, but the loop is running
	NotWhole             // a history is cut off here; Err wraps gitstore.ErrShallow
	CameMeanwhile        // the ref Name appeared during the removal and builds on old objects
	RemoteMoved          // the remote Name moved between the check and the push
	RemoteMovedEarly     // the remote Name moved between the check and the fetch
	RemoteRefuses        // the remote Name forbids replacing its Lane
	RemoteAhead          // the remote Name has commits that are not here
)

func (r *Refused) Error() string {
	switch r.Why {
	case HoldsSettings:
		return fmt.Sprintf("purge: reverie.toml on %s holds it, and no store is one without that file", r.Name)
	case NamesSettings:
		return "purge: a purge record names reverie.toml, without which the branch is no store"
	case LoopGoesOn:
		return fmt.Sprintf("purge: the plan of the loop %s holds it, and that goes on", r.Name)
	case NotWhole:
		return r.Err.Error()
	case CameMeanwhile:
		return "purge: " + r.Name + " came meanwhile, and stands on what was purged"
	case RemoteMoved:
		return fmt.Sprintf("purge: %s moved meanwhile (%s)", r.Name, r.Said)
	case RemoteMovedEarly:
		return fmt.Sprintf("purge: %s moved meanwhile", r.Name)
	case RemoteRefuses:
		return fmt.Sprintf("purge: %s refuses that its %s is replaced (%s)", r.Name, r.Lane, r.Said)
	default:
		return fmt.Sprintf("purge: %s has commits that are not here", r.Name)
	}
}

func (r *Refused) Unwrap() error { return r.Err }

// Hint returns the next step for a person, or "".
func (r *Refused) Hint() string {
	switch r.Why {
	case HoldsSettings:
		return "remove it there with a commit of your own, then purge"
	case NamesSettings:
		return "see its author: git log -- purged"
	case LoopGoesOn:
		return "reverie loop cancel " + r.Name
	case NotWhole:
		return "complete it first: git fetch --unshallow"
	case CameMeanwhile:
		return "git update-ref -d " + shellWord(r.Name)
	case RemoteMoved, RemoteAhead:
		return "reverie sync " + r.Name + ", then: reverie purge --push " + r.Name
	case RemoteMovedEarly:
		return "run it again"
	case RemoteRefuses:
		return "its administrator has to allow it once (a protected branch, receive.denyNonFastForwards); then: reverie purge --push " + r.Name
	}
	return ""
}

// shellWord is a name as a shell takes it for one word: names of refs come from anybody.
func shellWord(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+-") == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
