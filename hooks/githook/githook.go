// Package githook adds Reverie's part to git's hooks, which records the commits of a session and
// checks the memory against changed code.
//
// Reverie's part of a hook is a section and a script. The file that git runs gets a section of four
// lines, the same in every repository, which runs the script in the state folder if there is one. A
// new version of Reverie replaces only the script. With git 2.54 or later, the clone's
// configuration runs the script instead of a section. Install updates both, FindPlace finds git's
// folder for hooks, and Linked returns the recorded commits.
//
// Any number of processes may run the scripts and read the records at once. Hook.Install and
// Hook.Remove need a lock on the repository, which Install takes.
package githook

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
)

// Hook is a git hook with our section.
type Hook struct {
	Name  string
	Asked bool // installed only on a person's request
}

// All lists the git hooks with our section.
var All = []Hook{
	{Name: "post-commit"}, {Name: "post-merge"}, {Name: "post-rewrite"}, {Name: "post-checkout"}, {Name: "pre-push"},
	{Name: "prepare-commit-msg", Asked: true},
}

//go:embed *.sh
var scripts embed.FS

// ScriptDir is the folder of the scripts, in the state folder.
const ScriptDir = "githooks"

// Settings are the values in the scripts.
type Settings struct {
	Program  string // ours
	Ref      string // of the memory
	WithPush bool   // a push of the code also pushes the memory
	Plans    bool   // a commit may start a loop
}

// Script returns our part of a hook for the state folder. It suits any POSIX shell. A hook that has
// set reverie_dir to the state folder reads it, or it is run.
//
// The script starts our program only if there is work for it, lets nothing fail, and waits for no
// process that can hang. A cat reads standard input, if git may name our refs there.
func (h Hook) Script(o Settings) []byte {
	body, err := scripts.ReadFile(h.Name + ".sh")
	if err != nil {
		panic(err) // it is compiled in
	}
	settle := `[ -z "$reverie_bin" ] || "$reverie_bin" hook git ` + h.Name + ` "$@" </dev/null >/dev/null 2>&1 &`
	along, plans := "", ""
	if o.WithPush {
		along = settle
	}
	if o.Plans {
		plans = "yes"
	}
	text := strings.NewReplacer(
		"@settle@", settle,
		"@along@", along,
		"@plans@", plans,
		"@restore@", strings.TrimSuffix(restoreInput, "\n"),
		"@ref@", hooks.Quote(o.Ref),
		"@sessions@", sessions(`[ -z "ANY" ] || reverie_by="$reverie_by NAME"`),
		"@session@", sessions(`[ -n "$reverie_by" ] || [ -z "ANY" ] || reverie_by=NAME`),
	).Replace(string(body))
	find := fmt.Sprintf("reverie_bin=%s\n[ -x \"$reverie_bin\" ] || reverie_bin=$(command -v reverie 2>/dev/null) || reverie_bin=\n", hooks.Quote(o.Program))
	var b strings.Builder
	fmt.Fprintf(&b, "# Reverie's part of the git hook %s, written by 'reverie init --git-hooks'. REVERIE_DISABLE=1 turns it off.\n", h.Name)
	b.WriteString("reverie_dir=${reverie_dir:-${0%/*}/..}\n")
	b.WriteString("if [ \"${REVERIE_DISABLE:-0}\" = 0 ] && [ -z \"${REVERIE_HOOK_DEPTH-}\" ]; then\n")
	if strings.Contains(text, "$reverie_bin") {
		b.WriteString(find)
	}
	text = strings.Replace(text, "@look@", find+settle, 1)
	text = strings.Replace(text, "@wake@", find+`[ -z "$reverie_bin" ] || "$reverie_bin" loop hook `+h.Name+` </dev/null >/dev/null 2>&1 &`, 1)
	b.WriteString(text)
	b.WriteString("fi\n:\n")
	return []byte(b.String())
}

// restoreInput gives the rest of a hook the standard input that we have read. A here-document
// always ends in a newline, and so does git's input unless it is empty.
const restoreInput = `if [ -n "$reverie_in" ]; then
	exec <<reverie_end
$reverie_in
reverie_end
else
	exec </dev/null
fi
`

// sessions returns a line for each variable that may name a session, in the order of hooks.InShell.
// In line, ANY becomes an expression that is empty without the variable, and NAME the session's
// name.
func sessions(line string) string {
	var lines []string
	add := func(agent string, variables []string) {
		any, id := "", ""
		for i, v := range slices.Backward(variables) {
			any = "${" + v + "-}" + any
			if id = "${" + v + ":-" + id + "}"; i == len(variables)-1 {
				id = "$" + v
			}
		}
		lines = append(lines, strings.NewReplacer("ANY", any, "NAME", agent+"/"+id).Replace(line))
	}
	add("${"+hooks.AgentVariable+":-generic}", []string{hooks.SessionVariable})
	for _, a := range hooks.Agents {
		if len(a.Sessions) > 0 {
			add(a.Name, a.Sessions)
		}
	}
	return strings.Join(lines, "\n")
}

