package vector

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/file"
)

// Worth is the gain from a space's vectors over a word search, measured in trials with the memories
// themselves.
type Worth struct {
	Weight float64 // of a rank among the nearest, relative to the lexical list; 0 to maxWeight
	Alike  float64 // likeness of texts that mean the same; 0: the model does not tell. See meaning
	Alone  float64 // how good an answer the nearest are by themselves, 0 to 1
	Trials int     // number of trials behind it
	Rows   int     // vectors there were
}

const (
	maxWeight = 100
	maxWorth  = 1000     // bytes of the file
	worthFile = ".worth" // behind the name of the space's file
)

// Old reports whether so many vectors changed that the worth must be measured again.
func (w Worth) Old(rows int) bool { return 4*max(rows-w.Rows, w.Rows-rows) > w.Rows }

// minTrials is the minimum for a result: with fewer, a lucky one would be worth several points.
// Below it the weight is 0, so that the nearest only follow the lexical hits.
const minTrials = 16

// meant is the least weight for a model that knows English. Trials cannot show that: they ask with
// the memories' own words. docs/decisions/0051 has the figures.
const meant = 0.7

// Trust returns the weight for a query, and the number of words that recall.Fuse needs.
func Trust(w Worth, query string) (weight float64, words int) {
	foreign := func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }
	if w.Alike == 0 || strings.ContainsFunc(query, foreign) {
		return w.Weight, 0
	}
	return max(w.Weight, meant), len(strings.Fields(query))
}

// Weigh measures the gain of the vectors over a word search, and whether the model knows what words
// mean: see Try, recall.Weigh and meaning.
func (v *Store) Weigh(ctx context.Context, embed Embed, memories []record.Memory, lexical func(query string, n int) []string) (Worth, error) {
	trials, err := v.Try(ctx, embed, memories, lexical)
	w := Worth{Trials: len(trials), Rows: v.Rows()}
	if err == nil {
		w.Alike, err = meaning(ctx, v.space, embed)
	}
	if err == nil && len(trials) >= minTrials {
		w.Weight, w.Alone = recall.Weigh(trials)
	}
	return w, err
}

// Useless reports whether the nearest are hardly better than chance, so that they should not be
// shown. The mean nDCG@10 of a random list with one right memory is the sum of its discounts, 4.5,
// divided by the number of memories.
func (w Worth) Useless() bool {
	return w.Trials >= minTrials && w.Alone < 0.1+4.5/float64(max(w.Rows, 1))
}

// format returns the file of a worth: one line of version, birth of the vectors and numbers, and
// the CRC-32 of that.
func (w Worth) format(birth [birthSize]byte) string {
	line := fmt.Sprintf("reverie worth 2 %s %g %g %g %d %d\n", hex.EncodeToString(birth[:]), w.Weight, w.Alike, w.Alone, w.Trials, w.Rows)
	return line + fmt.Sprintf("%08x\n", crc32.ChecksumIEEE([]byte(line)))
}

// Worth returns the stored measurement for the current vectors; known is false if there is no valid
// one.
func (v *Store) Worth() (w Worth, known bool) {
	if v.Empty() {
		return w, false
	}
	text, err := file.Read(v.path()+worthFile, maxWorth)
	if err != nil {
		return w, false
	}
	var version int
	var birth string
	if _, err := fmt.Sscanf(string(text), "reverie worth %d %s %g %g %g %d %d", &version, &birth, &w.Weight, &w.Alike, &w.Alone, &w.Trials, &w.Rows); err != nil {
		return Worth{}, false
	}
	if w.format(v.content.birth) != string(text) || !(w.Weight >= 0 && w.Weight <= maxWeight) || !(w.Alone >= 0 && w.Alone <= 1) || !(w.Alike >= 0 && w.Alike <= 1) {
		return Worth{}, false
	}
	return w, true
}

// Keep stores a measurement of the current vectors with them. It fails with ErrDropped if they were
// dropped meanwhile.
func (v *Store) Keep(ctx context.Context, w Worth) error {
	w.Rows = v.Rows()
	unlock, err := file.LockPath(ctx, filepath.Join(v.dir, lockName))
	if err != nil {
		return fmt.Errorf("keep the worth of vectors: %w", err)
	}
	defer unlock()
	if now := v.read(); !now.born() || now.birth != v.content.birth {
		return ErrDropped
	}
	if err := file.Replace(v.path()+worthFile, []byte(w.format(v.content.birth)), 0o600, false); err != nil {
		return fmt.Errorf("keep the worth of vectors: %w", err)
	}
	return nil
}

// paraphrases are pairs of phrases with one meaning and hardly a word in common, one a line.
const paraphrases = `install the dependencies|add the required packages
sign in fails|users cannot log on
the picture is too large|reduce the size of the image
delete an account|remove a user
send a message by email|deliver mail to someone
run the tests before merging|check that nothing broke prior to integration
the program stops unexpectedly|the process crashes
make the page load faster|improve the speed of the website
store passwords safely|keep credentials secret
undo the last change|revert to the previous version
the server does not respond|the host is unreachable
translate the interface|localise the texts
copy the database every night|nightly backup of all data
which colour do buttons have|style of clickable elements
too many requests per minute|rate limit exceeded
a spelling mistake in the manual|typo in the documentation
write to the log|record what happened in a trace
the disk is full|no space left on the device
pay with a card|payment by credit
memory use keeps growing|a leak consumes ever more RAM`

const (
	knowsMost = 0.75 // share of the pairs that a model which knows English must find
	closeness = 0.85 // of texts that mean the same: 0 is the mean of other pairs, 1 that of these
)

// meaning asks a model for the vectors of paraphrases. It returns the likeness from which two texts
// mean the same, or 0 if the model cannot tell most of the pairs from others.
func meaning(ctx context.Context, s Space, embed Embed) (float64, error) {
	document, _ := s.prompts()
	pairs := strings.Split(paraphrases, "\n")
	var texts []string
	for _, pair := range pairs {
		one, other, _ := strings.Cut(pair, "|")
		texts = append(texts, s.Query(one), document+other)
	}
	got, err := s.embed(ctx, embed, texts)
	if err != nil {
		return 0, err
	}
	found, same, other := 0, 0.0, 0.0
	for i := range pairs {
		own, best := likeness(got[2*i], got[2*i+1]), true
		same += own
		for k := range pairs {
			if l := likeness(got[2*i], got[2*k+1]); k != i {
				other += l
				best = best && l < own
			}
		}
		if best {
			found++
		}
	}
	n := float64(len(pairs))
	if float64(found) < knowsMost*n {
		return 0, nil
	}
	same, other = same/n, other/(n*(n-1))
	return max(0, other+closeness*(same-other)), nil
}
