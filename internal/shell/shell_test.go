package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		line string
		want []string // words | join
	}{
		{"make test", []string{"make test"}},
		{"cd web && CI=1 npm test 2>&1 | tail -20", []string{"cd web &&", "CI=1; npm test |", "tail -20"}},
		{"a; b & c || d", []string{"a ;", "b &", "c ||", "d"}},
		{`git commit -m "a && b; c" --no-edit`, []string{`git commit -m "a && b; c" --no-edit`}},
		{`echo 'it''s' "$(date; ls)" $(a && b)`, []string{`echo 'it''s' "$(date; ls)" $(a && b)`}},
		{"cat > f <<'EOF'\nmake test\nEOF\nmake lint", []string{"cat ;", "make lint"}},
		{"cat <<EOF | sh\nrm -rf /\nEOF", []string{"cat |", "sh"}},
		{"make \\\n  test # not this", []string{"make test"}},
		{"x=1", []string{"x=1;"}},
		{"serve &", []string{"serve &"}},
		{"a &> log && b >> log 2> /dev/null < in", []string{"a &&", "b"}},
		{"grep x <<< 'text'", []string{"grep x"}},
		{"echo 'not closed", []string{"echo 'not closed"}},
		{"", nil},
	} {
		var got []string
		for _, c := range Split(test.line) {
			s := strings.Join(c.Words, " ")
			if len(c.Env) > 0 {
				s = strings.TrimSpace(strings.Join(c.Env, " ") + "; " + s)
			}
			got = append(got, strings.TrimSpace(s+" "+c.Join))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.line, diff)
		}
	}
}

func TestJoinGivesAShellTheSameWords(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to ask")
	}
	words := []string{"git", "commit", "-m", "a && b; $c `d`", "it's", "", "two\nlines", "*", "~", "=x", "-C", "a,b%c"}
	line := Join(words)
	out, err := exec.Command(sh, "-c", `printf '%s|' `+line).Output()
	if want := strings.Join(words, "|") + "|"; err != nil || string(out) != want {
		t.Errorf("%s: %v: %q, want %q", line, err, out, want)
	}
	if plain := []string{"git", "push", "--force", "a/b.c:d@e", "x=1"}; Join(plain) != strings.Join(plain, " ") {
		t.Error(Join(plain))
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a && b | c <<'EOF'\nx\nEOF\n")
	f.Add("$(\"`'\\")
	f.Add("<<<<-\n\n")
	f.Fuzz(func(t *testing.T, line string) {
		for _, c := range Split(line) {
			if len(c.Words) == 0 && len(c.Env) == 0 {
				t.Errorf("an empty command in %q", line)
			}
		}
	})
}