// Snippet returns the shell code, in one line, for a person to add to a foreign hook.
func (h Hook) Snippet() string {
	return fmt.Sprintf(`reverie_dir=$(git rev-parse --git-common-dir)/reverie; [ ! -f "$reverie_dir/%[1]s/%[2]s" ] || . "$reverie_dir/%[1]s/%[2]s"`, ScriptDir, h.Name)
}

// The section's first and last line. Every version wrote the same section; an edited one is not
// ours.
const (
	sectionBegin = "# >>> reverie >>>"
	sectionEnd   = "# <<< reverie <<<"
)

func (h Hook) section() string {
	return sectionBegin + " put here by 'reverie init --git-hooks', taken out by 'reverie uninstall'\n" +
		"reverie_dir=${0%/*}/../reverie\n" +
		fmt.Sprintf("[ ! -f \"$reverie_dir/%[1]s/%[2]s\" ] || . \"$reverie_dir/%[1]s/%[2]s\" || :\n", ScriptDir, h.Name) +
		sectionEnd + "\n"
}

// A file that we made begins like this, and is removed when nothing else remains. The second form
// means that we made its folder too.
const (
	ownFile   = "#!/bin/sh\n# This file was made by Reverie, and goes with it unless there is something else in it.\n"
	ownFolder = "#!/bin/sh\n# This file and its folder were made by Reverie, and go with it unless there is something else in them.\n"
)

// ErrRefused means that a hook's file must not be changed; the error gives the reason.
var ErrRefused = errors.New("left alone")

// errOthers rejects another program's section with lines like ours.
var errOthers error = othersError{}

type othersError struct{}

func (othersError) Error() string {
	return ErrRefused.Error() + ": a section with lines like those of Reverie's stands there, and Reverie did not write it"
}
func (othersError) Unwrap() error { return ErrRefused }

func refuse(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }

// put returns the text of a hook's file with our section right below its first line, where no exec
// or exit can skip it. text is the current content, or nil without a file. The error wraps
// ErrRefused.
func (h Hook) put(text []byte) ([]byte, error) {
	if text == nil {
		return []byte(ownFile + h.section()), nil
	}
	rest, has, err := cutSection(text)
	switch {
	case err != nil:
		return nil, err
	case has && slices.Contains([]string{ownFile, ownFolder}, string(rest)):
		return []byte(string(rest) + h.section()), nil
	case bytes.IndexByte(text, 0) >= 0:
		return nil, refuse("it is no script")
	case bytes.Contains(text, []byte("\r\n")), bytes.HasSuffix(text, []byte("\r")):
		return nil, refuse("its lines end in CR LF, with which git cannot run it")
	case managerOf(text) != "":
		return nil, refuse(managerOf(text) + " writes it")
	case !bytes.HasPrefix(text, []byte("#!")):
		return nil, refuse("it does not say in a first line #! for which shell it is")
	}
	first, below, whole := bytes.Cut(rest, []byte("\n"))
	if !isShell(string(first)) {
		return nil, refuse("it is not for a shell")
	}
	section := h.section()
	if !whole { // the newline before the section is ours too, see cutSection
		section = strings.TrimSuffix(section, "\n")
	}
	return []byte(string(first) + "\n" + section + string(below)), nil
}

// cutSection returns a hook's text without our section, and whether it had one. The error wraps
// ErrRefused.
func cutSection(text []byte) (rest []byte, has bool, err error) {
	from := lineAt(text, sectionBegin)
	if from < 0 {
		if lineAt(text, sectionEnd) >= 0 {
			return nil, false, refuse("of Reverie's section only the last line is there; take it out by hand")
		}
		return text, false, nil
	}
	length := lineAt(text[from:], sectionEnd)
	if length < 0 || lineAt(text[from+1:], sectionBegin) >= 0 {
		return nil, false, refuse("of Reverie's section a line is missing or there twice; take it out by hand")
	}
	to := from + length
	if end := bytes.IndexByte(text[to:], '\n'); end >= 0 {
		to += end + 1
	} else { // nothing came after the first line, not even a newline
		to = len(text)
	}
	section := strings.TrimSuffix(strings.ReplaceAll(string(text[from:to]), "\r\n", "\n"), "\n") + "\n"
	if !slices.ContainsFunc(All, func(h Hook) bool { return h.section() == section }) {
		if !strings.Contains(section, "/"+ScriptDir+"/") {
			return nil, false, errOthers
		}
		return nil, false, refuse("Reverie's section was edited; take it out by hand")
	}
	if to == len(text) && text[to-1] != '\n' {
		from = max(0, from-1)
	}
	return slices.Concat(text[:from], text[to:]), true, nil
}

