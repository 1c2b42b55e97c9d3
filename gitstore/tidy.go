package gitstore

import "context"

// ours are the refs whose objects Tidy packs, beside the store's own.
const ours = "refs/reverie"

// Tidy packs the loose objects of our refs when there are so many that the user's next git gc
// --auto would be due partly because of us. It looks into one folder of objects and returns if that
// is not so. It touches no object that our refs do not reach, and never runs gc. packed is the
// number of objects that went into a pack.
func (s *Store) Tidy(ctx context.Context) (packed int, err error) {
	due, err := s.repo.LooseDue(ctx)
	if err != nil || !due || s.repo.Collecting() {
		return 0, err
	}
	_, unlock, err := s.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return s.repo.PackLoose(ctx, s.ref, ours)
}
