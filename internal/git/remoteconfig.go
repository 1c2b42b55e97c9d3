package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// ErrNoRemote is returned when the configuration has no remote of a name.
var ErrNoRemote = errors.New("no such remote")

// ProgramError lists the keys of the repository's own configuration that would run a program, or
// write a file, during a fetch or a push.
type ProgramError struct{ Keys []string }

func (e *ProgramError) Error() string {
	return "this repository's own configuration would run a program of its choice: " + strings.Join(e.Keys, ", ")
}

// Remote is a configured remote, vetted once. Its methods run git with the user's programs only.
//
// git trusts .git/config as it trusts the user. A repository from an archive, a container's image
// or a sandbox brings its own, so we trust less. A key that makes a fetch or a push run a program
// counts only in the user's and the system's configuration. If the repository sets one itself, it
// is refused with the key's name. It is not silently overridden, because its owner may need it to
// reach the remote.
//
// Credential helpers of one word are git's own or installed by the user, and stay. Addresses stay
// within the limits of vet; proxies and headers run nothing and stay too. An alias that git would
// take for a helper or a transport is refused. ext and fd are never used, and no hook of this
// repository runs.
type Remote struct {
	Name    string
	URL     string // git's address for a fetch, after insteadOf; it may hold a password
	PushURL string // and for a push
	Refetch bool   // Fetch requests everything, including objects already here
	// NoPush is the reason that Push and Overwrite refuse PushURL, or nil. People set a word such as
	// no_push as the address, which git takes for a path in this repository's folder.
	NoPush error

	repo   *Repo
	strict []string // -c options that undo relaxed settings
	alias  []string // environment

	mu    sync.Mutex           // of apart
	apart map[[2]string][2]int // by two commits, the number that each has and the other lacks
}

// alias is our git commands' name of the remote. It has the addresses and programs of the real one,
// but none of its other effects on a fetch or push: refspecs, by which a push would move
// refs/remotes, pruning, mirroring, tags. It is defined in the environment, because an address may
// hold a password and arguments are public.
const alias = "reverie.sync"

// aliased lists the keys of a remote that the alias copies.
var aliased = []string{"url", "pushurl", "vcs", "uploadpack", "receivepack", "proxy", "proxyauthmethod", "serveroption"}

