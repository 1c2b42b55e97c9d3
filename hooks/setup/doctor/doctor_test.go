package doctor

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// The remedy for an index that is not stored follows the reason.
func TestIndexFaultHasTheRemedyOfItsReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{os.ErrPermission, "look who may write to x/cache"},
		{syscall.ENOSPC, "the disk is full"},
	} {
		all := Run(t.Context(), []Check{{"index", one(indexFault(fmt.Errorf("write: %w", c.err), "x/cache"))}})
		if !strings.HasPrefix(all[0].Fix, c.want) {
			t.Errorf("%v: %q", c.err, all[0].Fix)
		}
	}
}
