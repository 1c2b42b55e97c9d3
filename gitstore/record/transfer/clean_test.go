package transfer_test

import (
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/redact"
)

func TestCleanLeavesNoSecretInThePath(t *testing.T) {
	scanner := redact.New("Tr0ub4dor-and-3")
	book := record.Open(record.Stores{}, t.TempDir(), scanner)
	const id, dir = "3123456789abcdef", "memories/31/3123456789abcdef"
	for _, test := range []struct{ text, path, want string }{
		{"key AKIA6DICJWX7ZSDXSJLZ is ours", "", dir + "-key-redacted-aws-access-key-is-ours.md"},
		{"key AKIA6DICJWX7ZSDXSJLZ is ours", dir + "-key-akia6dicjwx7zsdxsjlz-is-ours.md", dir + "-key-redacted-aws-access-key-is-ours.md"},
		{"The key is gone.", dir + "-key-akia6dicjwx7zsdxsjlz-is-ours.md", dir + "-the-key-is-gone.md"},
		{"Log in with Tr0ub4dor-and-3 there.", dir + "-we-use-tr0ub4dor-and-3.md", dir + "-log-in-with-redacted-literal-there.md"},
		{"Use pnpm.", "", dir + "-use-pnpm.md"},
		{"Use pnpm.", dir + "-use-npm-10.md", dir + "-use-npm-10.md"}, // named at birth
		{"Use pnpm.", dir + ".md", dir + ".md"},
		{"mail AKIA6DICJWX7ZSDXSJLZ", dir + "-use-npm.md", dir + "-use-npm.md"},
	} {
		m, err := transfer.Line{ID: id, Path: test.path, Text: test.text}.Memory("import/test", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		clean, found := transfer.Clean(m, book, scanner)
		if clean.Path() != test.want {
			t.Errorf("%q at %q lies at %s, want %s", test.text, test.path, clean.Path(), test.want)
		}
		if found.Found == 0 && clean.Path() != m.Path() {
			t.Errorf("%q at %q: nothing is said to be found", test.text, test.path)
		}
	}
}
