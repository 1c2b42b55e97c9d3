package vector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// batch is how many texts a model is given at once: a server works through them one after the other.
const batch = 32

// ErrStop is wrapped by the error of an Embed that is not to be asked again now: Fill ends with what it has.
var ErrStop = errors.New("no more vectors are made now")

// Fill embeds what of some memories has no vector yet, at most limit texts, the first memories first; none is begun after
// the deadline, unless that is zero, and those at work then are broken off. Vectors of texts that none of the memories
// has go, and memories must therefore be all there are; those behind the first 50,000 texts, and fewer where vectors
// are long, get none.
//
// done is how many texts were given to the model and are kept; left how many are without, those that the model refused
// included. What was done is kept whatever becomes of the rest. That the deadline passed is no error; that ctx ended is, and so
// is what embed says.
func (v *Store) Fill(ctx context.Context, embed Embed, memories []record.Memory, limit int, deadline time.Time) (done, left int, err error) {
	if !v.file.born() {
		return 0, 0, ErrDropped
	}
	var wanted []key
	text := map[key]string{} // of those without a vector
	var missing []key
	seen := map[key]bool{}
	var buffer []byte
	for i := range memories {
		buffer = v.space.eachText(&memories[i], buffer, func(t []byte) {
			k := key(sha256.Sum256(t))
			if seen[k] || len(wanted) == v.room {
				return
			}
			seen[k] = true
			wanted = append(wanted, k)
			if !v.file.has(k) {
				missing = append(missing, k)
				text[k] = string(t)
			}
		})
	}
	run, cancel := ctx, context.CancelFunc(func() {})
	if !deadline.IsZero() {
		run, cancel = context.WithDeadline(ctx, deadline)
	}
	defer cancel()
	fresh := map[key]row{}
	for keys := range slices.Chunk(missing[:max(0, min(limit, len(missing)))], batch) {
		if run.Err() != nil || err != nil {
			break
		}
		err = v.ask(run, embed, keys, text, fresh)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case run.Err() != nil:
		err = nil
	}
	if e := v.save(ctx, wanted, fresh); e != nil {
		return 0, len(missing), errors.Join(err, e)
	}
	return len(fresh), len(missing) - len(fresh), err
}

// ask embeds some texts. Where the model refuses them together each is asked for alone, so that one which it cannot
// read does not keep its neighbours from it; when it refuses two of them one after the other, it answers nothing at all.
func (v *Store) ask(ctx context.Context, embed Embed, keys []key, text map[key]string, fresh map[key]row) error {
	err := v.askAll(ctx, embed, keys, text, fresh)
	if err == nil || ctx.Err() != nil || len(keys) == 1 || errors.Is(err, ErrStop) {
		return err
	}
	refused := 0
	for i := range keys {
		if err = v.askAll(ctx, embed, keys[i:i+1], text, fresh); err == nil {
			refused = 0
		} else if refused++; refused == 2 || ctx.Err() != nil || errors.Is(err, ErrStop) {
			return err
		}
	}
	return nil
}

func (v *Store) askAll(ctx context.Context, embed Embed, keys []key, text map[key]string, fresh map[key]row) error {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = text[k]
	}
	got, err := embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	if len(got) != len(texts) {
		return fmt.Errorf("embed: %d vectors for %d texts", len(got), len(texts))
	}
	for _, x := range got {
		if len(x) != v.space.Dim {
			return fmt.Errorf("embed: %d numbers in a vector, not %d", len(x), v.space.Dim)
		}
	}
	for i, x := range got {
		fresh[keys[i]] = quantise(x)
	}
	return nil
}
