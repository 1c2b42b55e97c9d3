package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// An order asks for one thing in a few words: "open a draft PR". One order states nothing. The same
// order in session after session is an unstated rule; dream counts them.

// Bounds of orders.
const (
	maxOrder      = 100 // bytes
	minOrderWords = 2
	maxOrderWords = 9
	maxOrders     = 8 // per session
)

var (
	orderParts = lazy(`\s*[,;.!?]\s+|\s+(?:and|then|und|et|y|e)\s+`)
	orderLead  = lazy(`(?i)^(?:(?:ok(?:ay)?|now|then|also|and|please|pls|(?:can|could|would|will) you|let'?s|i want you to|i'?d like you to|i need you to|` +
		`go ahead and|you (?:can|should|need to)|we (?:need|have) to|great|good|nice|perfect|cool|yes|yep|yeah|sure|thanks?|so|first|next|finally|just)\b[ ,.!:-]*|no(?:[,.!:]+| +-) *)+`)
	orderTail = lazy(`(?i)\s+(?:please|pls|thanks?|thx|for me)$`)
	// reporting matches "lint fails", which asks for something else each time
	reporting = lazy(`(?i)\s(?:fail(?:s|ed|ing)?|(?:is |are )?broken|crash(?:es|ed)?|hangs?)$`)
	// halves matches a part of an order that says nothing alone: "until you either finish"
	halves    = lazy(`(?i)\sn?either\s|^\w+ly \w+ing\s`)
	notOrders = set(`i it its we this that there what why is are does do did the a an yes no how where when who which if maybe you he she
		they my your our not still in on at for of with but because seems looks oh hmm here these those before after as by than to all or nor`)
)

// findOrders returns a person's short orders, each as a weak candidate. It finds none in languages
// without spaces between words.
func findOrders(v *view) []finding {
	var out []finding
	seen := map[string]bool{}
	for i := range v.sentences {
		s := &v.sentences[i]
		if s.Lasts || s.Proposed() || s.lang == "zh" || s.lang == "ja" || s.theirs || s.Pasted {
			continue
		}
		whole := v.events[s.event].Text[s.From:s.To]
		if len(whole) > 2*maxOrder {
			continue
		}
		for _, part := range orderParts.Split(strings.TrimRight(whole, ".!? "), -1) {
			order := strings.TrimSpace(part[len(orderLead.FindString(part)):])
			order = order[:len(order)-len(orderTail.FindString(order))]
			words := strings.Fields(order)
			if len(order) > maxOrder || len(words) < minOrderWords || len(words) > maxOrderWords || notOrders.Has(strings.ToLower(words[0])) || reporting.MatchString(order) || halves.MatchString(order) {
				continue
			}
			text := finish(oneLine(order))
			if seen[text] {
				continue
			}
			seen[text] = true
			said := v.quote(s.event, order)
			if said.Doubt != "" {
				break
			}
			said.Doubt = record.Passing
			out = append(out, finding{Candidate: record.Candidate{
				Kind: record.Workflow, Text: text, How: record.Said, Weak: true, Evidence: []record.Evidence{said},
			}})
			if len(out) == maxOrders {
				return out
			}
		}
	}
	return out
}
