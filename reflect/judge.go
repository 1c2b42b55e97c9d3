package reflect

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/claim"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Bounds of a model's answer, in bytes and in entries.
const (
	maxBody     = 1000
	minQuote    = 12
	maxFound    = 8 // paths of a candidate
	maxFault    = 240
	maxFaults   = 8
	maxFindPath = 200
	maxQuoted   = 360
)

// A judgement holds the accepted parts of one answer, and the reasons against the rest.
type judgement struct {
	passed  []statementRead
	refused map[string]int
	faults  []string // of form, worded for the model
	dropped []string // those of unreadable items
	usable  bool     // something passed, or was refused for its content and not its form
}

func (v *judgement) fault(format string, args ...any) {
	if len(v.faults) < maxFaults {
		v.faults = append(v.faults, cut.Marked(fmt.Sprintf(format, args...), maxFault))
	}
}

// judge examines an answer about the events of a part. It trusts nothing. An accepted item has the
// form of a candidate, rests on words in shown events, and counts only as a model's reading.
func (r *reader) judge(answer json.RawMessage, part []line) judgement {
	v := judgement{refused: map[string]int{}}
	a, err := prompts.DecodeReflect(answer)
	if err != nil {
		var faults prompts.Faults
		if !errors.As(err, &faults) {
			faults = prompts.Faults{err.Error()}
		}
		for _, f := range faults {
			v.fault("%s", f)
		}
		return v
	}
	for _, f := range a.Dropped {
		v.fault("%s", f)
		v.dropped = append(v.dropped, cut.Marked(f, maxFault))
		v.refused["wrong form"]++
	}
	events := map[int]*transcript.Event{}
	for _, l := range part {
		if e := r.shown[l.N]; e != nil {
			events[l.N] = e
		}
	}
	v.usable = len(a.Candidates) == 0
	for i, c := range a.Candidates {
		got, why := r.candidate(c, events, &v, i+1)
		if why == "" {
			v.passed = append(v.passed, got)
		} else {
			v.refused[why]++
		}
		v.usable = v.usable || !ofForm(why)
	}
	return v
}

// ofForm reports whether a model can mend a fault by answering again.
func ofForm(why string) bool {
	switch why {
	case "unknown kind", "unknown scope", "unknown confidence", "not one line", "too long", "no evidence", "evidence not verbatim":
		return true
	}
	return false
}

// candidate makes the candidate of one item of an answer, or returns why not. n is its number in
// the answer.
func (r *reader) candidate(in prompts.ReflectCandidate, events map[int]*transcript.Event, v *judgement, n int) (statementRead, string) {
	c := record.Candidate{Kind: record.Kind(in.Kind), Text: strings.TrimSpace(in.Text), Body: strings.TrimSpace(in.Body), How: record.Model, Detector: "model"}
	switch {
	case !c.Kind.Valid():
		v.fault("candidate %d: there is no kind %q", n, in.Kind)
		return statementRead{}, "unknown kind"
	case in.Scope != "repository" && in.Scope != "task":
		v.fault("candidate %d: there is no scope %q", n, in.Scope)
		return statementRead{}, "unknown scope"
	case in.Sure != "low" && in.Sure != "medium" && in.Sure != "high":
		v.fault("candidate %d: there is no confidence %q", n, in.Sure)
		return statementRead{}, "unknown confidence"
	case in.Scope == "task":
		return statementRead{}, "for one task"
	case in.Sure == "low":
		return statementRead{}, "unsure"
	case c.Text == "" || strings.ContainsAny(c.Text, "\n\r"):
		v.fault("candidate %d: text is not one line", n)
		return statementRead{}, "not one line"
	case len(c.Text) > maxStatement || len(c.Body) > maxBody:
		v.fault("candidate %d: text has %d bytes, body %d; they may have %d and %d", n, len(c.Text), len(c.Body), maxStatement, maxBody)
		return statementRead{}, "too long"
	case !visibleText(c.Text) || !visibleText(c.Body):
		return statementRead{}, "hidden characters"
	case redacted.MatchString(c.Body):
		return statementRead{}, "redacted"
	}
	var cited []*transcript.Event
	for _, e := range in.Evidence {
		event := events[e.Event]
		if event == nil {
			v.fault("candidate %d: there is no event %d among those shown", n, e.Event)
			v.refused["quote of no event"]++
			continue
		}
		quote, ok := r.quoted(event, e.Quote)
		if !ok {
			v.fault("candidate %d: %q does not stand so in event %d, or is shorter than %d bytes", n, cut.Marked(e.Quote, 80), e.Event, minQuote)
			v.refused["quote not verbatim"]++
			continue
		}
		cited = append(cited, event)
		for _, other := range events { // a call and its result belong together
			if other.CallID != "" && other.CallID == event.CallID && other.Agent == event.Agent && other != event {
				cited = append(cited, other)
			}
		}
		c.Evidence = mergeEvidence(c.Evidence, []record.Evidence{{Event: event.N, Quote: quote, Time: event.Time}})
	}
	if len(in.Evidence) == 0 {
		v.fault("candidate %d: evidence is missing", n)
	}
	if why := r.gate.refuse(c); why != "" {
		if why == "no evidence" && len(in.Evidence) > 0 {
			why = "evidence not verbatim"
		}
		return statementRead{}, why
	}
	own, lang := unquoted(c.Text), language(c.Text)
	if why := refuseSaid(&sentence{lang: lang, Claim: claim.Claim{Asks: claim.Asks(own)}}, own); why != "" {
		return statementRead{}, why
	}
	print := record.Print(c.Text)
	for _, known := range r.known {
		if known.Same(print) {
			return statementRead{}, "known"
		}
	}
	if invented(c.Text+"\n"+c.Body, cited, events) {
		return statementRead{}, "not in the session"
	}
	if !aboutThem(c.Text, cited) {
		return statementRead{}, "unrelated evidence"
	}
	c.Paths = pathsNamed(in.Paths, events)
	return statementRead{Candidate: c, print: print, sure: in.Sure == "high"}, ""
}

