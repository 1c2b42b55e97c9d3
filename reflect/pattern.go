package reflect

import "github.com/reverie-memory/reverie/internal/pattern"

// lazy returns a pattern that is compiled at first use.
func lazy(expr string) *pattern.Pattern { return pattern.New(expr) }

// set returns the set of the words of a text.
func set(text string) *pattern.Words { return pattern.NewWords(text) }

var (
	concrete = lazy("`[^`]+`")
	report   = lazy(`(?i)^(?:(?:i|we)(?:'ve| have)? (?:just )?(?:added|fixed|updated|changed|created|implemented|finished)|` +
		`all tests pass|done\b|fixed\b|updated\b|added\b)`)
	transient = lazy(`(?i)/tmp/|/var/folders|/private/|\bpid \d+|(?:\b(?:build|job|run|pipeline|ticket|order) #?|#)\d{5,}\b|\b[0-9a-f]{12,40}\b|\b20\d\d-\d\d-\d\d\b`)
	counted   = lazy(`\b\d{5,}\b`) // an id of output; a person names ports and limits too
	vague     = lazy(`(?i)^(?:always |never |please )*(?:be (?:careful|smart|precise|thorough|patient|honest|more careful)|` +
		`think(?: (?:hard|carefully|deeply|step by step|first|before.*|harder))?|do (?:your best|it right|` +
		`this|that|it|better)|try (?:harder|again|your best)|pay attention|double[- ]check(?: (?:everything|` +
		`your work))?|check(?: (?:everything|your work))?|take your time|give up|make mistakes?|stop|assume|` +
		`guess|trust)[.]?$`)
	redacted = lazy(`\[redacted:[^\]]*\]`)
)

// verbatim matches foreign words in a statement: quoted text, code, and names with inner dots or
// colons. A "here" at a clause's end means the repository.
var (
	verbatim   = lazy("`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|\\b\\w+(?:(?:\\.|::?)\\w+)+")
	hereInRepo = lazy(`(?i)\bhere([.,;:!)]|$)`)
)
