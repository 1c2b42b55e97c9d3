package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Variants: a command that never worked, and another spelling of the same job that did,
// with nothing edited between. What disproved the first is its error.

// window is how many acts may lie between a command that failed and the one that took its
// place.
const window = 8

// findVariants looks for a command that failed and a variant of it that succeeded soon after.
func findVariants(v *view) []finding {
	succeeded := map[string]bool{} // at some time
	eventually := func(s step) bool { return succeeded[s.dir+"\x00"+s.key] }
	for _, a := range v.acts {
		if !a.edit && a.outcome == transcript.OK {
			succeeded[a.step.dir+"\x00"+a.step.key] = true
		}
	}
	var out []finding
	for i, f := range v.acts {
		if f.edit || f.outcome != transcript.Failed || eventually(f.step) || !worthFixing(f.step) || namesSource(f.step) || !f.step.portable() || f.step.words[0] == "git" {
			continue
		}
		sig := v.sign(i)
		if !sig.env || redacted.MatchString(sig.text) {
			continue
		}
		for j, a := range v.acts[i+1 : min(len(v.acts), i+1+window)] {
			if a.agent != f.agent {
				continue
			}
			if a.edit || changesGround(a.step, sig) {
				break
			}
			if a.step.dir != f.step.dir || !a.step.portable() || !variant(f.step, a.step) {
				continue
			}
			// Another error of the code itself shows as well that the first is gone.
			if a.outcome == transcript.OK || a.outcome == transcript.Failed && eventually(a.step) && !v.sign(i+1+j).env {
				c := record.Candidate{
					Kind:     record.Failure,
					Text:     "Run `" + show(a.step, "") + "`, not `" + show(f.step, f.step.dir) + "`: that " + v.fails(f, sig) + ".",
					Body:     "Seen in one session: the first failed, the second succeeded right after, with nothing edited between.",
					Topic:    "how to run " + jobOf(f.step),
					How:      record.Seen,
					Evidence: []record.Evidence{v.quoteError(f, sig), v.quoteCommand(a)},
				}
				if f.step.dir != "" {
					c.Paths = []string{f.step.dir + "/**"}
				}
				out = append(out, finding{Candidate: c})
				break
			}
		}
	}
	return out
}

// changesGround tells whether a command between two variants may be what made the second work.
func changesGround(s step, sig signature) bool {
	return !readOnly.Has(s.words[0]) && (prepares(s, sig) && !projectRunner(s) || changes(s))
}

// variant tells whether b does the job of a in another spelling: through a runner or with
// flags added; never with a narrower aim.
func variant(a, b step) bool {
	if a.key == b.key || narrow(b) && !narrow(a) {
		return false
	}
	switch a.words[0] {
	case "python", "pip", "python3", "pip3": // which name this machine has is no knowledge of the project
		if b.words[0] == a.words[0]+"3" || b.words[0]+"3" == a.words[0] {
			return false
		}
	}
	// The runner in front: `poetry run pytest`, `mise exec -- golangci-lint run`, `npx tsc`.
	if strings.HasSuffix(b.key, " "+a.key) && len(b.words) > len(a.words) {
		return true
	}
	if len(a.words) == 1 && !projectRunner(a) {
		return false
	}
	// Flags added, in order: `npm install --legacy-peer-deps`, `go test -tags integration ./...`.
	i := 0
	for _, w := range b.words {
		if i < len(a.words) && w == a.words[i] {
			i++
		}
	}
	if i == len(a.words) && b.words[0] == a.words[0] {
		for _, w := range b.words[1:] {
			if strings.HasPrefix(w, "-") && !strings.Contains(" "+a.key+" ", " "+w+" ") {
				return !lookFlag.Has(w)
			}
		}
	}
	return false
}

var lookFlag = set("--help -h --version -V --dry-run -n --list -l --debug --watch")

// jobOf is the job of a command, or the command's own name.
func jobOf(s step) string {
	if p := purpose(s); p != "" {
		return p
	}
	return fTopic(s)
}
