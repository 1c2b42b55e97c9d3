package transcript

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/reverie-memory/reverie/internal/shell"
)

// commandLine is a shell command in JSON: a string, or an argument vector.
type commandLine string

func (c *commandLine) UnmarshalJSON(b []byte) error {
	var line string
	if json.Unmarshal(b, &line) == nil {
		*c = commandLine(line)
		return nil
	}
	var argv []string
	if json.Unmarshal(b, &argv) == nil {
		*c = commandLine(unwrap(argv))
	}
	return nil
}

// unwrap returns the command line that argv runs: the script of `bash -lc SCRIPT` and its like,
// else the arguments quoted for a shell.
func unwrap(argv []string) string {
	if script, found := script(argv); found {
		return script
	}
	return shell.Join(argv)
}

// script returns SCRIPT if argv is SHELL [OPTION]… -c SCRIPT in the manner of some shell.
func script(argv []string) (string, bool) {
	if len(argv) < 3 {
		return "", false
	}
	program := strings.TrimSuffix(path.Base(strings.ReplaceAll(argv[0], `\`, "/")), ".exe")
	flag := argv[len(argv)-2]
	switch strings.ToLower(program) {
	case "bash", "sh", "zsh", "dash", "ksh", "fish":
		if !strings.HasPrefix(flag, "-") || !strings.HasSuffix(flag, "c") {
			return "", false
		}
	case "powershell", "pwsh":
		if !strings.EqualFold(flag, "-Command") && !strings.EqualFold(flag, "-c") {
			return "", false
		}
	case "cmd":
		if !strings.EqualFold(flag, "/c") {
			return "", false
		}
	default:
		return "", false
	}
	return argv[len(argv)-1], true
}
