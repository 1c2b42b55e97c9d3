package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/pattern"
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
		Usage:     "say whose memories are given to agents, and approve what is withheld",
		ArgsUsage: "[add WHO… | remove WHO… | approve ID…]",
		Description: "What came from elsewhere is kept, but what somebody not trusted here changed last is withheld from agents\n" +
			"until a person approves it. WHO is an author's address (* stands for any letters), or a key: SHA256:…,\n" +
			"an OpenPGP fingerprint, or with --signer a principal of your allowed signers. Anybody who may push can write any\n" +
			"author's address into a commit; a signature cannot be made up. Without words it lists who wrote what.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "approve all that is withheld now", Destination: &o.all},
			&cli.BoolFlag{Name: "user", Usage: "add or remove in your own file, for every repository", Destination: &o.user},
			&cli.BoolFlag{Name: "signer", Usage: "WHO is a principal", Destination: &o.signer},
			&cli.BoolFlag{Name: "signatures", Usage: "list by whose key commits are signed too", Destination: &o.signatures},
		},
		Action: func(c *cli.Context) error {
			verb, rest := c.Args().First(), c.Args().Tail()
			switch {
			case verb == "" && o.all, verb == "approve" && o.all == (len(rest) == 0):
				return runApprove(c.Context, env, rest, o.all)
			case verb == "":
				return runTrust(c.Context, env, o.signatures)
			case (verb == "add" || verb == "remove") && len(rest) > 0 && !o.all:
				return runTrustWhom(c.Context, env, verb == "add", rest, o)
			}
			return usage("'reverie help trust' shows what it takes", "trust wants add WHO, remove WHO, approve ID or --all, or nothing")
		},
	}
}

// personJSON is somebody who made memories what they are.
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
	return w.view(ctx, func(v *record.View) error {
		c, err := w.restrict(v)
		if err != nil {
			return err
		}
		if err := w.judge.Again(ctx, c.Trust, signatures); err != nil {
			return err
		}
		foreign, err := w.foreign(ctx, v)
		if err != nil {
			return err
		}
		people, err := w.judge.People(ctx, v, c.Trust, foreign, signatures, env.Now())
		if err != nil {
			return err
		}
		if env.JSON {
			for _, p := range people {
				if err := env.object(personJSON(p)); err != nil {
					return err
				}
			}
			return nil
		}
		for _, p := range people {
			w.tellPerson(p, c.Trust)
		}
		held, err := w.withheld(ctx, v)
		for _, h := range held {
			if !w.shields() {
				w.line("!", dim, h.Memory, h.why)
			}
		}
		if len(held) > 0 {
			env.say("%s; next: reverie trust add WHO, reverie trust approve ID…, or for all of it: reverie trust --all", heldLine(held))
		}
		return err
	})
}

func (w *workspace) tellPerson(p trust.Person, c config.Trust) {
	mark, how := " ", "trusted"
	switch {
	case c.Everyone && !p.Trusted:
		how = "everyone is trusted"
	case !p.Trusted:
		mark, how = "?", "not trusted"
	case p.Own:
		how = "you"
	}
	who := visible(cmp.Or(p.Author, "somebody whose commits are not in this clone"))
	if p.Key != "" {
		who += " signed by " + visible(strings.TrimSpace(p.Name+" "+p.Key))
	}
	known := count(p.Memories, "memory", "memories")
	if n := len(p.Withheld); n > 0 {
		known += fmt.Sprintf(", %d withheld", n)
	}
	w.env.lay(15, styled{"", mark + " " + pad(how, 11) + "  " + who + "  "}, styled{dim, known})
}

// heldMemory is a memory that is withheld for its author, and why.
type heldMemory struct {
	record.Memory
	why string
	by  []string // names of those who are not trusted
}

// withheld are the memories that agents are not given for their authors, of those in force.
func (w *workspace) withheld(ctx context.Context, v *record.View) ([]heldMemory, error) {
	held, err := w.held(ctx, v, v.Memories())
	return w.inForce(held), err
}

// inForce are those that would be given to agents if nothing withheld them.
func (w *workspace) inForce(held []heldMemory) []heldMemory {
	return slices.DeleteFunc(held, func(h heldMemory) bool { return !h.Live(w.env.Now()) })
}

// held are those of some memories of a view that are withheld.
func (w *workspace) held(ctx context.Context, v *record.View, memories []record.Memory) ([]heldMemory, error) {
	foreign, err := w.foreign(ctx, v)
	if err != nil {
		return nil, err
	}
	var held []heldMemory
	for _, m := range memories {
		if by := foreign.Whose(m); len(by) > 0 {
			held = append(held, heldMemory{m, w.whyWithheld(by), by})
		}
	}
	return held, nil
}

// tellWithheld says in a line that memories are withheld and what to do.
func (w *workspace) tellWithheld(held []heldMemory) {
	if len(held) > 0 {
		w.env.say("%s; next: reverie trust", heldLine(held))
	}
}

func heldLine(held []heldMemory) string {
	verb := "are"
	if len(held) == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s by %s %s withheld from agents", count(len(held), "memory", "memories"), heldWhose(held), verb)
}

