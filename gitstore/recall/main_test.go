package recall

import (
	"os"
	"testing"
)

// TestMain is also the processes that TestWritersAndReadersRace starts.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RECALL_TEST_INDEX"); dir != "" {
		indexProcess(dir)
		return
	}
	os.Exit(m.Run())
}
