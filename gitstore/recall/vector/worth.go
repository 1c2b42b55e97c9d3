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

// Worth is what the vectors of a space add to a search by words, as trials with the memories
// themselves have shown.
type Worth struct {
	Weight float64 // of a rank among the nearest, where one of the lexical list has 1; 0 to maxWeight
	Alone  float64 // how good an answer the nearest are by themselves, 0 to 1
	Trials int     // that it rests on
	Rows   int     // vectors there were
}

const (
	maxWeight = 100
	maxWorth  = 1000     // bytes of the file
	worthFile = ".worth" // behind the name of the space's file
)

// Old reports whether so much has come or gone since that it is to be measured again.
func (w Worth) Old(rows int) bool { return 4*max(rows-w.Rows, w.Rows-rows) > w.Rows }

// minTrials is how many trials say something: of fewer, a lucky one would be worth several points.
// Without them the weight is 0: the nearest only follow what the words find.
const minTrials = 16

// Weigh measures what the vectors add to a search by words: see Try and recall.Weigh.
func (v *Store) Weigh(ctx context.Context, embed Embed, memories []record.Memory, lexical func(query string, n int) []string) (Worth, error) {
	trials, err := v.Try(ctx, embed, memories, lexical)
	w := Worth{Trials: len(trials), Rows: v.Rows()}
	if err == nil && len(trials) >= minTrials {
		w.Weight, w.Alone = recall.Weigh(trials)
	}
	return w, err
}

// Useless reports whether the nearest are hardly better than chance, and not to be shown at all.
// The mean nDCG@10 of a list by chance, where one memory is right, is the sum of its discounts,
// 4.5, by the number of memories.
func (w Worth) Useless() bool {
	return w.Trials >= minTrials && w.Alone < 0.1+4.5/float64(max(w.Rows, 1))
}

// format is the file of a worth: one line of version, birth of the vectors and numbers, and the
// CRC-32 of that.
func (w Worth) format(birth [birthSize]byte) string {
	line := fmt.Sprintf("reverie worth 1 %s %g %g %d %d\n", hex.EncodeToString(birth[:]), w.Weight, w.Alone, w.Trials, w.Rows)
	return line + fmt.Sprintf("%08x\n", crc32.ChecksumIEEE([]byte(line)))
}

// Worth is what was kept for the vectors as they are; known is false where that is nothing, or not
// to be believed.
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

// Keep keeps what was measured of the vectors as they are now, beside them. It fails with
// ErrDropped when they went meanwhile.
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
