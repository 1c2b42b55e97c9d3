package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// copilot reads Copilot CLI's session-state/<id>/events.jsonl: one event per line, with separate
// data. A prompt's content is as typed; another field holds the additions of the client and its
// hooks.
type copilot struct {
	*run
	cwd    string          // of the shell, where it moved
	denied map[string]bool // calls that a person refused
	asked  map[string]bool // questions to a person, by their call
}

func newCopilot(r *run) *copilot {
	if r.name == "events" { // every session's file has that name
		r.name = ""
	}
	return &copilot{run: r, denied: map[string]bool{}, asked: map[string]bool{}}
}

type copilotRecord struct {
	Type      string
	Timestamp string
	AgentID   string `json:"agentId"`
	Data      struct {
		SessionID string `json:"sessionId"`
		Version   string `json:"copilotVersion"`
		StartTime string `json:"startTime"`
		Selected  string `json:"selectedModel"`
		NewModel  string `json:"newModel"`
		Title     string
		Context   struct {
			Cwd    string
			Branch string
			Commit string `json:"headCommit"`
		}
		Cwd string

		Content      string
		Transformed  string `json:"transformedContent"`
		Source       string
		Continuation bool   `json:"isAutopilotContinuation"`
		Reasoning    string `json:"reasoningText"`
		Model        string

		CallID    string `json:"toolCallId"`
		ParentID  string `json:"parentToolCallId"`
		Tool      string `json:"toolName"`
		Server    string `json:"mcpServerName"`
		Arguments json.RawMessage
		Success   *bool
		Result    struct {
			Content  flatText
			Kind     string // of a permission
			Feedback string
		}
		Shell struct {
			Exit *int `json:"exitCode"`
		} `json:"shellExecution"`
		Error struct {
			Message string
			Code    string
		}

		Output struct {
			Context string `json:"additionalContext"`
		}
		Summary      string `json:"summaryContent"`
		Message      string
		Reason       string
		ShutdownType string `json:"shutdownType"`
	}
}

// Texts in which Copilot CLI wraps answers to its questions, and the ends of commands.
const (
	copilotAnswered = "User responded: "
	copilotSelected = "User selected: "
	copilotAsks     = "ask_user"
)

var copilotExit = pattern.New(`(?:^|\n)<(?:shellId: \S+ completed|exited|command exited|completed) with exit code (-?\d{1,9})>\s*$`)

func (p *copilot) line(b []byte) {
	var rec copilotRecord
	if !p.read(b, &rec) {
		return
	}
	d := &rec.Data
	e := Event{Time: parseTime(rec.Timestamp), Agent: cmp.Or(rec.AgentID, d.ParentID)}
	switch rec.Type {
	case "":
		p.bad(errors.New("type: missing"))
	case "session.start", "session.resume":
		p.start(&rec)
	case "session.context_changed":
		p.cwd = cmp.Or(d.Cwd, d.Context.Cwd)
	case "session.model_change":
		p.Model = cmp.Or(d.NewModel, p.Model)
	case "session.title_changed":
		p.Title = cmp.Or(d.Title, p.Title)
	case "user.message":
		p.prompt(&rec, e)
	case "system.notification":
		e.Kind, e.Origin, e.Text = User, Injected, d.Content
		p.emitText(e)
	case "hook.end":
		e.Kind, e.Origin, e.Text = User, Injected, d.Output.Context
		p.emitText(e)
	case "assistant.message":
		if e.Agent == "" {
			p.Model = cmp.Or(d.Model, p.Model)
		}
		e.Kind, e.Text = Reasoning, d.Reasoning
		p.emitText(e)
		e.Kind, e.Text = Assistant, d.Content
		p.emitText(e)
	case "tool.execution_start", "tool.user_requested":
		p.toolCall(&rec, e)
	case "tool.execution_complete":
		p.toolResult(&rec, e)
	case "permission.completed":
		if d.Result.Kind == "denied-interactively-by-user" {
			p.denied[d.CallID] = true
			p.said(e, false, d.Result.Feedback)
		}
	case "session.compaction_complete":
		if d.Success == nil || *d.Success {
			e.Kind, e.Text = Compaction, d.Summary
			p.emit(e)
		}
	case "abort":
		e.Kind, e.Outcome, e.Text = Error, Aborted, cmp.Or(d.Reason, "aborted")
		p.emitText(e)
	case "session.error":
		e.Kind, e.Outcome, e.Text = Error, Failed, d.Message
		p.emitText(e)
	case "session.shutdown":
		e.Kind, e.Outcome = End, OK
		if d.ShutdownType == "error" {
			e.Outcome = Failed
		}
		p.emit(e)
	default:
		p.stats.Ignored++
	}
}

