// Package config reads Reverie's settings: the user's file, this clone's file, and the
// restrictions that a team keeps in reverie.toml on the memory branch.
//
// Load is the entry. Files that come with a repository can only restrict; everything that
// names a command, a model, a URL or a path is taken from the user's own files alone. A
// Config is a plain value.
package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/internal/file"
)

// Format is the newest store format that this version reads and writes.
const Format = 1

// ErrNewer is returned when a store's format is newer than Format.
var ErrNewer = errors.New("the store was written by a newer Reverie")

// Config is every setting with its value.
type Config struct {
	Accept       []string // what becomes memory without review: said, seen
	Sightings    int      // distinct sessions that a seen statement needs, at least 2
	Private      []string // kinds of memory that stay in this clone
	KeepDays     int      // days a session is kept after it was last read, at least 1
	Ref          string   // the memory branch, whole name
	AgentsDecide bool     // what decides may be called from agents' shells
	Background   string   // when hooks have sessions learned from: idle or off
	Every        int      // new sessions that learning in the background waits for, at least 1
	Agents       string   // file of the managed block, relative to the top of the work tree
	Trust        Trust
	Stale        string // what agents are given of stale memories: label or withhold
	Budget       int    // of what is given when a session starts, in tokens; 0 gives nothing
	Prompt       int    // of what is given with a prompt, likewise
	Main         string // the code's default branch; empty: origin's, or that of git's configuration

	WithPush bool // a push of the code takes the memory along

	origins map[string]string // key → where its value comes from
}

// Trust says whose memories are given to agents without a person's approval. This clone's own identity
// always is one of them.
type Trust struct {
	Authors  []string // addresses of commits' authors; * stands for any letters
	Signers  []string // keys of signatures: SHA256:…, an OpenPGP fingerprint, or a principal of the user's allowed signers
	Signed   bool     // an author's address alone counts for nothing
	Everyone bool     // nothing is withheld for its author
}

// Setting is one key of the settings.
type Setting struct {
	Key    string
	Value  string // as TOML
	Origin string // "default" or a file
	Help   string
}

// key is one row of the table of settings.
type key struct {
	name string
	help string
	get  func(*Config) any
	set  func(*Config, any) error     // from TOML
	team func(c *Config, v any) error // from reverie.toml: restrict, or nil where a team has no say
}

