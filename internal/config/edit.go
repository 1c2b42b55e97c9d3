package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/internal/file"
)

// SettingError reports an unknown key or an invalid value.
type SettingError struct {
	Key string
	Why string // names the value
}

func (e *SettingError) Error() string { return e.Key + ": " + e.Why }

// Set writes key = value into a settings file, creating it if needed, and keeps every other line.
// The value is TOML; a bare word counts as a string. Set writes nothing if the result would not
// load, but it can repair a file that does not load. The error is a *SettingError if key or value
// is at fault.
func Set(path, name, value string) error {
	at := slices.IndexFunc(keys(), func(k key) bool { return k.name == name })
	if at < 0 {
		return &SettingError{name, "it is not a setting; 'reverie config' lists them"}
	}
	value, err := keys()[at].text(value)
	if err != nil {
		return &SettingError{name, err.Error()}
	}
	data, err := file.ReadLinked(path, maxRead)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	next := edited(string(data), name, value)
	c := Default()
	if err := c.apply(path, []byte(next), theUsers); err == nil {
		return write(path, next)
	}
	if err := c.apply(path, data, theUsers); err != nil {
		return fmt.Errorf("set %s: the file must be mended first: %w", name, err)
	}
	return fmt.Errorf("set %s: it takes more than one line in %s; set it there", name, path)
}

// List returns values as a TOML list, for Set.
func List(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// text returns the value as TOML on one line: as given, or as a string.
func (k key) text(value string) (string, error) {
	var why error
	values := map[string]any{}
	if !strings.ContainsAny(value, "\r\n") && toml.Unmarshal([]byte("v = "+value), &values) == nil {
		c := Default()
		if why = k.set(&c, values["v"]); why == nil {
			return value, nil
		}
	}
	c := Default()
	err := k.set(&c, value)
	if quoted := `"` + value + `"`; err == nil && toml.Unmarshal([]byte("v = "+quoted), &values) == nil && values["v"] == value {
		return quoted, nil
	}
	if err == nil {
		return tomlText(value), nil
	}
	if why != nil {
		err = why
	}
	return "", err
}

// edited returns the text with the key set, and drops further lines that set it.
func edited(text, name, value string) string {
	var lines []string
	done, table := false, ""
	for l := range strings.Lines(text) {
		if head := strings.TrimSpace(l); strings.HasPrefix(head, "[") && !strings.HasPrefix(head, "[[") {
			table = strings.Trim(head, "[] \t") + "."
		}
		k, _, ok := strings.Cut(l, "=")
		if words := strings.Fields(l); !ok && len(words) > 0 {
			k = words[0] // a malformed line
		}
		if table+strings.TrimSpace(k) == name {
			if done {
				continue
			}
			l = strings.TrimRight(k, " \t") + " = " + value + "\n"
			done = true
		}
		lines = append(lines, l)
	}
	if !done { // before the first table, where a dotted key is complete
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "[") })
		if at < 0 {
			at = len(lines)
		}
		if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
			lines[at-1] += "\n"
		}
		lines = slices.Insert(lines, at, name+" = "+value+"\n")
	}
	return strings.Join(lines, "")
}

func write(path, text string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = file.Replace(path, []byte(text), 0o600, true)
	}
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// OwnStore returns the path of the repository with the person's own memory, by the XDG rules, or ""
// without a home.
func OwnStore() string {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "reverie", "memory.git")
}

// UserFile returns the user's own settings file, by the XDG rules, or "" without a home.
func UserFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "reverie", "config.toml")
}
