package compress

import (
	"strings"
	"sync"
)

// lexicon finds a set of words in a line, in any case, in one pass. It builds its tables at first
// use, because every hook starts a new process.
type lexicon struct {
	words string // with | between them
	once  sync.Once
	by    [128][]string // ASCII words by their first letter; they begin a word of the line
	wide  []string      // others stand anywhere
}

func (l *lexicon) build() {
	for w := range strings.SplitSeq(l.words, "|") {
		if w[0] >= 0x80 {
			l.wide = append(l.wide, w)
		} else {
			l.by[w[0]] = append(l.by[w[0]], w)
		}
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func letter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }

func hasFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(s[i]) != word[i] {
			return false
		}
	}
	return true
}

// find returns the position of the first of the words in a line, or -1. A word within a camel-case
// name counts: TypeError.
func (l *lexicon) find(s string) int {
	l.once.Do(l.build)
	wide := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x80 {
			wide = true
			continue
		}
		c = lower(c)
		if l.by[c] == nil || i > 0 && letter(s[i-1]) && (s[i] >= 'a' || s[i-1] < 'a') && !coloured(s, i) {
			continue
		}
		for _, w := range l.by[c] {
			if hasFold(s[i:], w) && counts(s, i, i+len(w)) {
				return i
			}
		}
	}
	if wide {
		for _, w := range l.wide {
			if at := strings.Index(s, w); at >= 0 {
				return at
			}
		}
	}
	return -1
}

// coloured reports whether a terminal's colour precedes s[at]: ESC [ 3 1 m.
func coloured(s string, at int) bool {
	if s[at-1] != 'm' {
		return false
	}
	i := at - 2
	for i >= 0 && at-i < 16 && (s[i] >= '0' && s[i] <= '9' || s[i] == ';') {
		i--
	}
	return i >= 1 && s[i] == '[' && s[i-1] == 0x1b
}

// counts reports whether the word s[from:to] has its usual meaning: not "0 errors", "no error", or
// a part of a name of a file or a variable.
func counts(s string, from, to int) bool {
	before := strings.TrimRight(s[:from], " :=")
	if len(before) < from || from == 0 { // a separate word
		if n := len(before); n > 0 && before[n-1] == '0' && (n == 1 || before[n-2] < '0' || before[n-2] > '9') {
			return false
		}
		if n := len(before); n >= 2 && hasFold(before[n-2:], "no") && (n == 2 || !letter(before[n-3])) {
			return false
		}
	}
	for n := 0; n < 32 && to < len(s) && letter(s[to]); n++ {
		to++
	}
	if to == len(s) {
		return true
	}
	switch s[to] {
	case '_', '/':
		return false
	case '.':
		return to+1 == len(s) || !letter(s[to+1])
	}
	return true
}

var (
	// failures lists words about failures, and doubts lists words about possible problems.
	failures = &lexicon{words: "error|exception|fail|fatal|panic|traceback|segmentation fault|segfault|assert|core dumped|killed|err!|" +
		"错误|失败|异常|報錯|錯誤|失敗|エラー|例外|오류|실패|✗|✘|✖|❌|×"}
	doubts = &lexicon{words: "cannot|can't|could not|couldn't|not found|no such|denied|refused|timed out|timeout|undefined|unexpected|" +
		"invalid|missing|mismatch|unable to|unresolved|unknown|找不到|无法|無法|拒绝|見つかりません|できません|찾을 수 없"}
	// weighty lists words of prose worth keeping.
	weighty = &lexicon{words: "must|never|always|because|decide|decision|instead|important|warning|caveat|root cause|turned out|turns out|conclusion|" +
		"result|summary|fixed|breaks|broken|workaround|note:|todo|should|" +
		"必须|不要|不能|禁止|决定|因为|结论|重要|注意|原因|修复|解决|采用|必ず|決定|理由|結論|반드시|금지|결정|때문|중요|주의"}
)

// tells ranks a line: 2 for a failure, 1 for a doubt, 0 otherwise.
func tells(s string) int {
	switch {
	case failures.find(s) >= 0:
		return 2
	case doubts.find(s) >= 0:
		return 1
	}
	return 0
}

// tellsAt returns the position of a line's telling word, or -1.
func tellsAt(s string) int {
	if at := failures.find(s); at >= 0 {
		return at
	}
	return doubts.find(s)
}

// exits reports whether a line gives an exit code.
func exits(s string) bool {
	for i := 0; ; {
		at := strings.IndexAny(s[i:], "eE")
		if at < 0 {
			return false
		}
		if i += at; hasFold(s[i:], "exit") && (i == 0 || !letter(s[i-1])) {
			rest := s[i+len("exit"):]
			if hasFold(rest, "ed") {
				rest = rest[2:]
			}
			if rest = strings.TrimLeft(rest, " :="); hasFold(rest, "code") || hasFold(rest, "status") || hasFold(rest, "with") {
				return true
			}
		}
		i++
	}
}

// shape returns a hash of a line without its numbers: lines of one shape say the same of different
// things.
func shape(s string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h, digits := uint64(offset), false
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' {
			if digits {
				continue
			}
			c, digits = '0', true
		} else {
			digits = false
		}
		h = (h ^ uint64(c)) * prime
	}
	return h
}
