package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// AddressError gives the reason why a remote is not contacted at its address.
type AddressError struct{ Remote, Address, Why string }

func (e *AddressError) Error() string {
	return fmt.Sprintf("remote %s, %q: %s", e.Remote, Address(e.Address), e.Why)
}

var (
	// helperAddress matches an address for the program git-remote-<name>, or for an alias of that
	// name.
	helperAddress = pattern.New(`^([A-Za-z][A-Za-z0-9+.-]*)?::`)
	urlAddress    = pattern.New(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	escaped       = pattern.New(`%[0-9A-Fa-f]{2}`)
)

// plainSchemes lists the protocols of git and its own helpers.
var plainSchemes = []string{"file", "git", "ssh", "git+ssh", "ssh+git", "http", "https", "ftp", "ftps"}

// vet refuses a remote with several addresses, because git would push to all while we name one. It
// also refuses a helper that the user's own configuration does not allow. And it refuses to fetch
// from an address in this repository's own folder, because its settings came with that folder.
//
// Hooks of a path elsewhere run on a push, as with git. bases are the possible origins of a
// relative path.
func (c listing) vet(r *Repo, name string, bases ...string) error {
	for _, key := range []string{"url", "pushurl"} {
		values := c.all["remote."+name+"."+key]
		for _, v := range values {
			switch {
			case v == "":
				return &AddressError{name, v, "remote." + name + "." + key + " is empty"}
			case v != values[0]:
				return &AddressError{name, v, "there are several of remote." + name + "." + key + ", and git would push to each; keep one (git config --unset remote." + name + "." + key + " PATTERN)"}
			}
		}
	}
	fetch, push := c.urls(name)
	for _, address := range []string{fetch, push} {
		if helper, ok := helperOf(address); ok && !c.allows(helper) {
			return &AddressError{name, address, fmt.Sprintf("this repository's own configuration would run git-remote-%s; if you installed that and want it: git config --global protocol.%s.allow always", helper, helper)}
		}
	}
	return c.outside(r, name, fetch, bases...)
}

// outside refuses an address in this repository's own folder.
func (c listing) outside(r *Repo, name, address string, bases ...string) error {
	if path, ok := localPath(address); ok && c.holds(r, path, bases) {
		return &AddressError{name, address, "it names nothing outside of this repository, whose settings and hooks are not trusted"}
	}
	return nil
}

// helperOf returns the name of the third-party helper that git needs for an address, if any.
func helperOf(address string) (string, bool) {
	if m := helperAddress.FindStringSubmatch(address); m != nil {
		return m[1], true
	}
	if m := urlAddress.FindStringSubmatch(address); m != nil && !slices.Contains(plainSchemes, m[1]) {
		return m[1], true
	}
	return "", false
}

// allows reports whether the user, not the repository, permits a protocol. ext and fd never run,
// whatever it returns.
func (c listing) allows(protocol string) bool {
	if protocol != "" && slices.Contains(strings.Split(os.Getenv("GIT_ALLOW_PROTOCOL"), ":"), protocol) {
		return true
	}
	word := first(c.trusted["protocol."+protocol+".allow"], c.trusted["protocol.allow"])
	return word == "always" || word == "user"
}

// localPath returns the path that an address stands for, by git's rules.
func localPath(address string) (string, bool) {
	if m := urlAddress.FindStringSubmatch(address); m != nil {
		rest := escaped.ReplaceAllStringFunc(strings.TrimPrefix(address, "file://"), func(hex string) string {
			n, _ := strconv.ParseUint(hex[1:], 16, 8)
			return string([]byte{byte(n)})
		})
		if !strings.HasPrefix(rest, "/") && filepath.VolumeName(rest) == "" {
			rest = "//" + rest
		}
		return rest, m[1] == "file"
	}
	colon, slash := strings.IndexByte(address, ':'), strings.IndexByte(address, '/')
	return address, colon < 0 || slash >= 0 && slash < colon || filepath.VolumeName(address) != ""
}

// holds reports whether a path is inside this repository: its git directories or a work tree of it,
// by name or behind symbolic links.
func (c listing) holds(r *Repo, path string, bases []string) bool {
	roots := []string{r.CommonDir, r.GitDir, r.WorkTree}
	if filepath.Base(r.CommonDir) == ".git" {
		roots = append(roots, filepath.Dir(r.CommonDir))
	}
	if name, rest, _ := strings.Cut(path, "/"); strings.HasPrefix(name, "~") { // git expands it
		home, _ := os.UserHomeDir()
		if name != "~" {
			var known bool
			if home, known = homeOf(name[1:]); !known {
				return true // git may know him
			}
		}
		if c.holds(r, filepath.Join(home, rest), bases) {
			return true
		}
	}
	if below(path, "/proc") || below(path, "/dev") {
		return true // git may run in another folder, which changes /proc/self/cwd
	}
	if filepath.IsAbs(path) {
		bases = []string{""}
	}
	for _, base := range bases {
		whole := path
		if base != "" {
			whole = base + string(filepath.Separator) + path // not cleaned: a/.. may lead elsewhere
		}
		for _, place := range []string{filepath.Clean(whole), resolved(whole)} {
			for _, root := range roots {
				if root != "" && (below(place, root) || below(place, resolved(root))) {
					return true
				}
			}
		}
	}
	return false
}

func below(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// resolved returns a path with symbolic links resolved, as far as it exists.
func resolved(path string) string {
	rest := ""
	for p := path; ; {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		cut := strings.LastIndexAny(strings.TrimRight(p, `/`), `/`+string(filepath.Separator))
		if cut <= 0 {
			return filepath.Clean(path)
		}
		p, rest = p[:cut], filepath.Join(p[cut:], rest)
	}
}
