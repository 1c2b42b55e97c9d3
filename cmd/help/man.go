package help

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Manual returns the manual pages: of the program, and of each command with its subcommands. The
// names are those of their files.
func Manual(app *cli.App) map[string]string {
	var list strings.Builder
	pages := map[string]string{}
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&list, ".TP\n.BR reverie-%s (1)\n%s\n", roff(c.Name), roff(c.Usage))
		var b strings.Builder
		heading(&b, "reverie-"+c.Name, c.Usage)
		describe(&b, c)
		for _, sub := range c.Subcommands {
			if !sub.Hidden {
				fmt.Fprintf(&b, ".SH %s\n%s\n", strings.ToUpper(roff(sub.Name)), roff(sub.Usage))
				describe(&b, sub)
			}
		}
		b.WriteString(".SH SEE ALSO\n.BR reverie (1)\n")
		pages["reverie-"+c.Name+".1"] = b.String()
	}
	var b strings.Builder
	heading(&b, "reverie", app.Usage)
	b.WriteString(".SH SYNOPSIS\n.B reverie\n[OPTIONS] COMMAND [ARGUMENTS]\n")
	options(&b, app.Flags)
	b.WriteString(".SH COMMANDS\n" + list.String())
	pages["reverie.1"] = b.String()
	return pages
}

func heading(b *strings.Builder, name, about string) {
	fmt.Fprintf(b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(name)), roff(name), roff(about))
}

// describe writes the synopsis, description, options and example of a command.
func describe(b *strings.Builder, c *cli.Command) {
	section := ".SH"
	if strings.Contains(Name(c), " ") {
		section = ".SS"
	}
	fmt.Fprintf(b, "%s SYNOPSIS\n%s\n", section, roff(usageLine(c)))
	if c.Description != "" {
		fmt.Fprintf(b, "%s DESCRIPTION\n%s\n", section, roff(c.Description))
	}
	options(b, c.Flags)
	if example := Examples()[Name(c)]; example != "" {
		fmt.Fprintf(b, "%s EXAMPLE\n.nf\n%s\n.fi\n", section, roff(example))
	}
}

func options(b *strings.Builder, flags []cli.Flag) {
	first := true
	for _, f := range flags {
		if !Listed(f) {
			continue
		}
		if first {
			b.WriteString(".SS OPTIONS\n")
			first = false
		}
		names, says := columns(f.(cli.DocGenerationFlag), f.Names())
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(names), roff(says))
	}
}

// roff escapes text: backslashes, hyphens that are typed, and lines that would be requests.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
