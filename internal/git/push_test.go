package git

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Texts of git 2.38 to 2.50, of its servers and of some forges.
func TestPorcelainIsUnderstood(t *testing.T) {
	for summary, want := range map[string]Outcome{
		" \tx:refs/heads/m\t1234567..89abcde":                                                                                           Moved,
		"*\tx:refs/heads/m\t[new branch]":                                                                                               Moved,
		"*\tx:refs/heads/m\t[new reference]":                                                                                            Moved,
		"=\tx:refs/heads/m\t[up to date]":                                                                                               UpToDate,
		"!\tx:refs/heads/m\t[rejected] (fetch first)":                                                                                   LostRace,
		"!\tx:refs/heads/m\t[rejected] (non-fast-forward)":                                                                              LostRace,
		"!\tx:refs/heads/m\t[rejected] (stale info)":                                                                                    LostRace,
		"!\tx:refs/heads/m\t[remote rejected] (cannot lock ref 'refs/heads/m': is at 1 but expected 2)":                                 LostRace,
		"!\tx:refs/heads/m\t[remote rejected] (failed to update ref)":                                                                   LostRace,
		"!\tx:refs/heads/m\t[remote rejected] (incorrect old value provided)":                                                           LostRace,
		"!\tx:refs/heads/m\t[remote rejected] (reference already exists)":                                                               LostRace,
		"!\tx:refs/heads/m\t[remote rejected] (Cannot lock ref 'refs/heads/m': reference already exists)":                               LostRace,
		"!\tx:refs/heads/m\t[remote rejected] (pre-receive hook declined)":                                                              Refused,
		"!\tx:refs/heads/m\t[remote rejected] (hook declined)":                                                                          Refused,
		"!\tx:refs/heads/m\t[remote rejected] (protected branch hook declined)":                                                         Refused,
		"!\tx:refs/heads/m\t[remote rejected] (push declined due to repository rule violations)":                                        Refused,
		"!\tx:refs/heads/m\t[remote rejected] (TF402455: Pushes to this branch are not permitted; you must use a pull request (see x))": Refused,
		"!\tx:refs/heads/m\t[remote rejected] (prohibited by Gerrit: not permitted: update)":                                            Refused,
		"!\tx:refs/heads/m\t[remote rejected] (permission denied)":                                                                      Refused,
		"!\tx:refs/heads/m\t[remote rejected] (shallow update not allowed)":                                                             Refused,
		"!\tx:refs/heads/m\t[remote rejected] (unpacker error)":                                                                         Broken,
		"!\tx:refs/heads/m\t[remote rejected] (n/a (unpacker error))":                                                                   Broken,
		"!\tx:refs/heads/m\t[remote rejected] (missing necessary objects)":                                                              Broken,
		"!\tx:refs/heads/m\t[remote rejected] (Internal Server Error)":                                                                  Broken,
		"!\tx:refs/heads/m\t[remote failure] (remote failed to report status)":                                                          Broken,
		"!\tx:refs/heads/m\tsomething else":                                                                                             Broken,
	} {
		got := parsePorcelain("To ../b\n" + summary + "\nDone\n")["refs/heads/m"]
		if got.Outcome != want {
			t.Errorf("%q: %s, want %s", summary, got.Outcome, want)
		}
	}
	two := parsePorcelain("To a\n!\tx:refs/heads/m\t[remote rejected] (hook declined)\nTo b\n \tx:refs/heads/m\t1..2\nDone\n")
	if got := two["refs/heads/m"]; got.Outcome != Refused || got.Reason != "hook declined" {
		t.Errorf("two addresses: %+v", got)
	}
	if got := parsePorcelain("fatal: no\n\tx\n!!\t\t\n"); len(got) != 0 {
		t.Errorf("made up: %v", got)
	}
}

func TestSidebandIsBounded(t *testing.T) {
	said := sideband([]byte("remote: one  \nerror: no\nremote: \nremote: 10%\rremote 20%\n"))
	if diff := cmp.Diff([]string{"one", "10%", "remote 20%"}, said); diff != "" {
		t.Error(diff)
	}
	said = sideband([]byte("Writing objects:  33% (1/3)\rremote: two\nremote: Unpacking objects:  50% (1/2)\rremote: Unpacking objects: 100% (2/2), done.\n" +
		"remote: Checking connectivity: 12\rremote: three\nDone\n"))
	if diff := cmp.Diff([]string{"two", "three"}, said); diff != "" {
		t.Errorf("beside progress: %s", diff)
	}
	var many []byte
	for range 1000 {
		many = append(many, "remote: again and again\n"...)
	}
	if n := len(sideband(many)); n != maxSaid {
		t.Errorf("%d lines", n)
	}
}
