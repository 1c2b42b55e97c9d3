package share

import (
	"net/url"
	"strings"
	"unicode"
)

// forges lists the pages on which forges open a pull request, by a part of their hosts' names. A
// page is below the repository's own address. {base} and {branch} are names as parts of a path,
// {base=} and {branch=} as values of a query.
var forges = []struct{ host, page string }{
	{"github", "/compare/{base}...{branch}?expand=1"},
	{"gitlab", "/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch=}&merge_request%5Btarget_branch%5D={base=}"},
	{"bitbucket.org", "/pull-requests/new?source={branch=}&dest={base=}"},
	{"codeberg", "/compare/{base}...{branch}"},
	{"gitea", "/compare/{base}...{branch}"},
	{"forgejo", "/compare/{base}...{branch}"},
}

// webHost returns the host of the web pages for one that speaks only ssh.
func webHost(host string) string {
	switch host {
	case "ssh.github.com":
		return "github.com"
	case "altssh.gitlab.com":
		return "gitlab.com"
	case "altssh.bitbucket.org":
		return "bitbucket.org"
	}
	return host
}

// compareURL returns the address at which a forge opens a pull request of branch into base, both
// without refs/heads/. It is empty for a path and for an unknown forge, and never holds
// credentials.
func compareURL(remote, base, branch string) string {
	scheme, host, path, ok := splitRemote(remote)
	if !ok || base == "" || branch == "" {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) < 2 {
		return ""
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
	}
	for _, f := range forges {
		if strings.Contains(host, f.host) {
			page := strings.NewReplacer("{base}", escapePath(base), "{branch}", escapePath(branch),
				"{base=}", url.QueryEscape(base), "{branch=}", url.QueryEscape(branch)).Replace(f.page)
			return scheme + "://" + host + "/" + escapePath(strings.Join(parts, "/")) + page
		}
	}
	return ""
}

// splitRemote takes the forms apart that git knows for a remote on another machine. scheme and
// host, with its port, are those of the web pages: a port of ssh says nothing about them.
func splitRemote(remote string) (scheme, host, path string, ok bool) {
	if strings.ContainsFunc(remote, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return "", "", "", false
	}
	scheme = "https"
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", "", "", false
		}
		host, path = u.Hostname(), u.Path
		switch u.Scheme {
		case "http", "https":
			scheme, host = u.Scheme, u.Host
		case "ssh", "git+ssh", "ssh+git", "git":
		default:
			return "", "", "", false
		}
	} else { // user@host:path, with no slash before the colon
		host, path, ok = strings.Cut(remote, ":")
		if !ok || len(host) < 2 || strings.ContainsAny(host, `/\[`) || strings.HasPrefix(path, ":") {
			// It is C:\code or helper::address.
			return "", "", "", false
		}
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	host = webHost(strings.ToLower(host))
	plain := strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:") == ""
	return scheme, host, path, plain
}

// escapePath escapes all but the slashes.
func escapePath(s string) string {
	parts := strings.Split(s, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
