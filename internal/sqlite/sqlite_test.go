package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// library opens a database with the library, the authority on its content.
func library(t *testing.T, path, pragmas string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	must(t, db, pragmas)
	return db
}

func must(t *testing.T, db interface {
	Exec(string, ...any) (sql.Result, error)
}, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

const schema = "CREATE TABLE `part` (`id` text PRIMARY KEY, `owner` text NOT NULL, `n` integer DEFAULT 7 NOT NULL, `data` text, x real,\n" +
	"CONSTRAINT `c` FOREIGN KEY (`owner`) REFERENCES `part`(`id`) ON DELETE CASCADE);\n" +
	"CREATE INDEX `part_owner_idx` ON `part` (`owner`,`n`);\n" +
	"CREATE TABLE plain (`key` text, data text);"

// rows returns a table as the library and we read it, one line per row.
func rows(t *testing.T, db *sql.DB, where string, args ...any) []string {
	t.Helper()
	r, err := db.Query("SELECT id, owner, n, data, x FROM part "+where, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for r.Next() {
		var id, owner string
		var n int64
		var data sql.NullString
		var x sql.NullFloat64
		if err := r.Scan(&id, &owner, &n, &data, &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(id, owner, n, data.Valid, data.String, int64(x.Float64)))
	}
	return out
}

func ours(t *testing.T, db *DB, owner string) []string {
	t.Helper()
	var out []string
	err := db.Read(context.Background(), func(s *Snapshot) error {
		out = nil
		table, err := s.Table("part")
		if err != nil {
			return err
		}
		each := func(r Row) error {
			out = append(out, fmt.Sprint(r.Get("id").Text(), r.Get("owner").Text(), r.Get("n").Int(), r.Get("data").kind == 'b' || r.Get("data").kind == 't', r.Get("data").Text(), r.Get("x").Int()))
			return nil
		}
		if owner == "" {
			return table.Scan(each)
		}
		return table.Where("owner", owner, each)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReadsWhatTheLibraryWrote(t *testing.T) {
	for _, c := range []struct {
		name, pragmas string
		open          bool // the library keeps it open while we read, so that the log exists
	}{
		{"rollback", "PRAGMA journal_mode=delete", false},
		{"small pages", "PRAGMA page_size=512; PRAGMA journal_mode=delete", false},
		{"large pages", "PRAGMA page_size=65536; PRAGMA journal_mode=wal", false},
		{"log closed", "PRAGMA journal_mode=wal", false},
		{"log open", "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0", true},
		{"log open and copied in part", "PRAGMA page_size=1024; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=40", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			lib := library(t, path, c.pragmas)
			must(t, lib, schema)
			r := rand.New(rand.NewPCG(1, 2))
			tx, _ := lib.Begin()
			for i := range 3000 {
				size := r.IntN(40)
				if i%50 == 0 {
					size = r.IntN(300_000) // overflow pages
				}
				var data any = strings.Repeat(string(rune('a'+i%26)), size)
				if i%7 == 0 {
					data = nil
				}
				must(t, tx, "INSERT INTO part VALUES(?,?,?,?,?)", fmt.Sprintf("prt_%x", r.Uint32()), fmt.Sprintf("owner%d", r.IntN(20)), r.Int64()>>r.IntN(60)-r.Int64N(100), data, r.Float64()*1e6)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			must(t, lib, "DELETE FROM part WHERE n % 3 = 0")
			must(t, lib, "UPDATE part SET data = data || 'more' WHERE n % 5 = 0")
			want, wantOwner := rows(t, lib, "ORDER BY rowid"), rows(t, lib, "WHERE owner = ? ORDER BY n", "owner7")
			if !c.open {
				lib.Close()
			}
			db, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			same := func(what string, got, want []string) {
				t.Helper()
				if len(got) != len(want) {
					t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%s: row %d is %.100q, want %.100q", what, i, got[i], want[i])
					}
				}
			}
			same("scan", ours(t, db, ""), want)
			same("by index", ours(t, db, "owner7"), wantOwner)
			if c.open { // later commits are seen, uncommitted changes are not
				must(t, lib, "INSERT INTO part(id,owner) VALUES('late','owner7')")
				db.Close()
				same("later", ours(t, db, "owner7"), rows(t, lib, "WHERE owner = ? ORDER BY n", "owner7"))
			}
		})
	}
}

// A writer moves a unit of value from row to row, in a log that is constantly copied and restarted.
// A reader that mixes states sees another sum.
func TestSeesOneStateWhileAnotherWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	lib := library(t, path, "PRAGMA page_size=512; PRAGMA journal_mode=wal; PRAGMA synchronous=off; PRAGMA wal_autocheckpoint=20")
	must(t, lib, "CREATE TABLE sums (k text PRIMARY KEY, n integer, fill text)")
	const count = 200
	for i := range count {
		must(t, lib, "INSERT INTO sums VALUES(?,100,?)", fmt.Sprint(i), strings.Repeat("x", 300))
	}
	done, written := make(chan struct{}), make(chan int)
	go func() {
		r, n := rand.New(rand.NewPCG(3, 4)), 0
		for ; ; n++ {
			select {
			case <-done:
				written <- n
				return
			default:
			}
			tx, err := lib.Begin()
			if err == nil {
				_, err = tx.Exec("UPDATE sums SET n = n - 1 WHERE k = ?", fmt.Sprint(r.IntN(count)))
			}
			if err == nil {
				_, err = tx.Exec("UPDATE sums SET n = n + 1 WHERE k = ?", fmt.Sprint(r.IntN(count)))
			}
			if err == nil {
				err = tx.Commit()
			}
			if err != nil {
				panic(err)
			}
		}
	}()
	db := &DB{path: path}
	defer db.Close()
	read, busy := 0, 0
	for read < 300 && busy < 300 {
		sum, rows := int64(0), 0
		err := db.Read(context.Background(), func(s *Snapshot) error {
			sum, rows = 0, 0
			table, err := s.Table("sums")
			if err != nil {
				return err
			}
			return table.Scan(func(r Row) error {
				sum += r.Get("n").Int()
				rows++
				return nil
			})
		})
		if errors.Is(err, ErrBusy) {
			busy++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if sum != 100*count || rows != count {
			t.Fatalf("read %d: %d rows with the sum %d", read, rows, sum)
		}
		read++
		if read%3 == 0 {
			db.Close() // the next read begins with the newest state
		}
	}
	close(done)
	n := <-written
	t.Logf("%d states read, %d times too busy, beside %d transactions", read, busy, n)
	if n < 100 || read < 30 {
		t.Errorf("%d states read beside %d transactions: too few to say anything", read, n)
	}
}

func TestLeavesNoTrace(t *testing.T) {
	for _, open := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a.db")
		lib := library(t, path, "PRAGMA journal_mode=wal")
		must(t, lib, schema)
		must(t, lib, "INSERT INTO part(id,owner) VALUES('a','b')")
		if !open {
			lib.Close()
		}
		before := state(t, dir)
		db, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := ours(t, db, "b"); len(got) != 1 {
			t.Errorf("%d rows", len(got))
		}
		db.Close()
		if after := state(t, dir); after != before {
			t.Errorf("open %v: before\n%safter\n%s", open, before, after)
		}
	}
}

// state returns names, sizes, times and bytes of a folder and its files.
func state(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(dir)
	fmt.Fprintln(&b, info.ModTime())
	for _, e := range names {
		info, _ := e.Info()
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		fmt.Fprintf(&b, "%s %d %v %x\n", e.Name(), info.Size(), info.ModTime(), len(data)^int(sum(data)))
	}
	return b.String()
}

func sum(b []byte) (n uint32) {
	for _, c := range b {
		n = n*31 + uint32(c)
	}
	return n
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	lib := library(t, path, "PRAGMA journal_mode=delete")
	must(t, lib, "CREATE TABLE keyed (k text PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE made (a, b GENERATED ALWAYS AS (a*2)); CREATE TABLE named (id INTEGER PRIMARY KEY, v text); INSERT INTO named VALUES(42,'x')")
	lib.Close()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Read(context.Background(), func(s *Snapshot) error {
		for name, want := range map[string]error{"keyed": ErrUnknown, "made": ErrUnknown, "none": ErrNoTable, "named": nil} {
			table, err := s.Table(name)
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
			if want == nil {
				table.Scan(func(r Row) error {
					if id := r.Get("id").Int(); id != 42 {
						t.Errorf("a rowid by another name is %d", id)
					}
					return nil
				})
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for name, content := range map[string]string{"empty": "", "text": strings.Repeat("hello ", 100), "short": "SQLite format 3\x00"} {
		file := filepath.Join(dir, name)
		os.WriteFile(file, []byte(content), 0o600)
		if _, err := Open(file); !errors.Is(err, ErrNotDatabase) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Damage gives an error or other data, but never a panic or an endless walk.
func TestBearsDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	path := filepath.Join(t.TempDir(), "a.db")
	lib := library(t, path, "PRAGMA page_size=512; PRAGMA journal_mode=delete")
	must(t, lib, schema)
	for i := range 200 {
		must(t, lib, "INSERT INTO part(id,owner,data) VALUES(?,?,?)", fmt.Sprint("id", i), fmt.Sprint("owner", i%5), strings.Repeat("y", i*11))
	}
	lib.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	broken := 0
	for range 3000 {
		data := append([]byte(nil), whole...)
		for range 1 + r.IntN(20) {
			at := r.IntN(len(data))
			if r.IntN(2) == 0 {
				at = at/512*512 + r.IntN(16) // where the structure is
			}
			data[at] = byte(r.UintN(256))
		}
		s := &Snapshot{path: path, size: 512, use: 512, count: len(data) / 512, pages: map[uint32][]byte{}}
		for i := 0; i < len(data)/512; i++ {
			s.pages[uint32(i+1)] = data[i*512 : (i+1)*512]
		}
		if s.file, err = os.Open(os.DevNull); err != nil {
			t.Fatal(err)
		}
		table, err := s.Table("part")
		if err == nil {
			err = errors.Join(table.Scan(func(Row) error { return nil }), table.Where("owner", "owner3", func(Row) error { return nil }))
		}
		if err != nil {
			broken++
		}
		s.close()
	}
	if broken < 300 {
		t.Errorf("%d of 3000 damaged databases are told", broken)
	}
}

// Each case changes the files between two reads of one state, and says whether the state is still
// readable to its end.
func TestNoticesThatAStateIsGone(t *testing.T) {
	write := "UPDATE part SET n = n + 1"
	for _, c := range []struct {
		name, journal string
		meanwhile     []string
		again         bool
	}{
		{"nothing", "wal", nil, false},
		{"a transaction in the log", "wal", []string{write}, false},
		{"our own frames copied", "wal", []string{"PRAGMA wal_checkpoint(PASSIVE)"}, false},
		{"younger frames copied", "wal", []string{write, "PRAGMA wal_checkpoint(PASSIVE)"}, true},
		{"the log begun anew", "wal", []string{"PRAGMA wal_checkpoint(PASSIVE)", write}, true},
		{"the log emptied", "wal", []string{write, "PRAGMA wal_checkpoint(TRUNCATE)"}, true},
		{"the log removed", "wal", []string{write, "PRAGMA journal_mode=delete"}, true},
		{"nothing, without a log", "delete", nil, false},
		{"a transaction without a log", "delete", []string{write}, true},
		{"a log begun", "delete", []string{"PRAGMA journal_mode=wal", write}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			lib := library(t, path, "PRAGMA page_size=512; PRAGMA wal_autocheckpoint=0; PRAGMA journal_mode="+c.journal)
			must(t, lib, schema)
			for i := range 100 {
				must(t, lib, "INSERT INTO part(id,owner,n,data) VALUES(?,'o',1,?)", fmt.Sprint(i), strings.Repeat("z", 400))
			}
			db, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			calls, values := 0, map[int64]bool{}
			err = db.Read(context.Background(), func(s *Snapshot) error {
				calls++
				clear(values)
				table, err := s.Table("part")
				if err != nil {
					return err
				}
				rows := 0
				return table.Scan(func(r Row) error {
					if rows++; rows == 50 && calls == 1 {
						for _, statement := range c.meanwhile {
							must(t, lib, statement)
						}
					}
					values[r.Get("n").Int()] = true
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(values) != 1 {
				t.Errorf("a mixture of states: %v", values)
			}
			if again := calls > 1; again != c.again {
				t.Errorf("read %d times", calls)
			}
		})
	}
}
