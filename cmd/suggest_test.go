package cmd

import "testing"

func TestNearest(t *testing.T) {
	var names []string
	for _, c := range newApp(&Env{}).Commands {
		names = append(names, c.Name)
	}
	for word, want := range map[string]string{
		"synk": "sync", "snyc": "sync", "Sync": "sync", "lst": "list", "rember": "remember", "remem": "remember", "forgt": "forget",
		"uninstal": "uninstall", "reveiw": "review", "mrge": "merge", "nosuch": "", "x": "", "": "", "push": "",
	} {
		if got := nearest(names, word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
