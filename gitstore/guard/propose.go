package guard

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// The forms of statements that name a call, each with the call in its first group. A call is code
// in backticks, a command with flags, or one word.
var (
	refusedCommand = pattern.New(`(?i)\b(?:never|do not|don't|must not|mustn't|not to|avoid)\s+(?:ever\s+)?(?:run|running|use|using|execute|invoke)\s+` + calls)
	refusedTool    = pattern.New(`(?i)\b(?:never|and not|not|instead of|rather than)\s+` + calls)
	refusedFile    = pattern.New(`(?i)\b(?:never|do not|don't|must not|mustn't|not to)\s+(?:ever\s+)?(?:hand-?)?(?:edit|touch|modify|change|write to)\s+(?:(?:the|any|generated|code|files?|anything|in|under|of)\s+)*(` + named + `(?:(?:,\s+` + named + `)*,?\s+(?:or|and|nor)\s+` + named + `)?)(?:\s+files?\b)?`)
	namedFile      = pattern.New(named)
	generatedFile  = pattern.New(`(?i)(` + named + `)(?:\s+files?)?\s+(?:(?:is|are)\s+(?:auto-?)?generated\b.{0,60}?\b(?:never|do not|don't|must not)\s+(?:hand-?)?(?:edit|touch|modify|change)|(?:must|should|may)\s+(?:not|never)\s+be\s+(?:edited|touched|modified|changed))(?:\s+(?:it|them|by hand|manually|directly)\b|[\s.;!]*$)`)
	forcePush      = pattern.New(`(?i)\b(?:never|do not|don't|must not|mustn't)\s+(?:ever\s+)?force[- ]push\b`)
	beforeCommand  = pattern.New("(?i)\\bbefore\\s+(?:you\\s+)?(?:(?:run|running|each|every|any)\\s+)?(`[^`\n]+`|committing|commit\\b|pushing|push\\b)")
)

const (
	flagged = `(?-i:[a-z][\w+-]*(?:\s+[a-z][\w-]*){0,2}(?:\s+--?[a-zA-Z][\w-]*)+)`
	called  = "(?:`[^`\n]+`|" + flagged + `|(?:` + runners + "|" + managers + `)\s+(?:` + tools + `)\b|[a-z][\w.+-]*)`
	calls   = "(" + called + `)((?:,| or| and| nor)+\s+` + called + ")*"
	named   = "(?:`[^`\n]+`|[\\w.*-]*[/*][\\w./*-]*|[\\w.-]*\\.[\\w-]+)"
)

// gerund returns the command that a word stands for.
func gerund(word string) (command string, ok bool) {
	switch strings.ToLower(word) {
	case "committing", "commit":
		return "git commit", true
	case "pushing", "push":
		return "git push", true
	}
	return "", false
}

// ends matches the text after a tool that is refused as such. "Never use docker compose" and "don't
// run pytest with -n" are about some uses of one.
var ends = pattern.New(`(?i)^["'*_]*(?:\s*$|\s*[.,;:!?()–—]|\s+-\s|\s+(?:in|inside|outside|under|from|for|to|here|there|on|at|or|and|but|except|unless|if|because|since|when|before|after|until|directly|by hand|manually|anymore|again|any|ever|even|instead|please)\b)`)

// constructs are words of programming languages, which statements put into backticks like commands.
var constructs = pattern.NewWords(`any as assert async await break case class const continue default defer else enum eval except false fetch
	for func function global goto if import interface lambda let new nil none null object panic print private public return select self
	static struct super switch this throw true try type undefined unsafe unwrap var void while with yield`)

// english words belong to no command. They show that a sentence mentions a flag: "never run tests
// with -race".
var english = pattern.NewWords(`a all an and any anything as both by command commands each either every everything extra flag flags for from
	in it its like no not of on only option options or other our script scripts short some such tests that the them then these this
	those to using via when with without your`)

// flag matches a flag of a command, which may also stand behind other words.
var flag = pattern.New(` (-\S)`)