// visibleText reports whether a text has no unseen characters.
func visibleText(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
}

// quotable returns the fields of an event that may be quoted.
func quotable(e *transcript.Event) []string { return []string{e.Text, e.Command, e.Old, e.New} }

// quoted returns the words of an event that match a quote. A run of white space counts as one
// space; everything else must be equal. A quote contains a word, and if shorter than minQuote it
// must be a whole field. Words that clients put into the event cannot be quoted.
func (r *reader) quoted(e *transcript.Event, quote string) (string, bool) {
	quote = strings.TrimSpace(quote)
	if len(quote) > 4*maxQuoted || !strings.ContainsFunc(quote, isWordRune) {
		return "", false
	}
	i, found := r.gate.view.index(e.N)
	if !found {
		return "", false
	}
	for at, text := range quotable(e) {
		if len(quote) < minQuote && strings.TrimSpace(text) != quote {
			continue
		}
		words, ok := stretch(text, quote)
		if !ok {
			words, ok = colourless(text, quote)
		}
		if !ok {
			continue
		}
		// The shown text omits the clients' words, so its pieces adjoin where the event's do not.
		if words = excerpt(words); strings.Contains(quotable(&r.gate.view.events[i])[at], words) {
			return words, true
		}
	}
	return "", false
}

// stretch returns a part of a text that has the words of a quote, separated by any white space. It
// is linear in the text.
func stretch(text, quote string) (string, bool) {
	words := strings.Fields(quote)
	want := strings.Join(words, " ")
	if want == "" {
		return "", false
	}
	if at := strings.Index(text, want); at >= 0 {
		return text[at : at+len(want)], true
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			return "", false
		}
	}
	var flat strings.Builder // text with single spaces
	var from []int           // the position of each of its bytes in text
	space := false
	for i, r := range text {
		if unicode.IsSpace(r) {
			if !space {
				flat.WriteByte(' ')
				from = append(from, i)
			}
			space = true
			continue
		}
		space = false
		_, size := utf8.DecodeRuneInString(text[i:])
		flat.WriteString(text[i : i+size])
		for n := range size {
			from = append(from, i+n)
		}
	}
	at := strings.Index(flat.String(), want)
	if at < 0 {
		return "", false
	}
	return text[from[at] : from[at+len(want)-1]+1], true
}

// unquoted returns a statement in a form that shows whether it is self-contained.
func unquoted(text string) string {
	return hereInRepo.ReplaceAllString(verbatim.ReplaceAllString(text, "quoted words"), "in the repository$1")
}

// aboutThem reports whether a statement shares a meaningful word with its cited events. For scripts
// without spaces, two neighbouring letters count. A correct quote may still have nothing to do with
// the statement.
func aboutThem(text string, cited []*transcript.Event) bool {
	var runes []rune
	if unspaced.MatchString(text) {
		runes = []rune(text)
	}
	for _, e := range cited {
		all := strings.Join(append(quotable(e), e.Paths...), "\n")
		if sharedWords(text, all) > 0 {
			return true
		}
		for i := 0; i+1 < len(runes); i++ {
			if pair := string(runes[i : i+2]); isWordRune(runes[i]) && isWordRune(runes[i+1]) && unspaced.MatchString(pair) && strings.Contains(all, pair) {
				return true
			}
		}
	}
	return false
}

