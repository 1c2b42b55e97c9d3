package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNarrowFilter: the filter drops calls that Podman allows and Docker does not, and nothing else
// changes.
func TestNarrowFilter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seccomp.json")
	for _, test := range []struct{ name, in, want string }{
		{"a filter",
			`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"archMap":[{"architecture":"SCMP_ARCH_X86_64"}],"syscalls":[
				{"names":["vmsplice"],"action":"SCMP_ACT_ERRNO","args":[],"comment":"","includes":{},"excludes":{},"errnoRet":1,"errno":"EPERM"},
				{"names":["read","clone","clone3","mount","unshare","write"],"action":"SCMP_ACT_ALLOW","args":[]},
				{"names":["personality"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":4294967295,"valueTwo":0,"op":"SCMP_CMP_EQ"}]},
				{"names":["setns"],"action":"SCMP_ACT_ALLOW"},
				{"names":["setns"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN"]}}]}`,
			`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"archMap":[{"architecture":"SCMP_ARCH_X86_64"}],"syscalls":[
				{"names":["vmsplice"],"action":"SCMP_ACT_ERRNO","args":[],"errnoRet":1,"errno":"EPERM"},
				{"names":["read","write"],"action":"SCMP_ACT_ALLOW","args":[]},
				{"names":["personality"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":4294967295,"valueTwo":0,"op":"SCMP_CMP_EQ"}]},
				{"names":["setns"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN"]}},
				{"names":["clone"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":2114060288,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}],"excludes":{"arches":["s390","s390x"]}},
				{"names":["clone"],"action":"SCMP_ACT_ALLOW","args":[{"index":1,"value":2114060288,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}],"includes":{"arches":["s390","s390x"]}},
				{"names":["clone3"],"action":"SCMP_ACT_ERRNO","errnoRet":38},
				{"names":["mount","unshare","setns"],"action":"SCMP_ACT_ERRNO","errnoRet":1}]}`},
		{"it allows what it does not name", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]}`, ""},
		{"no rules", `{"defaultAction":"SCMP_ACT_ERRNO"}`, ""},
		{"no JSON", `hello`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(test.in), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := narrowFilter(path)
			if test.want == "" {
				if !errors.Is(err, ErrWeak) {
					t.Errorf("%v, %s", err, got)
				}
				return
			}
			var have, want any
			if err := errors.Join(err, json.Unmarshal(got, &have), json.Unmarshal([]byte(test.want), &want)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := narrowFilter(filepath.Join(filepath.Dir(path), "none")); !errors.Is(err, ErrWeak) {
		t.Error(err)
	}
}
