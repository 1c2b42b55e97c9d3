// Package catalog stores every parsed memory in one derived file, with the postings for searches.
//
// Open reads a file, a Change adds and removes documents, and Commit appends the changes. The
// package knows nothing of memories or languages: the caller supplies keys, terms and stored bytes.
// The file may be deleted at any time.
//
// # File
//
//	header    magic; place of the state u64, its size u32; CRC-32 (IEEE) of the two numbers and the state
//	segments  documents with their terms; a segment never changes
//	state     JSON: the caller's State, where the live segments are, and which of their documents are gone
//
// Commit appends a segment and a new state under the file's lock, then overwrites the 32 bytes of
// the header. A reader keeps its file open, and everything that its header names stays in place, so
// it needs no lock. Once most of a file is garbage, Commit replaces the file by rename. A writer
// keeps its result in memory if the file changed since Open, was replaced or is locked.
//
// # Segment
//
// A segment is a header, one CRC-32 for each page of 4 KiB, and sections, each of which begins a
// page. A page is read and checked on first use. A page that cannot be read, or fails its sum,
// reads as empty, and Err reports it from then on. Check Err after the last answer, which is
// invalid with an error. Numbers of fixed size are little-endian, others varints. Offsets and
// counts are checked too, since a forger can write sums.
//
// Every section but the first three is a table: n+1 offsets u32, then n byte strings.
//
//	rows      of each document, 32 bytes: time i64, expires i64, mark u64, group u32, kind u8, flags u8, indexed u8, 0. Documents are in
//	          the order of their keys
//	lengths   of each document: length u32, gram length u32
//	groups    indexed documents u32 in the order of group, time, key
//	keys, blobs, heads, bodies, records   of each document. A record is its labels as gaps, after their number, and its tokens
//	labels, terms, grams                  sorted; an id is a place in the order
//	postings  of each term: number of documents times 2, plus 1 if its grams count; then for each document gap<<2|f. f is 0 for frequency
//	          1, 1 for 2, 2 for 3, and 3 if a varint follows
//	lists     of each gram: number of documents; then the gaps between its terms. Gap 0 is a term that has the gram once more
//
// A token is id<<2|step. The step counts words from the last token; 3 says that step, passage and
// weight follow in full, the first two as differences in zigzag.
package catalog

import (
	"encoding/binary"
	"errors"
)

// Token is one term at one place of a document.
type Token struct {
	Term    string // not empty
	Weight  uint8  // of its field: factor for the frequency and the length
	Word    uint32 // position in words; the parts of one word share it
	Passage uint16 // line or sentence that it is in, from 0
	Gram    bool   // its grams count: set on one token of a term, it holds for all in the segment
}

// Doc is one document of the catalog.
type Doc struct {
	Key   string // unique
	Blob  string // names the content
	Mark  uint64 // set by the caller, for fast scans
	Flags uint8  // likewise
	Head  []byte // likewise, for when the mark is right
	Body  []byte // the rest

	Indexed bool // a search may find it; the following fields are used
	Time    int64
	Expires int64 // Unix seconds, 0: never
	Kind    uint8
	Group   string   // of neighbours, in the order of Time, then Key; "" means none
	Labels  []string // for filters
	Tokens  []Token  // in reading order
}

// ErrCorrupt means that the derived file is damaged.
var ErrCorrupt = errors.New("the derived file is spoilt")

const (
	magic      = "reverie cache 6\n" // changes with the layout, and with anything that is kept
	headerSize = 32
	pageSize   = 4 << 10
	readAhead  = 16 // pages that are read at once where one follows the other
	// Strings of a large section are read one by one up to this number; then the section is loaded
	// whole.
	fewAsks    = 1024
	maxSection = 1<<32 - 1 // bytes: offsets have four
	maxLength  = 1 << 31   // of a document, so that sums cannot overflow
)

// The sections, in their order.
const (
	secRows = iota
	secLengths
	secGroups
	secKeys
	secBlobs
	secHeads
	secLabels
	secTerms
	secPostings
	secGrams
	secLists
	secRecords
	secBodies
	sections
)

// fixed are the sections of things of one size, in bytes.
var fixed = [...]uint64{secRows: rowSize, secLengths: 8, secGroups: 4}

// The columns of a row.
const (
	rowTime    = 0
	rowExpires = 8
	rowMark    = 16
	rowGroup   = 24 // label of the group, from 1
	rowKind    = 28
	rowFlags   = 29
	rowIndexed = 30
	rowSize    = 32
)

var le = binary.LittleEndian

func zigzag(n int64) uint64   { return uint64(n<<1) ^ uint64(n>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// varint reads one from the front of b. A torn one empties b and reads as 0.
func varint(b *[]byte) (v uint64) {
	v, *b = uvarint(*b)
	return v
}

// uvarint is varint for a loop: rest follows the number, nil if it is torn.
func uvarint(b []byte) (v uint64, rest []byte) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:]
	}
	v, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil
	}
	return v, b[size:]
}
