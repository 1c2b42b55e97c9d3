package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/redact"
)

// runGitHook does what is left to do at a hook of git's by a process; the shell's part, in hooks/githook, comes first
// and does without one where it can. What fails is told in one line and fails nobody's commit or push.
func runGitHook(ctx context.Context, env *Env, name string, args []string) error {
	c, err := env.openCapture(ctx)
	if err == nil && c != nil {
		err = c.unsettled // what git's hooks do can wait until the settings are mended
	}
	if c == nil || err != nil {
		return err
	}
	switch name {
	case "post-merge", "post-rewrite", "post-checkout":
		if c.config.Background == "off" {
			return nil
		}
		if err := c.repo.WriteState(learn.MovedFile, nil, false); err != nil {
			return err
		}
		return job.Wake(c.repo, c.state)
	case "pre-push":
		return c.prePush(ctx, args)
	}
	return nil
}

// maxPushed is how much of what git says about a push is read, in bytes.
const maxPushed = 1 << 20

// prePush warns of secrets in what is pushed of Reverie's own, and has the memory synced along if the user wants that.
func (c *capture) prePush(ctx context.Context, args []string) error {
	text, err := io.ReadAll(io.LimitReader(c.env.In, maxPushed))
	if err != nil {
		return err
	}
	ours := false
	for line := range strings.Lines(string(text)) { // local ref, its id, remote ref, its id
		f := strings.Fields(line)
		if len(f) != 4 || !c.ownRef(f[0]) && !c.ownRef(f[2]) || !c.repo.IsID(f[1]) || strings.Trim(f[1], "0") == "" {
			continue
		}
		ours = true
		found, err := c.secretsIn(ctx, f[1], f[3])
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("there was no time to look at all of %s for secrets", f[0])
		}
		if err != nil {
			return err
		}
		if found.Found > 0 {
			return fmt.Errorf("%s holds what looks like a secret (%s), and is being pushed; to find it: reverie check --deep, to take it out everywhere: reverie purge", f[0], found.Kinds())
		}
	}
	if ours || !c.config.WithPush || len(args) < 2 || args[0] == args[1] || strings.HasPrefix(args[0], "-") {
		return nil // ours is on its way, or the remote has no name
	}
	dir := c.repo.WorkTree
	if dir == "" {
		dir = c.repo.CommonDir
	}
	return job.Start(dir, c.state, "sync", "--timeout=1m", "--", args[0])
}

func (c *capture) ownRef(ref string) bool {
	return ref == c.config.Ref || strings.HasPrefix(ref, "refs/reverie/") || strings.HasPrefix(ref, "refs/heads/reverie/")
}

// maxLooked is how long a file may be that is looked into for secrets, in bytes: no record is longer.
const maxLooked = 256 << 10

// secretsIn looks at the messages and files of the commits that a remote does not have yet.
func (c *capture) secretsIn(ctx context.Context, tip, theirs string) (redact.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var found redact.Report
	scanner := redact.New(clone.HookSecrets(ctx, c.repo)...)
	limits := []string{tip}
	if have, err := c.repo.Have(ctx, []string{theirs}); err != nil {
		return found, cause(ctx, err)
	} else if len(have) > 0 {
		limits = append(limits, "^"+theirs)
	}
	repo := c.repo.Offline()
	messages, err := repo.Git(ctx, nil, append([]string{"log", "--no-show-signature", "--encoding=UTF-8", "--format=%B"}, limits...)...)
	if err != nil {
		return found, cause(ctx, err)
	}
	_, found = scanner.Text(string(messages))
	objects, err := repo.Git(ctx, nil, append([]string{"rev-list", "--objects", "--no-object-names", "--filter=object:type=blob"}, limits...)...)
	if err != nil {
		return found, cause(ctx, err)
	}
	cat := repo.Command(ctx, "cat-file", "--batch", "--buffer")
	cat.Stdin = bytes.NewReader(objects)
	out, err := cat.StdoutPipe()
	if err != nil {
		return found, err
	}
	if err := cat.Start(); err != nil {
		return found, err
	}
	err = eachObject(bufio.NewReaderSize(out, 64<<10), func(kind string, data []byte) {
		if kind == "blob" {
			_, report := scanner.Text(string(data))
			found.Add(report)
		}
	})
	io.Copy(io.Discard, out)
	return found, cause(ctx, errors.Join(err, cat.Wait()))
}

// cause is the end of ctx where that is why something failed.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// eachObject calls fn with what git cat-file --batch writes: the objects that are not too long.
func eachObject(in *bufio.Reader, fn func(kind string, data []byte)) error {
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		f := strings.Fields(line) // id, kind, size; or id, "missing"
		if len(f) != 3 {
			continue
		}
		size, err := strconv.Atoi(f[2])
		if err != nil {
			return fmt.Errorf("git cat-file says %q", line)
		}
		if size > maxLooked {
			if _, err := in.Discard(size + 1); err != nil {
				return err
			}
			continue
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		fn(f[1], data[:size])
	}
}
