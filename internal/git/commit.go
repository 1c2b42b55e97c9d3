package git

import (
	"fmt"
	"strings"
	"time"
)

// NewCommit is the object of a commit whose author is its committer.
func (r *Repo) NewCommit(who Identity, when time.Time, tree string, parents []string, message string) Object {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	stamp := who.Stamp(when)
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", stamp, stamp, message)
	return r.NewObject(Commit, []byte(b.String()))
}
