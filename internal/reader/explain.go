package reader

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/unseen"
)

// Explain says where a score comes from: the rank in each list, and the share of each term.
func (h Hit) Explain(lists []string) string {
	if len(lists) < 2 && h.Score == 0 {
		return "nothing to score: the newest first"
	}
	if len(lists) < 2 {
		return digits(h.Score) + " = " + h.terms()
	}
	var parts []string
	for _, list := range lists {
		if rank, ok := h.Ranks(lists)[list]; ok {
			parts = append(parts, list+" "+strconv.Itoa(rank))
		}
	}
	line := strconv.FormatFloat(h.Score, 'f', 4, 64) + " = " + strings.Join(parts, " + ")
	if h.Kept {
		line = ListLexical + " " + strconv.Itoa(h.Lexical) + ", where it stays: it has no vector"
	}
	if h.Lexical > 0 {
		line += "; " + ListLexical + " " + digits(h.Own) + " = " + h.terms()
	}
	if h.Near > 0 {
		line += "; likeness " + digits(h.Likeness)
	}
	return line
}

// terms writes a lexical score as a sum of the terms and parts of the ranking, with its factors.
func (h Hit) terms() string {
	var parts []string
	for _, p := range h.Words {
		parts = append(parts, unseen.Visible(p.String())+" "+digits(p.Score))
	}
	p := h.Parts
	for _, part := range []struct {
		name  string
		score float64
	}{{"characters", p.Characters}, {"spelling", p.Grams}, {"neighbours", p.Near}, {"one passage", p.Passage}, {"same session", p.Beside}, {"same file", p.SameFile}} {
		if part.score >= 0.005 {
			parts = append(parts, part.name+" "+digits(part.score))
		}
	}
	sum := strings.Join(parts, " + ")
	factor := func(f float64, name string) {
		if f != 1 && f != 0 {
			if strings.Contains(sum, " + ") && !strings.HasSuffix(sum, ")") {
				sum = "(" + sum + ")"
			}
			sum = digits(f) + " " + name + " × " + sum
		}
	}
	factor(p.Prior, "age")
	factor(p.Files, "files")
	if s := h.Caveats; s.Stale || s.Withheld {
		factor(Doubt, "doubt")
	}
	return sum + "; covers " + strconv.Itoa(int(100*h.Covered+0.5)) + " %"
}

// digits returns a number with two digits after the point.
func digits(f float64) string { return fmt.Sprintf("%.2f", f) }
