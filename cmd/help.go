package cmd

import (
	"bytes"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// queryHelp is what the help of recall says of queries.
const queryHelp = `A query is a sentence in any language, in one argument; - reads it from standard input.
It may also have:

two words      memories about them, the best first
"two words"    these words side by side
-word          not what says this: at the end of the query, or at the beginning of a short one
-"two words"   likewise, anywhere
kind:failure   of this kind, as -k failure; likewise:
path:web/a.ts  about this file, folder or glob (path:cmd/*.go); path:./a.ts from where you are
tag:build      with this tag
by:claude      learned from this client; by:human, by:import/TOOL
since:2w       learned since; also 2026-11-01, 2026-11, 3d, 6m, 1y, today, yesterday
at:v1.2        as it was at this revision, as --at v1.2
-tag:build     all but these; of every filter but at:

An option of a program (-v, -race, --amend) is a word, and "tag:x" in quotes is none of
these. A pasted line is looked for as it is; -- ends the options:
reverie recall -- --no-verify`

// helpOut is where the command-line library writes its help texts.
type helpOut struct{ env *Env }

func (h helpOut) Write(text []byte) (int, error) { return h.env.Out.Write(text) }

// fittedHelp is a printer of help texts that fits them to the screen, on top of another.
func fittedHelp(whole func(io.Writer, string, any)) func(io.Writer, string, any) {
	return func(to io.Writer, template string, data any) {
		h, ok := to.(helpOut)
		if !ok {
			whole(to, template, data)
			return
		}
		var text bytes.Buffer
		whole(&text, template, data)
		h.env.fitHelp(text.String())
	}
}

// maxHelp is the width of a screen that texts of ours are broken for, in cells: a longer line goes on in the next one.
const maxHelp = 80

// fitHelp writes a help text. On a screen, lines that are too long go on under their own column, and sentences that were broken for a wider
// one are broken anew.
func (env *Env) fitHelp(text string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " ")
		at, column := helpColumns(line)
		for env.Screen && column == at && i+1 < len(lines) && displaywidth.String(lines[i]) > maxHelp {
			nextAt, nextColumn := helpColumns(lines[i+1])
			if nextAt != at || nextColumn != at || at == 0 {
				break
			}
			i++
			line += " " + strings.TrimSpace(lines[i])
		}
		env.Lay(column, term.Span("", line))
	}
}

// helpColumns are where a line begins, and where what it says begins: behind the name of a command or option and two spaces.
func helpColumns(line string) (at, column int) {
	inner := strings.TrimLeft(line, " ")
	at = len(line) - len(inner)
	name, says, found := strings.Cut(inner, "  ")
	if !found {
		return at, at
	}
	return at, at + displaywidth.String(name) + 2 + len(says) - len(strings.TrimLeft(says, " "))
}

// init has the help say no default that only stands for an option that was not given, and fits it to the screen.
func init() {
	flag := cli.FlagStringer
	cli.FlagStringer = func(f cli.Flag) string {
		return strings.NewReplacer(" (default: 0)", "", " (default: false)", "").Replace(flag(f))
	}
	cli.HelpPrinter = fittedHelp(cli.HelpPrinter)
}
