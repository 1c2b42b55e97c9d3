package dotenv

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// listing records where .env files are, never their content.
type listing struct {
	trees   int64 // modification time of git's folder of linked work trees
	roots   []string
	files   []File
	folders []folder
	rest    string // unparsed lines of further folders
}

type folder struct {
	path    string
	changed int64 // in nanoseconds; 0: it may have changed since
	linked  bool  // a link leads there, and out of the work trees
}

// time returns the modification time of a folder, and false if it is no longer a folder.
func (d folder) time() (time.Time, bool) {
	look := os.Lstat
	if d.linked {
		look = os.Stat
	}
	info, err := look(d.path)
	if err != nil || !info.IsDir() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// listFile holds the listing in the state folder: one line each for the trees, the roots, the files
// and the folders, with a letter for its kind. The last line has the number of lines.
const listFile = "env-files"

// read returns the kept listing with at most most folders, or nil if it is missing or incomplete.
func read(repo *git.Repo, most int) *listing {
	text, err := file.Read(filepath.Join(repo.CommonDir, "reverie", listFile), 4<<20)
	last := strings.LastIndex(string(text), "\nend ") + 1
	if err != nil || last == 0 || string(text[last:]) != fmt.Sprintf("end %d\n", bytes.Count(text[:last], []byte("\n"))) {
		return nil
	}
	l := &listing{rest: string(text[:last])}
	if l.parse(most) != nil {
		return nil
	}
	return l
}

// parse moves lines from the rest to the folders, until there are most of them.
func (l *listing) parse(most int) error {
	for l.rest != "" && len(l.folders) < most {
		line, rest, _ := strings.Cut(l.rest, "\n")
		kind, what, _ := strings.Cut(line, " ")
		var err error
		switch kind {
		case "w":
			l.trees, err = strconv.ParseInt(what, 10, 64)
		case "r":
			l.roots = append(l.roots, what)
		case "t", "u":
			l.files = append(l.files, File{what, kind == "t"})
		case "d", "l":
			number, path, _ := strings.Cut(what, " ")
			d := folder{path: path, linked: kind == "l"}
			d.changed, err = strconv.ParseInt(number, 10, 64)
			l.folders = append(l.folders, d)
		default:
			err = strconv.ErrSyntax
		}
		if err != nil {
			return err
		}
		l.rest = rest
	}
	return nil
}

// write keeps a listing if a state folder exists. Errors are ignored, because the next run finds
// everything again.
func write(repo *git.Repo, l *listing) {
	if info, err := os.Lstat(filepath.Join(repo.CommonDir, "reverie")); err != nil || !info.IsDir() {
		return
	}
	var b bytes.Buffer
	n := 0
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, format+"\n", args...)
		n++
	}
	line("w %d", l.trees)
	for _, path := range l.roots {
		if strings.Contains(path, "\n") {
			return
		}
		line("r %s", path)
	}
	for _, f := range l.files {
		if strings.Contains(f.Path, "\n") {
			return // to be found again each time
		}
		kind := "u"
		if f.Tracked {
			kind = "t"
		}
		line("%s %s", kind, f.Path)
	}
	for _, d := range l.folders[:min(len(l.folders), maxKept)] {
		kind := "d"
		if d.linked {
			kind = "l"
		}
		if !strings.Contains(d.path, "\n") {
			line("%s %d %s", kind, d.changed, d.path)
		}
	}
	b.WriteString(l.rest)
	fmt.Fprintf(&b, "end %d\n", n+strings.Count(l.rest, "\n"))
	_ = repo.State().Cache(listFile, b.Bytes())
}
