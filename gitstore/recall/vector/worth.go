package vector

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/file"
)

// Worth is the gain from a space's vectors over a word search, measured in trials with the memories
// themselves.
type Worth struct {
	Weight float64 // of a rank among the nearest, relative to the lexical list; 0 to maxWeight
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

// Weigh measures the gain of the vectors over a word search: see Try and recall.Weigh.
func (v *Store) Weigh(ctx context.Context, embed Embed, memories []record.Memory, lexical func(query string, n int) []string) (Worth, error) {
	trials, err := v.Try(ctx, embed, memories, lexical)
	w := Worth{Trials: len(trials), Rows: v.Rows()}
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
	line := fmt.Sprintf("reverie worth 1 %s %g %g %d %d\n", hex.EncodeToString(birth[:]), w.Weight, w.Alone, w.Trials, w.Rows)
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
	if _, err := fmt.Sscanf(string(text), "reverie worth %d %s %g %g %d %d", &version, &birth, &w.Weight, &w.Alone, &w.Trials, &w.Rows); err != nil {
		return Worth{}, false
	}
	if w.format(v.content.birth) != string(text) || !(w.Weight >= 0 && w.Weight <= maxWeight) || !(w.Alone >= 0 && w.Alone <= 1) {
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
