package phase

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/worktree"
)

// Wherever the text is cut, no part of a secret stays.
func TestFailureKeepsNoPartOfASecret(t *testing.T) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for before := 250; before < 300; before++ {
		err := failed(nil, "aider", worktree.Result{Code: 1, Output: "first\n" + strings.Repeat("x", before) + " " + token + " and more\n"}, 0)
		if strings.Contains(err.Error(), token[:7]) {
			t.Fatalf("behind %d bytes: %v", before, err)
		}
		if !strings.HasPrefix(err.Error(), "aider ended with exit code 1: xxx") {
			t.Fatal(err)
		}
	}
}
