package record

import "strings"

// offeredMark begins the id of each session that Offer names.
const offeredMark = "offered-"

// Offer returns the id under which a session is kept if its transcript was read at an agent's wish.
// An agent can write any file, so such a session bears nothing out: what it teaches waits for a
// person.
func Offer(session string) string { return offeredMark + session }

// Offered reports whether a session's transcript was read at an agent's wish. The mark is part of
// the id, so it holds in sessions, reflections and sightings alike, and a person's own reading of
// the same transcript is another session.
func Offered(session string) bool { return strings.HasPrefix(session, offeredMark) }
