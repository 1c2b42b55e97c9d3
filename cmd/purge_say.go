package cmd

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/plural"
)

// leftover is a place that is not ours, or not ours alone, in words.
type leftover struct {
	What string `json:"what"`
	Next string `json:"next,omitempty"` // what to do about it
}

// leftovers puts places into words.
func leftovers(w *workspace, left []purge.Left) []leftover {
	out := []leftover{}
	for _, l := range left {
		out = append(out, w.leftover(l))
	}
	return out
}

func (w *workspace) leftover(l purge.Left) leftover {
	const later = "when no agent and no git command writes there: git gc --prune=now"
	switch l.Place {
	case purge.InSettings:
		return leftover{"your settings of this clone hold it: " + clone.SettingsFile(w.State), "edit that file"}
	case purge.InMemory:
		return leftover{"memory " + l.Name + " says the same in its text", "reverie purge " + l.Name}
	case purge.InLoopRef:
		return leftover{"work of loop " + l.Of + " at " + l.Name, "reverie loop remove " + shellWord(l.Of) + ", or: git update-ref -d " + shellWord(l.Name)}
	case purge.InLoopBranch:
		return leftover{"work of a loop on the branch " + l.Name, "rebase it, or delete it: git branch -D " + shellWord(l.Name)}
	case purge.InLoopFiles:
		return leftover{"files of a loop in " + l.Name, "remove it there, or: reverie loop remove " + shellWord(l.Of)}
	case purge.InRef:
		return leftRef(l.Name, l.Followed)
	case purge.InLog:
		if l.Name == stash {
			return leftRef(l.Name, false) // the log of the stash is the stash
		}
		return leftover{"the reflog of " + l.Name, "git reflog expire --expire=now " + shellWord(l.Name)}
	case purge.InWorkTree:
		return leftover{"the work tree " + l.Name + ", which is on the branch, and its index: switch it to another branch", ""}
	case purge.InUnknown:
		return leftover{"an index, stash or reflog of yours reaches the old history; git does not name it", ""}
	case purge.InPacks:
		return leftover{"packs of this repository: " + plural.Count(l.Count, "old object", "old objects") + " that nothing reaches", later}
	case purge.InReached:
		return leftover{"the objects those reach; when those are gone", later}
	case purge.WhileGitWorks:
		return leftover{"the old objects: git is at work in this repository (" + l.Name + ")", later}
	case purge.WhileGitFails:
		return leftover{"the old objects: git cannot list what it needs (" + l.Name + ")", later}
	case purge.WhileRefsMove:
		return leftover{"the old objects: refs moved meanwhile", later}
	case purge.InRefName:
		return leftover{"the name of " + l.Name + ": give its commit another name, then delete this one", "git update-ref -d " + shellWord(l.Name)}
	case purge.InPeople:
		return leftover{"author or committer of " + plural.Count(l.Count, "commit", "commits") + ": people and dates are kept", ""}
	case purge.InAgents:
		return leftover{l.Name + " of this work tree", "reverie render agents-md; where it was committed, it is in the code's own history"}
	case purge.InRemote:
		return leftover{"the remote " + l.Name + ", if it was ever published there", "reverie purge --push " + shellWord(l.Name)}
	case purge.InProposal:
		return leftover{"the proposal " + l.Name + " on " + l.Of, "close its pull request, and: git push " + shellWord(l.Of) + " --delete " + shellWord(l.Name)}
	case purge.InJournal:
		return leftover{"the journal on " + l.Name + ", which was not published from here", "its publisher runs: reverie purge --push " + l.Name}
	case purge.InRemoteBranch:
		return leftover{"the branch " + l.Name + " of " + l.Of + ", and its pull request, may hold it", "close it, and: git push " + shellWord(l.Of) + " --delete " + shellWord(l.Name)}
	case purge.Elsewhere:
		return leftover{"other clones until they sync; forks, pull requests and caches of a forge; backups; transcripts that agents keep themselves", ""}
	}
	return leftover{string(l.Place) + " " + l.Name, ""}
}

// stash is the ref whose log is the stash.
const stash = "refs/stash"

// leftRef names a ref that still leads to purged objects. If another clone purged first, the remote
// has dropped it already.
func leftRef(name string, followed bool) leftover {
	what := "your ref " + name
	if branch, ok := strings.CutPrefix(name, "refs/remotes/"); ok {
		remote, _, _ := strings.Cut(branch, "/")
		drop := "git update-ref -d " + shellWord(name) // with its log, which a fetch would keep
		if followed {
			return leftover{what, drop + " && git fetch --prune " + shellWord(remote)}
		}
		return leftover{what, "reverie purge --push " + shellWord(remote) + ", or: " + drop}
	}
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return leftover{what, "rebase it, or: git branch -D " + shellWord(branch)}
	}
	if name == stash {
		return leftover{"a stash of yours: find it with 'git stash list', and 'git stash drop' that one", ""}
	}
	return leftover{what, "git update-ref -d " + shellWord(name)}
}

// shellWord is a name as a shell takes it for one word: names of refs come from anybody.
func shellWord(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+-") == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// hintOfPurge returns the next step if a person has to decide about a purge.
func hintOfPurge(r *purge.Refused) string {
	switch r.Why {
	case purge.HoldsSettings:
		return "remove it there with a commit of your own, then purge"
	case purge.NamesSettings:
		return "see its author: git log -- purged"
	case purge.LoopGoesOn:
		return "reverie loop cancel " + r.Name
	case purge.NotWhole:
		return "complete it first: git fetch --unshallow"
	case purge.CameMeanwhile:
		return "git update-ref -d " + shellWord(r.Name)
	case purge.RemoteMoved, purge.RemoteAhead:
		return "reverie sync " + r.Name + ", then: reverie purge --push " + r.Name
	case purge.RemoteMovedEarly:
		return "run it again"
	case purge.RemoteRefuses:
		return "its administrator has to allow it once (a protected branch, receive.denyNonFastForwards); then: reverie purge --push " + r.Name
	}
	return ""
}
