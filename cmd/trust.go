package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type trustOptions struct {
	all        bool
	user       bool
	signer     bool
	signatures bool
}

func trustCommand(env *Env) *cli.Command {
	var o trustOptions
	return &cli.Command{
		Name:      "trust",
		Usage:     "manage whose memories reach agents",
		ArgsUsage: "[add WHO… | remove WHO… | approve ID… | keep ID…]",
		Description: "Memories from others are kept, but a last change by an untrusted person is withheld from agents until\n" +
			"a person approves it. Meanwhile agents are given the last version by people you trust; keep restores\n" +
			"that version. WHO is an author's address (* matches any letters), or a key: SHA256:…, an OpenPGP\n" +
			"fingerprint, or with --signer a principal of your allowed signers. Anyone who may push can write any\n" +
			"address into a commit, but cannot forge a signature. Without arguments, trust lists who wrote what.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "approve all withheld memories", Destination: &o.all},
			&cli.BoolFlag{Name: "user", Usage: "use your own settings, for every repository", Destination: &o.user},
			&cli.BoolFlag{Name: "signer", Usage: "treat WHO as a principal", Destination: &o.signer},
			&cli.BoolFlag{Name: "signatures", Usage: "also list the keys that signed commits", Destination: &o.signatures},
		},
		Action: func(c *cli.Context) error {
			verb, rest := c.Args().First(), c.Args().Tail()
			switch {
			case verb == "" && o.all, verb == "approve" && o.all == (len(rest) == 0):
				return runApprove(c.Context, env, rest, o.all)
			case verb == "":
				return runTrust(c.Context, env, o.signatures)
			case verb == "keep" && len(rest) > 0 && !o.all:
				return runKeep(c.Context, env, rest)
			case (verb == "add" || verb == "remove") && len(rest) > 0 && !o.all:
				return runTrustWhom(c.Context, env, verb == "add", rest, o)
			}
			return exit.Usage("'reverie help trust' describes it", "trust takes add WHO, remove WHO, approve ID or --all, keep ID, or nothing")
		},
	}
}

// personJSON is an author of memories.
type personJSON struct {
	Author   string   `json:"author"`
	Key      string   `json:"key,omitempty"`  // of a good signature
	Name     string   `json:"name,omitempty"` // whose key it is by the user's allowed signers
	Trusted  bool     `json:"trusted"`
	Own      bool     `json:"own"`      // this clone's own identity, or made in it
	Memories int      `json:"memories"` // in force, that are as this person left them
	Withheld []string `json:"withheld"` // ids of those that agents are not given
}

// runTrust lists who wrote what.
func runTrust(ctx context.Context, env *Env, signatures bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	var people []trust.Person
	var held []reader.Held
	err = w.View(ctx, func(v *record.View) error {
		c, err := w.Restrict(ctx, v)
		if err != nil {
			return err
		}
		if err := w.Judge.Again(ctx, c.Trust, signatures); err != nil {
			return err
		}
		foreign, err := w.Withheld(ctx, v)
		if err != nil {
			return err
		}
		if people, err = w.Judge.People(ctx, v, c.Trust, foreign, signatures, env.Now()); err != nil {
			return err
		}
		if env.JSON {
			for _, p := range people {
				if err := env.Object(personJSON(p)); err != nil {
					return err
				}
			}
			return nil
		}
		for _, p := range people {
			tellPerson(w, p, c.Trust)
		}
		if held, err = w.Held(ctx, v); err != nil {
			return err
		}
		if why := reader.WhySettings(w.Reader); why != "" {
			env.Say("%s; next: reverie trust approve %s", why, trust.SettingsPath)
		}
		brief := env.Screen && !env.Verbose && len(held) > maxTrustLines
		for _, h := range held {
			if !w.Shields() && !brief {
				line(w, "!", term.Dim, h.Memory, h.Why)
			}
		}
		if brief {
			env.Say("each of them: reverie -v trust")
		}
		return nil
	})
	if err != nil || env.JSON || len(held) == 0 {
		return err
	}
	if added := askWhom(w, people); len(added) > 0 {
		return runTrustWhom(ctx, env, true, added, trustOptions{})
	}
	env.Say("%s; next: reverie trust add WHO, reverie trust approve ID…, or for all of it: reverie trust --all", reader.DescribeHeld(held))
	return nil
}

// maxTrustLines bounds the withheld changes that a terminal shows one by one unasked.
const maxTrustLines = 8

// askWhom asks a person at a terminal about each author of what is withheld, and returns the
// addresses that are to be trusted.
func askWhom(w *workspace, people []trust.Person) (added []string) {
	if !w.env.Interactive || w.Shields() || w.Settings.Config.Trust.Signed {
		return nil
	}
	for _, p := range people {
		if n := len(p.Withheld); n > 0 && !p.Trusted && askable(p.Author) && !slices.Contains(added, p.Author) &&
			w.env.Ask(fmt.Sprintf("Trust %s (%s)?", p.Author, plural.Count(n, "memory", "memories")), "n") {
			added = append(added, p.Author)
		}
	}
	return added
}

// askable reports whether an address can stand in the settings as it is: an author may have written
// a pattern, or anything.
func askable(author string) bool {
	return strings.Contains(author, "@") && !strings.ContainsAny(author, "*?[]\\ ") && term.Visible(author) == author
}

