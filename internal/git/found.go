package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FindCached is Find without a git process, as long as an earlier answer of git still holds. It
// always locates the repository itself, by walking up from dir as git does. The cache holds only
// git's reading of the configuration, valid while its files, the environment and the git program
// are the same. In unusual cases it asks git. It caches the answer if a state folder exists.
func FindCached(ctx context.Context, dir string) (*Repo, error) {
	p, plain := walk(dir)
	return p.find(ctx, dir, plain)
}

// FindStarted is FindCached for a repository with a state folder, and returns nil without one. A
// miss costs a few file system lookups and no process, so it suits code that runs at every prompt
// of an agent in any folder.
func FindStarted(ctx context.Context, dir string) (*Repo, error) {
	p, plain := walk(dir)
	if os.Getenv("GIT_DIR") == "" && os.Getenv("GIT_COMMON_DIR") == "" {
		if p == (place{}) {
			return nil, nil
		}
		if info, err := os.Lstat(filepath.Join(p.common, "reverie")); err != nil || !info.IsDir() {
			return nil, nil
		}
	}
	return p.find(ctx, dir, plain)
}

// OnlyAtOrigin reports whether the repository that holds dir has origin's copy of a branch, but not
// the branch. It starts no process, and says no if git keeps refs elsewhere than in files.
func OnlyAtOrigin(dir, branch string) bool {
	p, _ := walk(dir)
	has := func(ref string) bool {
		_, err := refFiles{dir: p.common}.read(ref)
		return err == nil || errors.Is(err, ErrBrokenRef) // of an unknown format
	}
	return p != (place{}) && has("refs/remotes/origin/"+branch) && !has("refs/heads/"+branch)
}

// find is FindCached after the walk.
func (p place) find(ctx context.Context, dir string, plain bool) (*Repo, error) {
	if plain {
		if r := p.known(); r != nil {
			return r, nil
		}
	}
	began := time.Now()
	r, err := Find(ctx, dir)
	if err == nil && plain {
		p.keep(ctx, r, began)
	}
	return r, err
}

// place locates a repository, as far as git finds it without its configuration.
type place struct{ top, gitDir, common string }

// walk looks for the repository that holds dir, and returns the zero value if it finds none. plain
// is false if git might find another repository or none:
//
// - the environment has a variable that git may heed;
// - dir is in a bare repository or a git directory;
// - a part belongs to another user, is on another file system, or has an unexpected form.
func walk(dir string) (p place, plain bool) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return place{}, false
	}
	plain = plainEnviron()
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	} else {
		plain = false
	}
	device := ""
	for {
		info, err := os.Lstat(at)
		if err == nil {
			on, ok := deviceOf(info)
			plain = plain && ok && (device == "" || on == device)
			device = on
		}
		p, ok := placeAt(at)
		plain = plain && ok && err == nil
		if p != (place{}) {
			return p, plain && ownedByUs(info)
		}
		up := filepath.Dir(at)
		if up == at {
			return place{}, false
		}
		at = up
	}
}

// placeAt returns the repository whose top is the given folder, by its .git folder or its file
// "gitdir: …". The folder may also be a git directory itself.
func placeAt(top string) (p place, plain bool) {
	p, plain = place{top: top, gitDir: filepath.Join(top, ".git")}, true
	switch dot, err := os.Lstat(p.gitDir); {
	case err == nil && dot.Mode().IsRegular(): // of a linked worktree, or a submodule
		text, err := os.ReadFile(p.gitDir)
		to, ok := strings.CutPrefix(string(text), "gitdir: ")
		if err != nil || !ok {
			return place{}, false
		}
		if p.gitDir, ok = follow(top, to); !ok {
			return place{}, false
		}
		plain = ownedByUs(dot)
	case err == nil:
		plain = dot.IsDir() && ownedByUs(dot)
	default:
		if _, head := os.Lstat(filepath.Join(top, "HEAD")); absent(err) && absent(head) {
			return place{}, true
		}
		p.gitDir, plain = top, false
	}
	p.common = p.gitDir
	if text, err := os.ReadFile(filepath.Join(p.gitDir, "commondir")); err == nil {
		var ok bool
		if p.common, ok = follow(p.gitDir, string(text)); !ok {
			return place{}, false
		}
	} else {
		plain = plain && absent(err)
	}
	for _, dir := range []string{p.gitDir, p.common, filepath.Join(p.common, "objects"), filepath.Join(p.common, "refs")} {
		info, err := os.Lstat(dir)
		if err == nil && !info.IsDir() {
			plain = false
			info, err = os.Stat(dir)
		}
		if err != nil || !info.IsDir() {
			return place{}, false
		}
		plain = plain && ownedByUs(info)
	}
	file := filepath.Join(p.gitDir, "HEAD")
	if _, err := os.Lstat(file); err != nil {
		return place{}, false
	}
	head, err := os.ReadFile(file)
	id := strings.TrimSpace(string(head))
	return p, plain && err == nil && (strings.HasPrefix(id, "ref: refs/") || len(id) >= 40 && strings.Trim(id, "0123456789abcdef") == "")
}

