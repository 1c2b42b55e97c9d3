package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/period"
)

// modelName accepts off, auto and any possible name of a model.
func modelName(v any) (string, error) {
	s, ok := v.(string)
	if !ok || s == "" || len(s) > 200 || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return "", fmt.Errorf("%v is not off, auto, agent:NAME, or a model's name such as \"qwen3:4b-instruct\"", v)
	}
	if agent := Agent(s); strings.HasPrefix(s, "agent:") && !slices.Contains(Agents(), agent) {
		return "", fmt.Errorf("%q: the agents that can be a model are %s", s, strings.Join(Agents(), ", "))
	}
	return s, nil
}

// otherModel accepts also "", the model of model.name.
func otherModel(v any) (string, error) {
	if v == "" {
		return "", nil
	}
	return modelName(v)
}

// vectorModel accepts no agent, because an agent makes no vectors.
func vectorModel(v any) (string, error) {
	name, err := modelName(v)
	if err == nil && Agent(name) != "" {
		err = fmt.Errorf("%v: an agent makes no vectors", v)
	}
	return name, err
}

// onlyOff lets a team turn a model off, and nothing else.
func onlyOff(now string, v any) (string, error) {
	if v != Off {
		return now, fmt.Errorf("%v is not off: which model is asked, everybody says for themselves", v)
	}
	return Off, nil
}

// plainText accepts one line of text.
func plainText(v any) (string, error) {
	s, ok := v.(string)
	if !ok || strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("%v is not one line of text", v)
	}
	return s, nil
}

// maxBudget is the most tokens that a setting may ask for. No client takes as many from one hook.
const maxBudget = 100_000

// branchName accepts git's valid branch names.
func branchName(v any) (string, error) {
	s, ok := v.(string)
	if !ok || strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "refs/") || strings.HasSuffix(s, "/") {
		return "", fmt.Errorf("%v is not a branch's name such as \"main\"", v)
	}
	return s, nil
}

var kinds = []string{"convention", "decision", "constraint", "preference", "pattern", "workflow", "failure", "fact", "note"}

// ownRef reports whether a ref may be the memory branch: an unusual branch name, or one of
// Reverie's refs without another purpose.
func ownRef(ref string) bool {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return !slices.Contains([]string{"main", "master", "head"}, strings.ToLower(name))
	}
	name, ok := strings.CutPrefix(ref, "refs/reverie/")
	return ok && !slices.Contains([]string{"journal", "inbox"}, strings.ToLower(name))
}

// folder accepts an absolute path, or "".
func folder(v any) (string, error) {
	s, err := plainText(v)
	if err == nil && s != "" && !filepath.IsAbs(s) {
		err = fmt.Errorf("%q is not an absolute path", s)
	}
	return s, err
}

// blockFile accepts a path inside a work tree, outside of git directories.
func blockFile(v any) (string, error) {
	s, ok := v.(string)
	switch {
	case !ok || !filepath.IsLocal(filepath.FromSlash(s)):
		return "", fmt.Errorf("%v is not a path inside the work tree", v)
	case inGitDir(s):
		return "", fmt.Errorf("%v is in a git directory, whose files git may run", v)
	}
	return s, nil
}

// memoryRef accepts the whole name of a ref that may be the memory branch.
func memoryRef(v any) (string, error) {
	s, ok := v.(string)
	switch {
	case !ok || !strings.HasPrefix(s, "refs/") || strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.HasSuffix(s, "/"):
		return "", fmt.Errorf("%v is not a whole ref name such as \"refs/heads/reverie/memory\"", v)
	case !ownRef(s):
		return "", fmt.Errorf("%s belongs to others: take a ref for memory alone, such as \"refs/heads/reverie/memory\"", s)
	}
	return s, nil
}

// listOf accepts a list of what item accepts.
func listOf(item func(v any) (string, error), example string) func(v any) ([]string, error) {
	return func(v any) ([]string, error) {
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%v is not a list such as [%q]", v, example)
		}
		out := []string{}
		for _, w := range list {
			s, err := item(w)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
		return out, nil
	}
}

// wordsOf accepts a list of some words.
func wordsOf(allowed ...string) func(v any) ([]string, error) {
	return listOf(wordOf(allowed...), allowed[0])
}

// only lets a team remove entries from a list.
func only(parse func(v any) ([]string, error)) func(now []string, v any) ([]string, error) {
	return func(now []string, v any) ([]string, error) {
		allowed, err := parse(v)
		return slices.DeleteFunc(slices.Clone(now), func(s string) bool { return !slices.Contains(allowed, s) }), err
	}
}

// also adds entries to a list.
func also(parse func(v any) ([]string, error)) func(now []string, v any) ([]string, error) {
	return func(now []string, v any) ([]string, error) {
		all := slices.Clone(now)
		more, err := parse(v)
		for _, s := range more {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
		return all, err
	}
}

// wordOf accepts one of some words.
func wordOf(allowed ...string) func(v any) (string, error) {
	return func(v any) (string, error) { return word(v, allowed...) }
}

// later lets a team choose a later one of some words.
func later(allowed ...string) func(now string, v any) (string, error) {
	return func(now string, v any) (string, error) {
		s, err := word(v, allowed...)
		return allowed[max(slices.Index(allowed, now), slices.Index(allowed, s), 0)], err
	}
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

// between accepts a whole number within bounds.
func between(least, most int64) func(v any) (int, error) {
	return func(v any) (int, error) { return number(v, least, most) }
}

// lowered lets a team lower a number, and raised lets it raise one.
func lowered(least, most int64) func(now int, v any) (int, error) {
	return func(now int, v any) (int, error) {
		n, err := number(v, least, most)
		return min(now, n), err
	}
}

func raised(least, most int64) func(now int, v any) (int, error) {
	return func(now int, v any) (int, error) {
		n, err := number(v, least, most)
		return max(now, n), err
	}
}

// limited lets a team lower a limit, or set one that is 0 (unlimited).
func limited(now int, v any) (int, error) {
	n, err := number(v, 0, math.MaxInt32)
	if n == 0 || now > 0 && now < n {
		n = now
	}
	return n, err
}

// peopleWith accepts a list of addresses or keys, each containing mark.
func peopleWith(mark, example string) func(v any) ([]string, error) {
	return textsThat(func(s string) bool {
		return s != "" && strings.Contains(s, mark) && !strings.ContainsAny(s, " <>[]\\\"")
	}, example)
}

// parseAge converts an age as users type it. Off is zero, and so is the number 0.
func parseAge(v any) (time.Duration, error) {
	if v == Off || v == int64(0) {
		return 0, nil
	}
	s, _ := v.(string)
	d, ok := period.Parse(s)
	if !ok {
		return 0, fmt.Errorf("%v is neither off nor an age such as \"7d\"", v)
	}
	return d, nil
}

// age formats an age so that parseAge reads it.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return Off
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

func truth(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%v is neither true nor false", v)
	}
	return b, nil
}

// and lets a team turn something off, and or lets it turn something on.
func and(now bool, v any) (bool, error) {
	b, err := truth(v)
	return now && b, err
}

func or(now bool, v any) (bool, error) {
	b, err := truth(v)
	return now || b, err
}

func tomlText(v any) string {
	out, err := toml.Marshal(map[string]any{"v": v})
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v = ")
}

// inGitDir reports whether some file system equates a part of a path with .git.
func inGitDir(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '\\' }) {
		if file.GitName(part) {
			return true
		}
	}
	return false
}
