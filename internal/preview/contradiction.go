package preview

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Contradiction is a pair of statements that cannot both hold.
type Contradiction struct {
	One   Claim `json:"one"`
	Other Claim `json:"other"`
}

// Claim is a statement and its place.
type Claim struct {
	Text string `json:"text"`
	At   string `json:"at"` // file:line, or the session in which a person said it
	in   string // the file; statements of one file are not compared
}

// person is the place of what a person said.
const person = "person"

// maxClaims bounds the statements that are compared each with each.
const maxClaims = 600

// compare looks for contradictions between the files of agents, and with the rules of a person.
func (p *Preview) compare(ctx context.Context, from Source, scan *redact.Scanner) error {
	q, err := intake.Query(ctx, from.Clone)
	if err != nil {
		return err
	}
	var claims []Claim
	for _, r := range p.Rules {
		claims = append(claims, Claim{Text: r.Text, At: said(r), in: person})
	}
	claims = claims[:min(len(claims), maxClaims/2)]
	for _, tool := range foreign.Files {
		found, err := foreign.Read(ctx, tool, q)
		if err != nil && !errors.Is(err, foreign.ErrNone) {
			continue // an import reports the reason
		}
		p.Statements += len(found.Items)
		for _, i := range found.Items[:min(len(found.Items), maxClaims-len(claims))] {
			text, _ := scan.Text(strings.Join(strings.Fields(i.Text), " "))
			at, _ := scan.Text(cmp.Or(i.At, tool))
			claims = append(claims, Claim{text.String(), at.String(), at.String()[:max(0, strings.LastIndexByte(at.String(), ':'))]})
		}
	}
	var texts []string
	for _, c := range claims {
		text := c.Text
		if c.in == person {
			text, _, _ = strings.Cut(text, ": ") // a reason names the refused thing again
		}
		texts = append(texts, text)
	}
	for _, pair := range dream.Conflicts(texts) {
		one, other := claims[pair[0]], claims[pair[1]]
		if one.in != other.in {
			p.Contradictions = append(p.Contradictions, Contradiction{one, other})
		}
	}
	return nil
}

// said tells where a person stated a rule.
func said(r Statement) string {
	if r.Time.IsZero() {
		return "you, " + r.Agent
	}
	return "you, " + r.Agent + ", " + r.Time.Format(time.DateOnly)
}
