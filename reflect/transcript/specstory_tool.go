package transcript

import (
	"cmp"
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// A toolUse is an agent's use of a tool as SpecStory shows it: a summary, the input, and the output
// in a fence. Agents' forms differ in where the input is.
type toolUse struct {
	kind   string // shell, read, write, search, …
	name   string
	early  bool // without tags, until the part ends
	closed bool // its end was there

	input  []string // lines outside of fences before the output, the first of them the summary
	fences []fenced // before the output
	label  string   // before the output
	output string

	exit     *int // if the output is JSON
	rejected bool // by a person, also there
}

// fenced is a text between fences.
type fenced struct{ info, text string }

const useName = "Tool use: **"

var (
	useStart = pattern.New(`^<tool-use data-tool-type="([^"<>]*)" data-tool-name="([^"<>]*)">(?:<details>)?(<summary>.*)?\s*$`)
	useLabel = pattern.New(`^(?:\*\*)?(Result|Output|Error|Output \(error\)):(?:\*\*)?\s*(.*)$`)
	usePath  = pattern.New("^(?:\\*\\*)?(?:- filePath: |[A-Z][a-z]+: )?`([^`]+)`(?:\\*\\*)?(?:\\s|$)|^(?:• |<details><summary>)?[A-Z][a-z]+ file: ([^<>]+)")
	useField = pattern.New("(?i)(?:^|\\s)(path|pattern|directory):? `([^`]*)`")
	diffFile = pattern.New(`^(?:---|\+\+\+) (\S.*)$`)
	// foldedEdit matches the first line of an edit in early histories, which a line "</details>" ends.
	foldedEdit = pattern.New(`^<details><summary>Edit file: [^<>]+</summary>`)

	// reports of edits by Claude Code
	editDone   = pattern.New(`^(?:The file (\S.*?) has been (?:updated|overwritten)\b|File created successfully at: (\S.*?)(?: \(file state|\n|$)|Applied \d+ edits? to (\S.*?):)`)
	notAllowed = pattern.New(`^Permission (?:to use \S+ has been|for this tool use was) denied`)
	notRun     = pattern.New(`^(?:Claude requested permissions\b|This (?:\w+ )*command requires approval\b|.* was blocked\b)`)
	timedOut   = pattern.New(`^Command timed out after\b`)
	cursorExit = pattern.New(`^Exit code: (-?\d{1,9})(?:\n|$)`)
	droidExit  = pattern.New(`(?:^|\n)\[Process exited with code (-?\d{1,9})\]\s*$`)
)

func useEnd(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line == "</details></tool-use>" || line == "</tool-use>"
}

// tool emits the call that a use shows, and its result if the use ends where it should. Histories
// of Cursor 2 repeat each use without its input and output.
func (p *specStory) tool(e Event, u *toolUse) {
	if u.closed && u.name == p.tooled && u.blank() {
		return
	}
	p.tooled = u.name
	p.uses++
	e.CallID = "use-" + strconv.Itoa(p.uses)
	c, r := e, e
	c.Kind, c.Tool, c.Action = Call, u.name, u.action()
	u.fill(&c)
	r.Kind, r.Text = Result, withoutInjected(u.output)
	switch {
	case !u.closed:
	case c.Action == Run:
		if u.name == cursorShell {
			r.Text = p.printed(r.Text, c.Command, u.early)
		}
		p.runEnded(&r, u)
	case c.Action == Edit:
		u.editEnded(&r, &c)
	default:
		u.ended(&r)
	}
	own, chosen := u.answers(&c)
	p.emit(c)
	if !u.closed {
		return
	}
	p.emit(r)
	if p.side || p.within || r.Outcome == Denied || r.Outcome == Aborted {
		return
	}
	p.user(Event{Time: e.Time}, Typed, own)
	p.user(Event{Time: e.Time, Mixed: true}, Typed, chosen) // the agent worded the option
}

// blank reports whether a use shows nothing but the name of its tool.
func (u *toolUse) blank() bool {
	return u.output == "" && u.label == "" && len(u.fences) == 0 && strings.TrimSpace(strings.Join(u.input, "")) == ""
}

// cursorShell and cursorEdit are Cursor's names for the tools that early histories do not name.
const cursorShell, cursorEdit = "run_terminal_cmd", "edit_file"

// untagged emits the use of a tool that a part of an early history shows without its name, and
// reports whether it is one. Such a part consists of fences alone: diffs, or a command and what the
// terminal printed. An example in an answer rarely stands alone, and has no prompt with another
// command.
func (p *specStory) untagged(e Event, text string) bool {
	infos, only := fencesOf(text)
	if !only {
		return false
	}
	u := &toolUse{early: true, closed: true}
	u.read("\n" + text)
	switch {
	case !slices.ContainsFunc(infos, func(info string) bool { return info != "diff" }):
		u.kind, u.name = "write", cursorEdit
	case slices.Equal(infos, []string{"bash", ""}):
		u.kind, u.name = "shell", cursorShell
		if prompt, _ := echo(u.output, u.command()); prompt == "" && otherEcho.MatchString(u.output) {
			return false
		}
	default:
		return false
	}
	p.tool(e, u)
	return true
}

// otherEcho matches the prompt and the command at the beginning of a terminal's output.
var otherEcho = pattern.New(`^\s*[\w.-]+@\S+ [^\n]*[$%#>❯➜] \S`)

// fencesOf returns the infos of the fences in a text, and whether nothing else is in it.
func fencesOf(text string) (infos []string, only bool) {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		m := codeFence.FindStringSubmatch(line)
		switch {
		case open != "" && closesFence(line, open):
			open = ""
		case open != "":
		case m != nil:
			open = m[1]
			infos = append(infos, strings.TrimSpace(m[2]))
		case strings.TrimSpace(line) != "":
			return nil, false
		}
	}
	return infos, open == "" && len(infos) > 0
}

