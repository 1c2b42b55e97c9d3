package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Private keys are found by their labels and by their shape. Every cluster of base64 between a
// begin label and its end label is removed, regardless of other text on its lines. Without an end
// label, the search covers maxPrivateKey bytes; without a begin label, it runs backwards from the
// end. Without labels, a column counts: consecutive lines, each with a run of the same width.

const (
	maxPrivateKey = 64 << 10 // bytes searched for a key with only one label
	// bytes between two runs of a key: the end of a line and the prefix of the next
	maxGap       = 512
	maxSwallowed = 256 // bytes between two runs that one marker replaces
	maxHeaders   = 512 // bytes between a label and the key itself
	minKeyRun    = 16  // characters of base64 that count as a part of a key between labels
	minCluster   = 40  // and the number that must be together without a label
	// characters of a column's lines: PEM and PGP have 64, OpenSSH 70, MIME 76
	minColumn     = 60
	maxColumn     = 96 // with characters glued to them: //, ++
	minColumnRuns = 3
)

// keySpan is a part of a private key. If joined, the text between the previous part and this
// belongs to the key too.
type keySpan struct {
	span
	joined bool
}

// findKeys returns the parts of private keys in text, in order. The first carry bytes follow a
// begin label in an earlier text. In an open text more follows: a column may have just begun at its
// end.
func findKeys(text string, carry int, open bool) []keySpan {
	labels := findLabels(text)
	var found []keySpan
	if len(labels) > 0 || carry > 0 {
		found = findLabelled(text, labels, carry)
	}
	found = findColumns(text, open, found)
	found = findAge(text, findJWK(text, found))
	return settleKeys(found)
}

// settleKeys sorts parts and joins those that overlap.
func settleKeys(found []keySpan) []keySpan {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b keySpan) int {
		return cmp.Or(a.start-b.start, b.end-a.end)
	})
	out := found[:1]
	for _, f := range found[1:] {
		last := &out[len(out)-1]
		if f.start < last.end {
			last.end = max(last.end, f.end)
			continue
		}
		out = append(out, f)
	}
	return out
}

// keySpans returns the parts of private keys that Text removes, including the text between joined
// parts.
func keySpans(text string, carry int, open bool) []span {
	var out []span
	for _, f := range findKeys(text, carry, open) {
		if n := len(out); n > 0 && f.joined {
			out[n-1].end = f.end
		} else {
			out = append(out, f.span)
		}
	}
	return out
}

// emit appends the runs of one cluster or column.
func emit(found []keySpan, runs []keyRun) []keySpan {
	for i, r := range runs {
		joined := i > 0 && r.start-runs[i-1].end <= maxSwallowed
		found = append(found, keySpan{span{r.start, r.end, rulePrivateKey}, joined})
	}
	return found
}

// zone is a part of a text where a key is expected: text[start:end].
type zone struct {
	start, end  int
	first, last *keyLabel // that begins and ends it, or nil
}

// findLabelled looks for keys near labels.
func findLabelled(text string, labels []keyLabel, carry int) []keySpan {
	var found []keySpan
	done := 0 // everything before has been looked at
	look := func(z zone) {
		if z.first == nil {
			z.start = max(z.start, done)
		}
		if z.end > z.start {
			found = z.look(text, found)
		}
		done = max(done, z.end)
	}
	var begun *keyLabel
	for i := range labels {
		l := &labels[i]
		if l.kind == keyValue {
			found = append(found, keySpan{span{l.start, l.end, rulePrivateKey}, false})
			continue
		}
		switch {
		case begun != nil && l.kind != keyBegin && l.start-begun.end <= maxPrivateKey:
			look(zone{begun.end, l.start, begun, l})
		case begun != nil:
			look(zone{begun.end, min(l.start, begun.end+maxPrivateKey), begun, nil})
			if l.kind != keyBegin {
				look(zone{max(0, l.start-maxPrivateKey), l.start, nil, l})
			}
		case l.kind != keyBegin:
			look(zone{max(0, l.start-maxPrivateKey), l.start, nil, l})
		case carry > done:
			look(zone{done, min(carry, l.start), nil, nil})
		}
		if done, begun = max(done, l.end), nil; l.kind != keyEnd {
			begun = l
		}
	}
	switch {
	case begun != nil:
		look(zone{begun.end, min(len(text), begun.end+maxPrivateKey), begun, nil})
	case done == 0:
		look(zone{0, min(len(text), carry), nil, nil})
	}
	return found
}

