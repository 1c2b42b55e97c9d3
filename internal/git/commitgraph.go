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

// DropCommitGraph removes the commit-graph of this repository, with all of its layers, if it names
// one of some commits: a graph that names a commit which is gone is damage to git. git makes it
// again when it next writes one. Those of alternates stay.
func (r *Repo) DropCommitGraph(commits []string) error {
	info := filepath.Join(r.CommonDir, "objects", "info")
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

// graphNames reports whether a file of a commit-graph names one of some commits. One that does not
// parse may.
//
// Its header has 8 bytes, the seventh of them the number of chunks. A table follows, 12 bytes a
// chunk: four letters and the offset at which it begins; one more line says where the last chunk
// ends. OIDL has the ids, sorted.
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