// colourless is stretch for a text with colour codes, which a model does not see and a quote does
// not have. It returns the longest part without them.
func colourless(text, quote string) (string, bool) {
	if !strings.ContainsRune(text, '\x1b') {
		return "", false
	}
	pieces := ansi.Split(text, -1)
	clean := strings.Join(pieces, "")
	words, ok := stretch(clean, quote)
	if !ok {
		return "", false
	}
	from := strings.Index(clean, words)
	to := from + len(words)
	best, at := "", 0
	for _, piece := range pieces {
		start, end := max(from-at, 0), min(to-at, len(piece))
		at += len(piece)
		if start < end {
			if part := strings.TrimSpace(piece[start:end]); len(part) > len(best) {
				best = part
			}
		}
	}
	return best, len(best) >= minQuote
}

var (
	codeSpan = lazy("`+[^`]+`+")
	// webPlace matches an address, with or without a scheme.
	webPlace = lazy(`(?i)\b[a-z][a-z0-9+.-]*://[^\s<>"'` + "`" + `)\]]+|\bwww\.[^\s<>"'` + "`" + `)\]]+|\b(?:[a-z0-9-]+\.)+[a-z]{2,}/[^\s<>"'` + "`" + `)\]]*|` +
		`\b(?:\d{1,3}\.){3}\d{1,3}\b[^\s<>"'` + "`" + `)\]]*|[\w.+-]+@[\w-]+\.[\w.-]+`)
	// commandLine matches a command without code marks: a program with an argument that only a command
	// has, or a pipe into an interpreter.
	commandLine = lazy(`(?i)\b(?:curl|wget|sudo|(?:ba|z|da)?sh|rm|dd|chmod|chown|eval|nc|ncat|ssh|scp|rsync|base64|openssl|powershell|pwsh|` +
		`iex|iwr|python3?|perl|ruby|npx|npm|pnpm|yarn|pip3?|docker|kubectl|git|crontab|systemctl)(?:\s+[\w.:=@/-]+)?\s+(?:-{1,2}\w|[~/$"'|]|\.{1,2}/)\S*|` +
		`\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b`)
)

// invented reports whether a text has an invented part: an address or a command that is in no cited
// event and did not run, or a name in code marks that is in no shown event.
func invented(text string, cited []*transcript.Event, shown map[int]*transcript.Event) bool {
	stands := func(what string, e *transcript.Event) bool {
		for _, field := range quotable(e) {
			if _, ok := stretch(field, what); ok {
				return true
			}
		}
		for _, p := range e.Paths {
			if strings.Contains(p, what) {
				return true
			}
		}
		return false
	}
	quoted := func(what string) bool {
		for _, e := range cited {
			if stands(what, e) {
				return true
			}
		}
		for _, e := range shown {
			if _, ran := stretch(e.Command, what); ran && e.Kind == transcript.Call {
				return true
			}
		}
		return false
	}
	for _, m := range codeSpan.FindAllString(text, -1) {
		what := strings.TrimSpace(strings.Trim(m, "`"))
		if what == "" || quoted(what) {
			continue
		}
		if strings.ContainsAny(what, " \t\n|;&$<>(){}") {
			return true // a command, or more than a name
		}
		anywhere := false
		for _, e := range shown {
			anywhere = anywhere || stands(what, e)
		}
		if !anywhere {
			return true
		}
	}
	for _, form := range []*pattern.Pattern{webPlace, commandLine} {
		for _, what := range form.FindAllString(strings.ReplaceAll(text, "`", " "), -1) {
			if !quoted(strings.TrimRight(what, ".,;:!?")) {
				return true
			}
		}
	}
	return false
}

var globMark = lazy(`[*?\[{]`)

// pathsNamed returns the paths of a candidate that the session names, relative and within the
// repository.
func pathsNamed(paths []string, shown map[int]*transcript.Event) []string {
	var out []string
	for _, p := range paths {
		p = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(p), "./"), "/")
		if p == "" || len(p) > maxFindPath || path.IsAbs(p) || !visibleText(p) || strings.ContainsAny(p, "\\\n\t~:") || path.Clean(p) != p || strings.HasPrefix(p, "..") {
			continue
		}
		literal := p
		if at := globMark.FindStringIndex(p); at != nil {
			literal = p[:at[0]]
		}
		if len(literal) < 2 || len(out) == maxFound {
			continue
		}
		for _, e := range shown {
			if standsPath(literal, e) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func standsPath(p string, e *transcript.Event) bool {
	for _, text := range append(quotable(e), e.Paths...) {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
