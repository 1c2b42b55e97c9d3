package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Ended is the reason that a command is over.
type Ended string

const (
	Exited    Ended = "exited"    // by itself
	TimedOut  Ended = "time"      // Limits.Time
	TooLong   Ended = "output"    // Limits.Output
	TooBig    Ended = "disk"      // Limits.Disk, Limits.Files, or a nearly full disk
	NoMemory  Ended = "memory"    // a process was killed for Limits.Memory, and the command failed
	Cancelled Ended = "cancelled" // by the context
)

// Result is the outcome of a command. The container is gone.
type Result struct {
	Ended  Ended
	Exit   int    // of the command; 128 and more after a signal
	Stdout []byte // output without a writer in the Spec
	Stderr []byte
	Image  string        // id of the image
	Took   time.Duration // from start to end of the command
	Why    string        // for TooBig: the reason
	Denied []string      // refused hosts, unique, at most 32, with reasons
	Hidden []string      // git directories and files of the workspace that were hidden
}

// Run runs argv in a container of its own and returns when the container is gone. stdin may be nil.
// A command that fails or exceeds a limit gives a Result. An error means that nothing ran, or that
// the outcome is unknown. When ctx ends, the container is killed and the error is that of ctx. An
// error wrapping ErrLeft names a container that could not be removed.
func (e *Engine) Run(ctx context.Context, s Spec, argv []string, stdin io.Reader) (result Result, err error) {
	e.pruned.Do(func() { _, _ = e.Prune(ctx, nil) }) // the next Prune repeats it
	if s, err = s.complete(e.facts.cpus); err != nil {
		return result, err
	}
	if result.Image = s.Image; !isImageID(s.Image) { // create checks an image with an id
		if result.Image, err = e.Image(ctx, s.Image); err != nil {
			return result, err
		}
	}
	hidden, err := gitEntries(s.Workspace)
	if err != nil {
		return result, err
	}
	for _, h := range hidden {
		result.Hidden = append(result.Hidden, h.path)
	}
	name := "reverie-" + nonce()
	g, err := e.give(name)
	defer func() {
		if !errors.Is(err, ErrLeft) { // the next Prune needs the folder to find the rest
			g.remove()
		}
	}()
	if err != nil {
		return result, err
	}
	c, err := e.plan(name, result.Image, s, g, hidden, argv)
	if err != nil {
		return result, err
	}
	if len(s.Network) > 0 {
		p, err := e.proxy.listen(g.socket(), s.Network)
		if err != nil {
			return result, err
		}
		defer func() { result.Denied = p.close() }()
	}
	defer func() {
		if gone := e.remove(name); gone != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s: %w", ErrLeft, name, gone))
		}
	}()
	// A killed client may leave an order that runs later, so this one is awaited.
	args, env := e.args(c)
	if _, err := e.askWith(context.WithoutCancel(ctx), orderTime, env, args...); err != nil {
		if noImage(err) {
			err = fmt.Errorf("%w: %s", ErrNoImage, result.Image)
		}
		return result, fmt.Errorf("make a container: %w", err)
	}
	made, err := e.inspect(ctx, name)
	if err != nil {
		return result, err
	}
	if err := e.verify(c, made); err != nil {
		return result, err
	}
	watch, err := watchDisk(s.Workspace, s.Limits.Disk, s.Limits.Files)
	if err != nil {
		return result, err
	}
	defer watch.stop()
	return e.attend(ctx, c, watch, stdin, result)
}

