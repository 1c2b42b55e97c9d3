package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// Identity holds the committer as git resolves it for this worktree, with includeIf.
type Identity struct {
	Name, Email string
	// git has no identity configured; Name and Email come from the system's user and host
	Fallback bool
	Sign     bool // commit.gpgsign is on
}

// settings holds configuration values, by lower-case key, that name no program and hold no secret.
// Such values may be cached between commands. A key must be one of keptSettings.
type settings map[string]string

var keptSettings = []string{"author.name", "author.email", "user.name", "user.email", "commit.gpgsign", "core.sharedrepository", "gc.auto", "init.defaultbranch"}

// listing is the configuration of one repository, with keys as git writes them.
type listing struct {
	all, own map[string][]string // every value of a key: over all scopes, and of the repository itself
	trusted  map[string]string   // the last value in the user's and the system's configuration
	order    []string            // keys in the order of their first value
	origins  []origin
}

// origin holds the source of a value, or the target of an include.
type origin struct {
	scope, file string // as git writes them
	include     string // the path of an include; empty for other values
	// only the configuration and the repository's path decide whether that is followed
	plain bool
}

func (l listing) settings() settings {
	s := settings{}
	for _, key := range keptSettings {
		if l.all[key] != nil {
			s[key] = l.last(key)
		}
	}
	return s
}

// Config is the configuration of a repository as git sees it from one work tree. It is safe for
// concurrent use.
type Config struct {
	gitDir, workTree string
	cached           settings // from the cache of FindCached; nil: list has them

	mu    sync.Mutex
	known *listing // of the first successful list
}

// settings returns the cached values. Without a cache it costs what list costs.
func (c *Config) settings(ctx context.Context) (settings, error) {
	if c.cached != nil {
		return c.cached, nil
	}
	l, err := c.list(ctx)
	return l.settings(), err
}

// list reads the configuration at its first successful call.
func (c *Config) list(ctx context.Context) (listing, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		l, err := c.read(ctx)
		if err != nil {
			return l, err
		}
		c.known = &l
	}
	return *c.known, nil
}

// last returns the value of a key that counts for git, where one value does.
func (l listing) last(key string) string {
	if values := l.all[key]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// read lists the configuration in the user's folder, so that includeIf applies as in the user's own
// git. It costs one process.
func (c *Config) read(ctx context.Context) (listing, error) {
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+c.gitDir)
	if cmd.Dir = c.workTree; cmd.Dir == "" {
		cmd.Dir = c.gitDir
	}
	cmd.Env = cleanEnviron()
	return readListing(cmd)
}

// readListing has a git, given without its command, list the configuration as it sees it.
func readListing(cmd *exec.Cmd) (listing, error) {
	cmd.Args = append(cmd.Args, "config", "--list", "-z", "--show-scope", "--show-origin")
	out, err := run(cmd)
	if err != nil {
		return listing{}, err
	}
	l := listing{all: map[string][]string{}, own: map[string][]string{}, trusted: map[string]string{}}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		o := origin{scope: fields[i], file: fields[i+1]}
		key, value, found := strings.Cut(fields[i+2], "\n")
		if !found {
			value = "true" // a key without a value is true
		}
		if len(l.all[key]) == 0 {
			l.order = append(l.order, key)
		}
		l.all[key] = append(l.all[key], value)
		switch o.scope {
		case "local", "worktree":
			l.own[key] = append(l.own[key], value)
		case "global", "system":
			l.trusted[key] = value
		}
		if condition, ok := strings.CutPrefix(key, "include"); ok && strings.HasSuffix(key, ".path") {
			o.include = value
			o.plain = condition == ".path" || strings.HasPrefix(condition, "if.gitdir") || strings.HasPrefix(condition, "if.hasconfig:")
		}
		if !slices.Contains(l.origins, o) {
			l.origins = append(l.origins, o)
		}
	}
	return l, nil
}

// Identity resolves the committer. It ignores GIT_AUTHOR_*, which in a hook names the author of the
// user's commit, and heeds GIT_COMMITTER_*, which git never sets by itself. A missing identity
// gives a marked fallback, not an error. It costs one process per Repo.
func (c *Config) Identity(ctx context.Context) (Identity, error) {
	s, err := c.settings(ctx)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{
		Name:  first(os.Getenv("GIT_COMMITTER_NAME"), s["author.name"], s["user.name"]),
		Email: first(os.Getenv("GIT_COMMITTER_EMAIL"), s["author.email"], s["user.email"], os.Getenv("EMAIL")),
		Sign:  truth(s["commit.gpgsign"]),
	}
	id.Name, id.Email = crudFree(id.Name), crudFree(id.Email)
	if id.Name == "" || id.Email == "" {
		id.Fallback = true
		name, login := systemUser()
		host, _ := os.Hostname()
		id.Name = first(id.Name, crudFree(name), "reverie")
		id.Email = first(id.Email, crudFree(login+"@"+first(host, "localhost")))
	}
	return id, nil
}

// crudFree removes characters that git forbids in a name or an address of a commit.
func crudFree(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < 0x20 || c == 0x7f || c == '<' || c == '>' {
			return -1
		}
		return c
	}, s)
	return strings.Trim(s, " .,:;\"\\'")
}

func truth(v string) bool {
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// falsity reports whether git takes a value for false. git also accepts numbers, which we do not
// recognise and therefore do not trust.
func falsity(v string) bool {
	switch strings.ToLower(v) {
	case "false", "no", "off", "0", "":
		return true
	}
	return false
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// programKey returns the setting for the program of a git variable.
func programKey(variable string) string {
	if variable == "GIT_PAGER" {
		return "core.pager"
	}
	return "core.editor"
}

// Program returns the command that git runs as GIT_EDITOR or GIT_PAGER, from the environment, the
// user's or system's configuration, or git's default. It never returns a program that only the
// repository's own configuration names, because the repository may come from a stranger; passed
// then names that setting.
func (c *Config) Program(ctx context.Context, variable string) (command, passed string, err error) {
	if command := os.Getenv(variable); command != "" {
		return command, "", nil
	}
	s, err := c.list(ctx)
	if err != nil {
		return "", "", err
	}
	key := programKey(variable)
	if s.last(key) != s.trusted[key] {
		passed = key
	}
	if command := s.trusted[key]; command != "" {
		return command, passed, nil
	}
	cmd := exec.CommandContext(ctx, "git", "var", variable)
	cmd.Env = append(cleanEnviron(), "GIT_DIR="+os.DevNull) // in no repository at all
	out, err := run(cmd)
	if err != nil {
		return "", passed, fmt.Errorf("find %s: %w", variable, err)
	}
	return strings.TrimSuffix(string(out), "\n"), passed, nil
}
