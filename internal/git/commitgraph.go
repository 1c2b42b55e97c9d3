package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// DropCommitGraph removes the commit-graph of this repository, with all layers, if it names any of
// the commits. git treats a graph that names a missing commit as damage, and rebuilds a missing
// graph at its next write. The graphs of alternates stay.
func (u Upkeep) DropCommitGraph(commits []string) error {
	info := filepath.Join(u.repo.CommonDir, "objects", "info")
	layers, err := filepath.Glob(filepath.Join(escapeGlob(info), "commit-graphs", "graph-*.graph"))
	if err != nil {
		return err
	}
	single := filepath.Join(info, "commit-graph")
	for _, path := range append(layers, single) {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if graphNames(data, commits) {
			return removeAll(append([]string{filepath.Join(info, "commit-graphs", "commit-graph-chain"), single}, layers...))
		}
	}
	return nil
}

// graphNames reports whether a commit-graph file names any of the commits. It returns true for a
// file that does not parse.
//
// The header has 8 bytes; the seventh holds the number of chunks. A table of 12-byte rows follows:
// four letters and the offset at which the chunk begins. One more row gives the end of the last
// chunk. The chunk OIDL holds the ids, sorted.
func graphNames(data []byte, commits []string) bool {
	const header, row = 8, 12
	if len(data) < header || string(data[:4]) != "CGPH" || len(data) < header+row*(int(data[6])+1) {
		return true
	}
	for i := range int(data[6]) {
		table := data[header+row*i:]
		if string(table[:4]) != "OIDL" {
			continue
		}
		from, to := binary.BigEndian.Uint64(table[4:]), binary.BigEndian.Uint64(table[row+4:])
		if from > to || to > uint64(len(data)) {
			return true
		}
		return slices.ContainsFunc(commits, func(id string) bool { return hasName(data[from:to], id) })
	}
	return true
}

// hasName reports whether a sorted list of ids has one.
func hasName(list []byte, id string) bool {
	name, err := hex.DecodeString(id)
	if err != nil || len(name) == 0 {
		return false
	}
	n := len(list) / len(name)
	lo, hi := 0, n
	for lo < hi {
		mid := (lo + hi) / 2
		switch at := list[mid*len(name) : (mid+1)*len(name)]; bytes.Compare(at, name) {
		case 0:
			return true
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}
