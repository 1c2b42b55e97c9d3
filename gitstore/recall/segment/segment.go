// Package segment is one file of the search index: terms with their postings, and the documents that they were taken from.
// A Builder makes the bytes of it, Open reads them. It knows no memories and no languages: what a term is, and what
// is stored with a document, is the caller's.
//
// A file never changes. Nothing of it is parsed when it is opened: a mapped file of any size is open in microseconds, and a query touches
// the pages it needs. A Reader may be used by many goroutines at once.
//
// # Layout
//
// Numbers of fixed size are little-endian; the others are varints. A file is
//
//	header   magic; size of the file; sums of lengths; number of documents; 0; sections; CRC-32 of header and checksums
//	sums     CRC-32 (IEEE) of each page of the body, 4096 bytes
//	body     the sections, one behind the other
//
// The header's sum is looked at when the file is opened, a page's when something in it is first read: a whole file of 40 MB would take
// longer than a query. What does not fit its sum is read as empty, and Err says so from then on: who ranks asks Err
// last, and throws the answer away. So a spoilt bit makes no wrong answer. Every offset and count is checked against its bounds
// nevertheless, since who writes a file can write its sums.
//
// The body's sections:
//
//	docs     a row of 24 bytes for each document: length u32, gram length u32, time u40, kind u8, offset of its record u32, its place
//	         among the keys u24, group u24. The order is that of (group, time, key).
//	terms    dictionary: the id of a term is its place in the order of bytes
//	latin    a bit for each term: its grams count
//	places   offset of the postings of every fourth term u32
//	postings of a term: in how many documents; where that is 8 or more, the bytes that follow; for each document gap<<2|f, where f is 0
//	         for a frequency of 1, 1 for 2, 2 for 3, and 3 when a varint follows. The first gap is the document, the others are from the
//	         document after the last.
//	grams    dictionary of the grams of latin terms
//	gplaces  offset of the list of every eighth gram u32
//	glists   of a gram: how many terms; where that is 8 or more, the bytes that follow; in how many documents, unless it is one term; the
//	         gaps between the ids of the terms. Gap 0 is a term that has it once more.
//	keys     dictionary of keys
//	ids      for each key: document u24; length of the blob's name u8, 0x80 for hexadecimal digits, two a byte; its bytes, padded
//	labels   dictionary
//	groups   dictionary; id 0 is ""
//	gstarts  first document of each group u32, and the number of documents
//	hot      the ids of the most frequent terms u32, which tokens name by a short code
//	records  of a document: expires; number of labels, gaps between their ids; number of tokens, tokens
//	blocks   where each block of stored texts begins: document u32, offset u32; and the end
//	stored   the dictionary that all blocks are compressed with (RFC 1951), and the blocks: 0 for plain or 1 for compressed, then for each
//	         document length and text
//
// A token is code<<2|step. A code below the number of hot terms is one of those, a larger one is a term's id and that number. The step is how
// many words it stands behind the last token; 3 says that a byte follows: 1 for the next passage, 2 for a passage and a weight that follow (the
// former's difference from the last, zigzag; one byte), and above them the step, where 63 says that the difference follows (zigzag).
//
// A dictionary is sorted texts in blocks of 16: the blocks' offsets u32, and the end, then for each text a byte that
// holds how much it shares with the text before and how long the rest is, four bits each, where 15 says that a varint is
// to be added; then the rest.
package segment

import (
	"encoding/binary"
	"errors"
)

// Token is one term at one place of a document.
type Token struct {
	Term    string // not empty
	Weight  uint8  // of its field: it counts so often in the frequency and in the length
	Word    uint32 // position in words; the parts of one word share it
	Passage uint16 // line or sentence that it stands in, from 0
	Gram    bool   // its grams count. It is a property of the term: once true, true for each token of this term in the segment
}

// Doc is what is indexed.
type Doc struct {
	Key     string // unique in a segment
	Blob    string // name of the content, hexadecimal as a rule; at most 127 bytes
	Stored  []byte // what the caller wants of a hit
	Time    int64  // Unix seconds, 0: unknown
	Expires int64  // Unix seconds, 0: never
	Kind    uint8
	Group   string   // documents of a group are neighbours, in the order of Time, then Key; "" is no group
	Labels  []string // for filters; a set
	Tokens  []Token  // in reading order
}

// ErrCorrupt is returned for bytes that are no segment, or not what was written.
var ErrCorrupt = errors.New("not a segment of the index, or spoilt")

const magic = "reverie segment1"

// The sections, in their order.
const (
	secDocs = iota
	secTerms
	secLatin
	secPlaces
	secPostings
	secGrams
	secGramPlaces
	secGramLists
	secKeys
	secIDs
	secLabels
	secGroups
	secGroupStarts
	secHot
	secRecords
	secBlocks
	secStored
	sections
)

// sectionNames are for people who look at sizes.
func sectionNames() []string {
	return []string{"docs", "terms", "latin", "places", "postings", "grams", "gplaces", "glists", "keys", "ids", "labels", "groups", "gstarts", "hot", "records", "blocks", "stored"}
}

const (
	pageSize = 4096
	maxDocs  = 1<<24 - 2 // numbers of documents and groups have three bytes
	maxTime  = 1 << 40

	headMagic   = 0
	headSize    = 16
	headLength  = 24
	headGrams   = 32
	headDocs    = 40
	headSecs    = 48
	secEntry    = 16 // offset in the body u64, size u32, number of texts u32
	headSum     = headSecs + sections*secEntry
	headerSize  = headSum + 8 // the sum, and 4 bytes of 0
	maxHot      = 4096        // codes that fit in two bytes, with the step
	fewHot      = 32          // codes that fit in one
	maxSection  = 1<<32 - 1   // bytes: offsets have four
	maxBlob     = 127         // bytes of a blob's name
	blockTarget = 4096        // bytes of stored text in a block, before compression
	maxStored   = 16 << 20    // bytes of one document's stored text
)

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func put24(b []byte, n int) { b[0], b[1], b[2] = byte(n), byte(n>>8), byte(n>>16) }

func zigzag(n int64) uint64   { return uint64(n<<1) ^ uint64(n>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// varint reads one from the front of b. A torn one empties b and reads as 0.
func varint(b *[]byte) (v uint64) {
	v, *b = uvarint(*b)
	return v
}

// uvarint is varint for a loop: rest is what is behind it, nil where it is torn.
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
