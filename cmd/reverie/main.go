// The program does not look up the processors of its container, in some files of the kernel at each
// start: it keeps many of them at work only briefly. In a container with a small share of many
// processors, long commands such as mcp and ui may use the share up in a burst of garbage
// collection. GOMAXPROCS in the environment prevents that.
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