// others returns the patterns of other ways to make a call.
func others(p Pattern) []string {
	switch p.Of {
	case "git push * --force *":
		return []string{hooks.Bash + "(git push * -f *)", hooks.Bash + "(git push * +* *)"}
	case "git commit * --no-verify *":
		return []string{hooks.Bash + "(git commit * -n *)"}
	}
	if rest, ok := strings.CutPrefix(p.Of, "pip "); ok {
		return []string{hooks.Bash + "(pip3 " + rest + ")"}
	}
	return nil
}

// maxProposed bounds the patterns that a statement gives.
const maxProposed = 6

// Propose returns the calls that a statement is about by its form: the tool that "use pnpm, never
// npm" refuses, the folder of "never edit generated/", the command of "before committing, run make
// lint". A word without backticks counts only if it names a tool that has rivals. A path without a
// trailing slash or an extension counts only if the work tree has it. tree may be nil.
func Propose(statement string, tree fs.FS) (all []string) {
	add := func(p Pattern, err error) {
		for _, call := range append([]string{p.String()}, others(p)...) {
			if err == nil && len(all) < maxProposed && !slices.Contains(all, call) {
				all = append(all, call)
			}
		}
	}
	commands := func(form *pattern.Pattern, sure func(call string) bool) {
		for _, at := range form.FindAllStringSubmatchIndex(statement, -1) {
			to := len(strings.TrimRight(statement[:at[1]], ".,;:!?"))
			parts := listed(statement[at[2]:to])
			for i, call := range parts {
				whole := i < len(parts)-1 || ends.MatchString(statement[to:])
				if command, ok := commandOf(call, func(call string) bool { return whole && sure(call) }); ok {
					add(Parse(hooks.Bash + "(" + flag.ReplaceAllString(command, " * $1") + " *)"))
				}
			}
		}
	}
	commands(refusedCommand, func(call string) bool {
		words := strings.Fields(call)
		return len(words) > 1 && !slices.ContainsFunc(words, english.Has) || isTool(call)
	})
	if len(all) == 0 {
		commands(refusedTool, func(call string) bool {
			words := strings.Fields(call)
			if inner, _ := ranBy(words); inner != nil {
				words = inner
			}
			return words[0] == "git" && len(words) > 1 || isTool(words[0]) && hasRival(statement, words[0])
		})
	}
	if forcePush.MatchString(statement) {
		add(Parse(hooks.Bash + "(git push * --force *)"))
	}
	if at := refusedFile.FindStringSubmatchIndex(statement); at != nil {
		names := namedFile.FindAllString(statement[at[2]:at[3]], -1)
		for i, name := range names {
			whole := i < len(names)-1 || ends.MatchString(statement[at[1]:])
			if glob, ok := globOf(name, whole, tree); ok && (whole || i == 0) {
				add(Parse(hooks.Edit + "(" + glob + ")"))
			}
		}
	}
	if m := generatedFile.FindStringSubmatch(statement); m != nil {
		if glob, ok := globOf(m[1], true, tree); ok {
			add(Parse(hooks.Edit + "(" + glob + ")"))
		}
	}
	if m := beforeCommand.FindStringSubmatch(statement); m != nil {
		command, ok := gerund(m[1])
		if !ok {
			command, ok = commandOf(m[1], isTool)
		}
		if ok {
			add(Parse(hooks.Bash + "(" + flag.ReplaceAllString(command, " * $1") + " *)"))
		}
	}
	return all
}

// globOf returns the glob of a file or folder as a statement names it, if it surely is one. whole
// says that its clause ends behind it.
func globOf(name string, whole bool, tree fs.FS) (glob string, ok bool) {
	glob = strings.TrimRight(strings.Trim(name, "`"), ".,;:")
	sure := name[0] == '`'
	switch {
	case strings.ContainsAny(glob, " ()"):
		return "", false
	case strings.ContainsAny(glob, "/*"):
		if whole && tree != nil {
			info, err := fs.Stat(tree, path.Clean(glob))
			if err == nil && info.IsDir() {
				glob = path.Clean(glob) + "/"
			}
			sure = sure || err == nil
		}
		// not "and/or"
		return glob, sure || strings.HasSuffix(glob, "/") || strings.ContainsAny(glob, "*.")
	}
	return "**/" + glob, (sure || whole) && isFile(glob)
}

