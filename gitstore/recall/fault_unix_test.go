//go:build unix

package recall

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// Somebody may make the file of an index shorter that is open: that ends no process, and the index is made anew.
func TestShortenedFileIsSpoilt(t *testing.T) {
	var entries []Entry
	for i := range 4000 { // a file that is mapped
		entries = append(entries, Entry{fmt.Sprintf("%04d", i), "aa"})
	}
	to := State{Key: "long"}
	dir := filepath.Join(t.TempDir(), "index")
	bring(t, Make(dir, testAnalysis), to, entries, Limits{}).Close()
	x := Open(dir, testAnalysis)
	defer x.Close()
	path := filepath.Join(dir, x.Segments()[0].part.name)
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	err := x.Guard(func() error {
		_, err := x.segments[0].Stored(3999)
		return err
	})
	if !errors.Is(err, segment.ErrCorrupt) || !strings.Contains(err.Error(), "fault") || !errors.Is(x.Err(), segment.ErrCorrupt) {
		t.Fatalf("reading it says %v, and the index %v", err, x.Err())
	}
	y := bring(t, x, to, entries, Limits{})
	defer y.Close()
	if _, err := y.segments[0].Stored(3999); err != nil || y.Unkept() != nil {
		t.Errorf("made anew: %v, %v", err, y.Unkept())
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 64<<10 {
		t.Errorf("the file is still short: %v, %v", info.Size(), err)
	}
}

func TestGuardHidesNoOtherPanic(t *testing.T) {
	var none *Segment
	for want, fn := range map[string]func() error{
		"other": func() error { panic("other") },
		"nil":   func() error { return none.part.Err() },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("%s: it is %v", want, r)
				}
			}()
			err := Open("", testAnalysis).Guard(fn)
			t.Errorf("%s: it is an error: %v", want, err)
		}()
	}
}
