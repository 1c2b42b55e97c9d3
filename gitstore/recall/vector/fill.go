package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// batch is the number of texts in one call of the model: a server embeds them one after the other.
const batch = 32

// textKey is a key without its memory.
type textKey = [keySize - idSize]byte

// ErrStop is wrapped by an Embed that must not be called again now: Fill ends with its work so far.
var ErrStop = errors.New("no more vectors are made now")

// Fill embeds the texts of memories that lack a vector, at most limit of them, in order. A nonzero
// deadline stops it, even during a call. memories must be complete, because vectors of other texts
// are dropped. Only the first 100,000 texts get vectors, and fewer if vectors are long.
//
// done counts the texts embedded and stored; left counts those without a vector, including refused
// ones. An error does not undo finished work. The deadline is no error; the end of ctx and an error
// of embed are.
func (v *Store) Fill(ctx context.Context, embed Embed, memories []record.Memory, limit int, deadline time.Time) (done, left int, err error) {
	if !v.content.born() {
		return 0, 0, ErrDropped
	}
	had := v.content.all()
	known := make(map[textKey]value, len(had)) // a text that two memories share is embedded once
	for k, x := range had {
		known[k.text()] = x
	}
	var wanted []key
	fresh := map[key]value{}
	text := map[textKey]string{} // without a vector
	var missing []textKey
	seen := map[key]bool{}
	for i := range memories {
		v.space.eachText(&memories[i], func(k key, t []byte) {
			if seen[k] || len(wanted) == v.room {
				return
			}
			seen[k] = true
			wanted = append(wanted, k)
			_, has := had[k]
			x, same := known[k.text()]
			_, asked := text[k.text()]
			switch {
			case has || asked:
			case same:
				fresh[k] = x
			default:
				missing = append(missing, k.text())
				text[k.text()] = string(t)
			}
		})
	}
	run, cancel := ctx, context.CancelFunc(func() {})
	if !deadline.IsZero() {
		run, cancel = context.WithDeadline(ctx, deadline)
	}
	defer cancel()
	got := map[textKey]value{}
	for keys := range slices.Chunk(missing[:max(0, min(limit, len(missing)))], batch) {
		if run.Err() != nil || err != nil {
			break
		}
		err = v.ask(run, embed, keys, text, got)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case run.Err() != nil:
		err = nil
	}
	for _, k := range wanted {
		if x, ok := got[k.text()]; ok {
			fresh[k] = x
		}
	}
	if e := v.save(ctx, wanted, had, fresh); e != nil {
		return 0, len(missing), errors.Join(err, e)
	}
	return len(got), len(missing) - len(got), err
}

// ask embeds some texts. If the model refuses a batch, ask retries each text alone, so that one bad
// text does not block the others. Two refusals in a row mean that the model answers nothing.
func (v *Store) ask(ctx context.Context, embed Embed, keys []textKey, text map[textKey]string, got map[textKey]value) error {
	err := v.askAll(ctx, embed, keys, text, got)
	if err == nil || ctx.Err() != nil || len(keys) == 1 || errors.Is(err, ErrStop) {
		return err
	}
	refused := 0
	for i := range keys {
		if err = v.askAll(ctx, embed, keys[i:i+1], text, got); err == nil {
			refused = 0
		} else if refused++; refused == 2 || ctx.Err() != nil || errors.Is(err, ErrStop) {
			return err
		}
	}
	return nil
}

func (v *Store) askAll(ctx context.Context, embed Embed, keys []textKey, text map[textKey]string, got map[textKey]value) error {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = text[k]
	}
	vectors, err := v.space.embed(ctx, embed, texts)
	for i, x := range vectors {
		got[keys[i]] = x
	}
	return err
}

// embed embeds texts, and rejects an answer of the wrong shape.
func (s Space) embed(ctx context.Context, embed Embed, texts []string) ([]value, error) {
	got, err := embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	if len(got) != len(texts) {
		return nil, fmt.Errorf("embed: %d vectors for %d texts", len(got), len(texts))
	}
	out := make([]value, len(got))
	for i, x := range got {
		if len(x) != s.Dim {
			return nil, fmt.Errorf("embed: %d numbers in a vector, not %d", len(x), s.Dim)
		}
		out[i] = quantise(x)
	}
	return out, nil
}
