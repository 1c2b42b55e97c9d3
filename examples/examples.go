// Package examples holds the recorded sessions of README and the demo.
package examples

import _ "embed"

// Sessions about one repository, in Folder. The second meets a failure of the first again.
var (
	//go:embed claude-code.jsonl
	Claude string
	//go:embed codex.jsonl
	Codex string
)

// Folder is the work tree in which the sessions ran.
const Folder = "/home/ada/src/heron"
