package gitstore

import "context"

// ours is the prefix of the refs whose objects Tidy packs, along with the store's own.
const ours = "refs/reverie"

// Tidy packs the loose objects of our refs once they could trigger the user's next git gc --auto.
// It counts one folder of objects and returns if there are few. It touches no object that our refs
// do not reach, and never runs gc. packed counts the packed objects.
func (s *Store) Tidy(ctx context.Context) (packed int, err error) {
	due, err := s.repo.Upkeep().LooseDue(ctx)
	if err != nil || !due || s.repo.Upkeep().Collecting() {
		return 0, err
	}
	_, unlock, err := s.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return s.repo.Upkeep().PackLoose(ctx, s.ref, ours)
}
