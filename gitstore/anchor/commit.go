package anchor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// codeTime bounds a command's search of the code's history for moved files. Files not found by then
// are unknown.
const codeTime = 2 * time.Second

// Bounds of a command's work. Beyond them the answer is unknown, which holds back the lessons of
// side branches and labels nothing stale.
const (
	maxJudged = 16              // anchors of one memory
	maxRead   = 128 << 20       // bytes of files
	maxSides  = 64              // side branches without a stored verdict
	sideTime  = 2 * time.Second // for all of them, in one command
)

// Commit is the code at a commit, with the findings there.
type Commit struct {
	ID     string // "" before the first one
	Branch string // "" when HEAD is detached
	Unsure bool   // a bound or an error left an answer unknown that the next command may find

	of     *Code
	files  *git.Code
	known  *verdicts
	moved  map[string]map[string]string // commit → its files' later names here
	paths  map[string]string            // the first anchorDigits of a file's id → its path
	search context.Context              // of searches in history, with a time limit
	stop   context.CancelFunc
	read   int          // bytes
	last   codeFile     // the last one read
	dates  *[]time.Time // of commits that the default branch lacks; nil before the question

	sides   int                 // side branches that were asked about
	spent   time.Duration       // on them, of sideTime
	patches map[string][]string // already listed
}

// codeFile is a file that was read.
type codeFile struct {
	blob string
	text []byte
}

// at returns the code at a commit, "" for none.
func (c *Code) at(commit, branch string) *Commit {
	at := &Commit{of: c, ID: commit, Branch: branch, moved: map[string]map[string]string{}, patches: map[string][]string{}}
	if commit == "" {
		at.known = &verdicts{all: map[string]verdict{}}
		return at
	}
	at.files, at.known = c.Repo.Code(commit), readVerdicts(c.State, commit)
	return at
}

// done saves the findings.
func (c *Commit) done() {
	c.known.save(c.of.Repo)
	if c.files != nil {
		c.files.Close() // it opens again where it is asked again
	}
	if c.stop != nil {
		c.stop()
		c.search, c.stop = nil, nil
	}
}

// Gone describes a memory's anchors that are missing from the code, one line each.
func (c *Commit) Gone(ctx context.Context, m record.Memory) []string {
	out, _ := c.Look(ctx, m)
	return out
}

