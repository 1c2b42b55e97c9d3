package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/reverie-memory/reverie/internal/process"
)

var (
	// ErrNoRemoteRef is returned when a remote lacks the requested ref.
	ErrNoRemoteRef = errors.New("the remote has no such ref")
	// ErrObjects is returned when a remote sent a malformed history: git refused it, and none of it is
	// reachable here.
	ErrObjects = errors.New("the remote sent objects that git refuses")
)

// wholeHistory is a depth that no history reaches. Only git's own value for "everything" also
// deepens a shallow clone.
const wholeHistory = "1000000000"

// command returns a git command that talks to the remote. It has its own session, so that no
// program in it finds a terminal to ask, and is killed as a whole when ctx ends.
func (m *Remote) command(ctx context.Context, options []string, args ...string) *exec.Cmd {
	fixed := append(durable[:len(durable):len(durable)],
		"-c", "protocol.ext.allow=never", "-c", "protocol.fd.allow=never",
		"-c", "push.negotiate=false",
		"-c", "fetch.writeCommitGraph=false",
		// a pack is protected from a git prune until refs reach it; loose objects are not
		"-c", "fetch.unpackLimit=1", "-c", "transfer.unpackLimit=1",
	)
	cmd := m.repo.Command(ctx, append(append(fixed, options...), args...)...)
	cmd.Dir = m.repo.folder()
	cmd.Env = append(transports(cmd.Env), m.alias...)
	process.Alone(cmd)
	return cmd
}

// maxRemoteSaid bounds the stored standard error of a command that talks to a remote, in bytes.
const maxRemoteSaid = 64 << 10

// run runs such a command. Any standard error counts as progress for the watch of ctx; its end is
// kept.
func (m *Remote) run(ctx context.Context, options []string, args ...string) ([]byte, error) {
	cmd := m.command(ctx, options, args...)
	var out bytes.Buffer
	stderr := &limitedBuffer{most: maxRemoteSaid, wrote: func() { progress(ctx) }}
	cmd.Stdout, cmd.Stderr = &out, stderr
	defer progress(ctx)
	if err := cmd.Run(); err != nil {
		return out.Bytes(), newError(cmd, stderr.bytes(), err)
	}
	return out.Bytes(), nil
}

// Fetch brings a ref of the remote, with its whole history, into one of our refs and returns its
// id. It overwrites that ref, so no other writer should use it. Nothing else changes: no tags,
// FETCH_HEAD or remote-tracking refs, no pruning and no housekeeping. git checks every new object.
// Errors wrap ErrNoRemoteRef or ErrObjects if one of them is the cause. Any other error means that
// the remote was not reached or that ctx ended.
func (m *Remote) Fetch(ctx context.Context, from, to string) (string, error) {
	for _, name := range []string{from, to} {
		if err := CheckRef(name); err != nil {
			return "", err
		}
	}
	args := []string{"fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-prune",
		"--no-recurse-submodules", "--no-filter", "--refmap="}
	if m.repo.Shallow {
		args = append(args, "--depth="+wholeHistory)
	}
	if m.Refetch {
		args = append(args, "--refetch")
	}
	_, err := m.run(ctx, m.strict, append(args, "--", alias, "+"+from+":"+to)...)
	if err != nil {
		return "", fmt.Errorf("fetch from %s: %w", m.Name, m.explain(ctx, err))
	}
	return m.repo.Refs().Read(ctx, to)
}

// explain adds one of our sentinels to an error of a fetch, and the end of ctx, which git does not
// know about.
func (m *Remote) explain(ctx context.Context, err error) error {
	var told *Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &told):
		return err
	case strings.Contains(string(told.all), "couldn't find remote ref"):
		return ErrNoRemoteRef
	case strings.Contains(string(told.all), "fsck error"):
		return fmt.Errorf("%w: %s", ErrObjects, told.Line)
	}
	said := string(told.all)
	// git may repeat a password, even one with a blank in it
	for _, address := range []string{m.URL, m.PushURL} {
		said = strings.ReplaceAll(said, address, Address(address))
	}
	if line := shown(reason([]byte(said))); line != "" {
		told.Line = line
	}
	return err
}

// RemoteRefs holds the refs of a remote.
type RemoteRefs struct {
	Head string            // the branch that HEAD names, as refs/heads/main; may be empty or missing
	Refs map[string]string // id by name
}

// Refs lists the remote's refs with one of the prefixes; without prefixes, all.
func (m *Remote) Refs(ctx context.Context, prefixes ...string) (RemoteRefs, error) {
	args := []string{"ls-remote", "--quiet", "--symref", "--", alias}
	for _, p := range prefixes {
		args = append(args, p+"*")
	}
	found := RemoteRefs{Refs: map[string]string{}}
	out, err := m.run(ctx, nil, args...)
	if err != nil {
		return found, fmt.Errorf("list the refs of %s: %w", m.Name, m.explain(ctx, err))
	}
	for line := range strings.Lines(string(out)) {
		value, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ref, ok := strings.CutPrefix(value, "ref: "); ok && name == "HEAD" {
			found.Head = ref
		} else if m.repo.ObjectFormat.IsID(value) && name != "HEAD" {
			found.Refs[name] = value
		}
	}
	return found, nil
}

// Apart counts the commits that each of two tips has and the other lacks; an empty tip has none. It
// asks git once per pair.
func (m *Remote) Apart(ctx context.Context, a, b string) (onlyA, onlyB int, err error) {
	if a == b {
		return 0, 0, nil
	}
	m.mu.Lock() // held throughout, so that the same question waits for the answer
	defer m.mu.Unlock()
	if known, ok := m.apart[[2]string{a, b}]; ok {
		return known[0], known[1], nil
	}
	between := a + "..." + b
	if a == "" || b == "" {
		between = a + b
	}
	out, err := m.repo.Git(ctx, nil, "rev-list", "--count", "--left-right", between, "--")
	if err == nil {
		_, err = fmt.Sscan(string(out), &onlyA, &onlyB)
	}
	if err != nil {
		return 0, 0, err
	}
	if b == "" { // all commits of a single tip are on the right
		onlyA, onlyB = onlyA+onlyB, 0
	} else if a == "" {
		onlyA, onlyB = 0, onlyA+onlyB
	}
	m.apart[[2]string{a, b}] = [2]int{onlyA, onlyB}
	return onlyA, onlyB, nil
}