// isFile reports whether a name with a dot is one of a file, unlike `user.name` and "Node.js".
func isFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return fileNames.Has(name) || dot > 0 && extensions.Has(name[dot+1:]) && !libraries.Has(strings.ToLower(name))
}

var (
	fileNames = pattern.NewWords(`.dockerignore .editorconfig .env .env.example .env.local .env.production .eslintrc .gitattributes .gitignore
		.gitmodules .npmrc .nvmrc .prettierrc Cargo.lock Gemfile.lock Pipfile.lock bun.lock bun.lockb composer.lock deno.lock flake.lock
		go.mod go.sum go.work gradle.properties mix.lock poetry.lock uv.lock yarn.lock`)
	// extensions leaves out words that name fields of values too, such as "lock" and "env".
	extensions = pattern.NewWords(`c cc cjs conf cpp cs csproj css csv cts cxx dart ex exs go gradle graphql h hpp html ini ipynb java js json
		jsonc jsx kt kts lua md mdx mjs mts php prisma proto py pyi rb rs rst scala scss sh snap sql svelte svg swift tf tfvars toml ts
		tsx txt vue xml yaml yml`)
	libraries = pattern.NewWords("chart.js d3.js ember.js express.js next.js node.js nuxt.js react.js three.js vue.js")
)

var place = pattern.New("(?i)(\\b(?:except|outside|unless|not|but)\\s+)?\\b(?:in|under|inside|within)\\s+(?:the\\s+)?`?((?:[\\w.-]+/)+)")

// Places returns globs of the folders in which a statement says that it holds: "in web/".
func Places(statement string) (globs []string) {
	for _, at := range place.FindAllStringSubmatchIndex(statement, maxProposed) {
		if folder := statement[at[4]:at[5]]; at[2] < 0 && folder[0] != '.' {
			globs = append(globs, folder+"**")
		}
	}
	return globs
}

// Derive returns a memory with the trigger t and the guards that its form gives, in the places that
// it names. Places that did not come from its text before, was, stay. tree may be nil.
func Derive(m record.Memory, t record.Trigger, was string, tree fs.FS) record.Memory {
	t.Guards = Propose(m.Text, tree)
	places := Places(m.Text)
	if len(t.Guards) > 0 && len(places) > 0 && (len(m.Paths) == 0 || slices.Equal(m.Paths, Places(was))) {
		m.Paths = places
	}
	return m.WithTrigger(t)
}

var separators = pattern.New(`,\s*(?:or|and|nor)?\s+|\s+(?:or|and|nor)\s+`)

// listed returns the parts of "npm, yarn or bun".
func listed(text string) []string { return separators.Split(text, -1) }

var programName = pattern.New(`^[a-z0-9][a-z0-9._+-]*$`)

// commandOf returns the words of a call, if it surely is a command. sure decides about one without
// backticks.
func commandOf(call string, sure func(call string) bool) (words string, ok bool) {
	if inner := strings.Trim(call, "`"); inner != call {
		fields := strings.Fields(inner)
		if len(fields) == 0 || !programName.MatchString(fields[0]) {
			return "", false
		}
		return strings.Join(fields, " "), !constructs.Has(fields[0]) && (len(fields) > 1 || !strings.ContainsAny(inner, "._"))
	}
	return call, sure(call)
}

// job returns the job of a program that has rivals, or "".
func job(word string) string {
	switch word {
	case "npx", "bunx":
		word = "npm"
	case "uvx", "pipx":
		word = "pip"
	}
	if tool := wording.Tool(word); tool != "indentation" {
		return tool
	}
	return ""
}

func isTool(word string) bool { return job(word) != "" }

// hasRival reports whether a statement names another tool for the job of one. "Never make" is no
// tool; "use task, never make" has one.
func hasRival(statement, tool string) bool {
	return slices.ContainsFunc(strings.Fields(statement), func(w string) bool {
		w = strings.Trim(w, "`.,;:!?()")
		return !strings.EqualFold(w, tool) && job(w) == job(tool)
	})
}