func (p *copilot) start(rec *copilotRecord) {
	d := &rec.Data
	if p.ID != "" && d.SessionID != "" && SafeID(d.SessionID) != SafeID(p.ID) {
		if p.closed[SafeID(d.SessionID)] {
			p.bad(errors.New("session " + d.SessionID + " begins again after another"))
			return
		}
		p.end()
	}
	p.ID = cmp.Or(p.ID, d.SessionID)
	p.Version = cmp.Or(d.Version, p.Version)
	p.Model = cmp.Or(d.Selected, p.Model)
	p.Dir = cmp.Or(p.Dir, d.Context.Cwd)
	p.Branch = cmp.Or(p.Branch, d.Context.Branch)
	p.Commit = cmp.Or(p.Commit, d.Context.Commit)
	p.cwd = d.Context.Cwd
	if p.Started.IsZero() {
		p.Started = parseTime(d.StartTime)
	}
}

// prompt emits a message in the user's role. A source names an author other than a person.
func (p *copilot) prompt(rec *copilotRecord, e Event) {
	d := &rec.Data
	origin := Typed
	switch {
	case e.Agent != "", strings.HasPrefix(d.Source, "agent-"):
		origin = Delegated
	case d.Continuation, d.Source != "" && d.Source != "user":
		origin = Injected
	}
	added := e
	added.Kind, added.Origin, added.Text = User, Injected, d.Transformed
	if before, after, found := strings.Cut(d.Transformed, d.Content); found && d.Content != "" {
		added.Text = strings.TrimSpace(strings.TrimSpace(before) + "\n" + strings.TrimSpace(after))
	}
	p.emitText(added)
	switch {
	case strings.TrimSpace(d.Content) == "":
	case origin == Typed:
		p.typed(e, d.Content)
	default:
		p.user(e, origin, d.Content)
	}
}

// typed emits a prompt as a person typed it. A slash command adds its arguments to their words.
func (r *run) typed(e Event, text string) {
	if _, ours := typedCommand(text); ours || !slashCommand.MatchString(text) {
		r.user(e, Typed, text)
		return
	}
	r.user(e, Command, text)
	r.user(e, Typed, typedArgs(text))
}

// said emits a person's answer to the client. Only the main agent's calls reach a person.
func (p *copilot) said(e Event, mixed bool, text string) {
	e.Mixed = mixed
	p.user(e, wordsOf(e.Agent != ""), strings.TrimSpace(text))
}

func (p *copilot) toolCall(rec *copilotRecord, e Event) {
	d := &rec.Data
	if _, open := p.calls[d.CallID]; open && d.CallID != "" {
		return // a person asked for it before
	}
	name := d.Tool
	if d.Server != "" {
		name = mcpTool + d.Server + "__" + d.Tool
	}
	c := call(string(Copilot), name, d.Arguments)
	c.Time, c.Agent, c.CallID = e.Time, e.Agent, d.CallID
	if c.Action == Run {
		c.Dir = cmp.Or(c.Dir, p.cwd)
	}
	if rec.Type == "tool.user_requested" {
		c.Tool, c.Origin = "!", Command
	}
	p.asked[d.CallID] = name == copilotAsks
	p.emit(c)
}

func (p *copilot) toolResult(rec *copilotRecord, e Event) {
	d := &rec.Data
	asked, denied := p.asked[d.CallID], p.denied[d.CallID]
	delete(p.asked, d.CallID)
	delete(p.denied, d.CallID)
	e.Kind, e.CallID = Result, d.CallID
	e.Text = withoutInjected(cmp.Or(string(d.Result.Content), d.Error.Message))
	switch isRun := p.calls[d.CallID].Action == Run; {
	case denied:
		e.Outcome = Denied
	case d.Success == nil:
	case !*d.Success:
		e.Outcome = Failed
	case isRun:
		e.Exit = d.Shell.Exit
		if m := copilotExit.FindStringSubmatchIndex(e.Text); m != nil {
			if n, err := strconv.Atoi(e.Text[m[2]:m[3]]); err == nil && e.Exit == nil {
				e.Exit = &n
			}
			e.Text = e.Text[:m[0]]
		}
		e.Outcome = outcomeOf(e.Exit)
	default:
		e.Outcome = OK
	}
	if p.emit(e); !asked || e.Outcome != OK {
		return
	}
	said := Event{Time: e.Time, Agent: e.Agent}
	if text, ok := strings.CutPrefix(e.Text, copilotAnswered); ok {
		p.said(said, false, text)
	} else if text, ok := strings.CutPrefix(e.Text, copilotSelected); ok { // the words are the agent's
		p.said(said, true, unadvised(text))
	}
}

func (p *copilot) end() {
	p.cwd = ""
	p.run.end()
}
