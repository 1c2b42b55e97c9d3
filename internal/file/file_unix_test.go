//go:build unix

package file

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700),
		os.Symlink("file", at("link")), os.Symlink("pipe", at("pipelink")), os.Symlink("none", at("dangling"))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		max      int64
		own, any error // nil: it is read
	}{
		{"file", 4, nil, nil},
		{"file", 3, ErrTooLarge, ErrTooLarge},
		{"pipe", 9, ErrNotRegular, ErrNotRegular},
		{"folder", 9, ErrNotRegular, ErrNotRegular},
		{"link", 9, ErrNotRegular, nil},
		{"pipelink", 9, ErrNotRegular, ErrNotRegular},
		{"dangling", 9, ErrNotRegular, os.ErrNotExist},
		{"none", 9, os.ErrNotExist, os.ErrNotExist},
	} {
		done := make(chan bool)
		go func() {
			defer close(done)
			text, err := Read(at(test.name), test.max)
			if !errors.Is(err, test.own) || err == nil && string(text) != "text" {
				t.Errorf("%s, %d: Read gives %q, %v; want %v", test.name, test.max, text, err, test.own)
			}
			text, err = ReadLinked(at(test.name), test.max)
			if !errors.Is(err, test.any) || err == nil && string(text) != "text" {
				t.Errorf("%s, %d: ReadLinked gives %q, %v; want %v", test.name, test.max, text, err, test.any)
			}
			if f, err := Open(at(test.name), os.O_WRONLY|os.O_APPEND|NoFollow, 0); (err == nil) != (test.name == "file") {
				t.Errorf("%s opened to add to: %v", test.name, err)
			} else if err == nil {
				f.Close()
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it waits", test.name)
		}
	}
}
