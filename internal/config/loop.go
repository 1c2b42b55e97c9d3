package config

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
