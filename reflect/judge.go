package reflect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/claim"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Bounds of a model's answer, in characters and in entries.
const (
	maxBody     = 1000
	minQuote    = 12
	minUnspaced = 4 // for minQuote, in scripts without spaces
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
	faults  []string // worded for the model
	mend    []string // refused items that the model can mend, each after its number
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
	dropped := map[int]bool{}
	for _, d := range a.Dropped {
		dropped[d.Index] = true
		v.fault("%s", d.Fault)
		v.refused[wrongForm]++
		v.mend = append(v.mend, fmt.Sprintf("candidates[%d]: %s", d.Index, d.Item))
	}
	events := map[int]*transcript.Event{}
	for _, l := range part {
		if e := r.shown[l.N]; e != nil {
			events[l.N] = e
		}
	}
	v.usable = len(a.Candidates) == 0
	n := -1 // place in the answer
	for _, c := range a.Candidates {
		for n++; dropped[n]; n++ {
		}
		got, no := r.candidate(c, events)
		for why, times := range no.quotes {
			v.refused[why] += times
		}
		if no.why == "" {
			v.passed = append(v.passed, got)
			v.usable = true
			continue
		}
		v.refused[no.why]++
		v.usable = v.usable || !ofForm(no.why)
		at := fmt.Sprintf("candidates[%d]", n)
		for _, f := range no.faults {
			v.fault("%s: %s", at, f)
		}
		if mendable(no.why) {
			item, _ := json.Marshal(c)
			v.mend = append(v.mend, at+": "+string(item))
		}
	}
	return v
}

// wrongForm is the reason against an item that does not fit the schema.
const wrongForm = "wrong form"

// ofForm reports whether a reason concerns the form of an item.
func ofForm(why string) bool {
	switch why {
	case "unknown kind", "not one line", "too long", "no evidence", "evidence not verbatim":
		return true
	}
	return false
}

// mendable reports whether a model can mend a fault by answering again.
func mendable(why string) bool {
	switch why {
	case wrongForm, "not in the session", "points at its session", "a rule without a person's words", "no proof":
		return true
	}
	return ofForm(why)
}

// A refusal of a candidate of a model.
type refusedItem struct {
	why    string         // or "": it passed
	faults []string       // worded for the model
	quotes map[string]int // refused quotes, by reason
}

// candidate makes the candidate of one item of an answer, or returns why not.
func (r *reader) candidate(in prompts.ReflectCandidate, events map[int]*transcript.Event) (statementRead, refusedItem) {
	c := record.Candidate{Kind: record.Kind(in.Kind), Text: strings.TrimSpace(in.Text), Body: strings.TrimSpace(in.Body), How: record.Model, Detector: record.ByModel}
	var p proof
	why, fault := malformed(c, in)
	if why == "" {
		p = r.prove(in.Evidence, events)
		c.Evidence = p.evidence
		why, fault = r.objection(c, p, events)
	}
	if why == "" {
		c.Paths = pathsNamed(in.Paths, events)
		return statementRead{Candidate: c, print: record.Print(c.Text)}, refusedItem{quotes: p.refused}
	}
	if fault != "" {
		p.faults = append(p.faults, fault)
	}
	return statementRead{}, refusedItem{why, p.faults, p.refused}
}

// malformed returns the reason why an item lacks the form of a candidate, or "", and a fault worded
// for the model.
func malformed(c record.Candidate, in prompts.ReflectCandidate) (why, fault string) {
	switch text, body := utf8.RuneCountInString(c.Text), utf8.RuneCountInString(c.Body); {
	case !c.Kind.Valid():
		return "unknown kind", fmt.Sprintf("there is no kind %q", in.Kind)
	case c.Text == "" || strings.ContainsAny(c.Text, "\n\r"):
		return "not one line", "text is not one line"
	case text > maxStatement || body > maxBody:
		return "too long", fmt.Sprintf("text has %d characters, body %d; they may have %d and %d", text, body, maxStatement, maxBody)
	case !visibleText(c.Text) || !visibleText(c.Body):
		return "hidden characters", ""
	case redacted.MatchString(c.Text) || redacted.MatchString(c.Body):
		return "redacted", ""
	case len(in.Evidence) == 0:
		return "no evidence", "evidence is missing"
	}
	return "", ""
}