func tellPerson(w *workspace, p trust.Person, c config.Trust) {
	mark, how := " ", "trusted"
	switch {
	case c.Everyone && !p.Trusted:
		how = "everyone is trusted"
	case !p.Trusted:
		mark, how = "?", "not trusted"
	case p.Own:
		how = "you"
	}
	who := term.Visible(cmp.Or(p.Author, "a person without commits in this clone"))
	if p.Key != "" {
		who += " signed by " + term.Visible(strings.TrimSpace(p.Name+" "+p.Key))
	}
	known := plural.Count(p.Memories, "memory", "memories")
	if n := len(p.Withheld); n > 0 {
		known += fmt.Sprintf(", %d withheld", n)
	}
	w.env.Lay(15, term.Span("", mark+" "+term.Pad(how, 11)+"  "+who+"  "), term.Span(term.Dim, known))
}

// tellWithheld says in a line that memories are withheld and what to do.
func tellWithheld(w *workspace, held []reader.Held) {
	if len(held) > 0 {
		w.env.Say("%s; next: reverie trust", reader.DescribeHeld(held))
	}
}

// tellForeign says what of the newest state is withheld; init and sync end with it.
func tellForeign(ctx context.Context, w *workspace) error {
	return w.View(ctx, func(v *record.View) error {
		held, err := w.Held(ctx, v)
		if err == nil {
			tellWithheld(w, held)
		}
		return err
	})
}

// nameForeign lists what is withheld; review ends with it.
func nameForeign(ctx context.Context, w *workspace) error {
	return w.View(ctx, func(v *record.View) error {
		held, err := w.Held(ctx, v)
		if w.Shields() {
			w.tellHidden(len(held))
			return err
		}
		for _, h := range held {
			line(w, "!", term.Dim, h.Memory, h.Why)
		}
		tellWithheld(w, held)
		return err
	})
}

// runApprove gives withheld memories to agents.
func runApprove(ctx context.Context, env *Env, ids []string, all bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("trust"); err != nil {
		return err
	}
	ctx, unlock, err := w.Memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return w.View(ctx, func(v *record.View) error {
		var approved []string
		if named := slices.Index(ids, trust.SettingsPath); named >= 0 || all {
			if named >= 0 {
				ids = slices.Delete(slices.Clone(ids), named, named+1)
			}
			if w.Settings.Trust.Text != nil {
				approved = []string{trust.SettingsPath}
				env.Say("approved %s as it is now", trust.SettingsPath)
			}
		}
		foreign, err := w.Withheld(ctx, v)
		if err != nil {
			return err
		}
		done, err := chosen(w, v, foreign, ids, all)
		if err != nil {
			return err
		}
		for _, p := range done {
			approved = append(approved, p.ID)
		}
		if err := w.Judge.Approve(v, foreign, w.Settings.Trust, approved); err != nil {
			return err
		}
		return tellApproved(w, w.Explain(done), len(approved) > len(done))
	})
}

// chosen returns the withheld changes of some memories, or of all, and tells which of the memories
// are not in force.
func chosen(w *workspace, v *record.View, foreign *trust.Withheld, ids []string, all bool) ([]trust.Pending, error) {
	chosen, idle, err := foreign.Choose(v, w.env.Now(), ids, all)
	for _, id := range idle {
		w.env.Say("%s is not in force: no agent is given it", id)
	}
	return chosen, err
}

// runKeep writes the versions that agents are given in place of what is withheld.
func runKeep(ctx context.Context, env *Env, ids []string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("trust"); err != nil {
		return err
	}
	var done []trust.Pending
	err = w.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		foreign, err := w.Withheld(ctx, tx.View)
		if err != nil {
			return err
		}
		chosen, err := chosen(w, tx.View, foreign, ids, false)
		if err != nil {
			return err
		}
		done, err = trust.Keep(tx, chosen)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range done {
		if env.JSON {
			if err := env.Object(newMemoryJSON(*d.Given)); err != nil {
				return err
			}
			continue
		}
		line(w, "+", term.Green, *d.Given, "kept as "+reader.VersionOf(trust.Changed{When: d.When}))
	}
	if len(done) == 0 {
		env.Say("agents are given no older version of these")
	}
	return nil
}

// tellApproved says what was approved, and whose it is.
func tellApproved(w *workspace, done []reader.Held, settings bool) error {
	for _, d := range done {
		if w.env.JSON {
			if err := w.env.Object(newMemoryJSON(d.Memory)); err != nil {
				return err
			}
			continue
		}
		line(w, "+", term.Green, d.Memory, d.Why)
	}
	if len(done) == 0 {
		if !settings {
			w.env.Say("nothing was withheld")
		}
		return nil
	}
	w.env.Say("approved %s as they are now; the next change by the same people is withheld again", plural.Count(len(done), "memory", "memories"))
	return nil
}

// runTrustWhom changes the lists of trusted authors and signers in the settings of this clone or of
// the user.
func runTrustWhom(ctx context.Context, env *Env, add bool, whom []string, o trustOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("trust"); err != nil {
		return err
	}
	c, file := w.Config, clone.SettingsFile(w.State)
	if o.user {
		if file = config.UserFile(); file == "" {
			return errors.New("there is no home directory for your settings")
		}
		if c, err = config.Load(file); err != nil {
			return err
		}
	} else if _, err := w.Repo.StateDir(); err != nil {
		return err
	}
	before, err := w.AllHeld(ctx)
	if err != nil {
		return err
	}
	changed, already, err := trust.Edit(c.Trust, add, whom, o.signer)
	if err != nil {
		return err
	}
	for _, who := range already {
		env.Say("%s is trusted already", who)
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		if err := config.Set(file, key, tomlList(changed[key])); err != nil {
			return err
		}
		env.Say("set %s in %s", key, file)
	}
	if w, err = env.open(ctx); err != nil {
		return err
	}
	held, err := w.AllHeld(ctx)
	if err != nil {
		return err
	}
	if n := len(before) - len(held); n > 0 {
		env.Say("released %s: given to agents from now on", plural.Count(n, "memory", "memories"))
	}
	tellWithheld(w, held)
	return nil
}

func tomlList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
