//go:build race

package e2e

// underRace tells that this process runs under the race detector. It is large then, and the system
// counts its size as that of every program it starts.
const underRace = true