var keys = []key{
	{"accept", "what becomes memory without review: said (a person's durable instruction), seen (in several sessions)",
		func(c *Config) any { return c.Accept },
		func(c *Config, v any) (err error) { c.Accept, err = words(v, "said", "seen"); return },
		func(c *Config, v any) error {
			allowed, err := words(v, "said", "seen")
			c.Accept = slices.DeleteFunc(slices.Clone(c.Accept), func(s string) bool { return !slices.Contains(allowed, s) })
			return err
		}},
	{"sightings", "distinct sessions that a seen statement needs before it is accepted",
		func(c *Config) any { return int64(c.Sightings) },
		func(c *Config, v any) (err error) { c.Sightings, err = number(v, 2, 1000); return },
		func(c *Config, v any) error {
			n, err := number(v, 2, 1000)
			c.Sightings = max(c.Sightings, n)
			return err
		}},
	{"private", "kinds of memory that stay in this clone",
		func(c *Config) any { return c.Private },
		func(c *Config, v any) (err error) { c.Private, err = words(v, kinds...); return },
		func(c *Config, v any) error {
			more, err := words(v, kinds...)
			for _, k := range more {
				if !slices.Contains(c.Private, k) {
					c.Private = append(slices.Clone(c.Private), k)
				}
			}
			return err
		}},
	{"sessions.keep-days", "days that a session is kept after it was read",
		func(c *Config) any { return int64(c.KeepDays) },
		func(c *Config, v any) (err error) { c.KeepDays, err = number(v, 1, 36500); return },
		func(c *Config, v any) error {
			n, err := number(v, 1, 36500)
			c.KeepDays = min(c.KeepDays, n)
			return err
		}},
	{"agents.decide", "let agents accept, edit, forget and trust by commands in their shells, as a person does",
		func(c *Config) any { return c.AgentsDecide },
		func(c *Config, v any) (err error) { c.AgentsDecide, err = truth(v); return }, nil},
	{"learn.background", "when hooks have new sessions learned from: idle (when one has ended or was left), or off",
		func(c *Config) any { return c.Background },
		func(c *Config, v any) (err error) { c.Background, err = word(v, backgroundWords...); return },
		func(c *Config, v any) error {
			s, err := word(v, backgroundWords...)
			if s == "off" {
				c.Background = s
			}
			return err
		}},
	{"learn.every", "how many new sessions have to be there before they are learned from in the background",
		func(c *Config) any { return int64(c.Every) },
		func(c *Config, v any) (err error) { c.Every, err = number(v, 1, 1000); return },
		func(c *Config, v any) error {
			n, err := number(v, 1, 1000)
			c.Every = max(c.Every, n)
			return err
		}},
	{"memory.ref", "the memory branch",
		func(c *Config) any { return c.Ref },
		func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok || !strings.HasPrefix(s, "refs/") || strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.HasSuffix(s, "/") {
				return fmt.Errorf("%v is not a whole ref name such as \"refs/heads/reverie/memory\"", v)
			}
			if !ownRef(s) {
				return fmt.Errorf("%s belongs to others: take a ref for memory alone, such as \"refs/heads/reverie/memory\"", s)
			}
			c.Ref = s
			return nil
		}, nil},
	{"agents.file", "file that holds the managed block, relative to the top of the work tree",
		func(c *Config) any { return c.Agents },
		func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok || !filepath.IsLocal(filepath.FromSlash(s)) {
				return fmt.Errorf("%v is not a path inside the work tree", v)
			}
			if inGitDir(s) {
				return fmt.Errorf("%v is in a git directory, whose files git may run", v)
			}
			c.Agents = s
			return nil
		}, nil},
	{"trust.authors", "addresses of authors whose memories are given to agents without approval, as ann@example.com or *@example.com",
		func(c *Config) any { return c.Trust.Authors },
		func(c *Config, v any) (err error) { c.Trust.Authors, err = people(v, "@", "ann@example.com"); return }, nil},
	{"trust.signers", "keys whose signatures are trusted likewise: SHA256:…, an OpenPGP fingerprint, or a principal of your allowed signers",
		func(c *Config) any { return c.Trust.Signers },
		func(c *Config, v any) (err error) { c.Trust.Signers, err = people(v, "", "SHA256:…"); return }, nil},
	{"trust.require-signed", "trust signatures and what was made in this clone alone, not addresses, which anybody can write",
		func(c *Config) any { return c.Trust.Signed },
		func(c *Config, v any) (err error) { c.Trust.Signed, err = truth(v); return },
		func(c *Config, v any) error {
			signed, err := truth(v)
			c.Trust.Signed = c.Trust.Signed || signed
			return err
		}},
	{"trust.everyone", "withhold nothing for its author: everybody who may push is trusted",
		func(c *Config) any { return c.Trust.Everyone },
		func(c *Config, v any) (err error) { c.Trust.Everyone, err = truth(v); return }, nil},
	{"context.stale", "what agents are given of a memory when code it rests on is gone: label, or withhold",
		func(c *Config) any { return c.Stale },
		func(c *Config, v any) (err error) { c.Stale, err = word(v, staleWords...); return },
		func(c *Config, v any) error {
			s, err := word(v, staleWords...)
			if s == "withhold" {
				c.Stale = s
			}
			return err
		}},
	{"context.budget", "tokens of memory that an agent is given when a session starts; 0 is nothing",
		func(c *Config) any { return int64(c.Budget) },
		func(c *Config, v any) (err error) { c.Budget, err = number(v, 0, maxBudget); return },
		func(c *Config, v any) error {
			n, err := number(v, 0, maxBudget)
			c.Budget = min(c.Budget, n)
			return err
		}},
	{"context.prompt-budget", "tokens of memory that an agent is given with a prompt that names what is known; 0 is nothing",
		func(c *Config) any { return int64(c.Prompt) },
		func(c *Config, v any) (err error) { c.Prompt, err = number(v, 0, maxBudget); return },
		func(c *Config, v any) error {
			n, err := number(v, 0, maxBudget)
			c.Prompt = min(c.Prompt, n)
			return err
		}},
	{"sync.with-push", "true: git's hook pre-push has the memory synced with the remote that the code is pushed to, in the background",
		func(c *Config) any { return c.WithPush },
		func(c *Config, v any) (err error) { c.WithPush, err = truth(v); return },
		nil},
	{"code.default-branch", "the code's default branch, on which what a side branch taught has to land; empty: origin's, or main",
		func(c *Config) any { return c.Main },
		func(c *Config, v any) (err error) { c.Main, err = branchName(v); return },
		nil},
}

