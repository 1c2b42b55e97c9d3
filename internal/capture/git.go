package capture

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/redact"
)

// git handles a hook of git's. The shell's part, in hooks/githook, comes first and needs no process
// where it can. A failure becomes one line, and no commit or push fails.
func (h Host) git(ctx context.Context, name string, args []string) (v Verdict, err error) {
	t, err := h.find(ctx)
	if err == nil && t != nil {
		err = t.unsettled // the work can wait until the settings are mended
	}
	if t == nil || err != nil {
		return v, err
	}
	moved := false
	switch name {
	case "pre-push":
		v.Start, err = t.prePush(ctx, args)
		return v, err
	case "post-merge", "post-rewrite", "post-checkout":
		moved = true
	case "post-commit":
	default:
		return v, nil
	}
	looks, err := ingest.AskLook(t.repo, h.Shell, h.Now())
	if t.config.Background == config.Off {
		ingest.DropLook(t.state) // the next commits start no process to hear the same
		return v, err
	}
	if moved {
		if err := t.repo.State().Write(learn.MovedFile, nil, false); err != nil {
			return v, err
		}
	}
	if err == nil && (looks || moved) {
		v.Start = func() error { return job.Wake(t.repo, t.state) }
	}
	return v, err
}

// maxPushed bounds what git says about a push, in bytes.
const maxPushed = 1 << 20

// prePush returns an error about secrets in refs of Reverie that are pushed, and a function that
// syncs the memory along if the user wants that.
func (t *target) prePush(ctx context.Context, args []string) (start func() error, err error) {
	text, err := io.ReadAll(io.LimitReader(t.In, maxPushed))
	if err != nil {
		return nil, err
	}
	own := false
	for line := range strings.Lines(string(text)) { // local ref, its id, remote ref, its id
		f := strings.Fields(line)
		if len(f) != 4 || !t.ownRef(f[0]) && !t.ownRef(f[2]) || !t.repo.ObjectFormat.IsID(f[1]) || strings.Trim(f[1], "0") == "" {
			continue
		}
		own = true
		found, err := t.secretsIn(ctx, f[1], f[3])
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("there was no time to look at all of %s for secrets", f[0])
		}
		if err != nil {
			return nil, err
		}
		if found.Found > 0 {
			return nil, fmt.Errorf("%s holds what looks like a secret (%s), and is being pushed; to find it: reverie check --deep, to take it out everywhere: reverie purge", f[0], found.Kinds())
		}
	}
	if own || !t.config.WithPush || len(args) < 2 || args[0] == args[1] || strings.HasPrefix(args[0], "-") {
		return nil, nil // our refs are on their way, or the remote has no name
	}
	dir := cmp.Or(t.repo.WorkTree, t.repo.CommonDir)
	return func() error { return job.Start(dir, t.state, "sync", "--timeout=1m", "--", args[0]) }, nil
}

// ownRef reports whether a ref is one of Reverie's.
func (t *target) ownRef(ref string) bool {
	return ref == t.config.Ref || strings.HasPrefix(ref, "refs/reverie/") || strings.HasPrefix(ref, "refs/heads/reverie/")
}

// maxLooked bounds a file that is searched for secrets, in bytes. No record is longer.
const maxLooked = 256 << 10

// secretsIn searches the messages and files of the commits that a remote lacks.
func (t *target) secretsIn(ctx context.Context, tip, theirs string) (redact.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var found redact.Report
	scanner := redact.New(clone.HookSecrets(ctx, t.repo)...)
	limits := []string{tip}
	if have, err := t.repo.Have(ctx, []string{theirs}); err != nil {
		return found, cause(ctx, err)
	} else if len(have) > 0 {
		limits = append(limits, "^"+theirs)
	}
	repo := t.repo.Offline()
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

// cause returns the error of ctx if that ended, and otherwise err.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// eachObject calls fn with the objects that git cat-file --batch writes, but for those that are too
// long.
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
