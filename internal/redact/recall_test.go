package redact

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// recall counts all pairs of a secret and a carrier, and those in which nothing of the secret was
// left.
type recall struct{ hidden, all int }

func (r recall) rate() float64 { return float64(r.hidden) / float64(r.all) }

// measured is the result of one run over the corpus.
type measured struct {
	structured, overall recall
	byCarrier, byKind   map[string]recall
	misses              []string
}

func measureRecall(tb testing.TB, seed uint64) measured {
	r := rand.New(rand.NewPCG(seed, 1))
	m := measured{byCarrier: make(map[string]recall), byKind: make(map[string]recall)}
	var s Scanner
	for _, p := range plantedSecrets(r) {
		for _, c := range carriers {
			text := c.write(r, p)
			var out Redacted
			if c.json {
				var err error
				if out, _, err = s.JSON([]byte(text)); err != nil {
					tb.Fatalf("%s of %s: %v", c.name, p.kind, err)
				}
			} else {
				out, _ = s.Text(text)
			}
			needles := p.needles()
			if c.name == "base64" {
				needles = append(needles, strings.Fields(text)[2])
			}
			hidden := !slices.ContainsFunc(needles, func(n string) bool { return strings.Contains(out.String(), n) })
			if !hidden && len(m.misses) < 400 {
				m.misses = append(m.misses, fmt.Sprintf("%s in %s: %.300q", p.kind, c.name, out.String()))
			}
			count := func(r recall) recall {
				r.all++
				if hidden {
					r.hidden++
				}
				return r
			}
			m.overall = count(m.overall)
			if p.structured {
				m.structured = count(m.structured)
			}
			m.byCarrier[c.name] = count(m.byCarrier[c.name])
			m.byKind[p.kind] = count(m.byKind[p.kind])
		}
	}
	return m
}

func TestRecall(t *testing.T) {
	m := measureRecall(t, 1)
	for _, by := range []map[string]recall{m.byCarrier, m.byKind} {
		for _, k := range slices.Sorted(maps.Keys(by)) {
			t.Logf("%-22s %5.3f of %d", k, by[k].rate(), by[k].all)
		}
	}
	for _, miss := range m.misses {
		t.Log(miss)
	}
	t.Logf("structured %.4f of %d, overall %.4f of %d", m.structured.rate(), m.structured.all, m.overall.rate(), m.overall.all)
	if m.structured.rate() < 0.97 || m.overall.rate() < 0.95 {
		t.Errorf("recall %.4f structured, %.4f overall; want 0.97 and 0.95", m.structured.rate(), m.overall.rate())
	}
}
