package git

import (
	"fmt"
	"strings"
)

// CheckRef returns an error unless name is valid for one of our refs. It follows the rules of git
// check-ref-format and also refuses refs that belong to one worktree.
func CheckRef(name string) error {
	bad := func(why string) error { return fmt.Errorf("ref name %q: %s", name, why) }
	if !strings.HasPrefix(name, "refs/") {
		return bad("does not begin with refs/")
	}
	for _, p := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, p) {
			return bad("belongs to one worktree")
		}
	}
	if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) }) {
		return bad("holds a character that git does not allow")
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return bad("holds a sequence that git does not allow")
	}
	parts := strings.Split(name, "/")
	if len(parts) < 3 {
		return bad("needs two parts after refs/, at least")
	}
	for _, part := range parts {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return bad("holds a part that is empty, begins with a dot or ends with .lock")
		}
	}
	return nil
}
