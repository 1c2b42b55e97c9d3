package record

import (
	"cmp"
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
	Reason  string    `json:"reason"` // one of the constants below
	Time    time.Time `json:"time"`
	Commit  string    `json:"commit,omitempty"` // the code's HEAD
	Branch  string    `json:"branch,omitempty"` // the code's branch
	Files   []string  `json:"files,omitempty"`  // changed since the session began
	Text    string    `json:"text"`             // Markdown: open points, then intent and settled ones
}

// Reasons for a checkpoint. A session has at most one with a reason of the last three.
const (
	Asked       = "asked"
	Compaction  = "compaction"
	Unfinished  = "unfinished"  // the session stopped with work left
	Uncommitted = "uncommitted" // it stopped with nothing left but to commit its changes
	Finished    = "finished"    // it stopped with nothing left; settles older ones of the branch
)

// AskedHeading begins the section of Text with the requests, behind the open points.
const AskedHeading = "## Asked"

// Stop reports whether the checkpoint was made because the session stopped.
func (c Checkpoint) Stop() bool {
	return c.Reason == Unfinished || c.Reason == Uncommitted || c.Reason == Finished
}

// Open reports whether the checkpoint leaves work, with a full commit id as HEAD. Changes that only
// had to be committed are settled by the next commit.
func (c Checkpoint) Open(head string) bool {
	switch c.Reason {
	case Finished:
		return false
	case Uncommitted:
		return strings.HasPrefix(head, c.Commit)
	}
	return true
}

// Latest returns the newest of some checkpoints on a branch of the code.
func Latest(all []Checkpoint, branch string) (last Checkpoint, found bool) {
	for _, c := range all {
		if c.Branch == branch && (!found || cmp.Or(c.Time.Compare(last.Time), cmp.Compare(c.N, last.N), strings.Compare(c.Name(), last.Name())) > 0) {
			last, found = c, true
		}
	}
	return last, found
}

// Points returns the part of Text before the requests: a note, and the open points.
func (c Checkpoint) Points() string {
	points, _, _ := strings.Cut(c.Text, AskedHeading)
	return strings.TrimSpace(points)
}

// Request returns the last request in Text, or "".
func (c Checkpoint) Request() (last string) {
	in := false
	for line := range strings.Lines(c.Text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			in = line == AskedHeading
		case in && strings.HasPrefix(line, "- "):
			last = line[2:]
		}
	}
	return last
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
