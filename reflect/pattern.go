package reflect

import "github.com/reverie-memory/reverie/internal/pattern"

// lazy is a pattern that is compiled when it is first used.
func lazy(expr string) *pattern.Pattern { return pattern.New(expr) }

// set is the set of the words of a text.
func set(text string) *pattern.Words { return pattern.NewWords(text) }
