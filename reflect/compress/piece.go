package compress

import "strings"

// minSaved is the minimum saving of a shortened text, in bytes, and mostLeft its maximum remainder,
// in percent. Otherwise the loss to the reader is not worth it.
const (
	minSaved = 200
	mostLeft = 85
)

// markerRoom is the assumed size of a marker, in bytes.
const markerRoom = 40

// piece is a part of a text that is kept or dropped as a whole, usually a line.
type piece struct {
	text string
	cont bool // the next piece continues the same line
	goes gone // the count of dropped text if this is dropped
	made bool // one of our markers, with the size of its gap
	new  bool // it was made in this pass
}

func line(text string) piece { return piece{text: text, goes: gone{lines: 1}} }

// shorten repeats a pass until it saves too little, so that a second call changes nothing. Each
// pass drops a share of the text, so the total costs a few times the first. most is the maximum
// remainder, in percent.
func shorten(text string, most int, pass func([]piece) []piece) string {
	if len(text) < minSaved {
		return text
	}
	var now []piece
	body, ended := strings.CutSuffix(text, "\n")
	for l := range strings.SplitSeq(body, "\n") {
		now = append(now, line(l))
	}
	changed := false
	for {
		next := settle(pass(now))
		before, after := reckon(now), reckon(next)
		if before-after < minSaved || after*100 >= before*most {
			break
		}
		for i := range next {
			next[i].new = false
		}
		now, changed = next, true
	}
	if !changed {
		return text
	}
	text = join(now)
	if ended {
		text += "\n"
	}
	return text
}

func join(lines []piece) string {
	var b strings.Builder
	for i, p := range lines {
		b.WriteString(p.text)
		if i+1 < len(lines) && !p.cont {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func reckon(lines []piece) int {
	n := 0
	for _, p := range lines {
		if p.new {
			n += markerRoom + 1
		} else {
			n += len(p.text) + 1
		}
	}
	return n
}

// left returns the marker of a dropped piece: without text and not a line, so it cannot be
// confused.
func left(p piece) piece { return piece{cont: true, goes: p.goes, made: true} }

func (p piece) isLeft() bool { return p.made && p.cont }

// choose returns pieces without those not in keep. Gaps no longer than a marker are kept.
func choose(pieces []piece, keep []bool) []piece {
	out := make([]piece, 0, len(pieces))
	for i := 0; i < len(pieces); {
		end, n := i, 0
		for ; end < len(pieces) && !keep[end]; end++ {
			n += len(pieces[end].text) + 1
		}
		if end == i {
			out = append(out, pieces[i])
			i++
			continue
		}
		for ; i < end; i++ {
			if n <= markerRoom+1 {
				out = append(out, pieces[i])
			} else {
				out = append(out, left(pieces[i]))
			}
		}
	}
	return out
}

// settle joins pieces to lines again, and puts markers on lines of their own.
func settle(pieces []piece) []piece {
	var out []piece
	for i := 0; i < len(pieces); {
		if pieces[i].isLeft() {
			var sum gone
			for ; i < len(pieces) && pieces[i].isLeft(); i++ {
				sum = sum.add(pieces[i].goes)
			}
			out = append(out, piece{text: sum.marker(), goes: sum, made: true, new: true})
			continue
		}
		if pieces[i].made {
			out = append(out, pieces[i])
			i++
			continue
		}
		var b strings.Builder
		for more := true; more && i < len(pieces) && !pieces[i].isLeft(); i++ {
			b.WriteString(pieces[i].text)
			more = pieces[i].cont
		}
		out = append(out, line(b.String()))
	}
	return out
}

// cutting bounds a line and the kept parts of a longer one: its beginning, its end and a telling
// part in between, in bytes. If many lines are long, tail and tell are at most most.
type cutting struct{ most, head, tail, tell int }

var (
	manyLong = cutting{500, 240, 100, 160}
	fewLong  = cutting{2000, 1500, 450, 300} // for an output of a few lines
	anyLong  = cutting{250, 120, 50, 80}     // where it is tight
)

// fewLines bounds the number of long lines that count as few.
const fewLines = 3

func cuttingOf(lines []piece) cutting {
	long := 0
	for _, p := range lines {
		if !p.isLeft() && len(p.text) > manyLong.most {
			long++
		}
	}
	if long <= fewLines {
		return fewLong
	}
	return manyLong
}

// cutLines shortens long lines. For one overwritten repeatedly on a terminal only the last version
// counts, unless an earlier one is telling.
func cutLines(pieces []piece, c cutting, terminal bool) []piece {
	var out []piece
	for i, p := range pieces {
		if len(p.text) <= c.most || p.made || p.cont || i > 0 && pieces[i-1].cont && !pieces[i-1].made {
			out = append(out, p)
			continue
		}
		text := p.text
		if at := strings.LastIndexByte(text[:len(text)-1], '\r'); terminal && at > 0 && tells(text[:at]) == 0 {
			out = append(out, left(piece{goes: gone{bytes: at + 1}}))
			if text = text[at+1:]; len(text) <= c.most {
				out = append(out, line(text))
				continue
			}
		}
		head, tail := runeStart(text, c.head), runeStart(text, len(text)-c.tail)
		from, to := head, head
		if at := tellsAt(text[head:tail]); at >= 0 {
			from = runeStart(text, head+max(0, at-c.tell/4))
			to = runeStart(text, min(from+c.tell, tail))
		}
		switch {
		case to == from:
			out = append(out, line(text[:head]))
		case from-head > markerRoom:
			out = append(out, line(text[:head]), left(piece{goes: gone{bytes: from - head}}), line(text[from:to]))
		default:
			out = append(out, line(text[:to]))
		}
		if tail-to > markerRoom {
			out = append(out, left(piece{goes: gone{bytes: tail - to}}), line(text[tail:]))
		} else {
			out[len(out)-1] = line(out[len(out)-1].text + text[to:])
		}
	}
	return out
}
