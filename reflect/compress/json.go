package compress

import (
	"encoding/json"
	"slices"
	"strings"
)

// Limits of JSON arrays: an outer one beyond maxItems items and an inner one beyond maxInner are
// shortened.
const (
	maxItems  = 15
	itemsHead = 8
	itemsTail = 4
	maxInner  = 30
	innerEnds = 10
	maxOdd    = 4
	maxLook   = 2000 // examined bytes of an item
)

// crush removes items from the long arrays of the JSON document in lines, and starts a line with
// each kept item, which stays whole. It returns nil without JSON or long arrays. A text with a
// marker is not JSON, so this happens only once.
func crush(lines []piece, doc string, tight bool) []piece {
	first := strings.TrimSpace(lines[0].text)
	if first == "" || first[0] != '[' && first[0] != '{' {
		return nil
	}
	if slices.ContainsFunc(lines, func(p piece) bool { return p.made }) {
		return nil
	}
	if !json.Valid([]byte(doc)) {
		return nil
	}
	cuts := arrays(doc, tight)
	if len(cuts) == 0 {
		return nil
	}
	var out []piece
	at := 0
	for _, c := range cuts {
		out = append(out, piece{text: strings.TrimRight(doc[at:c.from], " \t\r\n")})
		if c.items > 0 {
			out = append(out, left(piece{goes: gone{items: c.items}}))
		}
		at = c.to
	}
	out = append(out, piece{text: doc[at:]})
	var all []piece
	for _, p := range out {
		if p.isLeft() {
			all = append(all, p)
			continue
		}
		for l := range strings.SplitSeq(p.text, "\n") {
			all = append(all, line(l))
		}
	}
	return all
}

// itemCut is a range of dropped items in a document. Without items, only a new line begins there.
type itemCut struct{ from, to, items int }

// array is an array being read.
type array struct {
	object bool
	starts []int // of the items
}

// arrays finds the cuts of a valid document, in order and not nested.
func arrays(doc string, tight bool) []itemCut {
	var cuts []itemCut
	var open []array
	item := false // the next value begins an item
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		if item && c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != ']' {
			open[len(open)-1].starts = append(open[len(open)-1].starts, i)
			item = false
		}
		switch c {
		case '"':
			for i++; doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
		case '{':
			open = append(open, array{object: true})
		case '[':
			open = append(open, array{})
			item = true
		case ',':
			item = !open[len(open)-1].object
		case '}', ']':
			a := open[len(open)-1]
			open, item = open[:len(open)-1], false
			if c == '}' {
				continue
			}
			for _, n := range thin(doc, a.starts, i, len(open) > 1, tight) {
				for len(cuts) > 0 && cuts[len(cuts)-1].from >= n.from && cuts[len(cuts)-1].to <= n.to {
					cuts = cuts[:len(cuts)-1] // it is dropped with its container
				}
				cuts = append(cuts, n)
			}
		}
	}
	slices.SortFunc(cuts, func(a, b itemCut) int { return a.from - b.from })
	var out []itemCut
	for _, c := range cuts {
		if len(out) == 0 || c.from >= out[len(out)-1].to {
			out = append(out, c)
		}
	}
	return out
}

// thin selects the dropped items of an array. It keeps its ends, telling items, and the first of
// another shape.
func thin(doc string, starts []int, end int, inner, tight bool) []itemCut {
	most, head, tail := maxItems, itemsHead, itemsTail
	if inner {
		most, head, tail = maxInner, innerEnds, innerEnds
	}
	if tight {
		most, head, tail = most/3, head/4, tail/4
	}
	if len(starts) <= most {
		return nil
	}
	text := func(i int) string {
		to := end
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		return doc[starts[i]:min(to, starts[i]+maxLook)]
	}
	known := map[uint64]bool{}
	for i := range head {
		known[form(text(i))] = true
	}
	keep := make([]bool, len(starts))
	odd := 0
	for i := range starts {
		if keep[i] = i < head || i >= len(starts)-tail; keep[i] || odd == maxOdd {
			continue
		}
		if t := text(i); !known[form(t)] || failures.find(t) >= 0 && !known[shape(t)] {
			known[form(t)], known[shape(t)] = true, true
			keep[i] = true
			odd++
		}
	}
	var out []itemCut
	for i := 0; i < len(starts); i++ {
		from := i
		for !keep[i] {
			i++
		}
		begin := starts[i] // of the line, if the item is the first on it
		for begin > 0 && (doc[begin-1] == ' ' || doc[begin-1] == '\t') {
			begin--
		}
		own := begin > 0 && doc[begin-1] == '\n'
		if !own {
			begin = starts[i]
		}
		switch {
		case starts[i]-starts[from] > markerRoom:
			out = append(out, itemCut{starts[from], begin, i - from})
		case !own && i > 0:
			out = append(out, itemCut{begin, begin, 0})
		}
	}
	return out
}

// form returns a hash of an item's kind and, for an object, its names.
func form(item string) uint64 {
	if item[0] != '{' {
		return uint64(item[0])
	}
	h := uint64(1)
	for i := 0; i < len(item); i++ {
		if item[i] != '"' {
			continue
		}
		from := i
		for i++; i < len(item) && item[i] != '"'; i++ {
			if item[i] == '\\' {
				i++
			}
		}
		if rest := strings.TrimLeft(item[min(i+1, len(item)):], " \t\r\n"); strings.HasPrefix(rest, ":") {
			h = h*31 + shape(item[from:min(i, len(item))])
		}
	}
	return h
}
