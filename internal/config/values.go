package config

import (
	"fmt"
	"math"
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

// onlyOff lets a team turn a model off, and nothing else.
func onlyOff(name *string, v any) error {
	if v != Off {
		return fmt.Errorf("%v is not off: which model is asked, everybody says for themselves", v)
	}
	*name = Off
	return nil
}

// atMost lets a team lower a limit.
func atMost(limit *int, v any) error {
	n, err := number(v, 0, math.MaxInt32)
	*limit = min(*limit, n)
	return err
}

// plainText accepts one line of text.
func plainText(v any) (string, error) {
	s, ok := v.(string)
	if !ok || strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("%v is not one line of text", v)
	}
	return s, nil
}

// backgroundWords are the values of learn.background, the narrower one last.
var backgroundWords = []string{"idle", "off"}

// maxBudget is the most tokens that a setting may ask for. No client takes as many from one hook.
const maxBudget = 100_000

// staleWords are the values of context.stale, the narrower one last.
var staleWords = []string{"label", "withhold"}

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

// people converts a list of addresses or keys, each containing mark.
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
