package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
)

// A repository may bring long .env files: no more than a little of them is read, and they do not displace the user's own.
func TestEnvFilesOfARepositoryAreReadInBounds(t *testing.T) {
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
	repo := &git.Repo{WorkTree: dir, CommonDir: filepath.Join(dir, ".git")}
	got := topSecrets(repo)
	if most := quickly().most; len(got) != most || !slices.Contains(got, "frobnicate-9-blue-whale") {
		t.Errorf("%d values, want %d and the user's among them", len(got), most)
	}
	e := quickly()
	e.most = 1 << 30
	e.addTop(repo)
	if read := quickly().left - e.left; e.left < 0 || read < e.perFile || len(e.read) > 6 {
		t.Errorf("%d bytes of %d files were read", read, len(e.read))
	}
}

func BenchmarkTopSecrets(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		text := strings.Repeat(fmt.Sprintf("K=\"plum%d\njam\"\nL=true and other words that are none\n", i), 1<<20/50)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(".env-%02d", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	repo := &git.Repo{WorkTree: dir, CommonDir: filepath.Join(dir, ".git")}
	for b.Loop() {
		topSecrets(repo)
	}
}