// backgroundWords are the values of learn.background, the narrower one last.
var backgroundWords = []string{"idle", "off"}

// maxBudget is the most tokens that a setting may ask for. No client takes as many from one hook.
const maxBudget = 100_000

// staleWords are the values of context.stale, the narrower one last.
var staleWords = []string{"label", "withhold"}

// branchName accepts what git would as a branch.
func branchName(v any) (string, error) {
	s, ok := v.(string)
	if !ok || strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "refs/") || strings.HasSuffix(s, "/") {
		return "", fmt.Errorf("%v is not a branch's name such as \"main\"", v)
	}
	return s, nil
}

var kinds = []string{"convention", "decision", "constraint", "preference", "pattern", "workflow", "failure", "fact", "note"}

// ownRef reports whether a ref may be the memory branch: a branch that is no project's usual one, or a ref of
// Reverie's that it does not use for something else.
func ownRef(ref string) bool {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return !slices.Contains([]string{"main", "master", "head"}, strings.ToLower(name))
	}
	name, ok := strings.CutPrefix(ref, "refs/reverie/")
	return ok && !slices.Contains([]string{"journal", "inbox"}, strings.ToLower(name))
}

// Default is every setting as it is without any file.
func Default() Config {
	return Config{
		Accept: []string{"said", "seen"}, Sightings: 2, Private: []string{"preference"},
		Trust:    Trust{Authors: []string{}, Signers: []string{}},
		KeepDays: 30, Background: "idle", Every: 1, Ref: "refs/heads/reverie/memory", Agents: "AGENTS.md", Stale: "label", Budget: 1500, Prompt: 400,
		origins: map[string]string{},
	}
}

