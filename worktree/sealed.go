package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Files that a container wrote in a sealed place are read without any of its influence. No git
// filter runs, neither one of .gitattributes nor one that a file name could select. Contents are
// committed unchanged.

// seal removes the file .git, which points to the repository, from a place for a sandbox. A .git
// above it leads nowhere: git called there by hand finds no repository and searches no further up.
func (p *Place) seal() error {
	if !p.sealed {
		return nil
	}
	if err := os.Remove(filepath.Join(p.Dir, ".git")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(filepath.Join(p.folder, ".git"), []byte("gitdir: "+nowhere+"\n"), 0o600)
}

// nowhere is the repository path that git reports in a place for a sandbox; it never exists.
const nowhere = "made-in-a-sandbox--run-nothing-here"

// saveBytes bounds the new content held in memory at a time, in bytes.
const saveBytes = 32 << 20

// savePlain writes files of the work tree unchanged into the object database, and returns their
// entries for git update-index --index-info. It calls hold with the name and id of each content,
// and omits those that hold rejects.
func savePlain(ctx context.Context, repo *git.Repo, dir string, names []string, hold func(name, blob string) (bool, error)) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	objects := repo.Objects()
	defer objects.Close()
	var info bytes.Buffer
	var batch []git.Object
	size := 0
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mode, data, err := readPlain(root, filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		o := repo.ObjectFormat.NewObject(git.Blob, data)
		if held, err := hold(name, o.ID); err != nil {
			return nil, err
		} else if held {
			continue
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", mode, o.ID, name)
		batch, size = append(batch, o), size+len(data)
		if size > saveBytes {
			if err := objects.Save(ctx, batch); err != nil {
				return nil, err
			}
			batch, size = nil, 0
		}
	}
	if len(batch) > 0 {
		err = objects.Save(ctx, batch)
	}
	return info.Bytes(), err
}

// readPlain reads a file or a link without following links.
func readPlain(root *os.Root, path string) (mode string, data []byte, err error) {
	info, err := root.Lstat(path)
	switch {
	case err != nil:
		return "", nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(path)
		return "120000", []byte(target), err
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("%s changed while it was committed", path)
	}
	mode = "100644"
	if info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	data, err = root.ReadFile(path)
	return mode, data, err
}

// ruleOfContent returns the rule of a finding about a file that the host would run. It names the
// content: other content gives another finding.
func ruleOfContent(blob string) string { return "runs-" + blob }

// Sandbox judges the files of a place in a sandbox. Each function may be nil.
type Sandbox struct {
	// Refused maps paths that must not be committed to reasons. It is called with the changed paths
	// before each commit, and its answer depends only on the tree.
	Refused func(ctx context.Context, changed []string) (map[string]string, error)
	// Ready runs before git reads the work tree, and removes content that git must not meet.
	Ready func(ctx context.Context) error
	// Runs returns why the host would run a file, or "".
	Runs func(path string) string
	// Holds reports a file that stays out of commits until a person has waived its finding.
	Holds func(path string) bool
	// Waived reports whether a person waived a finding.
	Waived func(ctx context.Context, path, rule string) (bool, error)
}

// holds reports whether a file must wait for a person's approval, and why: git would obey it after
// a checkout, or a filter for that name would change it.
func (s Sandbox) holds(ctx context.Context, parent entries, name, blob, filter string) (held bool, why string, err error) {
	switch {
	case s.Holds != nil && s.Holds(name):
		why = s.Runs(name)
	case filter != "":
		why = fmt.Sprintf("the filter %s makes what git keeps of it, and runs on nothing that comes out of a sandbox", filter)
	default:
		return false, "", nil
	}
	if parent.find(name).ID == blob {
		return false, why, nil
	}
	if s.Waived == nil {
		return true, why, nil
	}
	waived, err := s.Waived(ctx, name, ruleOfContent(blob))
	return !waived, why, err
}

// obeyed returns findings about files that the loop made or changed and that the host would run.
func (s Sandbox) obeyed(ctx context.Context, repo *git.Repo, base, tip string) ([]Reported, error) {
	if s.Runs == nil {
		return nil, nil
	}
	out, err := repo.Git(ctx, nil, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", base, tip, "--")
	if err != nil {
		return nil, err
	}
	var all []Reported
	err = eachRaw(out, func(name, _, blob string) error {
		if why := s.Runs(name); why != "" {
			all = append(all, Reported{
				File: name, Severity: Bug, Rule: ruleOfContent(blob), Text: "On the host it would run, or be obeyed: " + why + ".",
				Scenario: "It was written inside the sandbox. A person has to look at it: take it back, or waive this.",
			})
		}
		return nil
	})
	return all, err
}

// cleanSealed is Clean for a place in which git would convert files before comparing them.
func (p *Place) cleanSealed(ctx context.Context) error {
	tip, err := p.Tip(ctx)
	if err != nil {
		return err
	}
	want, err := treeOf(ctx, p.repo, tip)
	if err != nil {
		return err
	}
	tree, left, index, err := p.stage(ctx, tip, tip)
	index.giveUp()
	if err != nil {
		return err
	}
	if tree != want {
		return fmt.Errorf("%s: %w", p.Dir, ErrDirty)
	}
	for _, l := range left {
		if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(l.Path))); err == nil && !l.Ignored {
			return fmt.Errorf("%s: %w (%s: %s)", p.Dir, ErrDirty, l.Path, l.Why)
		}
	}
	return nil
}

// maxHost bounds the host's findings for one iteration.
const maxHost = 100

// ruleOfMore begins the rule of a finding about unlisted files. A hash of their paths and contents
// follows, so that other files give another finding.
const ruleOfMore = "more-"

// Place returns the file and line of a finding.
func (f Finding) Place() string {
	switch {
	case f.File == "":
		return "(everywhere)"
	case f.Line == 0:
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// OfContent reports whether a finding is about files that the host would run, with their present
// content.
func (f Finding) OfContent() bool {
	return f.By == ByHost && (strings.HasPrefix(f.Rule, "runs-") || strings.HasPrefix(f.Rule, ruleOfMore))
}

// few returns the first unwaived findings, plus one that counts the rest. It omits findings that
// such a summary has waived.
func few(all []Reported, known []Finding) []Reported {
	waived := map[[2]string]bool{} // by file and rule
	for _, f := range known {
		if f.By == ByHost && f.State == Waived {
			waived[[2]string{f.File, f.Rule}] = true
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(r Reported) bool { return waived[[2]string{r.File, r.Rule}] })
	sums, next := make([]string, len(all)), "" // of each finding with those after it
	for i, r := range slices.Backward(all) {
		sum := sha256.Sum256([]byte(r.File + "\x00" + r.Rule + "\x00" + next))
		sums[i] = hex.EncodeToString(sum[:])
		next = sums[i]
	}
	for i, sum := range sums {
		if waived[[2]string{"", ruleOfMore + sum}] {
			all = all[:i]
			break
		}
	}
	if len(all) <= maxHost {
		return all
	}
	more := Reported{Severity: Bug, Rule: ruleOfMore + sums[maxHost], Text: fmt.Sprintf("There are %d more files like these; the first %d are listed.", len(all)-maxHost, maxHost)}
	return append(all[:maxHost:maxHost], more)
}
