package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sharing is core.sharedRepository: the permission bits that the repository's files get beyond the
// umask.
type sharing struct {
	bits  os.FileMode // zero: the umask alone decides
	exact bool        // bits replace those of the file
}

func (s settings) sharing() (sharing, error) {
	switch v := strings.ToLower(s["core.sharedrepository"]); v {
	case "", "umask", "false", "no", "off", "0":
		return sharing{}, nil
	case "group", "true", "yes", "on", "1":
		return sharing{bits: 0o660}, nil
	case "all", "world", "everybody", "2":
		return sharing{bits: 0o664}, nil
	default:
		n, err := strconv.ParseUint(v, 8, 9)
		if err != nil || n&0o600 != 0o600 {
			return sharing{}, fmt.Errorf("core.sharedRepository: %q is neither a word git knows nor a mode that lets the owner read and write", v)
		}
		return sharing{bits: os.FileMode(n) & 0o666, exact: true}, nil
	}
}

// adjust gives a file or folder git's permissions. Others may write only if the owner may, and may
// enter readable folders. New files in a folder belong to its group.
func (s sharing) adjust(path string) error {
	if s.bits == 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode, bits := info.Mode().Perm(), s.bits
	if mode&0o200 == 0 {
		bits &^= 0o222
	}
	if mode&0o100 != 0 {
		bits |= bits & 0o444 >> 2
	}
	if s.exact {
		mode = bits
	} else {
		mode |= bits
	}
	if info.IsDir() {
		mode |= mode&0o444>>2 | os.ModeSetgid
	}
	return os.Chmod(path, mode)
}

// makeDirs creates a folder and its parents.
func (s sharing) makeDirs(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err = s.makeDirs(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o777)
		}
	}
	if err == nil {
		return s.adjust(dir)
	}
	if info, serr := os.Stat(dir); serr == nil && info.IsDir() {
		return nil
	}
	return err
}
