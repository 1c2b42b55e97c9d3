package terms

import "github.com/reverie-memory/reverie/internal/pattern"

// stop are words without content: articles, pronouns, prepositions, auxiliaries, question words. It
// lacks no, not, never, up, down, off, all, before and after, which may be the point of a rule.
var stop = pattern.NewWords(`a an the and or but if then than so of to in into for with at by from as about via on
	is are was were be been being am do does did doing done have has had having can could should would will shall may might must
	i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
	this that these those there here who whom whose which what when where why how
	also just such very too
	im ive ill id youre youve weve were theyre its thats whats hes shes lets isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt
	cant couldnt shouldnt wouldnt wont`)

// IsStop reports whether a word, in lower case and without an apostrophe, is a stop word.
func IsStop(word string) bool { return stop.Has(word) }