// lineAt returns the offset of the first line that starts with begin, or -1.
func lineAt(text []byte, begin string) int {
	if bytes.HasPrefix(text, []byte(begin)) {
		return 0
	}
	if i := bytes.Index(text, []byte("\n"+begin)); i >= 0 {
		return i + 1
	}
	return -1
}

// isShell reports whether a first line #! names a shell that reads POSIX scripts.
func isShell(line string) bool {
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
	}
	return len(words) > 0 && slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}, strings.TrimSuffix(path.Base(words[0]), ".exe"))
}

// managerOf returns the program that wrote a hook's file and will rewrite it, or "".
func managerOf(text []byte) string {
	for _, m := range []struct{ name, mark string }{
		{"pre-commit", "File generated by pre-commit: https://pre-commit.com"},
		{"lefthook", "LEFTHOOK"}, {"husky", "# husky"}, {"overcommit", "Overcommit hook"}, {"simple-git-hooks", "SKIP_SIMPLE_GIT_HOOKS"},
	} {
		if bytes.Contains(text, []byte(m.mark)) {
			return m.name
		}
	}
	return ""
}

// maxHook bounds a hook's file, in bytes.
const maxHook = 1 << 20

// HasSection reports whether a hook's file has our section, or a rest of it.
func HasSection(path string) bool {
	text, err := file.ReadLinked(path, maxHook)
	if err != nil {
		return false
	}
	_, has, err := cutSection(text)
	return has || err != nil && !errors.Is(err, errOthers)
}

// lookAt reads a hook's file. A missing file has a nil text. The error wraps ErrRefused if we must
// not change the file.
func lookAt(path string) (text []byte, info os.FileInfo, err error) {
	info, err = os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case info.Mode()&os.ModeSymlink != 0:
		return nil, nil, refuse("it is a symbolic link")
	case !info.Mode().IsRegular():
		return nil, nil, refuse("it is no file")
	case info.Size() > maxHook:
		return nil, nil, refuse(fmt.Sprintf("it is longer than %d bytes", maxHook))
	}
	if text, err = file.Read(path, maxHook); text == nil && err == nil {
		text = []byte{}
	}
	return text, info, err
}

// Install updates our section in a hook's folder, and reports whether that changes anything. A dry
// run changes nothing. The error wraps ErrRefused if the file must stay as it is.
func (h Hook) Install(dir string, dry bool) (changed bool, err error) {
	path := filepath.Join(dir, h.Name)
	text, info, err := lookAt(path)
	if err != nil {
		return false, err
	}
	if info != nil && info.Mode()&0o111 == 0 && os.PathSeparator == '/' {
		return false, refuse("it is not executable, so git does not run it")
	}
	with, err := h.put(text)
	if err == nil && len(with) > maxHook {
		return false, refuse(fmt.Sprintf("with our section it would be longer than %d bytes", maxHook))
	}
	if err != nil || bytes.Equal(with, text) || dry {
		return err == nil && !bytes.Equal(with, text), err
	}
	file.Sweep(dir)
	mode := os.FileMode(0o755)
	if info != nil {
		mode = info.Mode().Perm()
	} else if err := os.Mkdir(dir, 0o755); err == nil {
		with = []byte(ownFolder + h.section())
	} else if !errors.Is(err, os.ErrExist) {
		return false, err
	} else if madeFolder(dir) {
		with = []byte(ownFolder + h.section())
	}
	return true, exchange(path, text, with, mode)
}

// madeFolder reports whether a hook in a folder records that we made the folder.
func madeFolder(dir string) bool {
	return slices.ContainsFunc(All, func(h Hook) bool {
		text, err := file.ReadLinked(filepath.Join(dir, h.Name), maxHook)
		return err == nil && bytes.HasPrefix(text, []byte(ownFolder))
	})
}

// Remove removes our section from a hook's file. It also removes a file and a folder that we made.
func (h Hook) Remove(dir string) error {
	path := filepath.Join(dir, h.Name)
	text, info, err := lookAt(path)
	if err != nil || text == nil {
		return err
	}
	rest, has, err := cutSection(text)
	if err != nil || !has {
		return err
	}
	if string(rest) != ownFile && string(rest) != ownFolder {
		return exchange(path, text, rest, info.Mode().Perm())
	}
	if err := os.Remove(path); err != nil || string(rest) != ownFolder {
		return err
	}
	os.Remove(dir) // unless something else is in it
	return nil
}

// exchange replaces a hook's file if it still has the old text; nil means no file.
func exchange(path string, before, text []byte, mode os.FileMode) error {
	err := file.Exchange(path, text, mode, func() error {
		now, _, err := lookAt(path)
		if err == nil && ((now == nil) != (before == nil) || !bytes.Equal(now, before)) {
			err = refuse("another process changed it just now")
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrRefused) {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return err
}