// printed returns what a command printed in a terminal, without its prompts and the echo of the
// command.
func (p *specStory) printed(output, command string, early bool) string {
	if !early && !strings.ContainsAny(output, "<>") { // later versions write it as HTML
		output = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(output)
	}
	prompt, end := echo(output, command)
	if words := strings.Fields(prompt); len(words) > 0 {
		p.prompt, output = words[0], output[end:]
	}
	isPrompt := func(line string) bool {
		line = strings.TrimSpace(line)
		return p.prompt != "" && len(line) <= maxPrompt && strings.HasPrefix(line, p.prompt) && endsPrompt(line)
	}
	if first, rest, _ := strings.Cut(output, "\n"); isPrompt(first) {
		output = rest
	}
	output = strings.TrimRight(output, " \n")
	if at := strings.LastIndexByte(output, '\n') + 1; isPrompt(output[at:]) {
		output = output[:at]
	}
	return strings.Trim(output, "\n")
}

// maxPrompt bounds the prompt of a shell, in bytes.
const maxPrompt = 200

func endsPrompt(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune("$%#>❯➜", last)
}

// echo returns the prompt in the first line of a terminal's output and the end of the command
// behind it, if both are there. A terminal breaks a line at its width, so white space may differ.
// The mark of a prompt is not enough: examples have it too.
func echo(output, command string) (prompt string, end int) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return "", 0
	}
	from := len(output) - len(strings.TrimLeft(output, " \n"))
	line, _, _ := strings.Cut(output[from:], "\n")
	line = line[:min(len(line), maxPrompt+len(words[0]))]
	for at := 0; ; at++ {
		next := strings.Index(line[at:], words[0])
		if next < 0 {
			return "", 0
		}
		at += next
		if prompt = strings.TrimSpace(line[:at]); len(prompt) < 2 || !endsPrompt(prompt) {
			continue
		}
		if n, ok := sameWords(output[from+at:], words); ok {
			return prompt, from + at + n
		}
	}
}

// sameWords returns the length of the beginning of a text that has these words, whatever white
// space is in and between them.
func sameWords(text string, words []string) (n int, ok bool) {
	for _, w := range words {
		for i := 0; i < len(w); n++ {
			switch {
			case n == len(text):
				return 0, false
			case text[n] == w[i]:
				i++
			case text[n] != ' ' && text[n] != '\n':
				return 0, false
			}
		}
	}
	return n, true
}

