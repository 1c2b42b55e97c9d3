// Package history reads the commits of the memory and the authors of its lines from git. Begin with
// Log and Blame, which run one git process each and pass on its output as it comes.
package history

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// Commit is one commit of the memory.
type Commit struct {
	ID       string    `json:"commit"`
	Time     time.Time `json:"time"`
	Author   string    `json:"author"`
	Subject  string    `json:"subject"`
	Op       string    `json:"op"`
	Sessions []string  `json:"sessions"` // never nil
	Email    string    `json:"-"`        // of the author
	Body     string    `json:"-"`        // with the trailers
}

// logFormat gives logFields texts a commit, each ended by NUL, which none of them can hold; -z ends
// the last.
const (
	logFormat = "%H%x00%aI%x00%an%x00%s%x00%(trailers:key=Reverie-Op,valueonly,separator=%x20)%x00%(trailers:key=Reverie-Session,valueonly,separator=%x20)%x00%ae%x00%b"
	logFields = 8
)

// Log calls fn for each commit of ref that touches the paths, the newest first. Limit 0 means all.
func Log(ctx context.Context, repo *git.Repo, ref string, paths []string, limit int, fn func(Commit) error) error {
	args := []string{"log", "--no-color", "--no-ext-diff", "--no-textconv", "-z", "--format=" + logFormat}
	if limit > 0 {
		args = append(args, fmt.Sprintf("--max-count=%d", limit))
	}
	args = append(args, ref, "--")
	return Stream(ctx, repo, func(out *bufio.Reader) error {
		for {
			c, err := readCommit(out)
			if err == io.EOF {
				return nil
			}
			if err == nil {
				err = fn(c)
			}
			if err != nil {
				return err
			}
		}
	}, append(args, paths...)...)
}

// readCommit returns io.EOF after the last commit.
func readCommit(out *bufio.Reader) (Commit, error) {
	var f [logFields]string
	for i := range f {
		text, err := out.ReadString(0)
		if err == io.EOF && i == 0 && text == "" {
			return Commit{}, err
		}
		if err != nil {
			return Commit{}, fmt.Errorf("read git log: %w", err)
		}
		f[i] = strings.TrimSuffix(text, "\x00")
	}
	at, err := time.Parse(time.RFC3339, f[1])
	if err != nil {
		return Commit{}, fmt.Errorf("read git log: commit %s: %w", f[0], err)
	}
	return Commit{f[0], at.UTC(), f[2], f[3], f[4], append([]string{}, strings.Fields(f[5])...), f[6], f[7]}, nil
}

// Version is a commit's change of one file. The text of a file that did not exist is nil.
type Version struct {
	Commit
	Before, After []byte

	before, after string // blobs, or ""
}

// Versions returns the changes of files, by path, the newest first: of the named ones, or of all.
// It cuts a file's list after the newest most. Merges are no changes.
func Versions(ctx context.Context, repo *git.Repo, ref string, most int, paths ...string) (map[string][]Version, error) {
	args := append([]string{"log", "--no-color", "--no-ext-diff", "--no-textconv", "-z", "--raw", "--no-abbrev", "--no-renames", "--format=" + logFormat, ref, "--"}, paths...)
	all := map[string][]Version{}
	texts := map[string][]byte{}
	err := Stream(ctx, repo, func(out *bufio.Reader) error {
		var c Commit
		for {
			next, err := out.Peek(2)
			switch {
			case len(next) < 2 && err == io.EOF:
				return nil
			case err != nil:
				return err
			case next[0] != ':' && next[1] != ':':
				if c, err = readCommit(out); err != nil {
					return err
				}
				continue
			}
			change, err := out.ReadString(0)
			if err != nil {
				return fmt.Errorf("read git log: %w", err)
			}
			path, err := out.ReadString(0)
			f := strings.Fields(change)
			if err != nil || len(f) != 5 {
				return fmt.Errorf("read git log: %q", change)
			}
			path = path[:len(path)-1]
			v := Version{Commit: c, before: strings.Trim(f[2], "0"), after: strings.Trim(f[3], "0")}
			if v.before != "" {
				v.before, texts[f[2]] = f[2], nil
			}
			if v.after != "" {
				v.after, texts[f[3]] = f[3], nil
			}
			if len(all[path]) < most {
				all[path] = append(all[path], v)
			}
		}
	}, args...)
	if err == nil {
		err = readBlobs(ctx, repo, texts)
	}
	for _, some := range all {
		for i := range some {
			some[i].Before, some[i].After = texts[some[i].before], texts[some[i].after]
		}
	}
	return all, err
}

// readBlobs fills in the texts of blobs.
func readBlobs(ctx context.Context, repo *git.Repo, texts map[string][]byte) error {
	if len(texts) == 0 {
		return nil
	}
	ask := strings.Join(slices.Collect(maps.Keys(texts)), "\n") + "\n"
	answer, err := repo.Git(ctx, strings.NewReader(ask), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for range texts {
		head, rest, _ := bytes.Cut(answer, []byte("\n"))
		f := strings.Fields(string(head))
		if len(f) != 3 {
			return fmt.Errorf("read git cat-file: %q", head)
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size >= len(rest) {
			return fmt.Errorf("read git cat-file: %q", head)
		}
		texts[f[0]], answer = rest[:size:size], rest[size+1:]
	}
	return nil
}

// Line is one line of a memory's file.
type Line struct {
	N      int       `json:"line"` // from 1
	Commit string    `json:"commit"`
	Author string    `json:"author"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`
	Model  string    `json:"model,omitempty"` // that proposed it; several are separated by spaces
}

// Blame calls fn for each line of a file, with the last commit that changed it.
func Blame(ctx context.Context, repo *git.Repo, ref, path string, fn func(Line) error) error {
	return Stream(ctx, repo, func(out *bufio.Reader) error { return readLines(out, fn) },
		"blame", "--no-textconv", "--date=short", "--line-porcelain", ref, "--", path)
}

// readLines parses git's porcelain format: the commit of a line, its fields one a line, and the
// text after a tab.
func readLines(out *bufio.Reader, fn func(Line) error) error {
	var now Line
	for {
		text, err := out.ReadString('\n')
		if err == io.EOF && text == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read git blame: %w", err)
		}
		text = strings.TrimSuffix(text, "\n")
		if line, ok := strings.CutPrefix(text, "\t"); ok {
			now.Text = line
			if err := fn(now); err != nil {
				return err
			}
			now = Line{N: now.N}
			continue
		}
		name, value, _ := strings.Cut(text, " ")
		switch {
		case now.Commit == "":
			now.Commit = name
			now.N++
		case name == "author":
			now.Author = value
		case name == "author-time":
			at, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("read git blame: author-time: %w", err)
			}
			now.Time = time.Unix(at, 0).UTC()
		}
	}
}

// Stream runs a git command and gives its output to read. When read ends early or fails, git is
// ended too; git's own words explain a failure of git.
func Stream(ctx context.Context, repo *git.Repo, read func(*bufio.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := repo.Command(ctx, args...)
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := read(bufio.NewReader(out)); err != nil {
		cancel()
		_ = cmd.Wait() // it was ended
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(words.String()))
	}
	return nil
}