// look appends the parts of a key in a zone to found, with the labels of that key.
func (z *zone) look(text string, found []keySpan) []keySpan {
	whole := z.first != nil && z.last != nil
	carried := z.first == nil && z.last == nil // the label's details are unknown
	static := z.first != nil && z.first.static || z.last != nil && z.last.static
	lexer := keyLexer{text: text, at: z.start, url: true}
	before := len(found)
	if z.first != nil {
		found = append(found, keySpan{span{z.first.start, z.first.end, rulePrivateKey}, false})
	}
	var cluster []keyRun
	// runs of the cluster up to the last that looks like a key, and their totals
	solid, sum, hits := 0, 0, 0
	flush := func() {
		runs := cluster[:solid]
		for solid > 0 && solid < len(cluster) && same(cluster[solid-1], cluster[solid]) {
			solid++
			runs = cluster[:solid]
		}
		cluster, solid = cluster[:0], 0
		if len(runs) == 0 {
			return
		}
		first, last := runs[0], runs[len(runs)-1]
		beside := z.first != nil && first.start-z.first.end <= maxHeaders || z.last != nil && z.last.start-last.end <= maxHeaders
		if !whole && !beside && sum < minCluster || publicBlock(text, first.start, last.end, true) || !whole && !beside && harmless(text, runs) {
			return
		}
		hits++
		n := len(found)
		found = emit(found, runs)
		found[n].joined = z.first != nil && n == before+1 && first.start-z.first.end <= maxHeaders
		found = lastLine(text, runs, z.end, found)
	}
	for {
		r, ok := lexer.next(minKeyRun, z.end)
		if !ok {
			break
		}
		if n := len(cluster); n > 0 && (r.start-cluster[n-1].end > maxGap || labelled(text[cluster[n-1].end:r.start])) {
			flush()
			sum = 0
		}
		likely := r.random(text) && !hashed(text, r) && (whole || !identified(text, r)) || static && hexWithin(text, r) && (whole || !identified(text, r)) || carried && hexLine(text, r) && !identified(text, r)
		if !likely && (len(cluster) == 0 || identified(text, r)) {
			continue
		}
		cluster = append(cluster, r)
		if likely {
			solid, sum = len(cluster), sum+r.width
		}
	}
	flush()
	if hits == 0 && whole {
		if runs := folded(text, z); len(runs) > 0 {
			hits++
			found = emit(found, runs)
		}
	}
	if r, ok := z.rest(text); ok && (hits == 0 || found[len(found)-1].end < r.end) {
		hits++
		found = append(found, keySpan{span{r.start, r.end, rulePrivateKey}, false})
	}
	if hits == 0 {
		return found[:before]
	}
	if z.first != nil && z.last == nil {
		found[before].rule = ruleOpenKey
	}
	if z.last != nil {
		n := len(found) - 1
		found = append(found, keySpan{span{z.last.start, z.last.end, rulePrivateKey}, z.last.start-found[n].end <= maxSwallowed})
	}
	return found
}

// rest returns the last line of a key before its end label, if the text has no other line of it
// nearby.
func (z *zone) rest(text string) (r keyRun, ok bool) {
	if z.last == nil {
		return r, false
	}
	lexer := keyLexer{text: text, at: max(z.start, wideSet.back(text, max(0, z.last.start-maxLabel), maxLabel))}
	for {
		next, more := lexer.next(12, z.last.start)
		if !more {
			return r, ok
		}
		if (next.padded || next.drawn(35)) && !next.hex() { // the label's own line may hold other runs
			r, ok = next, true
		}
	}
}

// hexLine reports whether a run ends in a line of OpenVPN's key: 32 hexadecimal digits.
func hexLine(text string, r keyRun) bool {
	v := r.characters(text, 2*maxColumn)
	at := len(v) - 32
	return at >= 0 && isHex(v[at:]) && (at == 0 || !sets[alnumSet].has(v[at-1]))
}

// hexWithin reports whether a run holds enough consecutive hexadecimal digits for a part of a key.
func hexWithin(text string, r keyRun) bool {
	n := 0
	for _, c := range []byte(r.characters(text, maxPrivateKey)) {
		if !sets[hexSet].has(c) {
			n = 0
		} else if n++; n == minKeyRun {
			return true
		}
	}
	return false
}

