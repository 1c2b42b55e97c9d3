package past

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/tailscale/hujson"
)

// OpenCode keeps the text that a slash command stands for as if it had been typed. Our plugin marks
// it; what was kept without the plugin is held against the commands that are there now.

// OpenCodeCommand returns a function that reports whether a slash command of OpenCode's, of the
// session's folder or of the user, stands for a text. top is the work tree, or "". Several
// goroutines may call it.
func OpenCodeCommand(top string) func(transcript.Session, string) bool {
	folders := map[string][]commandText{}
	var lock sync.Mutex
	return func(s transcript.Session, text string) bool {
		if s.Client != string(transcript.OpenCode) {
			return false
		}
		lock.Lock()
		defer lock.Unlock()
		for _, dir := range openCodeFolders(top, s.Dir) {
			known, read := folders[dir]
			if !read {
				known = commandTexts(dir)
				folders[dir] = known
			}
			for _, c := range known {
				if c.gives(text) {
					return true
				}
			}
		}
		return false
	}
}

// openCodeFolders lists the folders whose commands a session in dir has.
func openCodeFolders(top, dir string) []string {
	home, _ := os.UserHomeDir()
	folders := []string{filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "opencode"), filepath.Join(home, ".opencode")}
	if top != "" {
		folders = append(folders, top, filepath.Join(top, ".opencode"))
	}
	for range 20 {
		if !filepath.IsAbs(dir) || dir == top {
			break
		}
		folders = append(folders, dir, filepath.Join(dir, ".opencode"))
		rel, err := filepath.Rel(top, dir)
		if err != nil || !filepath.IsLocal(rel) {
			break // another work tree, or one that is gone
		}
		dir = filepath.Dir(dir)
	}
	return folders
}

// Bounds of what is read of a folder.
const (
	maxCommands    = 200
	maxCommandText = 64 << 10 // bytes
)

// commandTexts are the texts of the commands of a folder: files below command and commands, and
// those of its settings.
func commandTexts(dir string) []commandText {
	var all []commandText
	for _, sub := range []string{"command", "commands"} {
		filepath.WalkDir(filepath.Join(dir, sub), func(path string, d fs.DirEntry, err error) error {
			if err != nil || len(all) >= maxCommands {
				return fs.SkipAll
			}
			if filepath.Ext(path) != ".md" || d.IsDir() {
				return nil
			}
			if text, err := file.ReadLinked(path, maxCommandText); err == nil {
				all = append(all, newCommandText(string(text)))
			}
			return nil
		})
	}
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		text, err := file.ReadLinked(filepath.Join(dir, name), 1<<20)
		if err == nil {
			text, err = hujson.Standardize(text)
		}
		var settings struct {
			Command map[string]struct{ Template string }
		}
		if err == nil && json.Unmarshal(text, &settings) == nil {
			for _, c := range settings.Command {
				all = append(all, newCommandText(c.Template))
			}
		}
	}
	return all
}

// commandText is a text in pieces, between which stands what the user adds, or a shell says.
type commandText []string

var (
	frontMatter  = pattern.New(`(?s)\A---\r?\n.*?\n---[ \t]*(\r?\n|\z)`)
	placeholders = pattern.New("\\$ARGUMENTS|\\$[0-9]+|!`[^`]*`")
)

func newCommandText(text string) commandText {
	text = frontMatter.ReplaceAllString(strings.TrimPrefix(text, "\ufeff"), "")
	return placeholders.Split(plainText(transcript.Own(text)), -1)
}

func plainText(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// gives reports whether a text is an expansion of the command. Without a placeholder, the user's
// addition follows the command's text.
func (c commandText) gives(text string) bool {
	text = plainText(text)
	if strings.TrimSpace(strings.Join(c, "")) == "" {
		return false // all of it is the user's
	}
	if len(c) == 1 {
		return text == c[0] || strings.HasPrefix(text, c[0]+"\n\n")
	}
	rest, ok := strings.CutPrefix(text, c[0])
	for _, piece := range c[1 : len(c)-1] {
		if ok {
			_, rest, ok = strings.Cut(rest, piece)
		}
	}
	return ok && strings.HasSuffix(rest, c[len(c)-1])
}
