package learn

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/prompts"
)

// unusable records the questions with unusable answers, so that a model is not asked forever.
type unusable struct {
	Model  string         `json:"model"`  // digest; another model starts with an empty list
	Failed map[string]int `json:"failed"` // hash of a session's events, or name of a dream → attempts
}

const (
	unusableFile = "unread.json"
	maxAttempts  = 2
	maxFailed    = 10_000 // longer lists are dropped
	aDream       = "dream "
)

// openUnusable reads the record of a model, or of the last one if m is nil.
func openUnusable(state string, m *prompts.Model) *unusable {
	u := &unusable{}
	data, err := file.Read(filepath.Join(state, unusableFile), 4<<20)
	if err != nil || json.Unmarshal(data, u) != nil || m != nil && u.Model != m.Digest || len(u.Failed) > maxFailed {
		*u = unusable{}
		if m != nil {
			u.Model = m.Digest
		}
	}
	if u.Failed == nil {
		u.Failed = map[string]int{}
	}
	return u
}

// enough reports whether a question failed too often to be asked again.
func (u *unusable) enough(question string) bool { return u.Failed[question] >= maxAttempts }

// add counts a failed attempt.
func (u *unusable) add(l *Learner, question string) error {
	u.Failed[question]++
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return l.Repo.State().Write(unusableFile, data, false)
}

// GivenUp counts the sessions about which a model, or the last one if m is nil, is not asked again.
func GivenUp(state string, m *prompts.Model) int {
	u, n := openUnusable(state, m), 0
	for question := range u.Failed {
		if u.enough(question) && !strings.HasPrefix(question, aDream) {
			n++
		}
	}
	return n
}
