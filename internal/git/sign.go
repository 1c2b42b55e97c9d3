package git

import (
	"context"
	"path/filepath"
	"strings"
	"time"
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
	cmd.SysProcAttr = detached()
	cmd.Cancel = func() error { return killAll(cmd.Process) }
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
