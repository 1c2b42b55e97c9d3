//go:build unix && !darwin

package git

import (
	"os"
	"strconv"
	"strings"
)

// We read the users of /etc/passwd directly: os/user would link every command to the C library,
// which delays its start by 0.4 ms. The system may know more users.

const (
	passwdLogin, passwdID, passwdName, passwdHome = 0, 2, 4, 5
	passwdFields                                  = 7
)

// passwd returns the line of /etc/passwd that has value in a field, or nil.
func passwd(field int, value string) []string {
	text, _ := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) == passwdFields && f[field] == value {
			return f
		}
	}
	return nil
}

// homeOf returns the home of a user by login.
func homeOf(login string) (home string, known bool) {
	f := passwd(passwdLogin, login)
	if f == nil {
		return "", false
	}
	return f[passwdHome], true
}

// systemUser returns the system's name and login of the current user. For a user without an entry
// in /etc/passwd, the login comes from the environment.
func systemUser() (name, login string) {
	f := passwd(passwdID, strconv.Itoa(os.Getuid()))
	if f == nil {
		login = first(os.Getenv("USER"), os.Getenv("LOGNAME"), "reverie")
		return login, login
	}
	login = first(f[passwdLogin], "reverie")
	name, _, _ = strings.Cut(f[passwdName], ",")
	return first(name, login), login
}
