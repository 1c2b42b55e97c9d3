// Command page measures the project and writes one page of figures, as evidence.md and as
// evidence.html, which needs no other file:
//
//	go run ./bench/page OUT [-set NAME=PATH …] [-only REGEXP]
//
// Run it at the root of the project. It asks no network, composes the commands below bench, and
// says of each figure which command made it. A set of data is given by its path, and a section
// without its data says so. docs/evidence.md lists the sets.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/bench/lab"
)

func main() {
	sets := map[string][]string{}
	only := flag.String("only", "", "measure only the sections whose name matches this `regexp`")
	flag.Func("set", "use the data at `NAME=PATH`; may be repeated", func(s string) error {
		name, path, ok := strings.Cut(s, "=")
		if !ok || !slices.Contains(setNames(), name) {
			return fmt.Errorf("not NAME=PATH with a NAME of %s", strings.Join(setNames(), ", "))
		}
		if _, err := os.Stat(path); err != nil {
			return err
		}
		whole, err := filepath.Abs(path)
		sets[name] = append(sets[name], whole)
		return err
	})
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/page OUT [-set NAME=PATH …] [-only REGEXP]")
		flag.PrintDefaults()
	}
	args := os.Args[1:]
	var out string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") { // the folder may stand first
		out, args = args[0], args[1:]
	}
	_ = flag.CommandLine.Parse(args) // it exits on an error
	if out == "" && flag.NArg() == 1 {
		out = flag.Arg(0)
	} else if flag.NArg() > 0 || out == "" {
		flag.Usage()
		os.Exit(2)
	}
	chosen, err := regexp.Compile(*only)
	if err == nil {
		err = compose(context.Background(), out, sets, chosen, execute)
	}
	lab.Exit("page", err)
}

// compose measures the sections, and writes both files after each. A section that failed is on the
// page, and in the error.
func compose(ctx context.Context, out string, sets map[string][]string, chosen *regexp.Regexp, run runner) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	p := page{Made: time.Now().UTC().Format("2006-01-02 15:04 MST"), Commit: told("git", "describe", "--always", "--dirty", "--abbrev=12"),
		Machine: fmt.Sprintf("%s, %s/%s, %d CPUs, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), told("git", "--version"))}
	var due []int
	for _, s := range sections() {
		for _, part := range s.parts(sets) {
			switch {
			case part.Missing != "":
			case chosen.MatchString(part.Key):
				part.Missing = "the run ended before this section"
				due = append(due, len(p.Parts))
			default:
				part.Missing = "not measured this time"
			}
			p.Parts = append(p.Parts, part)
		}
	}
	failed := p.write(out)
	for _, i := range due {
		part := &p.Parts[i]
		fmt.Fprintln(os.Stderr, "page:", part.Command)
		part.Missing = ""
		part.measure(ctx, run)
		if part.Failed != "" {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", part.Command, part.Failed))
		}
		failed = errors.Join(failed, p.write(out))
	}
	return failed
}

// runner returns the standard output of a command, even beside an error.
type runner func(ctx context.Context, env, argv []string) ([]byte, error)

// patience bounds one command.
const patience = 40 * time.Minute

// execute is the runner that starts processes.
func execute(ctx context.Context, env, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&stderr, os.Stderr)
	err := cmd.Run()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		err = fmt.Errorf("%w: %s", err, lines[max(0, len(lines)-2)])
	}
	return out.Bytes(), err
}

// told returns the answer of a command in one line, or "unknown".
func told(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// identity describes given data without its place: name, and hash or number of files.
func identity(path string) string {
	if files, err := os.ReadDir(path); err == nil {
		return fmt.Sprintf("%s, a folder of %d", filepath.Base(path), len(files))
	}
	f, err := os.Open(path)
	if err != nil {
		return filepath.Base(path)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return filepath.Base(path)
	}
	return fmt.Sprintf("%s, sha256 %.12x…", filepath.Base(path), sum.Sum(nil))
}
