// Package record is what Reverie keeps and its text form: memories, operations, reflections,
// dreams and checkpoints.
package record

// Kind is what sort of knowledge a memory holds.
type Kind string

const (
	Convention Kind = "convention" // how things are done here
	Decision   Kind = "decision"   // a choice, with its reason
	Constraint Kind = "constraint" // what must or must never be
	Preference Kind = "preference" // what one person likes; private by default
	Pattern    Kind = "pattern"    // a shape that recurs in the code
	Workflow   Kind = "workflow"   // steps or commands that do a job
	Failure    Kind = "failure"    // what went wrong, and what put it right or disproved it
	Fact       Kind = "fact"       // how something is
	Note       Kind = "note"       // anything else
)

// How says by what right a statement is kept.
type How string

const (
	Said    How = "said"    // a person's own words, in a top-level session
	Seen    How = "seen"    // commands and their outcomes
	Model   How = "model"   // a language model's reading of a session
	Written How = "written" // typed by a person for Reverie, or imported
)
