package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/urfave/cli/v2"
)

type uninstallOptions struct {
	dryRun, yes, memory bool
}

func uninstallCommand(env *Env) *cli.Command {
	var o uninstallOptions
	return &cli.Command{
		Name:  "uninstall",
		Usage: "take Reverie out of this clone; the memory branch stays unless you say otherwise",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would go", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
			&cli.BoolFlag{Name: "memory", Usage: "the memory branch too", Destination: &o.memory},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("", "uninstall takes no arguments")
			}
			return runUninstall(c.Context, env, o)
		},
	}
}

// artefact is something of ours in a clone, and how it goes.
type artefact struct {
	what   string
	remove func(context.Context) error
}

func runUninstall(ctx context.Context, env *Env, o uninstallOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	found, err := w.artefacts(ctx, o)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		env.say("there is nothing of Reverie here")
		return nil
	}
	for _, a := range found {
		if env.JSON {
			if err := env.object(map[string]string{"what": a.what}); err != nil {
				return err
			}
			continue
		}
		env.print("%s\n", a.what)
	}
	if o.dryRun {
		return nil
	}
	if !o.yes && !w.ask("Remove these?", "n") {
		return &failure{exitPerson, errors.New("uninstall: nothing was removed"), "to go ahead: reverie uninstall --yes"}
	}
	for _, a := range found {
		if err := a.remove(ctx); err != nil {
			return fmt.Errorf("remove %s: %w", a.what, err)
		}
	}
	if !o.memory {
		env.say("the branch %s stays; to delete it too: git branch -D %s", w.branch(), w.branch())
		for _, file := range w.ciOnBranch(ctx) {
			env.say("%s stays on it, where the forge reads it; a commit that removes it ends the checks", file)
		}
	}
	return nil
}

// artefacts lists what is here, in the order in which it can be removed.
func (w *workspace) artefacts(ctx context.Context, o uninstallOptions) ([]artefact, error) {
	found, err := w.agentArtefacts()
	if err != nil {
		return nil, err
	}
	if w.repo.WorkTree != "" {
		path := filepath.Join(w.repo.WorkTree, filepath.FromSlash(w.config.Agents))
		there := false
		info, err := os.Stat(path)
		if strange := w.inside(path); strange != nil && (err != nil || !info.IsDir()) {
			w.env.warn("passed over: %v", strange) // render would not have written there
		} else if there, err = hasBlock(path); err != nil {
			return nil, err
		}
		if there {
			found = append(found, artefact{"the reverie block in " + path, func(context.Context) error { return removeBlock(path) }})
		}
		found = append(found, unfinished(filepath.Dir(path))...)
	}
	sections, err := w.gitHookArtefacts(ctx)
	if err != nil {
		return nil, err
	}
	found = append(found, sections...)
	kept, err := w.repo.Git(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/reverie/remotes/", "refs/reverie/backup/", "refs/reverie/proposals/")
	if err != nil {
		return nil, err
	}
	refs := append([]string{journalRef, inboxRef}, strings.Fields(string(kept))...)
	if o.memory {
		refs = append(refs, w.config.Ref)
	}
	for _, ref := range refs {
		id, err := w.repo.ReadRef(ctx, ref)
		if errors.Is(err, git.ErrNoRef) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, artefact{ref, func(ctx context.Context) error { return w.repo.DeleteRef(ctx, ref, id) }})
	}
	if _, err := os.Stat(w.state); err == nil {
		found = append(found, artefact{"sessions, settings and caches in " + w.state, func(context.Context) error { return os.RemoveAll(w.state) }})
	}
	return found, nil
}

// unfinished are the files that a Reverie left in a folder of the user's, which was killed while it wrote there.
func unfinished(dir string) []artefact {
	left := file.Unfinished(dir)
	if len(left) == 0 {
		return nil
	}
	return []artefact{{"what was begun and not finished: " + strings.Join(left, ", "), func(context.Context) error {
		file.Sweep(dir)
		return nil
	}}}
}

// hasBlock reports whether a file has the managed block; a file that is not there has none.
func hasBlock(file string) (bool, error) {
	_, b, err := readBlock(file)
	return b.state == blockOK, err
}

func readBlock(file string) (text string, b block, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", findBlock(""), nil
	}
	if err != nil {
		return "", block{}, fmt.Errorf("uninstall: %w", err)
	}
	b = findBlock(string(data))
	if b.state != blockOK && b.state != blockAbsent {
		return "", block{}, b.refuse(file)
	}
	return string(data), b, nil
}

// removeBlock cuts the block out of a file as it is now, and removes a file that held nothing else.
// A symbolic link stays, and so does what it points to, emptied.
func removeBlock(file string) error {
	text, b, err := readBlock(file)
	if err != nil || b.state == blockAbsent {
		return err
	}
	rest := b.cut(text)
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if rest == "" && info.Mode().IsRegular() {
		return os.Remove(file)
	}
	return replaceFile(file, []byte(rest))
}