func (c listing) alias(name string) []string {
	var env []string
	n := 0
	for _, key := range aliased {
		for _, value := range c.all["remote."+name+"."+key] {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=remote.%s.%s", n, alias, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// Remote returns a remote by its configured name. It accepts no path or URL, so that data goes only
// to configured places. An empty name means the remote of a branch, else origin, else the only one.
// Errors wrap ErrNoRemote or are a *ProgramError.
func (r *Repo) Remote(ctx context.Context, name, branch string) (*Remote, error) {
	c, err := r.remoteConfig(ctx)
	if err != nil {
		return nil, err
	}
	names := c.remotes()
	if name == "" {
		if name, err = c.preset(names, branch); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("remote %q: %w; there are: %s", name, ErrNoRemote, listed(names))
	}
	if keys := c.programs(name, r.Partial); keys != nil {
		return nil, &ProgramError{keys}
	}
	if err := c.vet(r, name, r.folder()); err != nil {
		return nil, err
	}
	if err := c.promisors(r); err != nil { // git may fetch from those at any time
		return nil, err
	}
	m := &Remote{Name: name, repo: r, strict: c.strict(), alias: c.alias(name), apart: map[[2]string][2]int{}}
	m.URL, m.PushURL = c.urls(name)
	m.NoPush = c.outside(r, name, m.PushURL, r.folder())
	return m, nil
}

// promisors vets the remotes from which git fetches by itself in a partial clone.
func (c listing) promisors(r *Repo) error {
	if !r.Partial {
		return nil
	}
	for _, name := range c.promisorNames() {
		if len(c.all["remote."+name+".url"]) == 0 { // git would take the name for an address
			return &AddressError{name, "", "it keeps what this partial clone does not have, and has no address"}
		}
		if err := c.vet(r, name, r.folder(), r.CommonDir); err != nil {
			return err
		}
	}
	return nil
}

// preset returns the remote that is used without a name.
func (c listing) preset(names []string, branch string) (string, error) {
	if of := c.last("branch." + branch + ".remote"); branch != "" && slices.Contains(names, of) {
		return of, nil
	}
	if slices.Contains(names, "origin") {
		return "origin", nil
	}
	switch len(names) {
	case 0:
		return "", fmt.Errorf("%w: this repository has none", ErrNoRemote)
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("%w: name one of %s", ErrNoRemote, listed(names))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// validRemote reports whether a remote's name can be part of a ref's. Below a remote's own folder,
// new is reserved for us.
func validRemote(name string) bool {
	return !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "/new") && CheckRef("refs/reverie/remotes/"+name+"/memory") == nil
}

// Address returns a URL in a form that may be shown and stored: without user, password and query,
// which may hold a token.
func Address(remote string) string {
	if !strings.Contains(remote, "://") {
		return remote // a path, or user@host:path, which hold no password
	}
	remote, _, _ = strings.Cut(remote, "?")
	remote, _, _ = strings.Cut(remote, "#")
	u, err := url.Parse(remote)
	if err != nil {
		scheme, rest, _ := strings.Cut(remote, "://")
		host, path, _ := strings.Cut(rest, "/")
		return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
	}
	if u.User == nil || u.Host == "" {
		return remote
	}
	if _, secret := u.User.Password(); !secret && u.Scheme == "ssh" {
		return remote // the user is part of the address
	}
	u.User = nil
	return u.String()
}

// addresses matches the URLs in git's output.
var addresses = pattern.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s'"<>]+`)

// shown returns git's text in displayable form: each URL as Address gives it.
func shown(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return addresses.ReplaceAllStringFunc(text, Address)
}

// remoteConfig lists the configuration as seen by a git that Command starts. It asks git at each
// call: an address is vetted as it is now.
func (r *Repo) remoteConfig(ctx context.Context) (listing, error) {
	l, err := readListing(r.command(ctx))
	if err != nil {
		err = fmt.Errorf("read the configuration of remotes: %w", err)
	}
	return l, err
}

func (c listing) remotes() []string {
	var names []string
	for _, key := range c.order {
		if name, ok := strings.CutPrefix(key, "remote."); ok && !strings.HasPrefix(name, alias+".") {
			if name, ok = strings.CutSuffix(name, ".url"); ok && validRemote(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// urls returns the addresses that git contacts. By git's rules, the longest matching insteadOf
// applies. A push uses pushurl, else the longest pushInsteadOf that matches url, else the fetch
// address.
func (c listing) urls(name string) (fetch, push string) {
	one := func(values []string) string {
		if len(values) == 0 {
			return ""
		}
		return values[0]
	}
	address := one(c.all["remote."+name+".url"])
	fetch, _ = c.rewrite(address, ".insteadof")
	if explicit := one(c.all["remote."+name+".pushurl"]); explicit != "" {
		push, _ = c.rewrite(explicit, ".insteadof")
		return fetch, push
	}
	push, changed := c.rewrite(address, ".pushinsteadof")
	if !changed {
		push = fetch
	}
	return fetch, push
}

func (c listing) rewrite(address, rule string) (string, bool) {
	best, base := "", ""
	for _, key := range c.order {
		url, isRule := strings.CutSuffix(key, rule)
		name, isURL := strings.CutPrefix(url, "url.")
		if !isRule || !isURL {
			continue
		}
		for _, prefix := range c.all[key] {
			if strings.HasPrefix(address, prefix) && len(prefix) > len(best) {
				best, base = prefix, name
			}
		}
	}
	if best == "" {
		return address, false
	}
	return base + address[len(best):], true
}

// plainHelper matches a credential helper that git finds by its name; others are command lines.
var plainHelper = pattern.New(`^[A-Za-z0-9-]*$`)

// programs lists the keys of the repository's own configuration that would run a program or write a
// file during contact with a remote. It omits a value that the user's own configuration also has.
func (c listing) programs(remote string, partial bool) []string {
	var keys []string
	for _, key := range c.order {
		for _, value := range c.own[key] {
			trusted := len(c.all[key]) > len(c.own[key]) && c.all[key][len(c.all[key])-len(c.own[key])-1] == value
			if !trusted && runs(key, value, remote, partial) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func runs(key, value, remote string, partial bool) bool {
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "alias": // git runs one if it finds no program git-credential-<name> or git-remote-<name>
		word := strings.ToLower(rest)
		return strings.HasPrefix(word, "credential-") || strings.HasPrefix(word, "remote-")
	case "fetch":
		return name == "bundleuri" // contacts another address, and takes refs from there
	case "core":
		return slices.Contains([]string{"sshcommand", "gitproxy", "askpass", "alternaterefscommand"}, name)
	case "credential":
		return name == "helper" && !plainHelper.MatchString(value)
	case "http":
		return name == "savecookies" && !falsity(value) // writes http.cookieFile
	case "hook":
		own := slices.ContainsFunc(OwnHooks, func(event string) bool { return rest == OwnHook(event)+".command" })
		return name == "command" && !own // those are off
	case "remote":
		if strings.HasPrefix(rest, alias+".") {
			return true // would be mixed into ours
		}
		if name == "uploadpack" || name == "receivepack" || name == "vcs" {
			return partial || rest == remote+"."+name // a partial clone may fetch from another
		}
	}
	return false
}

// strict makes git check fetched objects at full strength, overriding any relaxed fsck setting. A
// code repository may need relaxed checks; our store does not.
func (c listing) strict() []string {
	options := []string{"-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true"}
	for _, key := range c.order {
		if id, ok := strings.CutPrefix(key, "fetch.fsck."); ok && id != "skiplist" {
			options = append(options, "-c", key+"=error")
		}
	}
	return options
}

// transports returns the environment without the user's settings that would let ext or fd run.
func transports(env []string) []string {
	for i, kv := range env {
		if list, ok := strings.CutPrefix(kv, "GIT_ALLOW_PROTOCOL="); ok {
			kept := slices.DeleteFunc(strings.Split(list, ":"), func(p string) bool { return p == "ext" || p == "fd" })
			env[i] = "GIT_ALLOW_PROTOCOL=" + strings.Join(kept, ":")
		}
	}
	return env
}

// folder returns the folder from which the user's own git resolves a remote's relative path.
func (r *Repo) folder() string {
	if _, err := os.Stat(r.WorkTree); r.WorkTree != "" && err == nil {
		return r.WorkTree
	}
	return r.CommonDir
}
