package worktree

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/redact"
)

func TestLintPlan(t *testing.T) {
	type said struct{ Wrong, Doubtful []string }
	for name, c := range map[string]struct {
		text  string
		alone bool // without an auditor
		want  said
	}{
		"nothing":            {"# T\n```verify\ntrue\n```\n", true, said{}},
		"no commands":        {"# T\n", false, said{Doubtful: []string{"1 verify"}}},
		"and no audit":       {"# T\n", true, said{Wrong: []string{"1 verify"}}},
		"two faults":         {"# T\n\a\n```verify\na \\\n```\n", true, said{Wrong: []string{"2 text", "4 command"}}},
		"a block in a block": {"# T\n```sh\na\n```verify\nb\n```\n", false, said{Doubtful: []string{"2 verify", "4 fence"}}},
		"a shell's block":    {"# T\n```go\na\n```\n```bash\na\n```\n", true, said{Wrong: []string{"5 verify"}}},
		"a block in a list":  {"# T\n- ```verify\n  a\n", false, said{Doubtful: []string{"1 verify", "2 fence"}}},
		"an empty block":     {"# T\n```verify\n# a\n```\n```verify\nb\n```\n", true, said{Doubtful: []string{"2 verify"}}},
		"another mark":       {"# T\n```{.verify}\na\n```\n```verify\nb\n```\n", true, said{Doubtful: []string{"2 verify"}}},
		"tabs":               {"# T\n```verify\n\ta\tb \\\n\tc\td\n```\n", true, said{Doubtful: []string{"3 tab", "4 tab"}}},
		"a key": {"# T\n\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx0nZ8n5mVw2qz1QbY7cT3kq4\nq1ZpW8sX2vB5nM7aD9fG3hJ6kL0pO4iU8yT2rE6w\n-----END RSA PRIVATE KEY-----\nUse AKIAIOSFODNN7EXAMPLX.\n", false,
			said{Wrong: []string{"3 secret"}, Doubtful: []string{"1 verify"}}},
	} {
		_, wrong, doubtful := LintPlan(c.text, !c.alone, redact.New())
		var got said
		for _, e := range wrong {
			got.Wrong = append(got.Wrong, fmt.Sprint(e.Line, " ", e.Rule))
		}
		for _, e := range doubtful {
			got.Doubtful = append(got.Doubtful, fmt.Sprint(e.Line, " ", e.Rule))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
