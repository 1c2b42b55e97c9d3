package term

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// EditFile opens an editor on a temporary file of that name and text, until done accepts the new
// text or returns an error. words are the editor and its options.
func EditFile(ctx context.Context, words []string, name string, text []byte, done func([]byte) (bool, error)) error {
	dir, err := os.MkdirTemp("", "reverie-edit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	for {
		run := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
		run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := run.Run(); err != nil {
			return fmt.Errorf("editor %s: %w; nothing was changed", words[0], err)
		}
		edited, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if ok, err := done(edited); ok || err != nil {
			return err
		}
	}
}
