package gitstore_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Check names every file with missing content by its path; none hides the next.
func TestCheckNamesFilesWithoutContent(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := testrepo.New(t, "--object-format="+format)
		s := create(t, r)
		write(t, s, map[string]string{"memories/a": "1", "memories/b": "2", "memories/c/d": "3"})
		for _, path := range []string{"memories/a", "memories/c/d"} {
			r.Lose(r.Run("rev-parse", branch+":"+path))
		}
		for _, deep := range []bool{false, true} {
			var paths []string
			if err := s.Check(t.Context(), deep, func(p gitstore.Problem) {
				if p.Path != "" && !slices.Contains(paths, p.Path) {
					paths = append(paths, p.Path)
				}
			}); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{"memories/a", "memories/c/d"}, paths); diff != "" {
				t.Errorf("%s, deep=%t (-want +got):\n%s", format, deep, diff)
			}
		}
	}
}