// read splits the text of a use into its parts.
func (u *toolUse) read(text string) {
	var summary string
	rest := text
	switch start := strings.TrimPrefix(text, "<details>"); {
	case u.early:
		summary, rest, _ = strings.Cut(text, "\n")
	case strings.HasPrefix(strings.TrimSpace(start), "<summary>"):
		summary, rest, _ = strings.Cut(text, "</summary>")
	}
	if _, after, ok := strings.Cut(summary, useName); ok {
		name, input, _ := strings.Cut(after, "**")
		summary = input
		if u.early {
			u.name = name
		}
	} else {
		summary = strings.TrimPrefix(strings.TrimPrefix(summary, "<details>"), "<summary>")
	}
	u.input = append(u.input, strings.TrimSpace(summary))
	lines := strings.Split(rest, "\n")
	ofClient := false // the next fence holds what the client adds
	for i := 0; i < len(lines); i++ {
		m := codeFence.FindStringSubmatch(lines[i])
		label := useLabel.FindStringSubmatch(lines[i])
		switch {
		case label != nil && i > 0 && (strings.TrimSpace(lines[i-1]) == "" || codeFence.MatchString(lines[i-1])):
			u.label = label[1]
			if label[2] != "" {
				u.output = outputText(append([]string{label[2]}, lines[i+1:]...))
				return
			}
		case m == nil && lines[i] == "Additional data:":
			ofClient = true
		case m == nil:
			u.input = append(u.input, strings.TrimSpace(lines[i]))
		case u.beginsOutput(strings.TrimSpace(m[2])):
			u.output = outputText(lines[i+1:])
			return
		default:
			from := i + 1
			for i++; i < len(lines) && !closesFence(lines[i], m[1]); i++ {
			}
			if !ofClient {
				u.fences = append(u.fences, fenced{strings.TrimSpace(m[2]), strings.Join(lines[from:min(i, len(lines))], "\n")})
			}
			ofClient = false
		}
	}
}

// unfold turns input and output in JSON into a form of others, for the tools that SpecStory shows
// so.
func (u *toolUse) unfold() {
	var in struct {
		Command, Cwd, RelativeWorkspacePath, TargetFile string
		CommandLine                                     struct{ Original string }
	}
	var out struct {
		Output, Contents, Content, TextEditContent string
		ExitCode                                   *int
		Rejected                                   bool
	}
	if len(u.fences) > 0 && u.fences[0].info == "json" {
		_ = json.Unmarshal([]byte(u.fences[0].text), &in)
	}
	asJSON := json.NewDecoder(strings.NewReader(u.output)).Decode(&out) == nil
	command, file := html.UnescapeString(cmp.Or(in.Command, in.CommandLine.Original)), html.UnescapeString(cmp.Or(in.RelativeWorkspacePath, in.TargetFile))
	switch u.name {
	case "run_terminal_command_v2", "run_in_terminal":
		if command != "" {
			u.input, u.fences = []string{"Directory: `" + in.Cwd + "`"}, []fenced{{"bash", command}}
		}
	case "read_file_v2", "edit_file_v2":
		if file != "" {
			u.input, u.fences = []string{"`" + file + "`"}, nil
		}
	case "copilot_replaceString", "copilot_createFile":
		if out.TextEditContent != "" {
			u.fences, out.Content = []fenced{{"", html.UnescapeString(out.TextEditContent)}}, ""
		}
	default:
		return
	}
	if asJSON {
		u.output, u.exit, u.rejected = html.UnescapeString(cmp.Or(out.Output, out.Contents, out.Content)), out.ExitCode, out.Rejected
	}
}

// beginsOutput reports whether a fence with this info is about the output. The first one of a tool
// that writes whole files holds the file.
func (u *toolUse) beginsOutput(info string) bool {
	name := strings.ToLower(u.name)
	whole := u.kind != "shell" && (strings.HasPrefix(name, "write") || strings.HasPrefix(name, "create"))
	return u.label != "" || (info == "" || info == "text") && (!whole || len(u.fences) > 0)
}

var (
	useOption   = pattern.New(`(?m)^- \*\*(.+?)\*\*(?: -|\s*$)`)
	claudeReply = pattern.New(`"="(.+?)"(?:, "|\. You can now continue)`)
)

// answers returns a person's own answers to an agent's questions, and the chosen options, and puts
// the questions into the call.
func (u *toolUse) answers(c *Event) (own, chosen string) {
	switch u.name {
	case cursorAsks:
		return u.selected(c)
	case claudeAsks:
		asked, answer, found := cutLast(strings.Join(u.input, "\n"), "\n**Answer:** ")
		if !found { // without its options
			var all []string
			for _, at := range claudeReply.FindAllStringSubmatchIndex(u.output, -1) {
				all = append(all, u.output[at[2]:at[3]])
			}
			return "", strings.Join(all, "\n")
		}
		for _, at := range useOption.FindAllStringSubmatchIndex(asked, -1) {
			if strings.Contains(answer, asked[at[2]:at[3]]) {
				return "", unadvised(answer)
			}
		}
		if answer != "(no answer)" {
			return answer, ""
		}
	}
	return "", ""
}

