package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

var sessionName = pattern.New(`^[\w.-]+/[\w.-]+$`)

// IsName reports whether a text is the name of a session in full: "<client>/<id>".
func IsName(text string) bool { return sessionName.MatchString(text) }

const (
	maxID  = 100 // bytes of an id
	idHash = 12  // hex digits that tell apart ids which had to be changed
)

// SafeID returns an id that may be part of a file name or a ref: 1 to 100 bytes of [A-Za-z0-9._-],
// not beginning with a dot or a hyphen, not ending with a dot, without "..". Such an id is returned
// as it is. Another one is changed and gets a short hash of the original, so that different ids
// stay so.
func SafeID(id string) string {
	var b strings.Builder
	for i := 0; i < len(id) && b.Len() < maxID; i++ {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			b.WriteByte(c)
		case c == '.' && !strings.HasSuffix(b.String(), "."):
			b.WriteByte(c)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	safe := strings.TrimRight(strings.TrimLeft(b.String(), ".-"), ".")
	if safe == id && id != "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	hash := hex.EncodeToString(sum[:])[:idHash]
	safe = strings.Trim(safe[:min(len(safe), maxID-idHash-1)], "._-")
	if safe == "" {
		return "id-" + hash
	}
	return safe + "-" + hash
}
