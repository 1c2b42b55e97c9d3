package mcp

import (
	"bytes"
	"strings"
	"testing"
)

// A defect in one call ends that call.
func TestPanicEndsOneCall(t *testing.T) {
	var log bytes.Buffer
	c := &call{Server: Server{Log: &log}, ctx: t.Context()}
	if _, err := c.run(tool{name: "recall", run: func(*call) (string, error) { panic("oh") }}); err == nil || !strings.Contains(err.Error(), "a defect of Reverie: oh") || log.Len() == 0 {
		t.Error(err)
	}
}
