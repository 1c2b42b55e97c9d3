package mcpconn

import (
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// debts holds the calls of a connection without a written answer.
type debts struct {
	mu    sync.Mutex
	calls map[jsonrpc.ID]bool // whose answer is not being written either
	owed  int
	fewer chan struct{} // closed and replaced when owed falls
}

func newDebts() *debts { return &debts{calls: map[jsonrpc.ID]bool{}, fewer: make(chan struct{})} }

// add records a call, unless one has its id.
func (d *debts) add(id jsonrpc.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls[id] {
		return false
	}
	d.calls[id] = true
	d.owed++
	return true
}

// pay removes a call, because its answer is about to be written, and reports whether it existed.
// Its id may then be used again. Call paid when the answer is written.
func (d *debts) pay(id jsonrpc.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.calls[id]
	delete(d.calls, id)
	return was
}

// paid records that an answer was written, or never will be.
func (d *debts) paid() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owed--
	close(d.fewer)
	d.fewer = make(chan struct{})
}

// left returns the number of pending answers, and a channel that is closed when it falls.
func (d *debts) left() (fewer <-chan struct{}, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fewer, d.owed
}

// drop removes the calls that no handler is answering.
func (d *debts) drop() []jsonrpc.ID {
	d.mu.Lock()
	defer d.mu.Unlock()
	given := slices.Collect(maps.Keys(d.calls))
	clear(d.calls)
	d.owed -= len(given)
	return given
}
