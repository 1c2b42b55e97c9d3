package brief

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/block"
)

// The block with its markers, the line that counts the rest and any line ends stays within
// maxBlock, and uses most of it.
func TestBlockKeepsItsLimit(t *testing.T) {
	for _, length := range []int{10, 100, 400} {
		var memories []Item
		for i := range 3000 {
			memories = append(memories, Item{Memory: record.Memory{ID: fmt.Sprintf("%016x", i), Kind: record.Fact, Status: record.Active, Text: strings.Repeat("x", length)}})
		}
		body := Markdown(memories, MaxBody, 0)
		attributes := "v1 tree=" + strings.Repeat("0", 64) + " at=2026-11-21T09:00:00Z sum=0123456789abcdef withheld=99999"
		for _, before := range []string{"a", "a\r\nb"} {
			got := len(block.Find(before).Put(before, attributes, body)) - len(before)
			if got > maxBlock || got < maxBlock-2*(length+100)-500 {
				t.Errorf("statements of %d after %q: the block has %d bytes", length, before, got)
			}
		}
		if !strings.Contains(body, " more are not shown here") {
			t.Errorf("statements of %d: nothing tells what is left out", length)
		}
	}
}
