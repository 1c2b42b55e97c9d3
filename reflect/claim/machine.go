package claim

import "github.com/reverie-memory/reverie/internal/pattern"

// machineSigns match sentences that programs and agents write but people do not type: places in
// files, sections, severities, arrows, status emoji, and dashes between names of code.
var (
	machineSigns = pattern.New(`[\w/-]+\.[a-zA-Z]{1,4}:\d+|§|[→⇒≥≤↳└├│✓✔✗✘•]|^(?:p?npm|yarn) (?i:err!|error|warn|notice)\s|^\W*(?:(?i:minor|major|critical|nit|nitpick|blocker|severity|high|medium|low|info|warning)\b\W{0,3}:\s+\p{Lu}|\p{So}|[0-9a-f]{7,12} \p{Lu})|` +
		`\b(?:At|On|Line|Lines|line|lines) L?\d{2,}\b`)
	spacedDash = pattern.New(` [—–] |\w—\w`)
)

// foreignScript matches letters of scripts whose writers use dashes and arrows in everyday text.
var foreignScript = pattern.New(`[\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]`)

// machine reports whether a sentence reads like the output of a program, or like an agent's or a
// reviewer's finding.
func (s *Sentence) machine() bool {
	if foreignScript.MatchString(s.text) {
		return false
	}
	names := 0
	for _, t := range s.tokens {
		if t.shape >= symbol && t.shape <= path {
			names++
		}
	}
	return names > 7 || names > 1 && spacedDash.MatchString(s.text) || machineSigns.MatchString(s.text)
}
