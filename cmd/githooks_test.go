package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// tree FILE DIR writes down every entry of a folder: mode, name, where a link leads, and the bytes of a file. A folder
// that is not there has none.
func treeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tree FILE DIR")
	}
	var b strings.Builder
	dir := ts.MkAbs(args[1])
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := d.Info()
		ts.Check(err)
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%v %s", info.Mode(), name)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			ts.Check(err)
			fmt.Fprintf(&b, " -> %s", to)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			ts.Check(err)
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteByte('\n')
		return nil
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}
