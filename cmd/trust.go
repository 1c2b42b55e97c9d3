package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/approval"
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
				return env.with(c.Context, func(w *workspace) error { return runTrust(c.Context, w, o.signatures) })
			case verb == "keep" && len(rest) > 0 && !o.all:
				return runKeep(c.Context, env, rest)
			case (verb == "add" || verb == "remove") && len(rest) > 0 && !o.all:
				return runTrustWhom(c.Context, env, approval.Edit{People: rest, Add: verb == "add", Signer: o.signer, User: o.user})
			}
			return exit.Usage("'reverie help trust' describes it", "trust takes add WHO, remove WHO, approve ID or --all, keep ID, or nothing")
		},
	}
}

// runTrust lists who wrote what.
func runTrust(ctx context.Context, w *workspace, signatures bool) error {
	o, err := approval.List(ctx, w.Reader, signatures)
	if err != nil {
		return err
	}
	err = rows(w.env, o.People, itself, func(p trust.Person) { tellPerson(w, p, o.Everyone) })
	if err != nil || w.env.JSON {
		return err
	}
	if why := reader.WhySettings(w.Reader); why != "" {
		w.env.Say("%s; next: reverie trust approve %s", why, trust.SettingsPath)
	}
	if w.env.Screen && !w.env.Verbose && len(o.Held) > maxTrustLines {
		w.env.Say("each of them: reverie -v trust")
	} else if !w.Shields() {
		tellHeld(w, o.Held)
	}
	if len(o.Held) == 0 {
		return nil
	}
	if trusted, err := askTrust(ctx, w, o); trusted {
		return err
	}
	w.env.Say("%s; next: reverie trust add WHO, reverie trust approve ID…, or for all of it: reverie trust --all", reader.DescribeHeld(o.Held))
	return nil
}

// tellHeld lists withheld changes.
func tellHeld(w *workspace, held []reader.Held) {
	for _, h := range held {
		line(w, "!", term.Dim, h.Memory, h.Why)
	}
}

// maxTrustLines bounds the withheld changes that a terminal shows one by one unasked.
const maxTrustLines = 8

// askTrust asks a person at a terminal about each author of what is withheld, and trusts in this
// clone the ones that the person names.
func askTrust(ctx context.Context, w *workspace, o approval.Overview) (trusted bool, err error) {
	e := approval.Edit{Add: true}
	for _, p := range o.Strangers() {
		if !w.Shields() && w.env.Ask(fmt.Sprintf("Trust %s (%s)?", p.Author, plural.Count(len(p.Withheld), "memory", "memories")), "n") {
			e.People = append(e.People, p.Author)
		}
	}
	if len(e.People) == 0 {
		return false, nil
	}
	return true, runTrustWhom(ctx, w.env, e)
}

func tellPerson(w *workspace, p trust.Person, everyone bool) {
	mark, how := " ", "trusted"
	switch {
	case everyone && !p.Trusted:
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

// tellForeign says what of the newest state is withheld or unreadable; init and sync end with it.
func tellForeign(ctx context.Context, w *workspace) error {
	return w.View(ctx, func(v *record.View) error {
		reader.ReportBad(w.Reader, v)
		held, err := w.Held(ctx, v)
		tellWithheld(w, held)
		return err
	})
}

// nameForeign lists what is withheld, and counts what waits elsewhere; review ends with it.
func nameForeign(ctx context.Context, w *workspace) error {
	if n := reader.OwnWaiting(ctx, w.Reader); n > 0 {
		w.env.Say("%s for every repository; next: reverie review --user", plural.Count(n, "preference waits", "preferences wait"))
	}
	return w.View(ctx, func(v *record.View) error {
		held, err := w.Held(ctx, v)
		if w.Shields() {
			w.tellHidden(len(held))
			return err
		}
		tellHeld(w, held)
		tellWithheld(w, held)
		return err
	})
}

// runApprove gives withheld memories to agents.
func runApprove(ctx context.Context, env *Env, ids []string, all bool) error {
	w, err := env.openToDecide(ctx, "trust")
	if err != nil {
		return err
	}
	a, err := approval.Approve(ctx, w.Reader, ids, all)
	tellIdle(env, a.Idle)
	if err != nil {
		return err
	}
	return tellApproved(w, a)
}

// tellIdle says which of the chosen memories are not in force.
func tellIdle(env *Env, ids []string) {
	for _, id := range ids {
		env.Say("%s is not in force: no agent is given it", id)
	}
}

// runKeep writes the versions that agents are given in place of what is withheld.
func runKeep(ctx context.Context, env *Env, ids []string) error {
	w, err := env.openToDecide(ctx, "trust")
	if err != nil {
		return err
	}
	kept, idle, err := approval.Keep(ctx, w.Reader, ids)
	tellIdle(env, idle)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		env.Say("agents are given no older version of these")
	}
	return rows(env, kept, func(d trust.Pending) wire.Memory { return wire.OfMemory(*d.Given) }, func(d trust.Pending) {
		line(w, "+", term.Green, *d.Given, "kept as "+reader.VersionOf(trust.Changed{When: d.When}))
	})
}

// tellApproved says what was approved, and whose it is.
func tellApproved(w *workspace, a approval.Approved) error {
	if a.Settings {
		w.env.Say("approved %s as it is now", trust.SettingsPath)
	}
	err := rows(w.env, a.Memories, func(d reader.Held) wire.Memory { return wire.OfMemory(d.Memory) },
		func(d reader.Held) { line(w, "+", term.Green, d.Memory, d.Why) })
	switch {
	case len(a.Memories) > 0:
		w.env.Say("approved %s as they are now; the next change by the same people is withheld again", plural.Count(len(a.Memories), "memory", "memories"))
	case !a.Settings:
		w.env.Say("nothing was withheld")
	}
	return err
}

// runTrustWhom changes the lists of trusted authors and signers in the settings of this clone or of
// the user.
func runTrustWhom(ctx context.Context, env *Env, e approval.Edit) error {
	w, err := env.openToDecide(ctx, "trust")
	if err != nil {
		return err
	}
	before, err := w.AllHeld(ctx)
	if err != nil {
		return err
	}
	done, err := e.Apply(w.Clone)
	for _, who := range done.Already {
		env.Say("%s is trusted already", who)
	}
	for _, key := range done.Keys {
		env.Say("set %s in %s", key, done.File)
	}
	if err != nil {
		return err
	}
	if w, err = env.open(ctx); err != nil {
		return err
	}
	for _, who := range e.People {
		if c := w.Settings.Config.Trust; !e.Add && (trust.Lists(c, who) || slices.Contains(c.Signers, who)) {
			env.Say("%s is still trusted, by a rule that 'reverie config --changed' shows", who)
		}
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
