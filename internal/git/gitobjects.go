package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// gitObjects reads and writes objects by real git: one cat-file process for all reads of an
// operation, and one process per Save that receives a pack.
type gitObjects struct {
	keeps
	repo  *Repo
	sizes Sizes

	cmd    *exec.Cmd // git cat-file --batch, after the first read
	cancel context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *limitedBuffer
}

func (g *gitObjects) Read(ctx context.Context, id string) (Object, error) {
	if !g.repo.ObjectFormat.IsID(id) {
		return Object{}, fmt.Errorf("%q: not an object id", id)
	}
	var found Object
	err := g.ReadAll(ctx, []string{id}, func(_ int, o Object) error {
		found = o
		return nil
	})
	return found, err
}

func (g *gitObjects) ReadAll(ctx context.Context, ids []string, fn func(i int, o Object) error) error {
	for done := 0; ; done++ {
		var own error // of fn
		from := done
		err := g.readAll(ctx, ids[from:], func(i int, o Object) error {
			done = from + i + 1
			own = fn(from+i, o)
			return own
		})
		if own != nil || !errors.Is(err, ErrNoObject) {
			return err
		}
		o, ok := g.repo.Recent().find(ctx, ids[done])
		if !ok {
			return err
		}
		if err := fn(done, o); err != nil {
			return err
		}
	}
}

func (g *gitObjects) readAll(ctx context.Context, ids []string, fn func(i int, o Object) error) error {
	for _, id := range ids {
		if !g.repo.ObjectFormat.IsID(id) {
			return fmt.Errorf("%q: not an object id", id)
		}
	}
	if g.cmd == nil {
		if err := g.start(); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, g.cancel)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, id := range ids {
			if _, err := io.WriteString(g.in, id+"\n"); err != nil {
				return
			}
		}
	})
	err := g.answers(ctx, ids, fn)
	if err != nil {
		g.stop() // unread answers would mix with the next ones
	}
	wg.Wait()
	return err
}

func (g *gitObjects) answers(ctx context.Context, ids []string, fn func(i int, o Object) error) error {
	for i, id := range ids {
		o, err := g.answer(id)
		progress(ctx)
		if err == nil {
			err = fn(i, o)
		} else if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// answer reads one answer of cat-file: the id, the kind and the size, then the bytes.
func (g *gitObjects) answer(id string) (Object, error) {
	line, err := g.out.ReadString('\n')
	if err != nil && g.repo.Partial && !g.repo.mayFetch() {
		return Object{}, fmt.Errorf("%s: %w here, and this repository's own configuration names a source that is not trusted: reverie sync says which", id, ErrNoObject)
	}
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w: git cat-file: %s", id, ErrCorrupt, first(reason(g.stderr.bytes()), err.Error()))
	}
	fields := strings.Fields(line)
	if len(fields) == 2 && fields[1] == "missing" {
		// git reports an unreadable loose object as missing, with a reason. The whole reason is available
		// once the process has ended, as it does after any error.
		g.stop()
		if why := damage(g.stderr.bytes(), id); why != "" {
			return Object{}, fmt.Errorf("%s: %w: %s", id, ErrCorrupt, why)
		}
		return Object{}, fmt.Errorf("%s: %w", id, ErrNoObject)
	}
	if len(fields) != 3 || fields[0] != id {
		return Object{}, fmt.Errorf("%s: git cat-file answered %q", id, strings.TrimSpace(line))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err == nil {
		err = g.sizes.check(fields[1], size)
	}
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", id, err)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(g.out, data); err != nil {
		return Object{}, fmt.Errorf("%s: %w: git cat-file: %s", id, ErrCorrupt, first(reason(g.stderr.bytes()), err.Error()))
	}
	o := Object{ID: id, Kind: fields[1], Data: data[:size]}
	return o, g.repo.ObjectFormat.check(o)
}

// damage returns git's complaint about one unreadable object, or "". Standard error also holds
// complaints about other objects, settings and alternates. A line counts if it names the object by
// its id or by its path, which is the id with slashes in it.
func damage(stderr []byte, id string) string {
	for line := range strings.Lines(string(stderr)) {
		if !strings.Contains(strings.NewReplacer("/", "", `\`, "").Replace(line), id) {
			continue
		}
		for _, word := range []string{"corrupt", "unable to", "is empty"} {
			if strings.Contains(line, word) {
				return reason([]byte(line))
			}
		}
	}
	return ""
}

func (g *gitObjects) start() error {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := g.repo.Command(ctx, "cat-file", "--batch")
	g.stderr = &limitedBuffer{most: 4096}
	cmd.Stderr = g.stderr
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return newError(cmd, nil, err)
	}
	g.cmd, g.cancel, g.in, g.out = cmd, cancel, in, bufio.NewReaderSize(out, 64<<10)
	return nil
}

func (g *gitObjects) stop() {
	if g.cmd == nil {
		return
	}
	g.cancel()
	g.cmd.Wait()
	g.cmd = nil
}

func (g *gitObjects) Close() error {
	if g.cmd == nil {
		return nil
	}
	g.in.Close()
	err := g.cmd.Wait()
	g.cancel()
	g.cmd = nil
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	return nil
}

func (g *gitObjects) Save(ctx context.Context, objs []Object) error {
	if len(objs) > PackFrom {
		return g.savePack(ctx, g.repo, objs)
	}
	if _, err := sendPack(ctx, g.repo, objs, "unpack-objects", "-q"); err != nil {
		return err
	}
	root := filepath.Join(g.repo.CommonDir, "objects")
	dirs := []string{root}
	for _, o := range objs {
		dirs = append(dirs, filepath.Dir(loosePath(root, o.ID)))
	}
	return syncObjectDirs(dirs)
}

// limitedBuffer keeps the end of a process's standard error.
type limitedBuffer struct {
	most  int    // bytes
	wrote func() // called at each write, may be nil

	mu   sync.Mutex
	text []byte
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if over := len(b.text) - b.most; over > 0 {
		b.text = append(b.text[:0], b.text[over:]...)
	}
	if b.wrote != nil {
		b.wrote()
	}
	return len(p), nil
}

func (b *limitedBuffer) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]byte(nil), b.text...)
}
