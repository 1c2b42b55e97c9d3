package foreign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
)

func TestTimesThatNoneCanWriteAreNotKnown(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for n, want := range map[float64]time.Time{
		1769871845678: at("2026-01-31T15:04:05Z"), 253402300799000: last, 253402300800000: {}, 1e18: {}, 1e300: {}, 0: {}, -1: {},
	} {
		if got := milliseconds(n); !got.Equal(want) {
			t.Errorf("%g is %s, want %s", n, got, want)
		}
	}
	for text, want := range map[string]time.Time{
		"9999-12-31T23:59:59Z": last, "9999-12-31T23:59:59-01:00": {}, "0001-01-01T00:00:00+01:00": {}, "0000-01-01": {},
	} {
		if got := moment(text); !got.Equal(want) {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	found, err := OM(`[{"id":1,"scope":"context","content":"x","createdAt":1e300},{"id":2,"scope":"context","content":"y","createdAt":1e17}]`)
	if err != nil || len(found.Items) != 2 {
		t.Fatal(found, err)
	}
	for _, i := range found.Items {
		if _, err := i.Created.MarshalJSON(); err != nil || !i.Created.IsZero() {
			t.Errorf("item %s: %s, %v", i.Key, i.Created, err)
		}
	}
}

func TestStoresAreReadInBounds(t *testing.T) {
	dir := t.TempDir()
	for day := range maxStore/maxDay + 1 { // nothing but holes
		path := filepath.Join(dir, fmt.Sprintf("2026-01-%02d.logfmt", day+1))
		write(t, path, "")
		if err := os.Truncate(path, maxDay); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(context.Background(), "simple-memory", Query{Place: dir}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("many days: %v", err)
	}

	pages := 0
	blanks := strings.Repeat(" ", maxAnswer-1<<10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pages++
		fmt.Fprintf(w, `{"success":true,"data":{"items":[{"id":"%d","content":"x"}],"totalPages":9}}%s`, pages, blanks)
	}))
	defer server.Close()
	home := t.TempDir()
	if _, err := Read(context.Background(), "opencode-mem", Query{Place: server.URL, Home: home}); !errors.Is(err, ErrFormat) || pages != 5 {
		t.Errorf("%d pages: %v", pages, err)
	}
	write(t, filepath.Join(home, ".opencode-mem", ".auth-token"), strings.Repeat("x", maxToken+1))
	if _, err := Read(context.Background(), "opencode-mem", Query{Place: server.URL, Home: home}); !errors.Is(err, file.ErrTooLarge) {
		t.Errorf("a long token: %v", err)
	}
}

func TestTextsOfADatabaseAreReadInBounds(t *testing.T) {
	home := t.TempDir()
	long := `(id, store, classification, summary, source_event_ids, created_at, updated_at, decay_rate)
		SELECT value, 'ltm', 'decision', printf('%.*c', 8388608, 'x'), '[]', '', '', 0 FROM `
	database(t, filepath.Join(home, ".true-mem", "memory.db"), trueMem,
		`INSERT INTO memory_units `+long+`(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value+1 FROM n WHERE value < 9) SELECT value FROM n)`)
	if _, err := Read(context.Background(), "true-mem", Query{Home: home}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("many texts: %v", err)
	}
}
