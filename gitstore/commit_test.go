package gitstore_test

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A secret enters no part of a commit's message, whether found by a pattern or by a value that only
// the caller knows.
func TestMessageHoldsNoSecret(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	value := "blue-7-whale-frobnicator"
	r := testrepo.New(t)
	s := create(t, r)
	c := gitstore.Commit{
		Subject: "edit: " + token + " " + value, Body: token + "\n" + value,
		Trailers: []gitstore.Trailer{{"Reverie-Reason", "leaked " + token}, {"Reverie-Session", "demo/" + value}},
		Scanner:  redact.New(value),
	}
	res, err := s.Update(t.Context(), c, func(tx *gitstore.Tx) error { return tx.Write("x", text("y")) })
	if err != nil {
		t.Fatal(err)
	}
	got := r.Run("log", "-1", "--format=%B", branch)
	if strings.Contains(got, token) || strings.Contains(got, value) {
		t.Errorf("message:\n%s", got)
	}
	if !strings.HasPrefix(got, "edit: ") || !strings.Contains(got, "\nReverie-Reason: leaked ") || !strings.Contains(got, "\nReverie-Session: demo/") {
		t.Errorf("message:\n%s", got)
	}
	if log := r.Run("reflog", "-1", "--format=%gs", branch); strings.Contains(log, value) {
		t.Errorf("reflog of %s: %s", res.Commit, log)
	}
}
