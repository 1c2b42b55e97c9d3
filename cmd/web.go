package cmd

import (
	"context"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/cmd/web"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func webCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "web",
		Usage: "show the memory as web pages",
		Description: "Serves pages to a browser on this machine, until Ctrl-C or the end of the terminal. The printed\n" +
			"link works once; the browser then holds a cookie. Decisions take effect at once, as with 'reverie\n" +
			"accept' and 'reverie reject'.\n\n" +
			"--export writes a static site for a forge's pages. It has the shared memories that agents are given,\n" +
			"without earlier texts and quotes, and nothing of the journal, the inbox and the sessions.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "no-open", Usage: "print the link without opening a browser"},
			&cli.StringFlag{Name: "export", Usage: "write pages about shared memories into folder `DIR` instead"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usage("reverie web", "web takes no arguments")
			}
			return env.with(c.Context, func(w *workspace) error { return runWeb(c.Context, w, c.String("export"), !c.Bool("no-open")) })
		},
	}
}

// runWeb writes the pages into a folder, or serves them without one.
func runWeb(ctx context.Context, w *workspace, dir string, browse bool) error {
	if dir != "" {
		n, err := web.Export(ctx, w.Reader, w.env.path(dir))
		if err == nil {
			w.env.Say("wrote %s to %s", plural.Count(n, "memory", "memories"), dir)
		}
		return err
	}
	if err := w.WantPerson("web"); err != nil {
		return err
	}
	s, err := web.Listen(webDesk(w.env))
	if err != nil {
		return err
	}
	if w.env.JSON {
		err = w.env.Object(map[string]string{"url": s.URL})
	} else {
		w.env.Print("%s\n", s.URL)
	}
	if err != nil {
		return err
	}
	return s.Serve(ctx, browse, func(err error) { w.env.Say("open the link yourself: %v", err) })
}

// webDesk returns a function that opens the clone for one request of the web page.
func webDesk(env *Env) func(context.Context, io.Writer) (*web.Desk, error) {
	return func(ctx context.Context, notes io.Writer) (*web.Desk, error) {
		call := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: notes, Err: notes, Width: 1000}, Dir: env.Dir, Now: env.Now, embedder: env.embedder}
		w, err := call.open(ctx)
		if err != nil {
			return nil, err
		}
		return &web.Desk{Reader: w.Reader, Learner: w.learner(), Keeper: keeper(w), Done: func(ctx context.Context) {
			if w.Book.Triggered() {
				refreshGuards(ctx, w)
			}
			w.tidy(ctx)
		}}, nil
	}
}
