package reflect

import "github.com/reverie-memory/reverie/internal/pattern"

// lazy is a pattern that is compiled when it is first used.
func lazy(expr string) *pattern.Pattern { return pattern.New(expr) }