// follow returns the folder named by one line of a git file, relative to from.
func follow(from, line string) (dir string, ok bool) {
	to := strings.TrimRight(line, "\r\n")
	if to == "" || strings.ContainsAny(to, "\r\n\x00") {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(from, to)
	}
	dir, err := filepath.EvalSymlinks(to)
	return dir, err == nil
}

// harmless and harmlessBegin list git's environment variables, and prefixes of their families, that
// affect neither the repository found nor its configuration. keyVariables lists the others.
var (
	harmless = []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER",
		"GIT_PAGER_IN_USE", "GIT_EXEC_PATH", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT",
		"GIT_MERGE_AUTOEDIT", "GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_EDITOR_SET", "GIT_INTERNAL_GETTEXT_SH_SCHEME"}
	harmlessBegin = []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TRACE", "GIT_SSL_", "GIT_PROXY_", "GIT_HTTP_"}
	keyVariables  = []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"}
)

func plainEnviron() bool {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name == "SUDO_UID" && os.Geteuid() == 0 { // git believes in another owner then
			return false
		}
		if strings.HasPrefix(name, "GIT_") && !slices.Contains(harmless, name) && !slices.Contains(keyVariables, name) &&
			!slices.ContainsFunc(harmlessBegin, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return false
		}
	}
	return true
}

// answer holds git's cached answer for a place.
type answer struct {
	Key string `json:"key"`
	// of the configuration, with their stamps; some may be missing
	Files map[string]string `json:"files"`
	// always ask git: the configuration depends on more than that
	Ask bool `json:"ask"`

	ObjectFormat Format   `json:"objects"`
	RefFormat    string   `json:"refs"`
	Partial      bool     `json:"partial"`
	Settings     settings `json:"settings"`
}

const foundDir = "found"

// maxFound bounds the cached answers: one per worktree.
const maxFound = 64

// name returns the name of the answer's file in the state folder.
func (p place) name() string {
	sum := sha256.Sum256([]byte(p.gitDir))
	return foundDir + "/" + hex.EncodeToString(sum[:8])
}

// key identifies the conditions of an answer besides the files: place, environment and git program.
func (p place) key() (string, bool) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", false
	}
	if program, err = filepath.Abs(program); err != nil {
		return "", false
	}
	stamp, _, ok := stampOf(program)
	if !ok || stamp == noFile {
		return "", false
	}
	parts := []string{"1", p.top, p.gitDir, p.common, program, stamp}
	for _, name := range keyVariables {
		value, set := os.LookupEnv(name)
		parts = append(parts, fmt.Sprint(set, value))
	}
	return sumOf([]byte(strings.Join(parts, "\x00"))), true
}

// known returns the repository from the cached answer, or nil.
func (p place) known() *Repo {
	a, ok := p.read()
	if !ok || a.Ask {
		return nil
	}
	r := &Repo{CommonDir: p.common, GitDir: p.gitDir, WorkTree: p.top, Partial: a.Partial, ObjectFormat: a.ObjectFormat, RefFormat: a.RefFormat}
	if _, err := os.Stat(filepath.Join(p.common, "shallow")); err == nil {
		r.Shallow = true
	} else if !absent(err) {
		return nil
	}
	r.prepare(a.Settings)
	return r
}

// read returns the cached answer, if it holds.
func (p place) read() (a answer, ok bool) {
	file := filepath.Join(p.common, "reverie", filepath.FromSlash(p.name()))
	for _, path := range []string{filepath.Dir(filepath.Dir(file)), filepath.Dir(file), file} {
		info, err := os.Lstat(path)
		kind := fs.ModeDir
		if path == file {
			kind = 0
		}
		if err != nil || info.Mode().Type() != kind || info.Mode().Perm()&0o022 != 0 || !ownedByUs(info) {
			return answer{}, false
		}
	}
	text, err := os.ReadFile(file)
	data, sum, _ := bytes.Cut(text, []byte("\n"))
	if err != nil || string(sum) != sumOf(data)+"\n" || json.Unmarshal(data, &a) != nil {
		return answer{}, false
	}
	if key, ok := p.key(); !ok || a.Key != key {
		return answer{}, false
	}
	if stamp := a.Files[filepath.Join(p.common, "config")]; stamp == "" || stamp == noFile {
		return answer{}, false
	}
	for path, was := range a.Files {
		if now, _, ok := stampOf(path); !ok || now != was {
			return answer{}, false
		}
	}
	return a, true
}

