package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/process"
)

// patience is the time from the first interrupt until a command has to stop.
const patience = 2 * time.Second

// Main runs the command line and returns the exit code. The first interrupt asks the command
// to stop at the next safe place; the second, or patience, ends it where it is: what is written
// is written in transactions.
func Main(args []string) int {
	if len(args) > 1 && args[1] == "hook" && !slices.ContainsFunc(args[2:], argv.IsHelp) {
		return hookProcess(args[2:])
	}
	// inside a container, where signals are for the command
	if len(args) > 2 && args[1] == "sandbox" && args[2] == "forward" {
		return sandboxForward(args[3:])
	}
	process.CollectLate()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed pipe is an error of the write
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	env, done := system(), make(chan int, 1)
	if env.Interactive && os.Getenv("TERM") != "dumb" {
		env.follow = followLoop
	}
	go func() { done <- process.WithRoom(func() int { return Run(ctx, env, args) }) }()
	select {
	case code := <-done:
		return code
	case <-signals:
		cancel()
	}
	select {
	case code := <-done:
		return code
	case <-signals:
	case <-time.After(patience):
	}
	fmt.Fprintln(os.Stderr, "reverie: "+stopped)
	return exit.Signal
}

const stopped = "stopped; nothing is half-written"
