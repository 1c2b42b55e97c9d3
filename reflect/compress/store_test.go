package compress

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/redact"
)

func keep(t *testing.T, s Store, text string) string {
	t.Helper()
	clean, _ := (*redact.Scanner)(nil).Text(text)
	hash, err := s.Put(clean)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestStoreGivesBackWhatItTook(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "originals")}
	if _, _, err := s.Get("0123abcd"); !errors.Is(err, ErrNoOriginal) {
		t.Errorf("without a folder: %v", err)
	}
	text := "one\x1b[31m\ntwo é"
	hash := keep(t, s, text)
	// printf 'one\033[31m\ntwo é' | sha256sum
	if want := "e1008ca9ebe524710658fba6"; hash != want {
		t.Errorf("hash %s, want %s", hash, want)
	}
	for _, name := range []string{hash, hash[:4], strings.ToUpper(hash[:12])} {
		if got, back, err := s.Get(name); got != hash || back != text || err != nil {
			t.Errorf("%s gives %s, %q, %v", name, got, back, err)
		}
	}
	path := filepath.Join(s.Dir, hash)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, name := range []string{"", hash[:3], "../" + hash, hash + "0", "zzzz", "ffffffff"} {
		if _, _, err := s.Get(name); !errors.Is(err, ErrNoOriginal) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, hash[:HashLen-4]+"0000"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(hash[:8]); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("two begin so: %v", err)
	}
	if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(hash); !errors.Is(err, ErrDamaged) {
		t.Errorf("other bytes: %v", err)
	}
	if keep(t, s, text) != hash {
		t.Error("the same text has another hash")
	}
	if _, back, err := s.Get(hash); back != text || err != nil {
		t.Errorf("the damage was not mended: %q, %v", back, err)
	}
}

func TestStoreForgetsTheOldestFirst(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	now := time.Now()
	age := func(name string, hours int) string {
		at := now.Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(filepath.Join(s.Dir, name), at, at); err != nil {
			t.Fatal(err)
		}
		return name
	}
	week, day, hour := age(keep(t, s, "week"+strings.Repeat("x", 96)), 170), age(keep(t, s, "day"+strings.Repeat("x", 97)), 30), age(keep(t, s, "hour"+strings.Repeat("x", 96)), 1)
	for _, name := range []string{"new-1", "new-2", "theirs"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	age("new-1", 30)
	age("theirs", 3000)
	left := func() string {
		entries, err := os.ReadDir(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range entries {
			out = append(out, strings.NewReplacer(week, "week", day, "day", hour, "hour").Replace(e.Name()))
		}
		return strings.Join(out, " ")
	}
	has := func(names ...string) {
		t.Helper()
		got := " " + left() + " "
		for _, name := range names {
			if !strings.Contains(got, " "+name+" ") {
				t.Errorf("%s is gone; left:%s", name, got)
			}
		}
		if n := len(strings.Fields(got)); n != len(names) {
			t.Errorf("left:%s, want %v", got, names)
		}
	}
	if n, err := s.Expire(now.Add(-100*time.Hour), MaxStore); n != 1 || err != nil {
		t.Errorf("%d gone, %v", n, err)
	}
	has("day", "hour", "new-2", "theirs")
	if n, err := s.Expire(now.Add(-100*time.Hour), 150); n != 1 || err != nil {
		t.Errorf("%d gone, %v", n, err)
	}
	has("hour", "new-2", "theirs")
	keep(t, s, "hour"+strings.Repeat("x", 96))
	if n, err := s.Expire(now.Add(-time.Minute), MaxStore); n != 0 || err != nil {
		t.Errorf("what was kept again went: %d, %v", n, err)
	}
}
