package finding

import (
	"fmt"
	"strings"
)

// Annotation returns a finding as a command to the runner of GitHub Actions, which shows it beside
// the line. Everything in it is escaped, so that it stays one command.
func (f Finding) Annotation() string {
	command := string(f.Level)
	if f.Level == Note {
		command = "notice"
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	place := ""
	if f.Path != "" {
		place = fmt.Sprintf("file=%s,line=%d,", property.Replace(f.Path), max(1, f.Line))
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", command, place, property.Replace("reverie "+f.Rule), data.Replace(f.Message))
}