// proof holds the evidence of an item that is verbatim in the session.
type proof struct {
	evidence []record.Evidence
	quotes   []cited             // in the same order
	events   []*transcript.Event // the cited ones, and the calls or results that belong to them
	faults   []string            // worded for the model
	refused  map[string]int      // other quotes, by reason
}

// prove looks up the evidence of an item in the shown events.
func (r *reader) prove(evidence []prompts.ReflectAnchor, events map[int]*transcript.Event) proof {
	p := proof{refused: map[string]int{}}
	for _, e := range evidence {
		event := events[e.Event]
		if event == nil {
			p.faults = append(p.faults, fmt.Sprintf("there is no event %d among those shown", e.Event))
			p.refused["quote of no event"]++
			continue
		}
		quote, ok := r.quoted(event, e.Quote)
		if !ok {
			p.faults = append(p.faults, fmt.Sprintf("%q does not stand so in event %d, or is shorter than %d characters", cut.Marked(e.Quote, 80), e.Event, minQuote))
			p.refused["quote not verbatim"]++
			continue
		}
		p.events = append(p.events, event)
		for _, other := range events {
			if other.CallID != "" && other.CallID == event.CallID && other.Agent == event.Agent && other != event {
				p.events = append(p.events, other)
			}
		}
		q := r.cite(event, quote)
		p.quotes = append(p.quotes, q)
		at, _ := r.gate.view.index(event.N)
		found := r.gate.view.quote(at, quote)
		found.By = q.by
		p.evidence = append(p.evidence, found)
	}
	return p
}

// objection returns the reason against a candidate with that proof, or "", and a fault worded for
// the model.
func (r *reader) objection(c record.Candidate, p proof, events map[int]*transcript.Event) (why, fault string) {
	if len(c.Evidence) == 0 {
		return "evidence not verbatim", ""
	}
	if claim.Asks(verbatim.ReplaceAllString(c.Text, "words")) {
		return "question", "text is a question"
	}
	if what := attack.First(c.Text, c.Body, joined(c.Evidence)); what != "" {
		return "looks like " + what, ""
	}
	if f := fold(c.Text); len(f) > minQuote && strings.Contains(r.gate.view.injected, f) {
		return "echo", ""
	}
	if why, fault := r.unproven(c, p.quotes); why != "" {
		return why, fault
	}
	if word := dangling(c.Text); word != "" {
		return "points at its session", fmt.Sprintf("text: %q refers to something that it does not name", word)
	}
	print := record.Print(c.Text)
	if slices.ContainsFunc(r.known, func(known record.Fingerprint) bool { return known.Same(print) }) {
		return "known", ""
	}
	if what, at := invented(c.Text+"\n"+c.Body, p.events, events); what != "" && at >= 0 {
		return "not in the session", fmt.Sprintf("%q stands in no quoted event; quote event %d", what, at)
	} else if what != "" {
		return "not in the session", fmt.Sprintf("%q is not so in the session", what)
	}
	if !aboutThem(c.Text, p.events) {
		return "unrelated evidence", ""
	}
	return "", ""
}

// joined returns the quotes of some evidence, a line each.
func joined(evidence []record.Evidence) string {
	var all []string
	for _, e := range evidence {
		all = append(all, e.Quote)
	}
	return strings.Join(all, "\n")
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

// quotable returns the texts of an event that may be quoted.
func quotable(e *transcript.Event) []string {
	return append([]string{e.Text, e.Command, e.Old, e.New}, e.Paths...)
}

// quoted returns the words of an event that match a quote. They may differ in white space, code
// marks, and the form of quotation marks and dashes; everything else must be equal. A quote has
// a word, and if shorter than minQuote it must be a whole field. Words that clients put into the
// event cannot be quoted.
func (r *reader) quoted(e *transcript.Event, quote string) (string, bool) {
	quote = strings.TrimSpace(quote)
	if e.Old != "" || e.New != "" {
		// the mark of an edit's line
		quote = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(quote, "- "), "+ "))
	}
	if utf8.RuneCountInString(quote) > maxQuoted || !strings.ContainsFunc(quote, isWordRune) {
		return "", false
	}
	least := minQuote
	if unspaced.MatchString(quote) {
		least = minUnspaced
	}
	i, found := r.gate.view.index(e.N)
	if !found {
		return "", false
	}
	for at, text := range quotable(e) {
		if utf8.RuneCountInString(quote) < least && strings.TrimSpace(text) != quote {
			continue
		}
		words, ok := stretch(text, quote)
		if !ok {
			words, ok = colourless(text, quote)
		}
		if !ok {
			words, ok = nearly(text, quote)
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
	flat, from := flattened(text, func(r rune) string { return string(r) })
	at := strings.Index(flat, want)
	if at < 0 {
		return "", false
	}
	return text[from[at] : from[at+len(want)-1]+1], true
}

// flattened returns a text with single spaces and each other character replaced, and for each of
// its bytes a position in the text. Invalid bytes stay.
func flattened(text string, replace func(rune) string) (string, []int) {
	var flat strings.Builder
	var from []int
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
		_, size := utf8.DecodeRuneInString(text[i:])
		put := text[i : i+size]
		if r != utf8.RuneError {
			put = replace(r)
		}
		if put == "" {
			continue // white space on both sides of it stays one
		}
		space = false
		flat.WriteString(put)
		for n := range len(put) {
			from = append(from, i+min(n, size-1))
		}
	}
	return flat.String(), from
}

