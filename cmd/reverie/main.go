// How many processors a container may use is not looked up, in some files of the kernel at each start: nothing here keeps many
// of them at work for long. Where a container has a small share of many processors, those commands that live long, as mcp and
// ui, may use it up in a burst when they collect garbage, and wait for the next; with GOMAXPROCS in the environment they do not.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command reverie keeps a repository's memory in git. Package cmd has the commands.
package main

import (
	"os"

	"github.com/reverie-memory/reverie/cmd"
)

func main() { os.Exit(cmd.Main(os.Args)) }