// attend starts a container, supervises it, and returns the outcome.
func (e *Engine) attend(ctx context.Context, c container, watch *diskWatch, stdin io.Reader, result Result) (Result, error) {
	l := c.spec.Limits
	var kept [2]bytes.Buffer
	budget := &budget{left: l.Output, exceeded: make(chan struct{})}
	stdout, stderr := cmp.Or[io.Writer](c.spec.Stdout, &kept[0]), cmp.Or[io.Writer](c.spec.Stderr, &kept[1])
	life, end := context.WithCancel(context.Background())
	defer end()
	client := e.client(life, nil, "start", "--attach", "--interactive", c.name)
	client.Dir = c.folder
	var said bytes.Buffer // only here Podman reports the reason that it cannot start a command
	client.Stdout, client.Stderr = &limited{stdout, budget}, io.MultiWriter(&atMost{&said, 4 << 10}, &limited{stderr, budget})
	if stdin != nil {
		fed, err := client.StdinPipe() // Wait closes it: a blocked reader keeps no client waiting
		if err != nil {
			return result, err
		}
		go func() {
			io.Copy(fed, stdin)
			fed.Close()
		}()
	}
	began := time.Now()
	if err := client.Start(); err != nil {
		return result, fmt.Errorf("%s start: %w", e.Name, err)
	}
	over := make(chan error, 1)
	go func() { over <- client.Wait() }()
	clock := time.NewTimer(l.Time)
	defer clock.Stop()

	var ended error
	result.Ended = Exited
	select {
	case ended = <-over:
	case <-ctx.Done():
		result.Ended = Cancelled
	case <-clock.C:
		result.Ended = TimedOut
	case <-budget.exceeded:
		result.Ended = TooLong
	case result.Why = <-watch.exceeded:
		result.Ended = TooBig
	}
	if result.Ended != Exited {
		c.stop(context.WithoutCancel(ctx), e, result.Ended == TimedOut)
		select {
		case <-over:
		case <-time.After(orderTime):
			end() // the engine is gone, or does not inform
			<-over
		}
	}
	result.Took = time.Since(began)
	result.Stdout, result.Stderr = kept[0].Bytes(), kept[1].Bytes()
	made, err := e.inspect(context.WithoutCancel(ctx), c.name)
	if err != nil {
		return result, fmt.Errorf("how it ended: %w", err)
	}
	state := made.State
	result.Exit = state.ExitCode
	switch {
	case ctx.Err() != nil && result.Ended == Cancelled:
		return result, ctx.Err()
	case state.Running:
		return result, fmt.Errorf("%w: the client of %s ended before the container: %v", ErrSilent, e.Name, ended)
	case state.Error != "" || state.StartedAt.IsZero():
		return result, fmt.Errorf("start %q: %s", c.argv[0], firstLines(cmp.Or(state.Error, said.String())))
	case (state.OOMKilled || c.ranOut()) && result.Ended == Exited && state.ExitCode != 0:
		result.Ended = NoMemory
	case result.Ended == Exited && budget.over():
		result.Ended = TooLong
	}
	return result, nil
}

// stop ends a container: at once, or gently with the grace of its limits.
func (c container) stop(ctx context.Context, e *Engine, gently bool) {
	ask, most := []string{"kill", c.name}, orderTime
	if grace := c.spec.Limits.Grace; gently && grace > 0 {
		seconds := max(1, int((grace+time.Second/2)/time.Second))
		ask, most = []string{"stop", "--time", fmt.Sprint(seconds), c.name}, orderTime+grace
	}
	if _, err := e.ask(ctx, most, ask...); err != nil {
		// It may have ended meanwhile: its state decides.
		_, _ = e.ask(ctx, orderTime, "kill", c.name)
	}
}

func nonce() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// budget counts the output of two streams together.
type budget struct {
	mu       sync.Mutex
	left     int64 // less than zero: exceeded
	exceeded chan struct{}
}

// take returns the part of n bytes that may still be written.
func (b *budget) take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	may := int(min(int64(n), max(0, b.left)))
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			close(b.exceeded)
		}
	}
	return may
}

func (b *budget) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left < 0
}

// limited passes on output within the budget, and silently drops the rest, so that no writer
// blocks.
type limited struct {
	to io.Writer
	of *budget
}

func (w *limited) Write(p []byte) (int, error) {
	if may := w.of.take(len(p)); may > 0 {
		if n, err := w.to.Write(p[:may]); err != nil {
			return n, err
		}
	}
	return len(p), nil
}
