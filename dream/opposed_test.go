package dream

import (
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestOpposed(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Use pnpm, never npm, in web/.", "use npm, never pnpm, in web/", true},
		{"Run the tests with make check.", "Run the tests with go test, not make check.", true},
		{"Indent with tabs instead of spaces.", "Indent with spaces.", true},
		{"Prefer composition over inheritance.", "Prefer inheritance over composition.", true},
		{"Commit generated files.", "Never commit generated files.", true},
		{"Log with slog, not fmt.", "Log errors with slog.", false},
		{"Use pnpm, never npm, in web/.", "Use pnpm in web/, not npm.", false},
		{"Use pnpm, never npm, in web/.", "Use pnpm rather than yarn in web/.", false},
		{"Never push to main.", "Run make lint before you push to main.", false},
		{"Tests live next to the code, not in tests/.", "Write table-driven tests.", false},
		{"Use Postgres, not SQLite, in production.", "Deploy to Fly.", false},
	} {
		for _, p := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := Opposed(p[0], p[1], record.Print(p[0]), record.Print(p[1])); got != c.want {
				t.Errorf("Opposed(%q, %q) = %v", p[0], p[1], got)
			}
		}
	}
}