// cutLast cuts a text at the last separator.
func cutLast(text, sep string) (before, after string, found bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}

// cursorAsks is the tool by which Cursor asks a person.
const cursorAsks = "ask_question"

// selected reads the questions and answers of Cursor.
func (u *toolUse) selected(c *Event) (own, chosen string) {
	var asked struct {
		Questions []struct {
			ID, Prompt string
			Options    []struct{ ID, Label string }
		}
	}
	var reply struct {
		Answers []struct {
			QuestionID        string
			SelectedOptionIDs []string
			FreeformText      string
		}
	}
	if len(u.fences) == 0 || json.Unmarshal([]byte(u.fences[0].text), &asked) != nil {
		return "", ""
	}
	_ = json.NewDecoder(strings.NewReader(u.output)).Decode(&reply)
	var prompts, written, picked []string
	for _, q := range asked.Questions {
		prompts = append(prompts, q.Prompt)
		for _, a := range reply.Answers {
			if a.QuestionID != q.ID {
				continue
			}
			written = append(written, strings.TrimSpace(a.FreeformText))
			for _, o := range q.Options {
				if slices.Contains(a.SelectedOptionIDs, o.ID) {
					picked = append(picked, html.UnescapeString(unadvised(o.Label)))
				}
			}
		}
	}
	c.Text = strings.Join(prompts, "\n")
	return strings.TrimSpace(strings.Join(written, "\n")), strings.Join(picked, "\n")
}

func closesFence(line, fence string) bool {
	m := codeFence.FindStringSubmatch(line)
	return m != nil && len(m[1]) >= len(fence) && strings.TrimSpace(m[2]) == ""
}

// outputText joins the lines of an output. It may hold fences of its own, so it ends with the use,
// or at a line like those between parts, as the rest may belong to another one.
func outputText(lines []string) string {
	for i, line := range lines {
		if len(line) > 0 && (line[0] == '_' || line[0] == '<') && (useEnd(line) || specStoryRole.MatchString(line) || useStart.MatchString(line)) {
			lines = lines[:i]
			break
		}
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), " \n")
	if at := strings.LastIndexByte(text, '\n') + 1; codeFence.MatchString(text[at:]) {
		text = strings.TrimRight(text[:at], " \n")
	}
	return text
}

// action says what the tool does, by its name, or else by the kind that SpecStory gives it. A shell
// without a command only waits for another.
func (u *toolUse) action() Action {
	a := action("", u.name)
	if a == Other {
		a = map[string]Action{"shell": Run, "read": Read, "write": Edit, "search": Search, "grep": Search}[u.kind]
	}
	switch {
	case u.kind == "" && len(u.fences) > 0 && u.fences[0].info == "bash":
		return Run
	case a == "", a == Run && u.command() == "":
		return Other
	}
	return a
}

// command returns the command of a shell: in a fence, or else in backticks on lines of its own or
// in the summary.
func (u *toolUse) command() string {
	if len(u.fences) > 0 {
		return u.fences[0].text
	}
	for i := len(u.input) - 1; i >= 0; i-- {
		if s := strings.TrimPrefix(u.input[i], "- command: "); len(s) > 2 && s[0] == '`' && s[len(s)-1] == '`' {
			return s[1 : len(s)-1]
		}
	}
	return ""
}

// fill adds the input of a call.
func (u *toolUse) fill(c *Event) {
	text := strings.TrimSpace(strings.Join(u.input, "\n"))
	fields := map[string]string{}
	for _, m := range useField.FindAllStringSubmatchIndex(text, -1) {
		fields[strings.ToLower(text[m[2]:m[3]])] = text[m[4]:m[5]]
	}
	switch c.Action {
	case Run:
		c.Command, c.Dir = u.command(), fields["directory"]
	case Read, Edit:
		for _, line := range u.input {
			if m := usePath.FindStringSubmatch(line); m != nil {
				c.Paths = append(c.Paths, m[1]+m[2])
			}
		}
	case Search:
		c.Text, c.Paths = fields["pattern"], []string{fields["path"]}
	}
	if c.Action == Edit {
		u.edit(c)
	}
	if c.Text == "" && c.Action != Run && len(c.Paths) == 0 {
		c.Text = strings.Trim(text, "`")
	}
}

