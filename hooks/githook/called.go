package githook

import "bytes"

// Called returns the names of the hooks whose script a text calls, as Snippet does, outside of our
// section.
func Called(text []byte) (names []string) {
	if rest, _, err := cutSection(text); err == nil {
		text = rest
	}
	for _, h := range All {
		script := "/" + ScriptDir + "/" + h.Name
		if bytes.Contains(text, []byte("reverie"+script)) || bytes.Contains(text, []byte("reverie_dir"+script)) {
			names = append(names, h.Name)
		}
	}
	return names
}
