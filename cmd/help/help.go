// Package help words the help of the command line: the list of commands, the description of one,
// and the reference in docs/commands.md. It also guesses the command or option that a wrong word
// stands for. Begin with Program and Command. It holds no state.
package help

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"
)

// Everyday are the groups of commands that the short help shows.
var Everyday = []string{"Begin", "Learn", "Use", "Share"}

// Program lists the commands by group: those of every day, or all.
func Program(app *cli.App, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n    reverie [OPTIONS] COMMAND [ARGUMENTS]\n", app.Name, app.Usage)
	var group string
	for _, c := range app.Commands {
		if c.Hidden || !all && !slices.Contains(Everyday, c.Category) {
			continue
		}
		if c.Category != group {
			group = c.Category
			b.WriteString("\n" + group + "\n")
		}
		fmt.Fprintf(&b, "    %-12s  %s\n", c.Name, c.Usage)
	}
	b.WriteString("\nOptions\n")
	writeFlags(&b, app.Flags)
	more := "reverie help --all       list every command"
	if all {
		more = "git log reverie/memory   read the memory with git"
	}
	b.WriteString("\n    reverie help COMMAND     show the options of a command, with an example\n    " + more + "\n")
	return b.String()
}

// Command describes one command.
func Command(c *cli.Command) string {
	var b strings.Builder
	name := "reverie " + Name(c)
	fmt.Fprintf(&b, "%s: %s\n\n    %s\n", name, c.Usage, usageLine(c))
	if c.Description != "" {
		b.WriteString("\n" + c.Description + "\n")
	}
	if len(c.Subcommands) > 0 {
		b.WriteString("\nCommands\n")
		for _, sub := range c.Subcommands {
			if !sub.Hidden {
				fmt.Fprintf(&b, "    %-8s  %s\n", sub.Name, sub.Usage)
			}
		}
	}
	if slices.ContainsFunc(c.Flags, listed) {
		b.WriteString("\nOptions\n")
		writeFlags(&b, c.Flags)
	}
	if example := Examples()[Name(c)]; example != "" {
		b.WriteString("\nExample\n    " + example + "\n")
	}
	return b.String()
}

// usageLine is a command with the arguments that it takes.
func usageLine(c *cli.Command) string {
	line := "reverie " + Name(c)
	if slices.ContainsFunc(c.Flags, listed) {
		line += " [OPTIONS]"
	}
	return strings.TrimSpace(line + " " + c.ArgsUsage)
}

// listed reports whether help lists a flag. --help itself is known to a reader of the help.
func listed(f cli.Flag) bool {
	visible, ok := f.(cli.VisibleFlag)
	return ok && visible.IsVisible() && f != cli.HelpFlag
}

// writeFlags lists flags in two columns: names with a placeholder for the value, and usage.
func writeFlags(b *strings.Builder, flags []cli.Flag) {
	var rows [][2]string
	width := 0
	for _, f := range flags {
		if !listed(f) {
			continue
		}
		names, says := columns(f.(cli.DocGenerationFlag), f.Names())
		width = max(width, displaywidth.String(names))
		rows = append(rows, [2]string{names, says})
	}
	for _, row := range rows {
		b.WriteString("    " + row[0] + strings.Repeat(" ", width-displaywidth.String(row[0])) + "  " + row[1] + "\n")
	}
}

// columns splits a flag into the two columns of the help. The word in backquotes of its usage is
// the placeholder.
func columns(f cli.DocGenerationFlag, names []string) (left, right string) {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for i, name := range names {
		if names[i] = "-" + name; len(name) > 1 {
			names[i] = "--" + name
		}
	}
	left, right = strings.Join(names, ", "), f.GetUsage()
	if !f.TakesValue() {
		return left, right
	}
	value := "VALUE"
	if before, rest, found := strings.Cut(right, "`"); found {
		var after string
		value, after, _ = strings.Cut(rest, "`")
		right = before + value + after
	}
	switch given := strings.Trim(f.GetDefaultText(), `"`); given {
	case "", ".", "0", "0s":
	default:
		right += " (default: " + given + ")"
	}
	return left + " " + value, right
}

// Markdown returns the reference: the help of every command, each text broken into lines by wrap.
func Markdown(app *cli.App, wrap func(string) string) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the commands' own help by `go run ./cmd/reverie help --markdown`.\n")
	b.WriteString("Exit codes and JSON: [json.md](json.md).\n\n")
	page := func(title, text string) {
		b.WriteString("\n## " + title + "\n\n```text\n" + wrap(text) + "```\n")
	}
	page("reverie", Program(app, true))
	var each func(commands []*cli.Command)
	each = func(commands []*cli.Command) {
		for _, c := range commands {
			if !c.Hidden {
				page("reverie "+Name(c), Command(c))
				each(c.Subcommands)
			}
		}
	}
	each(app.Commands)
	return b.String()
}

// Name returns a command as it is typed, without the program.
func Name(c *cli.Command) string {
	if c.HelpName == "" {
		return c.Name
	}
	return strings.TrimPrefix(c.HelpName, "reverie ")
}
