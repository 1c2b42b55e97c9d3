package record

import "strings"

// offeredMark begins the id of each session that Offer names.
const offeredMark = "offered-"

// AgentWish and the agent's name are the reason of an operation that an agent asked for.
const AgentWish = "an agent wants it remembered: "

// Offer returns the id for a session whose transcript was read at an agent's request. An agent can
// write any file, so such a session supports nothing: its lessons wait for a person.
func Offer(session string) string { return offeredMark + session }

// Offered reports whether a session's transcript was read at an agent's request. The mark is part
// of the id, so it holds in sessions, reflections and sightings. A person's own reading of the same
// transcript is another session.
func Offered(session string) bool { return strings.HasPrefix(session, offeredMark) }
