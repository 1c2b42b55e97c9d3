package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// literalSet finds any of many strings in one pass. A bitmap over the hash of four bytes marks
// possible starts, and a sorted list per four bytes identifies the string. It costs about a
// nanosecond per byte, plus a binary search at each possible start.
type literalSet struct {
	bits    [1 << 10]uint64 // 64 Ki bits
	buckets map[uint32][]literal
	careful bool // short literals do not count inside a longer word
}

type literal struct {
	text   string
	prefix int // index in the bucket of the longest other literal that is its prefix, or -1
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// newLiteralSet returns a set of the values and their JSON-escaped, URL-encoded and base64 forms,
// or nil if it is empty. It omits values shorter than 4 bytes.
func newLiteralSet(values []string) *literalSet {
	set := &literalSet{buckets: make(map[uint32][]literal)}
	seen := make(map[string]bool)
	add := func(v string) {
		if len(v) < 4 || seen[v] {
			return
		}
		seen[v] = true
		k := four(v, 0)
		set.buckets[k] = append(set.buckets[k], literal{text: v})
		h := hash16(k)
		set.bits[h>>6] |= 1 << (h & 63)
	}
	for _, v := range values {
		if seen[v] {
			continue
		}
		add(v)
		if len(v) >= 8 {
			// Without the last characters, which depend on the text after the value.
			add(base64.StdEncoding.EncodeToString([]byte(v[:len(v)-len(v)%3])))
		}
		if alnumSet.run(v, 0, len(v)) == len(v) {
			continue // as it is everywhere
		}
		if quoted, err := json.Marshal(v); err == nil {
			add(string(quoted[1 : len(quoted)-1]))
		}
		add(escaper.Replace(v))
		add(url.QueryEscape(v))
		add(url.PathEscape(v))
	}
	if len(set.buckets) == 0 {
		return nil
	}
	for _, bucket := range set.buckets {
		slices.SortFunc(bucket, func(a, b literal) int { return strings.Compare(a.text, b.text) })
		for i := range bucket {
			j := i - 1
			for j >= 0 && !strings.HasPrefix(bucket[i].text, bucket[j].text) {
				j = bucket[j].prefix
			}
			bucket[i].prefix = j
		}
	}
	return set
}

// find appends the occurrences of the literals in text to found. With an empty rule each gets the
// rule of the span of found whose text it repeats, or else ruleLiteral.
func (set *literalSet) find(text, rule string, found []span) []span {
	var rules map[string]string
	if rule == "" {
		rules = make(map[string]string, len(found))
		for _, f := range found {
			rules[text[f.start:f.end]] = f.rule
		}
	}
	for i := 0; i+4 <= len(text); i++ {
		k := four(text, i)
		if h := hash16(k); set.bits[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		n := longestPrefix(set.buckets[k], text[i:])
		if n == 0 || set.careful && n < 10 && partOfWord(text, i, i+n) {
			continue
		}
		name := rule
		if name == "" {
			if name = rules[text[i:i+n]]; name == "" {
				name = ruleLiteral
			}
		}
		found = append(found, span{i, i + n, name})
		i += n - 1
	}
	return found
}

// partOfWord reports whether letters or digits go on before or after text[start:end].
func partOfWord(text string, start, end int) bool {
	return !boundary(text, start) || end < len(text) && sets[alnumSet].has(text[end])
}

// longestPrefix returns the length of the longest literal of a sorted bucket that text begins with.
func longestPrefix(bucket []literal, text string) int {
	i, exact := slices.BinarySearchFunc(bucket, text, func(l literal, t string) int { return strings.Compare(l.text, t) })
	if exact {
		return len(bucket[i].text)
	}
	for j := i - 1; j >= 0; j = bucket[j].prefix {
		if strings.HasPrefix(text, bucket[j].text) {
			return len(bucket[j].text)
		}
	}
	return 0
}

func four(s string, i int) uint32 {
	_ = s[i+3]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

func hash16(k uint32) uint32 { return k * 0x9E3779B1 >> 16 }
