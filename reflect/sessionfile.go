package reflect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// header is the first line of a session's file. In older files it holds the session alone.
type header struct {
	transcript.Session
	Events int    `json:"events,omitempty"`
	Hash   string `json:"hash,omitempty"`
}

func (s Sessions) path(client, id string) string {
	return filepath.Join(s.Dir, transcript.SafeID(client)+"-"+transcript.SafeID(id)+".jsonl")
}

// isSession reports whether a file of the folder belongs to a session.
func isSession(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// load reads a session's file, either with its events or only the first line.
func load(path string, events bool) (Kept, []transcript.Event, error) {
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return Kept{}, nil, fmt.Errorf("read session: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Kept{}, nil, fmt.Errorf("read session: %w", err)
	}
	r := bufio.NewReaderSize(f, 16<<10)
	first, err := r.ReadBytes('\n')
	var h header
	if err == nil {
		err = json.Unmarshal(first, &h)
	}
	if err != nil {
		return Kept{}, nil, fmt.Errorf("%s:1: %w", path, err)
	}
	k := Kept{Session: h.Session, Events: h.Events, Hash: h.Hash, Size: info.Size(), Read: info.ModTime()}
	switch {
	case events:
		out, err := readEvents(r, path, 2)
		k.Events = len(out)
		return k, out, err
	case h.Hash == "": // of an older version
		k.Events, err = countLines(r)
	}
	if err != nil {
		return Kept{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil, nil
}

// readEvents reads events to the end, one per line; line is the number of the first.
func readEvents(r *bufio.Reader, path string, line int) ([]transcript.Event, error) {
	var out []transcript.Event
	for ; ; line++ {
		data, err := r.ReadBytes('\n')
		if err == io.EOF && len(data) == 0 {
			return out, nil
		}
		var e transcript.Event
		if err == nil || err == io.EOF {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		out = append(out, e)
	}
}

func countLines(r *bufio.Reader) (n int, err error) {
	for {
		if err := skipLine(r); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
		n++
	}
}

func skipLine(r *bufio.Reader) error {
	for {
		_, more, err := r.ReadLine()
		if err != nil || !more {
			return err
		}
	}
}