// heldWhose says for how many people memories are withheld.
func heldWhose(held []heldMemory) string {
	var whose []string
	for _, h := range held {
		for _, name := range h.by {
			if !slices.Contains(whose, name) {
				whose = append(whose, name)
			}
		}
	}
	return count(len(whose), "person", "people") + " you do not trust yet"
}

// tellForeign says what of the newest state is withheld; init and sync end with it.
func (w *workspace) tellForeign(ctx context.Context) error {
	return w.view(ctx, func(v *record.View) error {
		held, err := w.withheld(ctx, v)
		if err == nil {
			w.tellWithheld(held)
		}
		return err
	})
}

// nameForeign lists what is withheld; review ends with it.
func (w *workspace) nameForeign(ctx context.Context) error {
	return w.view(ctx, func(v *record.View) error {
		held, err := w.withheld(ctx, v)
		if w.shields() {
			w.tellHidden(len(held))
			return err
		}
		for _, h := range held {
			w.line("!", dim, h.Memory, h.why)
		}
		w.tellWithheld(held)
		return err
	})
}

// runApprove gives withheld memories to agents.
func runApprove(ctx context.Context, env *Env, ids []string, all bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.wantsPerson("trust"); err != nil {
		return err
	}
	ctx, unlock, err := w.memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return w.view(ctx, func(v *record.View) error {
		chosen := v.Memories()
		if !all {
			chosen = nil
			for _, id := range ids {
				m, err := v.Find(id)
				if err != nil {
					return err
				}
				if !m.Live(env.Now()) {
					env.say("%s is not in force: nobody is given it", m.ID)
				}
				chosen = append(chosen, m)
			}
		}
		done, err := w.held(ctx, v, chosen)
		if err != nil {
			return err
		}
		done = w.inForce(done)
		var approved []string
		for _, h := range done {
			approved = append(approved, h.ID)
		}
		if err := w.judge.Approve(v, approved); err != nil {
			return err
		}
		return w.tellApproved(done)
	})
}

// tellApproved says what was approved, and whose it is.
func (w *workspace) tellApproved(done []heldMemory) error {
	for _, d := range done {
		if w.env.JSON {
			if err := w.env.object(newMemoryJSON(d.Memory)); err != nil {
				return err
			}
			continue
		}
		w.line("+", green, d.Memory, d.why)
	}
	if len(done) == 0 {
		w.env.say("nothing was withheld")
		return nil
	}
	w.env.say("approved %s as they are now; another change by the same people is withheld again", count(len(done), "memory", "memories"))
	return nil
}

// keyForm is the fingerprint of an ssh key, or of an OpenPGP key in full.
var keyForm = pattern.New(`^(SHA256:[A-Za-z0-9+/]{43}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$`)

// runTrustWhom changes the lists of trusted authors and signers in the settings of this clone or of the user.
func runTrustWhom(ctx context.Context, env *Env, add bool, whom []string, o trustOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.wantsPerson("trust"); err != nil {
		return err
	}
	c, file := w.config, cloneFile(w.state)
	if o.user {
		if file = config.UserFile(); file == "" {
			return errors.New("there is no home directory for your settings")
		}
		if c, err = config.Load(file); err != nil {
			return err
		}
	} else if _, err := w.repo.StateDir(); err != nil {
		return err
	}
	before, err := w.allWithheld(ctx)
	if err != nil {
		return err
	}
	lists := map[string][]string{"trust.authors": c.Trust.Authors, "trust.signers": c.Trust.Signers}
	changed := map[string]bool{}
	for _, who := range whom {
		key := "trust.authors"
		switch {
		case o.signer || keyForm.MatchString(who):
			key = "trust.signers"
		case !strings.Contains(who, "@"):
			return usage("an address as ann@example.com, a whole fingerprint, or with --signer a principal", "%q is neither an author's address nor a key", who)
		}
		at := slices.IndexFunc(lists[key], func(s string) bool { return strings.EqualFold(s, who) })
		switch {
		case add && at < 0:
			lists[key] = append(slices.Clone(lists[key]), who)
		case !add && at >= 0:
			lists[key] = slices.Delete(slices.Clone(lists[key]), at, at+1)
		case !add:
			return usage("'reverie config' lists who is and where that is said", "%s is not in %s", who, key)
		default:
			env.say("%s is trusted already", who)
			continue
		}
		changed[key] = true
	}
	for _, key := range []string{"trust.authors", "trust.signers"} {
		if changed[key] {
			if err := config.Set(file, key, tomlList(lists[key])); err != nil {
				return err
			}
			env.say("set %s in %s", key, file)
		}
	}
	if w, err = env.open(ctx); err != nil {
		return err
	}
	held, err := w.allWithheld(ctx)
	if err != nil {
		return err
	}
	if n := len(before) - len(held); n > 0 {
		env.say("released %s: given to agents from now on", count(n, "memory", "memories"))
	}
	w.tellWithheld(held)
	return nil
}

// allWithheld are the withheld memories of the newest state, none where nothing was begun yet.
func (w *workspace) allWithheld(ctx context.Context) (held []heldMemory, err error) {
	err = w.view(ctx, func(v *record.View) error {
		held, err = w.withheld(ctx, v)
		return err
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		err = nil
	}
	return held, err
}

func tomlList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
