package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// VerifyOptions returns the options of a git that checks signatures. Its programs and its file of
// signers come from the user's and the system's configuration only: a repository must not choose
// its trusted signers. A relative file name does not count, because its folder may be the
// repository's.
func (c *Config) VerifyOptions(ctx context.Context) ([]string, error) {
	s, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	// Without such a file git 2.39 dies of a BUG at the first ssh signature; with an empty one it
	// reports the key.
	return append(signOptions(s),
		"-c", "gpg.ssh.allowedSignersFile="+first(absolute(s.trusted["gpg.ssh.allowedsignersfile"]), os.DevNull),
		"-c", "gpg.ssh.revocationFile="+absolute(s.trusted["gpg.ssh.revocationfile"])), nil
}

// Believes returns a text that changes when the answer about a signature may: with the options, and
// with the files that they name. It does not notice changes in a keyring.
func (c *Config) Believes(ctx context.Context) (string, error) {
	options, err := c.VerifyOptions(ctx)
	if err != nil {
		return "", err
	}
	text := strings.Join(options, "\n")
	for _, o := range options {
		_, file, _ := strings.Cut(o, "File=")
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			home, _ := os.UserHomeDir()
			file = filepath.Join(home, rest)
		}
		if info, err := os.Stat(file); err == nil && file != os.DevNull {
			text += fmt.Sprintf("\n%s %d %d", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8]), nil
}

// absolute returns a path of git's configuration, or "" if it depends on git's folder.
func absolute(path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "~") {
		return path
	}
	return ""
}
