package mcp

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Bounds of arguments. Clients do not enforce a schema, so the tools check.
const (
	maxLimit     = 20
	defaultLimit = 8
	MaxQuery     = 2000 // bytes; a longer one is cut
	maxPrompt    = 8000
	maxReason    = 1000
	maxFiles     = 20
	maxFileName  = 4 << 10
	maxList      = 20  // paths or tags of a statement
	maxListItem  = 200 // bytes
	maxText      = 16 << 10
)

// bounded checks a text.
func bounded(name, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return exit.Usage("", "%s is empty", name)
	case len(text) > most:
		return exit.Usage("", "%s has %d bytes and may have %d", name, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return exit.Usage("", "%s is not text", name)
	}
	return nil
}

var idForm = pattern.New(`^[0-9a-f]{4,16}$`)

// checkID checks the id of a memory.
func checkID(id string) error {
	if !idForm.MatchString(id) {
		return exit.Usage("recall shows ids in brackets", "id: want 4 to 16 hex digits")
	}
	return nil
}

// belowTop reports whether a glob stays inside of a repository.
func belowTop(glob string) bool {
	slashed := strings.ReplaceAll(glob, `\`, "/")
	return !path.IsAbs(slashed) && !slices.Contains(strings.Split(slashed, "/"), "..") && !strings.Contains(slashed, ":")
}
