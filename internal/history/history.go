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

	sessions []string // trailers, as Behind reads them
}

// Behind returns the sessions that the commit names as evidence for a memory.
func (c Commit) Behind(id string) []string { return Behind(c.sessions, id) }

// Behind returns the names in the values of a trailer that concern a memory. A value is a name. In
// a commit about several memories the first digits of their ids follow it.
func Behind(values []string, id string) (names []string) {
	for _, v := range values {
		name, ids := named(v)
		if name != "" && (len(ids) == 0 || slices.ContainsFunc(ids, func(short string) bool { return strings.HasPrefix(id, short) })) {
			names = append(names, name)
		}
	}
	return names
}

// named splits the value of a trailer into the name and the ids after it.
func named(value string) (name string, ids []string) {
	f := strings.Fields(value)
	n := len(f)
	for n > 1 && len(f[n-1]) == 8 && strings.Trim(f[n-1], "0123456789abcdef") == "" {
		n--
	}
	return strings.Join(f[:n], " "), f[n:]
}

// logFormat gives logFields texts a commit, each ended by NUL, which none of them can hold; -z ends
// the last.
const (
	logFormat = "%H%x00%aI%x00%an%x00%s%x00%(trailers:key=Reverie-Op,valueonly,separator=%x20)%x00%(trailers:key=Reverie-Session,valueonly,separator=%x09)%x00%ae%x00%b"
	logFields = 8
)

// Log calls fn for each commit of ref that touches the paths, the newest first. Limit 0 means all.
func Log(ctx context.Context, repo *git.Repo, ref string, paths []string, limit int, fn func(Commit) error) error {
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
	}, append(append(logArgs(limit), ref, "--"), paths...)...)
}

// logArgs asks git for commits in logFormat.
func logArgs(limit int) []string {
	args := []string{"log", "--no-color", "--no-ext-diff", "--no-textconv", "-z", "--format=" + logFormat}
	if limit > 0 {
		args = append(args, fmt.Sprintf("--max-count=%d", limit))
	}
	return args
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
	c := Commit{ID: f[0], Time: at.UTC(), Author: f[2], Subject: f[3], Op: f[4], Sessions: []string{}, Email: f[6], Body: f[7]}
	c.sessions = strings.Split(f[5], "\t")
	for _, v := range c.sessions {
		if name, _ := named(v); name != "" {
			c.Sessions = append(c.Sessions, name)
		}
	}
	return c, nil
}

// Version is a commit's change of one file. The text of a file that did not exist is nil.
type Version struct {
	Commit
	Path          string
	Before, After []byte

	before, after string // blobs, or ""
}

// Versions returns the changes of files, by path, the newest first: of the named ones, or of all.
// It cuts a file's list after the newest most. Merges are no changes.
func Versions(ctx context.Context, repo *git.Repo, revs string, most int, paths ...string) (map[string][]Version, error) {
	all := map[string][]Version{}
	err := Changes(ctx, repo, revs, 0, paths, func(_ Commit, files []Version) error {
		for _, v := range files {
			if len(all[v.Path]) < most {
				all[v.Path] = append(all[v.Path], v)
			}
		}
		return nil
	})
	return all, err
}

// The number of commits whose files Changes reads at once: first few, for an early answer.
const (
	firstBatch = 32
	lastBatch  = 4096
)

// Changes calls fn for each commit that Log tells of, with its changes of files. Merges change no
// file.
func Changes(ctx context.Context, repo *git.Repo, revs string, limit int, paths []string, fn func(Commit, []Version) error) error {
	args := append(logArgs(limit), "--raw", "--no-abbrev", "--no-renames", revs, "--")
	var batch [][]Version // a commit each; the first one has no path
	size := firstBatch
	flush := func() error {
		if err := readTexts(ctx, repo, batch); err != nil {
			return err
		}
		for _, one := range batch {
			if err := fn(one[0].Commit, one[1:]); err != nil {
				return err
			}
		}
		batch, size = nil, min(2*size, lastBatch)
		return nil
	}
	return Stream(ctx, repo, func(out *bufio.Reader) error {
		for {
			next, err := out.Peek(2)
			switch {
			case len(next) < 2 && err == io.EOF:
				return flush()
			case err != nil:
				return err
			case next[0] == ':' || next[1] == ':':
				v, err := readChange(out)
				if err != nil {
					return err
				}
				last := len(batch) - 1
				v.Commit = batch[last][0].Commit
				batch[last] = append(batch[last], v)
				continue
			case len(batch) == size:
				if err := flush(); err != nil {
					return err
				}
			}
			c, err := readCommit(out)
			if err != nil {
				return err
			}
			batch = append(batch, []Version{{Commit: c}})
		}
	}, append(args, paths...)...)
}

// Between returns the changes of files from one state to another, by path, with the last commit on
// the way that changed each. That is empty if the way leads back.
func Between(ctx context.Context, repo *git.Repo, from, to string, paths ...string) ([]Version, error) {
	var all []Version
	args := append([]string{"diff", "--raw", "-z", "--no-abbrev", "--no-renames", from, to, "--"}, paths...)
	err := Stream(ctx, repo, func(out *bufio.Reader) error {
		for {
			if _, err := out.Peek(1); err == io.EOF {
				return nil
			}
			v, err := readChange(out)
			if err != nil {
				return err
			}
			all = append(all, v)
		}
	}, args...)
	if err == nil {
		err = readTexts(ctx, repo, [][]Version{all})
	}
	if err != nil || len(all) == 0 {
		return nil, err
	}
	last := map[string]Commit{}
	err = Changes(ctx, repo, from+".."+to, 0, paths, func(c Commit, files []Version) error {
		for _, v := range files {
			if _, known := last[v.Path]; !known {
				last[v.Path] = c
			}
		}
		return nil
	})
	for i := range all {
		all[i].Commit = last[all[i].Path]
	}
	return all, err
}

// readChange parses one change in git's raw format.
func readChange(out *bufio.Reader) (v Version, err error) {
	change, err := out.ReadString(0)
	if err != nil {
		return v, fmt.Errorf("read git's changes: %w", err)
	}
	path, err := out.ReadString(0)
	f := strings.Fields(change)
	if err != nil || len(f) != 5 {
		return v, fmt.Errorf("read git's changes: %q", change)
	}
	v.Path = path[:len(path)-1]
	if strings.Trim(f[2], "0") != "" {
		v.before = f[2]
	}
	if strings.Trim(f[3], "0") != "" {
		v.after = f[3]
	}
	return v, nil
}

// readTexts fills in the texts of versions.
func readTexts(ctx context.Context, repo *git.Repo, batch [][]Version) error {
	texts := map[string][]byte{}
	for _, some := range batch {
		for _, v := range some {
			texts[v.before], texts[v.after] = nil, nil
		}
	}
	delete(texts, "")
	err := readBlobs(ctx, repo, texts)
	for _, some := range batch {
		for i, v := range some {
			some[i].Before, some[i].After = texts[v.before], texts[v.after]
		}
	}
	return err
}

// readBlobs fills in the texts of blobs.
func readBlobs(ctx context.Context, repo *git.Repo, texts map[string][]byte) error {
	objects := repo.Objects()
	defer objects.Close()
	return objects.ReadAll(ctx, slices.Collect(maps.Keys(texts)), func(_ int, o git.Object) error {
		texts[o.ID] = o.Data
		return nil
	})
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
