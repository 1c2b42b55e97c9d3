package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error names the person's key and value, and no line of an unrelated file.
func TestBadSetNamesKeyAndValue(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"nosuch", "1", "nosuch: it is not a setting"},
		{"sightings", "many", "sightings: many is not a whole number"},
		{"sightings", "1", "sightings: 1 is not a whole number"},
		{"accept", "said", "accept: said is not a list"},
		{"accept", `["model"]`, "accept: model is not one of"},
		{"sightings", "3\nkeep = 2", "sightings: 3"},
		{"memory.ref", "memory", "memory.ref: memory is not a whole ref name"},
	} {
		name := filepath.Join(t.TempDir(), "config.toml")
		err := Set(name, c.key, c.value)
		var bad *SettingError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), name) {
			t.Errorf("%s = %s: %v, want %q", c.key, c.value, err, c.want)
		}
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s = %s: a file was made", c.key, c.value)
		}
	}
}

func TestSetMendsABrokenLine(t *testing.T) {
	for _, text := range []string{"sightings = many\n", "sightings 3\n", "sightings = 0\n", "sightings = 2\nsightings = 3\n"} {
		name := written(t, "# mine\n"+text+"agents.file = \"A.md\"\n")
		if err := Set(name, "sightings", "4"); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, _ := os.ReadFile(name); string(got) != "# mine\nsightings = 4\nagents.file = \"A.md\"\n" {
			t.Errorf("%q became\n%s", text, got)
		}
	}
	name := written(t, "accept = 7\n")
	var bad *SettingError
	if err := Set(name, "sightings", "4"); err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), name+":1: accept") {
		t.Errorf("error %v, want one that names the broken line", err)
	}
}