// settled is the minimum age of the configuration files. A younger file could change again within
// the same tick of its file system's clock and keep its stamp.
var settled = 2 * time.Second

// keep caches git's answer, if it is about this place and the files cannot have changed since. It
// may fail silently.
func (p place) keep(ctx context.Context, r *Repo, began time.Time) {
	if r.Bare || r.CommonDir != p.common || r.GitDir != p.gitDir || r.WorkTree != p.top {
		return
	}
	if info, err := os.Lstat(filepath.Join(p.common, "reverie")); err != nil || !info.IsDir() || !ownedByUs(info) {
		return
	}
	if old, ok := p.read(); ok && old.Ask {
		return
	}
	if _, changed, ok := stampOf(filepath.Join(p.common, "config")); !ok || changed.After(began.Add(-settled)) {
		return // before more is asked in vain
	}
	a := answer{Files: map[string]string{}, ObjectFormat: r.ObjectFormat, RefFormat: r.RefFormat, Partial: r.Partial}
	var ok bool
	if a.Key, ok = p.key(); !ok {
		return
	}
	l, err := r.config.list(ctx)
	if err != nil {
		return
	}
	files, known := p.configFiles(ctx, l)
	for _, file := range files {
		stamp, changed, ok := stampOf(file)
		if !ok || changed.After(began.Add(-settled)) {
			return
		}
		a.Files[file] = stamp
	}
	if a.Ask = !known; known {
		a.Settings = l.settings()
	}
	data, err := json.Marshal(a)
	if err != nil {
		return
	}
	dir := filepath.Join(p.common, "reverie", foundDir)
	// of worktrees that are gone
	if entries, err := os.ReadDir(dir); err == nil && len(entries) >= maxFound {
		os.RemoveAll(dir)
	}
	_ = r.State().Cache(p.name(), append(append(data, '\n'), sumOf(data)+"\n"...))
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// configFiles returns the configuration files that git reads here, including missing ones. known is
// false if more than their text decides.
func (p place) configFiles(ctx context.Context, l listing) (files []string, known bool) {
	files = append(files, filepath.Join(p.common, "config"), filepath.Join(p.gitDir, "config.worktree"))
	home := os.Getenv("HOME")
	if file, set := os.LookupEnv("GIT_CONFIG_GLOBAL"); set {
		files = append(files, file)
	} else {
		xdg := first(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(xdg, "git", "config"))
	}
	known = home != ""
	system := false
	for _, o := range l.origins {
		path, ok := strings.CutPrefix(o.file, "file:")
		known = known && ok
		system = system || o.scope == "system"
		files = append(files, path)
		if o.include == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(o.include, "~/"); ok {
			o.include = filepath.Join(home, rest)
		}
		known = known && o.plain && o.include[0] != '~' && o.include[0] != '%'
		if !filepath.IsAbs(o.include) {
			o.include = filepath.Join(filepath.Dir(path), o.include)
		}
		files = append(files, o.include)
	}
	if !system {
		more, ok := systemFiles(ctx)
		files, known = append(files, more...), known && ok
	}
	slices.Sort(files)
	files = slices.Compact(files)
	return files, known && !slices.ContainsFunc(files, func(f string) bool { return !filepath.IsAbs(f) })
}

// systemFiles lists the paths where git looks for the system's configuration, present or not.
func systemFiles(ctx context.Context) (files []string, known bool) {
	if v := os.Getenv("GIT_CONFIG_NOSYSTEM"); truth(v) {
		return nil, true
	} else if !falsity(v) {
		return nil, false
	}
	if file := os.Getenv("GIT_CONFIG_SYSTEM"); file != "" {
		return []string{file}, true
	}
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = append(cleanEnviron(), "GIT_DIR="+os.DevNull)
		out, err := run(cmd)
		if err != nil {
			return string(err.(*Error).all), err
		}
		return string(out), nil
	}
	if out, err := ask("var", "GIT_CONFIG_SYSTEM"); err == nil && out != "" {
		return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), true
	}
	// a git that does not know the variable names the missing file
	out, err := ask("config", "--system", "--list")
	if err == nil {
		return nil, false
	}
	_, rest, _ := strings.Cut(out, "'")
	file, _, found := strings.Cut(rest, "'")
	return []string{file}, found && filepath.IsAbs(file)
}
