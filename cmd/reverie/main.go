// Command reverie keeps a repository's memory in git. Package cmd has the commands.
package main

import (
	"os"

	"github.com/reverie-memory/reverie/cmd"
)

func main() { os.Exit(cmd.Main(os.Args)) }
