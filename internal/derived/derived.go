// Package derived keeps values in files of the state folder, each as JSON on one line with its
// checksum on the next. Read ignores a file that is not exactly as Write, or a caller of Encode,
// left it.
//
// Write serves values that can be recomputed: it ignores failures and takes no lock, because all
// writers would write the same. For other values the owner calls Encode and writes the result
// durably. The owner locks the file if several processes change it, and reports a file that Read
// rejects.
package derived

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/reverie-memory/reverie/internal/file"
)

// Write stores a value. It may fail silently and does not sync. The file's folder must exist.
func Write(path string, value any) {
	if text, err := Encode(value); err == nil {
		_ = file.Replace(path, text, 0o600, false)
	}
}

// Encode returns the text of a file that holds a value.
func Encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(data, "\n%q\n", Sum(data)), nil
}

// Read reports whether a file is intact, and decodes its content into value, a pointer. On failure
// value may be half filled.
func Read(path string, value any) bool {
	text, err := file.Read(path, file.MaxState)
	data, sum, _ := bytes.Cut(text, []byte("\n"))
	return err == nil && string(sum) == fmt.Sprintf("%q\n", Sum(data)) && json.Unmarshal(data, value) == nil
}

// Sum returns the first 8 bytes of the SHA-256 of data, as 16 hex digits.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
