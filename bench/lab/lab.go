// Package lab builds the program and runs it for the commands below bench. Begin with Build. It
// keeps no state.
package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Build builds the program into a folder, with more flags of go build, and returns its path.
func Build(dir string, flags ...string) (string, error) {
	program := filepath.Join(dir, "reverie")
	args := append([]string{"build", "-tags", "urfave_cli_no_docs", "-o", program}, flags...)
	_, err := Run(exec.Command("go", append(args, "github.com/reverie-memory/reverie/cmd/reverie")...))
	return program, err
}

// Cost is the time of a process. On a busy machine only its processor time compares.
type Cost struct{ Wall, CPU time.Duration }

// Plus adds the cost of a process that followed.
func (c Cost) Plus(d Cost) Cost { return Cost{c.Wall + d.Wall, c.CPU + d.CPU} }

// Result is the end of a process: both of its outputs, and its cost.
type Result struct {
	Out, Told string
	Cost
}

// Run runs a command. Its error has the outputs, and wraps the exit code.
func Run(cmd *exec.Cmd) (Result, error) {
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	began := time.Now()
	err := cmd.Run()
	r := Result{Out: out.String(), Told: told.String(), Cost: Cost{Wall: time.Since(began)}}
	if cmd.ProcessState != nil {
		r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		err = fmt.Errorf("%s %q: %w\n%s%s", filepath.Base(cmd.Path), cmd.Args[1:], err, r.Out, r.Told)
	}
	return r, err
}

// Lines decodes lines of JSON. It returns the ones before an error, too.
func Lines[T any](in io.Reader) (all []T, err error) {
	for dec := json.NewDecoder(in); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, fmt.Errorf("value %d: %w", len(all)+1, err)
		}
		all = append(all, v)
	}
}

// Exit ends a command of that name, with exit code 1 on an error.
func Exit(name string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
