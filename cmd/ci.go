package cmd

import "strings"

func isCIFile(path string) bool {
	return strings.HasPrefix(path, ".github/") || path == ".gitlab-ci.yml"
}
func writtenByInit(path string, data []byte) bool { return false }
