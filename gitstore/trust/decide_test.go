package trust

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/config"
)

func TestEditPutsEachPersonIntoOneList(t *testing.T) {
	const authors, signers = "trust.authors", "trust.signers"
	key := "SHA256:" + strings.Repeat("a", 43)
	of := func(c config.Trust, add, signer bool, people ...string) string {
		changed, already, err := Edit(c, add, people, signer)
		if err != nil {
			return err.Error()
		}
		out := ""
		for _, key := range []string{authors, signers} {
			if list, ok := changed[key]; ok {
				out += key + "=" + strings.Join(list, ",") + " "
			}
		}
		return out + strings.Join(already, ",")
	}
	both := config.Trust{Authors: []string{"ann@example.com"}, Signers: []string{key}}
	for want, got := range map[string]string{
		authors + "=ann@example.com ":                          of(config.Trust{}, true, false, "ann@example.com"),
		authors + "=ann@example.com,*@example.org " + key:      of(both, true, false, "*@example.org", key),
		"ANN@example.com":                                      of(both, true, false, "ANN@example.com"),
		signers + "=" + key + ",ann@example.com ":              of(both, true, true, "ann@example.com"),
		authors + "= " + signers + "= ":                        of(both, false, false, "ann@example.com", key),
		"bob@example.com is not in that list of trust.authors": of(both, false, false, "bob@example.com"),
		`"bob" is neither an author's address nor a key`:       of(both, true, false, "bob"),
		authors + "=a@example.com,b@example.com a@example.com": of(config.Trust{}, true, false, "a@example.com", "b@example.com", "a@example.com"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if diff := cmp.Diff([]string{"ann@example.com"}, both.Authors); diff != "" {
		t.Errorf("Edit changed the settings that it was given:\n%s", diff)
	}
}
