package program

import "testing"

func TestFirstWordOfACommand(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...":          "go",
		"A=1 B=2 make check":     "make",
		"! grep -q x f":          "grep",
		"cd sub; ls":             "cd",
		"scripts/test&&true":     "scripts/test",
		"$TOOL run":              "",
		"\"/a b/tool\" x":        "",
		"A='1 2' tool":           "",
		"(cd sub && make)":       "",
		"for f in *; do x; done": "for",
		"A=1":                    "",
	} {
		if got := First(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
