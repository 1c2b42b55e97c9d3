// Package complete finds the words that can follow in a command line, and has the scripts with
// which a shell asks for them. Begin with Script and Next. It holds no state.
package complete

import (
	"cmp"
	"embed"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/urfave/cli/v2"
)

//go:embed reverie.bash reverie.zsh reverie.fish
var scripts embed.FS

// Shells lists the supported shells.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script for a shell, or "".
func Script(shell string) string {
	text, _ := scripts.ReadFile("reverie." + shell)
	return string(text)
}

// Word is a word that may follow.
type Word struct {
	Text  string
	About string // one line; may be empty
}

// Subject is a kind of value that only the repository knows.
type Subject string

// Subjects of options and arguments.
const (
	None       Subject = ""
	Memories   Subject = "memories"
	Operations Subject = "operations"
	Kinds      Subject = "kinds"
	Tags       Subject = "tags"
	Loops      Subject = "loops"
	Sessions   Subject = "sessions"
	Agents     Subject = "agents"
)

// optionOf returns the subject of an option's value.
func optionOf(name string) Subject {
	switch name {
	case "kind":
		return Kinds
	case "tag":
		return Tags
	case "agent":
		return Agents
	case "session":
		return Sessions
	}
	return None
}

// argumentOf returns the subject of a command's arguments.
func argumentOf(command string) Subject {
	switch command {
	case "show", "edit", "forget", "why", "log", "blame":
		return Memories
	case "accept", "reject":
		return Operations
	case "loop status", "loop output", "loop findings", "loop cancel", "loop resume", "loop remove":
		return Loops
	case "sessions show":
		return Sessions
	case "hook":
		return Agents
	}
	return None
}

// plain matches words that mean nothing else to a shell: some come from other people's commits.
var plain = pattern.New(`^[A-Za-z0-9_./@:+-]+$`)

// Next returns the words that may stand in the place of the last of some words, which it begins.
// words begin behind the program's name. Without any, the shell may complete names of files.
func Next(app *cli.App, words []string, values func(Subject) []Word) (all []Word) {
	if len(words) == 0 {
		return nil
	}
	prefix := words[len(words)-1]
	at, name := &cli.Command{Subcommands: app.Commands, Flags: app.Flags}, ""
	option := (cli.Flag)(nil) // that takes the next word
	for _, word := range words[:len(words)-1] {
		switch {
		case option != nil:
			option = nil
		case strings.HasPrefix(word, "-"):
			option = taking(append(slices.Clone(at.Flags), app.Flags...), strings.TrimLeft(word, "-"))
		default:
			if below := at.Command(word); below != nil {
				at, name = below, strings.TrimSpace(name+" "+below.Name)
			}
		}
	}
	switch {
	case option != nil:
		all = values(optionOf(option.Names()[0]))
	case strings.HasPrefix(prefix, "-"):
		for _, f := range append(slices.Clone(at.Flags), app.Flags...) {
			if about, ok := f.(cli.DocGenerationFlag); ok && help.Listed(f) {
				name := slices.MaxFunc(f.Names(), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
				dashes := "--"[:min(2, len(name))]
				all = append(all, Word{dashes + name, strings.ReplaceAll(about.GetUsage(), "`", "")})
			}
		}
	case name == "help", len(visibleOf(at.Subcommands)) > 0:
		below := at.Subcommands
		if name == "help" {
			below = app.Commands
		}
		for _, c := range visibleOf(below) {
			all = append(all, Word{c.Name, c.Usage})
		}
	default:
		all = values(argumentOf(name))
	}
	return slices.DeleteFunc(all, func(w Word) bool { return !strings.HasPrefix(w.Text, prefix) || !plain.MatchString(w.Text) })
}

// taking returns the option of a name if it takes a value.
func taking(flags []cli.Flag, name string) cli.Flag {
	if f := help.FindFlag(flags, name); f != nil && argv.TakesValue(f) {
		return f
	}
	return nil
}

func visibleOf(all []*cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(all), func(c *cli.Command) bool { return c.Hidden })
}
