package foreign

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// maxDay bounds the file of a day, in bytes.
const maxDay = 16 << 20

var (
	dayFile = pattern.New(`^\d{4}-\d{2}-\d{2}\.logfmt$`)
	// entryStart begins an entry. All other lines continue the previous one, because one version
	// writes line feeds unescaped.
	entryStart = pattern.New(`^(?:ts=|id=mem_)`)
)

// readSimpleMemory reads simple-memory's folder: a file per day, an entry per line. It ignores the
// file of deletions, because deleted entries are in no file of a day.
func readSimpleMemory(ctx context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(filepath.Join(q.top(), ".opencode", "memory"))
	files, err := os.ReadDir(f.Place)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", f.Place, ErrNone)
	} else if err != nil {
		return err
	}
	seen := map[string]int{}
	var read budget
	for _, day := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !dayFile.MatchString(day.Name()) || !day.Type().IsRegular() {
			continue
		}
		data, err := file.Read(filepath.Join(f.Place, day.Name()), maxDay)
		if errors.Is(err, file.ErrTooLarge) {
			return fmt.Errorf("%s is longer than %d MiB: %w", day.Name(), maxDay>>20, ErrFormat)
		} else if err == nil {
			err = read.spend(len(data))
		}
		if err != nil {
			return err
		}
		for _, entry := range entries(string(data)) {
			fields := logfmt(entry, strings.HasPrefix(entry, "id="))
			if fields["action"] == "deleted" {
				f.Left++
				continue
			}
			item, ok := simpleItem(fields)
			if !ok {
				f.Bad++
				continue
			}
			if seen[item.Key]++; seen[item.Key] > 1 {
				item.Key += "-" + strconv.Itoa(seen[item.Key])
			}
			f.add(item)
		}
	}
	return nil
}

// entries splits a file into entries, dropping any text before the first.
func entries(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		switch {
		case entryStart.MatchString(line):
			out = append(out, line)
		case len(out) > 0:
			out[len(out)-1] += "\n" + line
		}
	}
	return out
}

// simpleItem returns the item of an entry, and false without a text or a time.
func simpleItem(fields map[string]string) (item Item, ok bool) {
	text, found := fields["content"]
	at := moment(fields["ts"])
	if created := moment(fields["created_at"]); !created.IsZero() {
		at = created
	}
	if !found || at.IsZero() {
		return Item{}, false
	}
	if title := strings.TrimSpace(fields["title"]); title != "" && !strings.HasPrefix(strings.Join(strings.Fields(text), " "), strings.TrimSuffix(title, "...")) {
		text = title + "\n\n" + text
	}
	item = Item{Key: fields["id"], Text: text, Kind: fields["type"], Tags: list(fields["tags"]), Created: at}
	for _, tag := range []string{fields["scope"], fields["issue"]} {
		if tag != "" {
			item.Tags = append(item.Tags, tag)
		}
	}
	if item.Key == "" {
		sum := sha256.Sum256([]byte(fields["ts"] + "\x00" + fields["type"] + "\x00" + fields["scope"]))
		item.Key = fmt.Sprintf("%x", sum[:8])
	}
	return item, true
}

// logfmt reads fields such as type=decision content="a \"word\"". If escapes is true, a backslash
// may also precede an n, an r or a backslash. The first field of a name counts.
func logfmt(entry string, escapes bool) map[string]string {
	fields := map[string]string{}
	put := func(key, value string) {
		if _, twice := fields[key]; !twice {
			fields[key] = value
		}
	}
	for rest := strings.TrimLeft(entry, " \n"); rest != ""; rest = strings.TrimLeft(rest, " \n") {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || strings.ContainsAny(key, " \n\"") {
			break
		}
		if !strings.HasPrefix(after, `"`) {
			end := strings.IndexAny(after, " \n")
			if end < 0 {
				end = len(after)
			}
			put(key, after[:end])
			rest = after[end:]
			continue
		}
		var b strings.Builder
		i := 1
		for ; i < len(after) && after[i] != '"'; i++ {
			c := after[i]
			if c == '\\' && i+1 < len(after) {
				switch next := after[i+1]; {
				case next == '"', escapes && next == '\\':
					c, i = next, i+1
				case escapes && next == 'n':
					c, i = '\n', i+1
				case escapes && next == 'r':
					c, i = '\r', i+1
				}
			}
			b.WriteByte(c)
		}
		put(key, b.String())
		rest = after[min(i+1, len(after)):]
	}
	return fields
}