// plainMarks writes a character as a model does: without code marks, and with the marks of a
// keyboard.
func plainMarks(r rune) string {
	switch r {
	case '`', '*', '\u200b', '\ufeff':
		return ""
	case '‘', '’', '‚', '′':
		return "'"
	case '“', '”', '„', '«', '»', '″':
		return `"`
	case '‐', '‑', '–', '—', '−':
		return "-"
	case '…':
		return "..."
	}
	return string(r)
}

// nearly is stretch for a quote that differs in code marks, in the form of quotation marks and
// dashes, or in the dots and brackets at its end.
func nearly(text, quote string) (string, bool) {
	want, _ := flattened(quote, plainMarks)
	want = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(want, ". "), "()"))
	if utf8.RuneCountInString(want) < minUnspaced {
		return "", false
	}
	flat, from := flattened(text, plainMarks)
	at := strings.Index(flat, want)
	if at < 0 {
		return "", false
	}
	last := from[at+len(want)-1]
	for !utf8.RuneStart(text[last]) {
		last--
	}
	_, size := utf8.DecodeRuneInString(text[last:])
	return strings.TrimSpace(text[from[at] : last+size]), true
}

// aboutThem reports whether a statement shares a meaningful word with its cited events. For scripts
// without spaces, two neighbouring letters count. A correct quote may still have nothing to do with
// the statement.
func aboutThem(text string, cited []*transcript.Event) bool {
	for _, e := range cited {
		all := strings.Join(quotable(e), "\n")
		if common(meaningful(anyWord, text), meaningful(anyWord, all)) > 0 || pairsOf(text, all) > 0 {
			return true
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

// invented returns an invented part of a text, or "": an address or a command that is in no cited
// event and did not run, or a name in code marks that is in no shown event. Brackets after a name
// are no part of it. at is the first shown event that has the part, or -1.
func invented(text string, cited []*transcript.Event, shown map[int]*transcript.Event) (what string, at int) {
	stands := func(what string, e *transcript.Event) bool {
		return slices.ContainsFunc(quotable(e), func(text string) bool {
			_, ok := stretch(text, what)
			return ok
		})
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
	first := func(what string) int {
		for _, n := range slices.Sorted(maps.Keys(shown)) {
			if stands(what, shown[n]) {
				return n
			}
		}
		return -1
	}
	for _, m := range codeSpan.FindAllString(text, -1) {
		what := strings.TrimSuffix(strings.TrimSpace(strings.Trim(m, "`")), "()")
		if what == "" || quoted(what) {
			continue
		}
		if at := first(what); at < 0 || commanding.MatchString(what) {
			return what, at
		}
	}
	for _, form := range []*pattern.Pattern{webPlace, commandLine} {
		for _, what := range form.FindAllString(strings.ReplaceAll(text, "`", " "), -1) {
			if what := strings.TrimRight(what, ".,;:!?"); !quoted(what) {
				return what, first(what)
			}
		}
	}
	return "", -1
}

// commanding matches code that may be a command, and not only a name or an expression.
var commanding = lazy(`[\s|;&]|\$\(|^[^<=-]*>`)

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
	return slices.ContainsFunc(quotable(e), func(text string) bool { return strings.Contains(text, p) })
}
