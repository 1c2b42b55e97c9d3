package clone

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/dotenv"
	"github.com/reverie-memory/reverie/internal/git"
)

// A repository may bring long .env files: they are read only up to a bound, and do not displace the
// user's own.
func TestEnvFilesOfARepositoryAreReadInBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	for i := range 20 {
		var b strings.Builder
		for n := 0; b.Len() < 1<<20; n++ {
			fmt.Fprintf(&b, "K%d_SECRET=plum-jam-%d-%d\n", n, i, n)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(".env-%02d", i)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".env.local"), []byte("MY_SECRET=frobnicate-9-blue-whale\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := dotenv.Find(t.Context(), &git.Repo{WorkTree: dir, CommonDir: filepath.Join(dir, ".git")}, dotenv.Quick)
	got := envValues(files, quickly)
	if most := quickly.values; len(got) != most || !slices.Contains(got, "frobnicate-9-blue-whale") {
		t.Errorf("%d values, want %d and the user's among them", len(got), most)
	}
	few := quickly
	few.values = 1 << 30
	const each = 30 // bytes of an entry, at most
	if got := envValues(files, few); len(got) > int(few.all)/each*2 {
		t.Errorf("%d values of %d bytes", len(got), few.all)
	}
}

func BenchmarkHookSecrets(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		text := strings.Repeat(fmt.Sprintf("K=\"plum%d\njam\"\nL=true and other words that are none\n", i), 1<<20/50)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(".env-%02d", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	repo := &git.Repo{WorkTree: dir, CommonDir: filepath.Join(dir, ".git")}
	for b.Loop() {
		HookSecrets(b.Context(), repo)
	}
}
