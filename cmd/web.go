package cmd

import (
	"context"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/cmd/web"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func webCommand(env *Env) *cli.Command {
	quiet := false
	return &cli.Command{
		Name:  "web",
		Usage: "show the memory as web pages",
		Description: "Serves pages to a browser on this machine, until Ctrl-C or the end of the terminal. The printed\n" +
			"link works once; the browser then holds a cookie. Decisions take effect at once, as with 'reverie\n" +
			"accept' and 'reverie reject'.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "no-open", Usage: "print the link without opening a browser", Destination: &quiet}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usage("reverie web", "web takes no arguments")
			}
			return runWeb(c.Context, env, !quiet)
		},
	}
}

func runWeb(ctx context.Context, env *Env, browse bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("web"); err != nil {
		return err
	}
	s, err := web.Listen(webDesk(env))
	if err != nil {
		return err
	}
	ctx, stop := web.WithParent(ctx)
	defer stop()
	env.Print("%s\n", s.URL)
	if browse {
		go func() {
			if err := web.Browse(s.URL); err != nil {
				env.Say("open the link yourself: %v", err)
			}
		}()
	}
	return s.Serve(ctx)
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
