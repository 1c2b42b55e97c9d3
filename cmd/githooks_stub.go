package cmd

import (
	"context"
	"os"
)

// examined is a row of doctor's.
type examined struct {
	What, State, Detail, Fix string
	mend                     func(context.Context) error
}

// hookProgram is the path by which hooks call this program.
func hookProgram() (string, error) { return os.Executable() }
