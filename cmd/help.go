package cmd

import (
	"bytes"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"
)

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
		env.lay(column, styled{"", line})
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
