package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func versionCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:   "version",
		Usage:  "print the version",
		Action: func(*cli.Context) error { return runVersion(env) },
	}
}

func runVersion(env *Env) error {
	if !env.JSON {
		env.Print("reverie %s %s\n", version(), runtime.Version())
		return nil
	}
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return env.Object(map[string]string{"version": version(), "commit": commit, "go": runtime.Version()})
}

// version returns the version of this build, or "devel".
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