// folded returns the runs of a key between its labels whose lines are too short to be told from
// words otherwise.
func folded(text string, z *zone) []keyRun {
	if z.end-z.start > maxPrivateKey/4 {
		return nil
	}
	var widths [minKeyRun]int
	var runs []keyRun
	var all tally
	lexer := keyLexer{text: text, at: z.start}
	for {
		r, ok := lexer.next(4, z.end)
		if !ok {
			break
		}
		if r.width < minKeyRun {
			runs = append(runs, r)
			widths[r.width]++
		}
	}
	width := 0
	for w, n := range widths {
		if n >= minColumnRuns && n*w > widths[width]*width {
			width = w
		}
	}
	runs = slices.DeleteFunc(runs, func(r keyRun) bool { return width == 0 || r.width != width && r.start < lastOf(runs, width) })
	for _, r := range runs {
		all.merge(r.tally)
	}
	if !all.drawn(35) || all.alnum() < minCluster {
		return nil
	}
	return runs
}

func lastOf(runs []keyRun, width int) int {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].width == width {
			return runs[i].start
		}
	}
	return 0
}

// lastLine appends the last, shorter line of a key if it follows the runs. It has the same position
// as the lines before, or else it is the longest run there.
func lastLine(text string, runs []keyRun, limit int, found []keySpan) []keySpan {
	before, place := runs[len(runs)-1], -1
	if n := len(runs); n > 1 {
		place = before.start - runs[n-2].end
	}
	lexer := keyLexer{text: text, at: before.end}
	var last keyRun
	for {
		at := lexer.at
		r, ok := lexer.next(4, min(limit, before.end+maxGap, len(text)))
		if !ok || lexer.line > 2 || labelled(text[at:r.start]) {
			break
		}
		kinds := min(r.upper, 1) + min(r.lower, 1) + min(r.digit, 1)
		if r.width > before.width || text[r.start-1] == '_' || identified(text, r) || !r.padded && (r.width < 8 || kinds < 2 || r.hex() || r.turns < 2) {
			continue
		}
		near := place >= 0 && max(place, r.start-before.end)-min(place, r.start-before.end) <= 4
		if near || r.width > last.width {
			last = r
		}
		if near {
			break
		}
	}
	if last.width == 0 {
		return found
	}
	return append(found, keySpan{span{last.start, last.end, rulePrivateKey}, last.start-before.end <= maxSwallowed})
}

// findColumns looks for keys without labels, and for text that begins like one. It examines only
// tokens as long as a column's line.
func findColumns(text string, open bool, found []keySpan) []keySpan {
	const stride = minColumn - 12
	c := column{text: text, found: found}
	last := 0 // end of the token before
	for i := stride - 1; i < len(text); i += stride {
		if !sets[wideSet].has(text[i]) {
			continue
		}
		start := wideSet.back(text, i, i-last)
		end := wideSet.run(text, i, len(text))
		last = end
		if end-start >= minColumn {
			lexer := keyLexer{text: text, at: start}
			for {
				r, ok := lexer.next(minColumn, end)
				if !ok {
					break
				}
				c.add(r)
			}
		}
		i = max(i, end-1)
	}
	c.flush(open && len(text)-c.last.end <= maxGap)
	return c.found
}

// column is a series of neighbouring runs of one width.
type column struct {
	text        string
	first, last keyRun
	n           int
	place       int  // bytes between the last two runs
	headed      bool // it begins like a key
	tally       tally
	found       []keySpan
}

func (c *column) add(r keyRun) {
	if r.hex() || hashed(c.text, r) {
		return
	}
	headed := secretHead(r.characters(c.text, headLen))
	// more than the key begins on the first line
	glued := c.n == 1 && c.headed && r.width < c.first.width
	if c.n > 0 && !headed && (same(c.last, r) || glued) && r.start-c.last.end <= maxGap && !labelled(c.text[c.last.end:r.start]) {
		// an exact repetition is not another line
		if c.text[r.start:r.end] != c.text[c.last.start:c.last.end] {
			c.n++
			c.tally.merge(r.tally)
		}
		c.place, c.last = r.start-c.last.end, r
		return
	}
	c.flush(false)
	c.first, c.last, c.n, c.headed, c.tally = r, r, 1, headed, r.tally
}

