package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/process"
)

// signWait bounds the time of a signing program. A program that asks a person has no terminal: it
// ends or is ended.
const signWait = 10 * time.Second

// SignedCommit makes a durable signed commit by real git and returns its id. The signing program
// comes from the user's and the system's configuration only: a repository must not choose our
// programs. It fails if a person would be needed.
func (r *Repo) SignedCommit(ctx context.Context, who Identity, when time.Time, tree string, parents []string, message string) (string, error) {
	s, err := r.config.list(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, signWait)
	defer cancel()
	args := append(durable[:len(durable):len(durable)], signOptions(s)...)
	args = append(args, "commit-tree", "-S", tree)
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	cmd := r.Command(ctx, args...)
	cmd.Env = append(withoutPrompts(cmd.Env), "SSH_ASKPASS_REQUIRE=never",
		"GIT_AUTHOR_NAME="+who.Name, "GIT_AUTHOR_EMAIL="+who.Email, "GIT_AUTHOR_DATE="+when.Format(time.RFC3339),
		"GIT_COMMITTER_NAME="+who.Name, "GIT_COMMITTER_EMAIL="+who.Email, "GIT_COMMITTER_DATE="+when.Format(time.RFC3339))
	cmd.Stdin = strings.NewReader(message)
	process.Alone(cmd)
	out, err := run(cmd)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	return id, syncObjectDirs([]string{filepath.Dir(loosePath(filepath.Join(r.CommonDir, "objects"), id))})
}

// signOptions sets the programs that git may run to those of the trusted scopes, or to git's
// defaults.
func signOptions(s listing) []string {
	program := func(key, preset string) string { return key + "=" + first(s.trusted[key], preset) }
	return []string{
		"-c", program("gpg.program", "gpg"),
		"-c", program("gpg.openpgp.program", first(s.trusted["gpg.program"], "gpg")),
		"-c", program("gpg.x509.program", "gpgsm"),
		"-c", program("gpg.ssh.program", "ssh-keygen"),
		"-c", "gpg.ssh.defaultKeyCommand=" + s.trusted["gpg.ssh.defaultkeycommand"],
	}
}

// withoutPrompts drops the variables by which programs find a person to ask.
func withoutPrompts(env []string) []string {
	var kept []string
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY", "SSH_ASKPASS", "GIT_ASKPASS":
		default:
			kept = append(kept, kv)
		}
	}
	return kept
}

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