// Load reads the files in order; the later wins. A file that does not exist is passed over. An
// unknown key or a bad value is an error that names file, line and key.
func Load(files ...string) (Config, error) {
	c := Default()
	for _, path := range files {
		data, err := file.ReadLinked(path, maxRead)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, fmt.Errorf("read settings: %w", err)
		}
		if err := c.apply(path, data, false); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Restrict applies a team's reverie.toml, which can only narrow what the user's settings
// allow. Keys in which a team has no say are errors, except those a newer version may know:
// the text is not ours alone, so unknown keys are passed over. It returns an error wrapping
// ErrNewer if the store's format is newer than Format. Copies of the Config stay as they were.
func (c *Config) Restrict(name string, data []byte) error { return c.apply(name, data, true) }

// maxFile is how long a settings file may be, in bytes: a team's comes from outside, and a key of
// many parts costs its square.
const maxFile = 16 << 10

// maxRead is how much is read of one to say how long it is.
const maxRead = 1 << 20

func (c *Config) apply(name string, data []byte, team bool) error {
	if len(data) > maxFile {
		return fmt.Errorf("%s: is %d bytes long; settings may have %d", name, len(data), maxFile)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, _ := at.Position()
			return fmt.Errorf("%s:%d: %s", name, row, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	flat := map[string]any{}
	flatten("", values, flat)
	if team {
		format, ok := flat["format"].(int64)
		switch {
		case !ok:
			return fmt.Errorf("%s: format: there is no line such as format = %d", name, Format)
		case format > Format:
			return fmt.Errorf("%w: its format is %d, this one knows %d; install a newer one", ErrNewer, format, Format)
		}
		delete(flat, "format")
	}
	c.origins = maps.Clone(c.origins)
	for _, k := range keys {
		v, ok := flat[k.name]
		if !ok {
			continue
		}
		before := tomlText(k.get(c))
		delete(flat, k.name)
		set := k.set
		if team {
			if set = k.team; set == nil {
				return fmt.Errorf("%s:%d: %s: only a user's own settings may say this", name, line(data, k.name), k.name)
			}
		}
		if err := set(c, v); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", name, line(data, k.name), k.name, err)
		}
		if !team || tomlText(k.get(c)) != before {
			c.origins[k.name] = name
		}
	}
	if !team {
		for unknown := range flat {
			return fmt.Errorf("%s:%d: %s: there is no such setting; 'reverie config' lists them", name, line(data, unknown), unknown)
		}
	}
	return nil
}

// Settings lists every setting, in the order of the documentation.
func (c Config) Settings() []Setting {
	var out []Setting
	for _, k := range keys {
		origin := c.origins[k.name]
		if origin == "" {
			origin = "default"
		}
		out = append(out, Setting{Key: k.name, Value: tomlText(k.get(&c)), Origin: origin, Help: k.help})
	}
	return out
}

func flatten(prefix string, in, out map[string]any) {
	for k, v := range in {
		if table, ok := v.(map[string]any); ok {
			flatten(prefix+k+".", table, out)
			continue
		}
		out[prefix+k] = v
	}
}

// line is where the last part of a key is first set, from 1; 0 when it cannot be told.
func line(data []byte, name string) int {
	last := name[strings.LastIndexByte(name, '.')+1:]
	n := 0
	for l := range strings.Lines(string(data)) {
		n++
		key, _, ok := strings.Cut(l, "=")
		key = strings.TrimSpace(key)
		if ok && (key == name || key == last) {
			return n
		}
	}
	return 0
}

func words(v any, allowed ...string) ([]string, error) {
	list, ok := v.([]any)
	out := []string{}
	for _, w := range list {
		s, isText := w.(string)
		if !isText || !slices.Contains(allowed, s) {
			return nil, fmt.Errorf("%v is not one of %s", w, strings.Join(allowed, ", "))
		}
		out = append(out, s)
	}
	if !ok {
		return nil, fmt.Errorf("%v is not a list such as [%q]", v, allowed[0])
	}
	return out, nil
}

func word(v any, allowed ...string) (string, error) {
	s, ok := v.(string)
	if !ok || !slices.Contains(allowed, s) {
		return "", fmt.Errorf("%v is not one of %s", v, strings.Join(allowed, ", "))
	}
	return s, nil
}

func number(v any, least, most int64) (int, error) {
	n, ok := v.(int64)
	if !ok || n < least || n > most {
		return 0, fmt.Errorf("%v is not a whole number from %d to %d", v, least, most)
	}
	return int(n), nil
}

// people is a list of addresses or keys, each with mark in it.
func people(v any, mark, example string) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is not a list such as [%q]", v, example)
	}
	out := []string{}
	for _, w := range list {
		s, ok := w.(string)
		if !ok || s == "" || !strings.Contains(s, mark) || strings.ContainsAny(s, " <>[]\\\"\n") {
			return nil, fmt.Errorf("%q is not one such as %s", w, example)
		}
		out = append(out, s)
	}
	return out, nil
}

func truth(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%v is neither true nor false", v)
	}
	return b, nil
}

func tomlText(v any) string {
	out, err := toml.Marshal(map[string]any{"v": v})
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v = ")
}

// inGitDir reports whether some file system takes a part of a path for .git: in another case, with
// characters that HFS+ ignores, with what NTFS drops at the end, or by its short name.
func inGitDir(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '\\' }) {
		part = strings.Map(func(c rune) rune {
			if unicode.Is(unicode.Cf, c) {
				return -1
			}
			return c
		}, part)
		part, _, _ = strings.Cut(part, ":")
		if part = strings.ToLower(strings.TrimRight(part, " .")); part == ".git" || part == "git~1" {
			return true
		}
	}
	return false
}
