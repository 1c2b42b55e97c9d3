package purge

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/shell"
)

// Remedy names a place in words, and the command or step that cleans it.
type Remedy struct {
	What string `json:"what"`
	Next string `json:"next,omitempty"`
}

// Remedies puts places into words. state is the state folder of the clone.
func Remedies(left []Left, state string) []Remedy {
	all := make([]Remedy, 0, len(left))
	for _, l := range left {
		all = append(all, l.remedy(state))
	}
	return all
}

func (l Left) remedy(state string) Remedy {
	const later = "when no agent and no git command writes there: git gc --prune=now"
	switch l.Place {
	case InSettings:
		return Remedy{"your settings of this clone hold it: " + filepath.Join(state, l.Name), "edit that file"}
	case InMemory:
		return Remedy{"memory " + l.Name + " says the same in its text", "reverie purge " + l.Name}
	case InLoopRef:
		return Remedy{"work of loop " + l.Of + " at " + l.Name, "reverie loop remove " + shell.Quote(l.Of) + ", or: git update-ref -d " + shell.Quote(l.Name)}
	case InLoopBranch:
		return Remedy{"work of a loop on the branch " + l.Name, "rebase it, or delete it: git branch -D " + shell.Quote(l.Name)}
	case InLoopFiles:
		return Remedy{"files of a loop in " + l.Name, "remove it there, or: reverie loop remove " + shell.Quote(l.Of)}
	case InRef:
		return refRemedy(l.Name, l.Followed)
	case InLog:
		if l.Name == stash {
			return refRemedy(l.Name, false) // the log of the stash is the stash
		}
		return Remedy{"the reflog of " + l.Name, "git reflog expire --expire=now " + shell.Quote(l.Name)}
	case InWorkTree:
		return Remedy{"the work tree " + l.Name + ", which is on the branch, and its index: switch it to another branch", ""}
	case InUnknown:
		return Remedy{"an index, stash or reflog of yours reaches the old history; git does not name it", ""}
	case InPacks:
		return Remedy{"packs of this repository: " + plural.Count(l.Count, "old object", "old objects") + " that nothing reaches", later}
	case InReached:
		return Remedy{"the objects those reach; when those are gone", later}
	case WhileGitWorks:
		return Remedy{"the old objects: git is at work in this repository (" + l.Name + ")", later}
	case WhileGitFails:
		return Remedy{"the old objects: git cannot list what it needs (" + l.Name + ")", later}
	case WhileRefsMove:
		return Remedy{"the old objects: refs moved meanwhile", later}
	case InRefName:
		return Remedy{"the name of " + l.Name + ": give its commit another name, then delete this one", "git update-ref -d " + shell.Quote(l.Name)}
	case InPeople:
		return Remedy{"author or committer of " + plural.Count(l.Count, "commit", "commits") + ": people and dates are kept", ""}
	case InAgents:
		return Remedy{l.Name + " of this work tree", "reverie render agents-md; where it was committed, it is in the code's own history"}
	case InRemote:
		return Remedy{"the remote " + l.Name + ", if it was ever published there", "reverie purge --push " + shell.Quote(l.Name)}
	case InProposal:
		return Remedy{"the proposal " + l.Name + " on " + l.Of, "close its pull request, and: git push " + shell.Quote(l.Of) + " --delete " + shell.Quote(l.Name)}
	case InJournal:
		return Remedy{"the journal on " + l.Name + ", which was not published from here, may hold it", "its publishers run the same purge, with --push " + shell.Quote(l.Name)}
	case InRemoteBranch:
		return Remedy{"the branch " + l.Name + " of " + l.Of + ", and its pull request, may hold it", "close it, and: git push " + shell.Quote(l.Of) + " --delete " + shell.Quote(l.Name)}
	case Elsewhere:
		return Remedy{"other clones until they sync; forks, pull requests and caches of a forge; backups; transcripts that agents keep themselves", ""}
	}
	return Remedy{string(l.Place) + " " + l.Name, ""}
}

// stash is the ref whose log is the stash.
const stash = "refs/stash"

// refRemedy names a ref that still leads to purged objects. If another clone purged first, the
// remote has dropped it already.
func refRemedy(name string, followed bool) Remedy {
	what := "your ref " + name
	if branch, ok := strings.CutPrefix(name, "refs/remotes/"); ok {
		remote, _, _ := strings.Cut(branch, "/")
		drop := "git update-ref -d " + shell.Quote(name) // with its log, which a fetch would keep
		if followed {
			return Remedy{what, drop + " && git fetch --prune " + shell.Quote(remote)}
		}
		return Remedy{what, "reverie purge --push " + shell.Quote(remote) + ", or: " + drop}
	}
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return Remedy{what, "rebase it, or: git branch -D " + shell.Quote(branch)}
	}
	if name == stash {
		return Remedy{"a stash of yours: find it with 'git stash list', and 'git stash drop' that one", ""}
	}
	return Remedy{what, "git update-ref -d " + shell.Quote(name)}
}

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
	RemoteMoved          // the Lane of the remote Name moved between the check and the push
	RemoteMovedEarly     // the remote Name moved between the check and the fetch
	RemoteRefuses        // the remote Name forbids replacing its Lane
	RemoteAhead          // the Lane of the remote Name has commits that are not here
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
		return fmt.Sprintf("purge: the %s of %s has commits that are not here", r.Lane, r.Name)
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
		return "git update-ref -d " + shell.Quote(r.Name)
	case RemoteMoved, RemoteAhead:
		sync := "reverie sync "
		if r.Lane == "journal" {
			sync += "--journal "
		}
		return sync + r.Name + ", then: reverie purge --push " + r.Name
	case RemoteMovedEarly:
		return "run it again"
	case RemoteRefuses:
		return "its administrator has to allow it once (a protected branch, receive.denyNonFastForwards); then: reverie purge --push " + r.Name
	}
	return ""
}
