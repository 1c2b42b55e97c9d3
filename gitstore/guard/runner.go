package guard

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Programs that start another one, separated by "|". A runner starts any program. A manager also
// has commands and scripts of its own, so the word behind it counts only if it names a tool.
const (
	runners = "npx|pnpx|bunx|uvx|corepack|npm exec|npm x|pnpm exec|pnpm dlx|yarn exec|yarn dlx|bun x|bundle exec" +
		"|uv run|uv tool run|pipx run|poetry run|pdm run|pipenv run|hatch run|rye run|python -m"
	managers = "yarn run|yarn|pnpm|bun run|bun"
	tools    = "ava|biome|black|cypress|dprint|eslint|jest|karma|mocha|mypy|nose2|pip|playwright|prettier|pylint|pytest|ruff" +
		"|stylelint|tsc|tslint|vitest|webpack|yapf"
)

var (
	isPackage = pattern.New(`^(?:` + tools + `)$`)
	valued    = pattern.NewWords(`--cache --call --constraints --cwd --dir --directory --env-file --extra --filter --from --group --index
		--index-url --loglevel --node-options --package --pip-args --prefix --project --python --registry --spec --userconfig --with
		--with-editable --with-requirements --workspace -C -F -W -X -c -p -w`)
)

// ranBy returns the words of the command that a runner or manager starts, and the runner's own
// words: `jest --watch` and "npx" of `npx --yes jest@29 --watch`. A scoped package, or one from an
// address, counts as none, because its last part may be the name of another program.
func ranBy(words []string) (inner []string, runner string) {
	program := strings.TrimRight(path.Base(words[0]), "0123456789.") // python3.12
	for runner := range strings.SplitSeq(runners+"|"+managers, "|") {
		first, more, _ := strings.Cut(runner, " ")
		if first != program {
			continue
		}
		rest, ok := words[1:], true
		for want := range strings.FieldsSeq(more) {
			if rest = behindFlags(program, rest, want); len(rest) == 0 || rest[0] != want {
				ok = false
				break
			}
			rest = rest[1:]
		}
		if rest = behindFlags(program, rest, ""); !ok || len(rest) == 0 {
			continue
		}
		name, _, _ := strings.Cut(plain(rest[0]), "@")
		if name == "" || strings.Contains(name, ":") {
			continue
		}
		if !manages(runner) || isPackage.MatchString(name) {
			return slices.Concat([]string{name}, rest[1:]), runner
		}
	}
	return nil, ""
}

func manages(runner string) bool { return strings.Contains("|"+managers+"|", "|"+runner+"|") }

// behindFlags returns the words behind the flags of a program, or from a flag that is wanted.
func behindFlags(program string, words []string, want string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != want {
		n := 1
		if valued.Has(words[0]) && (program != "pnpm" || words[0] != "-w") {
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// interpreters are programs that a project has its own of, behind a runner.
var interpreters = pattern.NewWords("bun deno node php python python3 ruby")

// direct matches words of a statement that refuses only a program without a runner.
var direct = pattern.New(`(?i)\b(?:directly|by itself|on its own|globally|systemwide|(?:bare|plain|raw|global|system) \x60?NAME\b)`)

// spares reports whether a statement about a program does not refuse the command, because it names
// the runner that starts it, with this program or alone: "use uv run pytest, never pytest", "run
// pytest through Poetry".
func (c command) spares(statement string) bool {
	if len(c.runners) == 0 {
		return false
	}
	if name := c.words[0]; interpreters.Has(name) || direct.MatchString(strings.ReplaceAll(statement, name, "NAME")) {
		return true
	}
	words := wanted(statement)
	return slices.ContainsFunc(c.runners, func(runner string) bool {
		first, _, _ := strings.Cut(runner, " ")
		for i, w := range words {
			if strings.TrimRight(w, "0123456789") != first {
				continue
			}
			if inner, _ := ranBy(words[i:]); inner == nil && !manages(first) || inner != nil && inner[0] == c.words[0] {
				return true
			}
		}
		return false
	})
}

// wanted returns the words of a statement but for the commands that it refuses, in lower case.
func wanted(statement string) []string {
	rest := refusedTool.ReplaceAllString(refusedCommand.ReplaceAllString(strings.ToLower(statement), " "), " ")
	return strings.FieldsFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`\"'.,;:!?()", r) })
}

var (
	// ordered matches a statement that asks for one thing before another.
	ordered = pattern.New(`(?i)\b(?:before|until)\b`)
	// further matches a statement that also bans something, or asks for several things.
	further = pattern.New(`(?i)\b(?:never|not|no|don['’]?t|without|avoid|unless|and|or)\b`)
	// linking lists words that may follow a command in a statement without belonging to it.
	linking = pattern.NewWords("before until then in on has have is was passes ran runs every each when")
)

// prepares reports whether a statement asks for the command alone before another one: "run make
// test before committing".
func (c command) prepares(statement string) bool {
	if !ordered.MatchString(statement) || further.MatchString(statement) || c.asks() != "" || slices.Contains(c.words, "-n") || slices.Contains(c.words, "--dry-run") {
		return false
	}
	words := wanted(statement)
	for i, w := range words {
		if w != strings.ToLower(c.words[0]) {
			continue
		}
		rest := words[i+1:]
		if end := slices.IndexFunc(rest, linking.Has); end >= 0 {
			rest = rest[:end]
		}
		return !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(c.words, w) })
	}
	return false
}