// flush ends a column, and appends its runs if it belongs to a key.
func (c *column) flush(open bool) {
	n := c.n
	c.n = 0
	text := c.text
	switch {
	case n == 0:
		return
	case c.headed:
	case c.first.width > maxColumn:
		if holdsKey(text, c.first) {
			c.found = emit(c.found, []keyRun{c.first})
		}
		return
	case open && c.last.alnum()*2 < c.last.width: // a bar, a column of zeros
		return
	case !open && !c.tally.drawn(45): // one line of an unfinished text is too little evidence
		return
	}
	runs := []keyRun{c.first}
	for lexer := (keyLexer{text: text, at: c.first.end}); lexer.at < c.last.end; {
		if r, ok := lexer.next(minColumn, c.last.end); ok {
			runs = append(runs, r)
		}
	}
	rest := lastLine(text, runs, len(text), nil)
	short := n == minColumnRuns-1 && len(rest) > 0 && c.first.usual(text) && max(c.place, rest[0].start-c.last.end)-min(c.place, rest[0].start-c.last.end) <= 12
	if !c.headed && !open && n < minColumnRuns && !short {
		return
	}
	if sh := shapeOf(body(text, runs, 256)); !c.headed && !open && !sh.choppy() && !sh.unpronounceable() {
		return // words
	}
	if publicBlock(text, c.first.start, c.last.end, false) || !c.headed && harmless(text, runs) {
		return
	}
	if r, ok := partBefore(text, c.first); ok {
		runs = slices.Insert(runs, 0, r)
	}
	c.found = append(emit(c.found, runs), rest...)
}

// lineWidths are the line widths of PEM, OpenSSH and MIME. Two such lines and a shorter one also
// form a column.
var lineWidths = []int{64, 70, 76}

// usual reports whether a run has one of lineWidths, ignoring slashes and plus signs before it.
func (r keyRun) usual(text string) bool {
	v := r.characters(text, maxColumn)
	for lead := 0; lead < 4; lead++ {
		if slices.Contains(lineWidths, len(v)-lead) {
			return true
		}
		if !isOneOf(v[lead], "+/") {
			break
		}
	}
	return false
}

// partBefore returns the run before a column that belongs to it: a line with its beginning cut off,
// or with other text in front.
func partBefore(text string, first keyRun) (r keyRun, ok bool) {
	from := max(0, first.start-maxSwallowed)
	from = wideSet.back(text, from, maxSwallowed)
	lexer := keyLexer{text: text, at: from}
	end := from
	for {
		next, more := lexer.next(12, first.start)
		if !more || next.start >= first.start {
			break
		}
		r, end = next, next.end
	}
	return r, end > from && r.random(text) && !hashed(text, r) && !identified(text, r) && !labelled(text[end:first.start])
}

// same reports whether two runs have one width, ignoring the plus sign of a diff.
func same(a, b keyRun) bool {
	return a.width == b.width || a.plus && a.width-1 == b.width || b.plus && b.width-1 == a.width
}

// labelled reports whether the text between two runs separates them: dashes, a label, a marker.
func labelled(gap string) bool {
	if strings.Contains(gap, "---") || strings.Contains(gap, markerHead) {
		return true
	}
	for _, word := range []string{"BEGIN", "begin ", "-Lines", "-MAC"} {
		if strings.Contains(gap, word) {
			return true
		}
	}
	return false
}

// hashed reports whether a run is marked as a hash: sha512-…, h1:…
func hashed(text string, r keyRun) bool {
	if digest(text[r.start:r.end]) {
		return true
	}
	if r.start == 0 || !isOneOf(text[r.start-1], ":-=") {
		return false
	}
	label := alnumSet.back(text, r.start-1, 10)
	for _, h := range []string{"h1", "sha1", "sha256", "sha384", "sha512", "md5", "blake3"} {
		if strings.EqualFold(text[label:r.start-1], h) {
			return true
		}
	}
	return false
}

// identified reports whether a run is an id or a hash by its name ("toolUseID": "…") or by its
// prefix (toolu_…).
func identified(text string, r keyRun) bool {
	if i := strings.IndexByte(text[r.start:min(r.end, r.start+12)], '_'); i > 1 && strings.Trim(text[r.start:r.start+i], "abcdefghijklmnopqrstuvwxyz") == "" {
		return true
	}
	i := r.start
	for i > 0 && r.start-i < 8 && isOneOf(text[i-1], "\"'`\\ ") {
		i--
	}
	if i == 0 || text[i-1] != ':' && text[i-1] != '=' {
		return false
	}
	for i--; i > 0 && r.start-i < 24 && isOneOf(text[i-1], "\"'`\\ "); {
		i--
	}
	var buf [maxName]byte
	name := lowered(buf[:], text[dashSet.back(text, i, maxName):i])
	return endsIn(name, []string{"id", "hash", "sha", "sha1", "sha256", "sha512", "digest", "checksum", "integrity", "etag", "signature", "nonce", "cursor", "fingerprint"}) > 0
}
