package git

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"strings"
)

// Identity is who commits, as git resolves it for this worktree, includeIf and all.
type Identity struct {
	Name, Email string
	Fallback    bool // git has no identity configured; Name and Email were made up from the system's user and host
	Sign        bool // commit.gpgsign is on
}

// settings is the configuration of one repository: the last value of each key, in lower case,
// once over all scopes and once without those that live in the repository.
type settings struct {
	all, trusted map[string]string
}

// readSettings lists the configuration where the user stands, so that includeIf applies as it
// does to the user's own git. One process.
func (r *Repo) readSettings(ctx context.Context) (settings, error) {
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+r.GitDir, "config", "--list", "-z", "--show-scope")
	if cmd.Dir = r.WorkTree; cmd.Dir == "" {
		cmd.Dir = r.GitDir
	}
	cmd.Env = cleanEnviron()
	out, err := run(cmd)
	if err != nil {
		return settings{}, err
	}
	s := settings{all: map[string]string{}, trusted: map[string]string{}}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, found := strings.Cut(fields[i+1], "\n")
		if !found {
			value = "true" // a key alone is a true boolean
		}
		s.all[key] = value
		if fields[i] == "global" || fields[i] == "system" {
			s.trusted[key] = value
		}
	}
	return s, nil
}

// Identity resolves who commits. GIT_AUTHOR_* is not looked at, because in a hook it names the
// author of somebody's commit; GIT_COMMITTER_*, which git never sets by itself, is. A missing
// identity is not an error but a stated fallback. It costs one process per Repo.
func (r *Repo) Identity(ctx context.Context) (Identity, error) {
	s, err := r.settings(ctx)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{
		Name:  first(os.Getenv("GIT_COMMITTER_NAME"), s.all["author.name"], s.all["user.name"]),
		Email: first(os.Getenv("GIT_COMMITTER_EMAIL"), s.all["author.email"], s.all["user.email"], os.Getenv("EMAIL")),
		Sign:  truth(s.all["commit.gpgsign"]),
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

func systemUser() (name, login string) {
	u, err := user.Current()
	if err != nil {
		return "", "reverie"
	}
	login = u.Username[strings.LastIndex(u.Username, `\`)+1:] // DOMAIN\user on Windows
	return first(u.Name, login), first(login, "reverie")
}

// crudFree removes what git does not allow in a name or an address of a commit.
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

// falsity reports whether git takes a value for false; it takes numbers, too, and what we do not know we
// do not trust.
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