// edit adds the replaced and the new text of an edit, and the files that a diff names.
func (u *toolUse) edit(c *Event) {
	var gone, put []string
	for _, f := range u.fences {
		if f.info != "diff" {
			put = append(put, f.text)
			continue
		}
		for {
			line, rest, _ := strings.Cut(f.text, "\n")
			m := diffFile.FindStringSubmatch(line)
			if m == nil {
				break
			}
			if f.text = rest; len(c.Paths) < maxPaths && !slices.Contains(c.Paths, m[1]) {
				c.Paths = append(c.Paths, m[1])
			}
		}
		paths, before, after := parsePatch(f.text)
		c.Paths, gone, put = append(c.Paths, paths...), append(gone, before), append(put, after)
	}
	c.Old, c.New = strings.Join(gone, "\n"), strings.Join(put, "\n")
}

// ended sets the outcome of a use that shows one.
func (u *toolUse) ended(r *Event) {
	switch {
	case strings.Contains(r.Text, interrupted):
		r.Outcome = Aborted
	case u.rejected, strings.HasPrefix(r.Text, userRejected), notAllowed.MatchString(r.Text):
		r.Outcome = Denied
	case u.label == "Error", u.label == "Output (error)", strings.HasPrefix(r.Text, "<tool_use_error>"):
		r.Outcome = Failed
		r.Text = strings.TrimSuffix(strings.TrimPrefix(r.Text, "<tool_use_error>"), "</tool_use_error>")
	case u.early && u.label == "Result":
		r.Outcome = OK
	}
}

// editEnded sets the outcome of an edit, and the file if only the output names it.
func (u *toolUse) editEnded(r, c *Event) {
	u.ended(r)
	out := parseOutput(r.Text)
	m := editDone.FindStringSubmatch(r.Text)
	switch {
	case r.Outcome == Failed, r.Outcome == Denied:
	case action("codex", u.name) == Edit && out.exit != nil:
		r.Text, r.Outcome = out.text, outcomeOf(out.exit)
	case m != nil:
		r.Outcome = OK
		if len(c.Paths) == 0 {
			c.Paths = []string{m[1] + m[2] + m[3]}
		}
	}
}

// runEnded sets the outcome and the exit code of a command. Each agent shows the code in its own
// place. Claude Code shows only those of failures, and early versions of it none: so a command
// without one passed if the session has shown that of another.
func (p *specStory) runEnded(r *Event, u *toolUse) {
	at := func(place *pattern.Pattern) {
		if m := place.FindStringSubmatchIndex(r.Text); m != nil {
			n, _ := strconv.Atoi(r.Text[m[2]:m[3]])
			r.Exit, r.Text = &n, r.Text[:m[0]]+r.Text[m[1]:]
		}
	}
	switch name := strings.ToLower(u.name); {
	case u.exit != nil:
		r.Exit = u.exit
	case action("codex", name) == Run:
		out := parseOutput(r.Text)
		if r.Exit, r.Text = out.exit, out.text; r.Exit == nil {
			at(cursorExit)
		}
	case action("gemini", name) == Run && geminiBegin.MatchString(r.Text):
		r.Outcome = OK
		shellResult(r)
		return
	case name == "execute":
		at(droidExit)
	case name == "bash":
		r.Exit, r.Text = cutExit(r.Text)
		p.told = p.told || r.Exit != nil
	}
	if r.Outcome = outcomeOf(r.Exit); r.Exit != nil {
		if strings.Contains(r.Text, interrupted) {
			r.Outcome = Aborted
		}
		return
	}
	if timedOut.MatchString(r.Text) {
		r.Outcome = Failed
		return
	}
	first, _, _ := strings.Cut(r.Text, "\n")
	quiet := r.Text == "(Bash completed with no output)"
	if u.ended(r); r.Outcome == Unknown && u.name == "Bash" && (p.told && first != "" || quiet) && !strings.Contains(first, "background") && !notRun.MatchString(first) && !heldUp(r.Text) {
		r.Outcome = OK
	}
	if r.Outcome == OK {
		r.Exit = new(0)
	}
}
