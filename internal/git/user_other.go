//go:build !unix || darwin

package git

import (
	"os/user"
	"strings"
)

// homeOf returns the home of a user by login.
func homeOf(login string) (home string, known bool) {
	u, err := user.Lookup(login)
	if err != nil {
		return "", false
	}
	return u.HomeDir, true
}

// systemUser returns the system's name and login of the current user.
func systemUser() (name, login string) {
	u, err := user.Current()
	if err != nil {
		return "", "reverie"
	}
	login = u.Username[strings.LastIndex(u.Username, `\`)+1:] // DOMAIN\user on Windows
	return first(u.Name, login), first(login, "reverie")
}
