package record

import (
	"fmt"
	"strings"
	"time"
)

// Checkpoint records a session's results at one moment: before compaction, at a stop, or on
// request.
type Checkpoint struct {
	Client  string    `json:"client"`
	Session string    `json:"session"`
	N       int       `json:"n"`      // from 1, in each session
	Reason  string    `json:"reason"` // compaction or asked
	Time    time.Time `json:"time"`
	Commit  string    `json:"commit,omitempty"` // the code's HEAD
	Branch  string    `json:"branch,omitempty"` // the code's branch
	Files   []string  `json:"files,omitempty"`  // changed since the session began
	Text    string    `json:"text"`             // Markdown: intent, settled and open points
}

// Name is "<client>/<session>#<n>".
func (c Checkpoint) Name() string { return fmt.Sprintf("%s/%s#%d", c.Client, c.Session, c.N) }

// CheckpointDir is the folder of checkpoints in a tree.
const CheckpointDir = "checkpoints"

// Path returns the checkpoint's path in its tree.
func (c Checkpoint) Path() string {
	shard := newID(c.Client+"-"+c.Session, "", "")[:2]
	return fmt.Sprintf("%s/%s/%s/%s-%s-%d.json", CheckpointDir, month(c.Time), shard, c.Client, c.Session, c.N)
}

// Format returns the checkpoint's text form.
func (c Checkpoint) Format() ([]byte, error) { return formatJSON(c) }

// ParseCheckpoint reads the text form of the checkpoint at path.
func ParseCheckpoint(at string, data []byte) (Checkpoint, error) {
	var c Checkpoint
	if err := parseJSON(at, data, &c); err != nil {
		return Checkpoint{}, err
	}
	if c.N < 1 || c.Client == "" || c.Session == "" || strings.ContainsAny(c.Client+c.Session, "/\\ \n") {
		return Checkpoint{}, &FormatError{Path: at, Reason: "client, session and n do not name a checkpoint"}
	}
	if at != c.Path() {
		return Checkpoint{}, &FormatError{Path: at, Reason: "belongs at " + c.Path()}
	}
	return c, nil
}
