package anchor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// The state folder stores the findings about memories at one commit of the code, so that the next
// command there reads no code. Each commit has a file. The files may be deleted at any time; a torn
// one or one of another version is ignored.
//
// A file is a line verdictMagic, a line per verdict (key, letter, blob or -, path or nothing,
// separated by one space), and a line with the CRC-32 (IEEE) of all before it.

const (
	verdictMagic = "reverie code 1\n"
	verdictDir   = "code"
	verdictFiles = 8 // commits with a file: a few worktrees, each with its recent commits
	maxVerdicts  = 100_000
)

// verdict is the finding about one anchor or side branch.
type verdict struct {
	letter byte   // one of the constants below
	blob   string // of an anchor: the examined file
	path   string // of an anchor: the path of that file; of a place that is gone: its later path
}

const (
	isFresh   = 'f' // anchor: the snippet is there; place: it is there or never was
	isChanged = 's' // anchor: the file is there without the snippet
	isGone    = 'g' // anchor: the file is gone; place: it was there
	isUnknown = 'u' // unknown; never stored
	isHere    = 'h' // side: its commits are reachable from the code at hand
	isLanded  = 'l' // side: its commits are in the default branch
	isAway    = 'e' // side: neither
)

// verdictKey identifies the subject of a verdict.
func verdictKey(about ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(about, "\n")))
	return hex.EncodeToString(sum[:8])
}

// verdicts holds the verdicts of one commit.
type verdicts struct {
	file    string             // "" where they cannot be kept
	all     map[string]verdict // by key
	hints   map[string]verdict // of another commit: valid if the same file has the same path
	changed bool
}

// readVerdicts reads the verdicts of a commit, or else the newest of another.
func readVerdicts(state, commit string) *verdicts {
	v := &verdicts{file: filepath.Join(state, verdictDir, commit)}
	if v.all = parseVerdicts(v.file); v.all != nil {
		return v
	}
	v.all = map[string]verdict{}
	if files := verdictsByAge(filepath.Dir(v.file)); len(files) > 0 {
		v.hints = parseVerdicts(files[0])
	}
	return v
}

func parseVerdicts(path string) map[string]verdict {
	data, err := file.Read(path, file.MaxState)
	text, ok := strings.CutPrefix(string(data), verdictMagic)
	end := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
	if err != nil || !ok || text[end:] != checksumLine(text[:end]) {
		return nil
	}
	all := make(map[string]verdict, strings.Count(text, "\n"))
	for line := range strings.Lines(text[:end]) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		letter, rest, _ := strings.Cut(rest, " ")
		blob, path, _ := strings.Cut(rest, " ")
		if len(letter) == 1 && letter[0] != isUnknown {
			all[key] = verdict{letter[0], strings.TrimPrefix(blob, "-"), path}
		}
	}
	return all
}

func checksumLine(text string) string {
	return fmt.Sprintf("%08x\n", crc32.ChecksumIEEE([]byte(text)))
}

// verdictName is the name of a file of verdicts: a commit's id.
var verdictName = pattern.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// verdictsByAge lists the files of verdicts, the newest first, and those that were never finished.
func verdictsByAge(dir string) []string {
	return file.ByAge(dir, func(name string) bool { return verdictName.MatchString(name) || git.StateTemp(name) })
}

func (v *verdicts) put(key string, found verdict) {
	if len(v.all) < maxVerdicts && !strings.ContainsFunc(found.path, unicode.IsControl) {
		v.all[key], v.changed = found, true
	}
}

// save stores new verdicts. A failure only costs the next command time.
func (v *verdicts) save(repo *git.Repo) {
	if !v.changed || v.file == "" {
		return
	}
	v.changed = false
	keys := make([]string, 0, len(v.all))
	for key := range v.all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		found := v.all[key]
		blob := cmp.Or(found.blob, "-")
		fmt.Fprintf(&b, "%s %c %s %s\n", key, found.letter, blob, found.path)
	}
	text := b.String()
	name := verdictDir + "/" + filepath.Base(v.file) // not durable: a torn file is passed over
	if repo.State().Cache(name, []byte(verdictMagic+text+checksumLine(text))) != nil {
		return
	}
	for i, file := range verdictsByAge(filepath.Dir(v.file)) {
		if i >= verdictFiles {
			os.Remove(file)
		}
	}
}
