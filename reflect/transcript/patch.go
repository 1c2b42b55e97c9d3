package transcript

import "strings"

const patchBegins = "*** Begin Patch"

// parsePatch reads a patch in the form of Codex's apply_patch: the files it names, the lines it
// takes out and the lines it puts in.
func parsePatch(patch string) (paths []string, old, new string) {
	var gone, put []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "*** "):
			for _, verb := range []string{"Add File: ", "Update File: ", "Delete File: ", "Move to: "} {
				if p, found := strings.CutPrefix(line, "*** "+verb); found {
					paths = append(paths, strings.TrimSpace(p))
				}
			}
			if line == "*** End Patch" {
				return paths, strings.Join(gone, "\n"), strings.Join(put, "\n")
			}
		case strings.HasPrefix(line, "-"):
			gone = append(gone, line[1:])
		case strings.HasPrefix(line, "+"):
			put = append(put, line[1:])
		}
	}
	return paths, strings.Join(gone, "\n"), strings.Join(put, "\n")
}

// parseDiff reads the lines a unified diff takes out and puts in.
func parseDiff(diff string) (old, new string) {
	var gone, put []string
	hunk := false
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			hunk = true
		case !hunk:
		case strings.HasPrefix(line, "-"):
			gone = append(gone, line[1:])
		case strings.HasPrefix(line, "+"):
			put = append(put, line[1:])
		}
	}
	return strings.Join(gone, "\n"), strings.Join(put, "\n")
}
