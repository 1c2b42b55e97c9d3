package dream

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// orderSessions is the number of distinct sessions that turn a repeated order into a proposal.
const orderSessions = 4

// orderKey returns the subject of an order, independent of its wording: the sorted stems of its
// words, without common ones if two others remain. It is "" for orders that say nothing about a
// project ("fix the tests").
func orderKey(text string) string {
	var key, common []string
	made := false
	text = numbered.ReplaceAllString(text, " ")
	text = pullRequest.ReplaceAllString(strings.ToLower(notWords.ReplaceAllString(text, " ")), "pr")
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !isLetter(r) && r != '\'' }) {
		w = wording.Stem(strings.Trim(w, "'"))
		switch {
		case w == "" || orderStop.has(w) || slices.Contains(key, w) || slices.Contains(common, w):
		case making.has(w):
			made = true
		case daily.has(w):
			common = append(common, w)
		default:
			key = append(key, w)
		}
	}
	if len(key) == 0 {
		return ""
	}
	if len(key) == 1 {
		key = append(key, common...)
	}
	if len(key) == 1 && made {
		key = append(key, "make")
	}
	if len(key) < 2 {
		return ""
	}
	slices.Sort(key)
	return strings.Join(key, " ")
}

// notWords matches addresses, paths, options and symbols.
var notWords = pattern.New(`\S*(?:[/\\@<>=_#]|\w\.\w|\d)\S*|(?:^|\s)-\S+`)

var (
	// numbered matches an item of a list by its label and number. The next list has another one.
	numbered = pattern.New(`\S+\s+(?:#\S*\d|\d+\b)\S*`)

	pullRequest = pattern.New(`\bpull requests?\b|\bprs\b`)

	orderStop = stems{text: `a an the this that these those it its them their please can could would will you your me my i we us our to for of in on at by with
		from into as is are be been now then also just so again too up out all and or let go there here new same any some what which back next first current currently get`}
	making = stems{text: `make create open add write log file raise submit generate prepare put do`}
	daily  = stems{text: `pr commit push run test fix check change update remove delete review implement plan start continue proceed issue error code bug
		problem look read find explain show give try merge pull git branch use need want work thing yes no help see tell stop wait retry build
		ahead doc document investigate analyze feature proposal suggestion task step option phase finding idea think file folder message question
		ask answer carefully again properly correctly more project repo repository codebase main master latest upstream origin`}
)

// order counts an order. Once orderSessions sessions have it, it becomes an operation, which a
// person always decides.
func (p *planner) order(r record.Reflection, c record.Candidate) {
	key := orderKey(c.Text)
	if key == "" || record.Offered(r.Session) {
		return
	}
	if p.orders == nil {
		p.orders = map[string][]past{}
		for _, old := range p.in.Considered {
			for _, o := range old.Candidates {
				if k := orderKey(o.Text); o.Detector == record.Order && k != "" && !record.Offered(old.Session) {
					p.orders[k] = append(p.orders[k], past{sighting: sighting(old, o), phrase: phrase{text: o.Text}})
				}
			}
		}
	}
	p.orders[key] = append(p.orders[key], past{sighting: sighting(r, c), phrase: phrase{text: c.Text}})
	var said []record.Sighting
	uses := map[string]int{}
	best := c.Text
	for _, o := range p.orders[key] {
		said = join(said, o.sighting)
		uses[o.text]++
		if n := uses[o.text] - uses[best]; n > 0 || n == 0 && (len(o.text) < len(best) || len(o.text) == len(best) && o.text < best) {
			best = o.text
		}
	}
	if record.Sessions(said) < orderSessions {
		return
	}
	same := func(text string) bool { return orderKey(text) == key }
	if slices.ContainsFunc(p.in.Rejected, func(x record.Rejection) bool { return slices.ContainsFunc(x.Statements(), same) }) {
		return
	}
	if slices.ContainsFunc(p.known, func(k known) bool { return same(k.Text) }) {
		return
	}
	if i := slices.IndexFunc(p.pending, func(q pending) bool { return !q.withdrawn && same(q.op.Memory.Text) }); i >= 0 {
		p.bearOut(&p.pending[i], r, c)
		return
	}
	c.Text = best
	op := record.NewOperation(record.Operation{
		Op: record.Add, How: c.How, Memory: p.memory(r, c), Sightings: said, Proposed: p.in.Now.UTC().Truncate(time.Second),
		Why: fmt.Sprintf("asked for in %d sessions", record.Sessions(said)),
	})
	p.pending = append(p.pending, pending{op: op, phrase: phraseOf(best), fresh: true, changed: true})
}
