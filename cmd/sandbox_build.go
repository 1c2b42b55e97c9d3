package cmd

import (
	"context"
	"fmt"
	"os"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/sandbox"
)

func runSandboxBuild(ctx context.Context, env *Env, o sandboxOptions) error {
	if o.rootfs != "" && (o.base != "" || o.dockerfile != "") {
		return exit.Usage("", "--from-rootfs excludes --base and --dockerfile")
	}
	// it sets the image of every later command
	if err := clone.WantPerson(env.caller, "sandbox build"); err != nil {
		return err
	}
	c, err := sandboxSettings(ctx, env)
	if err != nil {
		return err
	}
	r := sandbox.Recipe{Tag: "reverie-sandbox", Base: o.base}
	if o.image != "" {
		r.Tag = o.image
	}
	if o.rootfs != "" {
		r.Rootfs = env.path(o.rootfs)
		if _, err := os.Stat(r.Rootfs); err != nil {
			return fmt.Errorf("--from-rootfs: %w", err)
		}
	}
	if o.dockerfile != "" {
		if r.Dockerfile, err = os.ReadFile(env.path(o.dockerfile)); err != nil {
			return err
		}
	}
	if env.Verbose {
		r.Progress = env.Err
	}
	e, err := sandbox.Choose(ctx, c, o.engine)
	if err != nil {
		return err
	}
	env.Say("building %s; this may take minutes", r.Tag)
	id, err := e.Build(ctx, r)
	if err != nil {
		hint := "'reverie -v sandbox build' shows all output of the engine"
		if o.rootfs == "" {
			hint += "; without a registry: --from-rootfs PATH"
		}
		return exit.New(exit.Failed, err, hint)
	}
	if err := config.Set(config.UserFile(), "sandbox.image", `"`+id+`"`); err != nil {
		return err
	}
	if env.JSON {
		return env.Object(map[string]string{"image": id, "name": r.Tag, "engine": e.Name})
	}
	env.Print("%s\n", id)
	env.Say("set sandbox.image in %s", config.UserFile())
	return nil
}
