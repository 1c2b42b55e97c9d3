package config

import (
	"math"
	"slices"
)

// Loop holds the defaults of a loop. A limit of 0 means unlimited.
type Loop struct {
	Agent         string // for coding; empty: the command line names it
	Audit         string // shell command that looks for defects
	AuditAgent    string // agent that does
	AuditModel    string // local model that does, or the agent's model
	MaxIterations int
	MinAudits     int
	MaxErrors     int      // of one phase in a row
	Stall         int      // seconds without output
	MaxStalls     int      // in a row
	MaxRepeats    int      // consecutive iterations without a new tree
	BlockOn       []string // severities that prevent the end of a loop
	MaxFile       int      // bytes of a committed file
	StartOn       []string // commits of a plan that start a loop: branch, trailer
}

// severities lists the words of loop.block-on.
var severities = []string{"bug", "warning", "suggestion"}

// lowerLimit lets a team lower a limit, or set one that is 0 (unlimited).
func lowerLimit(limit *int, v any) error {
	n, err := number(v, 0, math.MaxInt32)
	if err == nil && n > 0 && (*limit == 0 || n < *limit) {
		*limit = n
	}
	return err
}

// setLimit sets a limit; 0 means unlimited.
func setLimit(limit *int, v any) (err error) {
	*limit, err = number(v, 0, math.MaxInt32)
	return err
}

// moreOf lets a team add words to a list.
func moreOf(list *[]string, v any, allowed ...string) error {
	more, err := words(v, allowed...)
	for _, w := range more {
		if !slices.Contains(*list, w) {
			*list = append(slices.Clone(*list), w)
		}
	}
	return err
}
