// Package derived keeps values in files of the state folder, each as JSON on one line with its sum
// on the next. Read believes a file that is as Write, or Encode and a writer of the caller's, left
// it; any other says nothing.
//
// Write is for what can be made again: it may fail unseen, and has no lock, for who writes last is
// right where all would write the same. What cannot be made again is Encoded, and its owner writes
// it: durably, under a lock where several change it, and with an error for what Read does not
// believe.
package derived

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/reverie-memory/reverie/internal/file"
)

// Write keeps a value. It need not succeed, nor be on the disk at once. The file's folder has to be
// there.
func Write(path string, value any) {
	if text, err := Encode(value); err == nil {
		_ = file.Replace(path, text, 0o600, false)
	}
}

// Encode is the text of a file that holds a value.
func Encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(data, "\n%q\n", Sum(data)), nil
}

// Read reports whether a file is as it was written, and puts what it holds into value, a pointer. A
// value that does not fit may be half filled.
func Read(path string, value any) bool {
	text, err := file.Read(path, file.MaxState)
	data, sum, _ := bytes.Cut(text, []byte("\n"))
	return err == nil && string(sum) == fmt.Sprintf("%q\n", Sum(data)) && json.Unmarshal(data, value) == nil
}

// Sum is the first 8 bytes of the SHA-256 of data, as 16 hex digits.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