// Look is Gone with the number of anchors without an answer.
func (c *Commit) Look(ctx context.Context, m record.Memory) (out []string, unknown int) {
	add := func(what string) {
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	for _, text := range m.Anchors[:min(maxJudged, len(m.Anchors))] {
		a, err := record.ParseAnchor(text)
		if err != nil {
			continue // check names it
		}
		switch found := c.judge(ctx, text, a, m.Source.Commit); found.letter {
		case isGone:
			add(a.Path + " is gone")
		case isChanged:
			add(fmt.Sprintf("%s no longer has %q", printable(found.path), a.Snippet))
		case isUnknown:
			unknown++
		}
	}
	return out, unknown
}

// printable quotes a path with control characters.
func printable(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}

// judge returns the state of an anchor in the code; text is its text form.
func (c *Commit) judge(ctx context.Context, text string, a record.Anchor, source string) verdict {
	if c.ID == "" || strings.Contains(a.Snippet, "[redacted:") {
		return verdict{letter: isUnknown}
	}
	key := verdictKey("anchor", text, source)
	if found, ok := c.known.all[key]; ok {
		return found
	}
	found, err := c.find(ctx, key, a, source)
	if err != nil {
		found, c.Unsure = verdict{letter: isUnknown}, true
	}
	if found.letter != isUnknown { // for that may change while the code stays
		c.known.put(key, found)
	}
	return found
}

func (c *Commit) find(ctx context.Context, key string, a record.Anchor, source string) (verdict, error) {
	path := a.Path
	blob, err := c.files.File(ctx, path)
	if errors.Is(err, git.ErrNoPath) {
		var certain bool
		if path, blob, certain, err = c.follow(ctx, a, source); err == nil && path == "" {
			if certain {
				return verdict{letter: isGone}, nil
			}
			return verdict{letter: isUnknown}, nil
		}
	}
	if err != nil {
		return verdict{}, err
	}
	found := verdict{isFresh, blob, path}
	if hint := c.known.hints[key]; hint.blob == blob && hint.path == path && (hint.letter == isFresh || hint.letter == isChanged) {
		return hint, nil
	}
	ok, err := a.Holds(blob, func() ([]byte, error) { return c.text(ctx, blob) })
	if !ok {
		found.letter = isChanged
	}
	return found, err
}

// text reads a file within the bounds.
func (c *Commit) text(ctx context.Context, blob string) ([]byte, error) {
	if c.last.blob == blob {
		return c.last.text, nil
	}
	if c.read > maxRead {
		return nil, errors.New("too much code to look at")
	}
	text, err := c.files.Read(ctx, blob)
	c.read += len(text)
	if err == nil && len(text) > maxAnchored {
		err = errors.New("the file is too large to look at")
	}
	if err == nil {
		c.last = codeFile{blob, text}
	}
	return text, err
}

// anchorDigits is the number of digits of a file's id in our anchors.
const anchorDigits = 16

// maxHops bounds the renames of a file or folder that are followed by history alone.
const maxHops = 4

// follow finds a file that left the anchor's path. It looks for the same bytes elsewhere, git's
// rename since the memory's commit, or a name in the commits that removed it. Without a path,
// certain reports that the file was here and is gone.
func (c *Commit) follow(ctx context.Context, a record.Anchor, source string) (path, blob string, certain bool, err error) {
	ctx = c.searching(ctx)
	if c.paths == nil {
		paths := map[string]string{}
		err := c.files.Walk(ctx, func(name, id string) bool {
			if short := id[:anchorDigits]; paths[short] == "" {
				paths[short] = name
			}
			return true
		})
		if err != nil {
			return "", "", false, err
		}
		c.paths = paths
	}
	if path := c.paths[a.Blob[:min(anchorDigits, len(a.Blob))]]; path != "" {
		blob, err := c.files.File(ctx, path)
		return path, blob, true, err
	}
	commits := []string{""}
	if isHex(source) {
		if commits, err = c.of.Repo.History().Commits(ctx, source); err != nil {
			return "", "", false, err
		}
	}
	at := a.Path
	if from := commits[0]; from != "" {
		renames, ok := c.moved[from]
		if !ok {
			if renames, err = c.of.Repo.History().Renames(ctx, from, c.ID); err != nil {
				return "", "", false, err
			}
			c.moved[from] = renames
		}
		if name := renames[at]; name != "" {
			blob, err = c.files.File(ctx, name)
			return name, blob, true, err
		}
	}
	found, err := c.trace(ctx, at)
	if err != nil || found.path == "" {
		never := found.letter == isFresh && commits[0] != "" && !c.of.Repo.Shallow
		return "", "", found.letter == isGone || never, err
	}
	blob, err = c.files.File(ctx, found.path)
	return found.path, blob, true, err
}

// Places returns what became of paths that the code once had: those that are gone, in words, and
// those that moved, with their places now.
func (c *Commit) Places(ctx context.Context, paths []string) (gone []string, moved map[string]string) {
	moved = map[string]string{}
	for _, path := range paths {
		old, now := c.movedPart(ctx, path)
		if what := old + " is gone"; now != "" {
			moved[old] = now
		} else if old != "" && !slices.Contains(gone, what) {
			gone = append(gone, what)
		}
	}
	return gone, moved
}

// movedPart returns the part of a path that the code once had and no longer has, and where it is
// now: the outermost part whose files moved together by git's renames. If none did, old is the
// longest part that the code had, and now is "". Both are "" if nothing is missing.
func (c *Commit) movedPart(ctx context.Context, path string) (old, now string) {
	for i, r := range path + "/" {
		if r != '/' || now != "" {
			continue
		}
		if found := c.place(ctx, path[:i]); found.letter == isGone {
			old, now = path[:i], found.path
		}
	}
	return old, now
}

// place returns the fate of a file or folder, with its path now if it moved.
func (c *Commit) place(ctx context.Context, path string) verdict {
	if c.ID == "" {
		return verdict{letter: isUnknown}
	}
	key := verdictKey("place", path)
	if found, ok := c.known.all[key]; ok {
		return found
	}
	found, err := c.trace(c.searching(ctx), path)
	if err != nil {
		found, c.Unsure = verdict{letter: isUnknown}, true
	} else if found.letter == isGone || found.letter == isFresh && !c.of.Repo.Shallow {
		c.known.put(key, found)
	}
	return found
}

// trace follows a path through its renames. A path that the code never had counts as fresh.
func (c *Commit) trace(ctx context.Context, at string) (found verdict, err error) {
	found.letter = isFresh
	for hop := 0; ; hop++ {
		has, err := c.files.Has(ctx, at)
		switch {
		case err != nil || has && hop == 0:
			return found, err
		case has:
			found.path = at
			return found, nil
		case hop == maxHops:
			found.letter = isUnknown
			return found, nil
		}
		commit, parent, err := c.of.Repo.History().Removed(ctx, c.ID, at)
		if err != nil || commit == "" {
			return found, err
		}
		found.letter = isGone
		renames, err := c.of.Repo.History().Renames(ctx, parent, commit)
		if at = renamed(renames, at); err != nil || at == "" {
			return found, err
		}
	}
}

// renamed returns the later path of a file, or of a folder whose files mostly moved to one place
// with their names kept; or "".
func renamed(renames map[string]string, at string) string {
	if now := renames[at]; now != "" {
		return now
	}
	all, to := 0, map[string]int{}
	for old, now := range renames {
		if name, ok := strings.CutPrefix(old, at+"/"); ok {
			all++
			if folder, ok := strings.CutSuffix(now, "/"+name); ok {
				to[folder]++
			}
		}
	}
	for folder, n := range to {
		if 2*n > all {
			return folder
		}
	}
	return ""
}

// searching returns the context of searches in history, which ends after codeTime.
func (c *Commit) searching(ctx context.Context) context.Context {
	if c.search == nil {
		c.search, c.stop = context.WithTimeout(ctx, codeTime)
	}
	return c.search
}

// isHex reports whether text can be an abbreviated object id.
func isHex(text string) bool {
	return len(text) >= 4 && strings.Trim(text, "0123456789abcdef") == ""
}
