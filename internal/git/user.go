package git

import (
	"os"
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

// systemUser returns the system's name and login of the current user. For a user whom the system
// does not know, the login comes from the environment.
func systemUser() (name, login string) {
	u, err := user.Current()
	if err != nil {
		login = first(os.Getenv("USER"), os.Getenv("LOGNAME"), "reverie")
		return login, login
	}
	// On Windows it is DOMAIN\user.
	login = first(u.Username[strings.LastIndex(u.Username, `\`)+1:], "reverie")
	return first(u.Name, login), login
}
