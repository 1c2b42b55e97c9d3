package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// claude reads Claude Code's transcripts: one record per line, and one for each block of an
// assistant's message. A file grows when its session is resumed. It may begin with the history of
// the session that it was forked from, under that session's id. Sub-agents have their own files of
// sidechain records; older versions put those records into the parent's file.
type claude struct {
	*run
	entered bool                // a session is open
	key     string              // its id in the transcript; may be empty
	sub     string              // agent id, if the file is a sub-agent's own
	seed    maphash.Seed        // of seen
	seen    map[uint64]struct{} // hashes of the uuids read: compaction and resume write records again
	// of sidechain records without agent id: uuid → uuid of the first in its chain
	roots    map[string]string
	boundary *Event              // a compaction still without its summary
	held     *Event              // text of an assistant's message, until another block follows
	heldID   string              // that message's id
	shell    int                 // commands the user ran
	titles   []titled            // older summaries
	waiting  []queued            // prompts whose record has not come
	inputs   map[uint64]struct{} // hashes of texts in the agent's tool calls
}

func newClaude(r *run) *claude {
	return &claude{run: r, seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, roots: map[string]string{},
		inputs: map[uint64]struct{}{}}
}

// titled is the title of a conversation that ends with a record.
type titled struct{ leaf, title string }

type claudeRecord struct {
	Type        string
	Subtype     string
	UUID        string
	ParentUUID  string
	SessionID   string `json:"sessionId"`
	SessionID2  string `json:"session_id"` // of stream-json
	Timestamp   string
	Cwd         string
	GitBranch   string
	Version     string
	Model       string          // of stream-json's init
	AgentID     string          `json:"agentId"`
	Sidechain   bool            `json:"isSidechain"`
	Meta        bool            `json:"isMeta"`
	CompactSum  bool            `json:"isCompactSummary"`
	APIError    bool            `json:"isApiErrorMessage"`
	IsError     bool            `json:"is_error"` // of stream-json's result
	SourceTool  string          `json:"sourceToolUseID"`
	PlanContent string          `json:"planContent"`
	Operation   string          // on the queue
	Content     json.RawMessage // of the queue's entry
	Summary     string
	LeafUUID    string `json:"leafUuid"`
	CustomTitle string `json:"customTitle"`
	AITitle     string `json:"aiTitle"`
	ForkedFrom  struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`
	Message *struct {
		ID      string
		Role    string
		Model   string
		Content *claudeContent
	}
	ToolUseResult claudeOutcome
	Attachment    struct {
		Type        string
		Content     stringList
		Prompt      claudeContent
		CommandMode string `json:"commandMode"`
	}
}

// claudeContent is a string or a list of blocks.
type claudeContent []claudeBlock

type claudeBlock struct {
	Type      string
	Text      string
	Thinking  string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   flatText
	IsError   bool `json:"is_error"`
}

func (c *claudeContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = claudeContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []claudeBlock
	_ = decode(b, &blocks) // blocks of another shape stay without a type and are skipped
	*c = blocks
	return nil
}

func (c claudeContent) text() string {
	var texts []string
	for _, block := range c {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// flatText is text in JSON: a string, or a list of strings and of blocks with text. A block without
// text leaves its type in brackets, as [image].
type flatText string

func (f *flatText) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*f = flatText(text)
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		return nil
	}
	var parts []string
	for _, raw := range list {
		var block struct {
			Type string
			Text *string
		}
		switch {
		case json.Unmarshal(raw, &text) == nil:
			parts = append(parts, text)
		case decode(raw, &block) != nil:
		case block.Text != nil:
			parts = append(parts, *block.Text)
		case block.Type != "":
			parts = append(parts, "["+strings.TrimPrefix(block.Type, "input_")+"]")
		}
	}
	*f = flatText(strings.Join(parts, "\n"))
	return nil
}

// stringList is a string or a list of strings.
type stringList []string

func (l *stringList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = stringList{one}
		return nil
	}
	var many []string
	_ = decode(b, &many)
	*l = many
	return nil
}

func (p *claude) line(b []byte) {
	var rec claudeRecord
	if !p.read(b, &rec) {
		return
	}
	switch rec.Type {
	case "":
		p.bad(errors.New("type: missing"))
		return
	case "user", "assistant":
		if rec.Message == nil || rec.Message.Content == nil {
			p.bad(errors.New("message.content: missing"))
			return
		}
	case "attachment":
	case "queue-operation":
		p.queueOperation(&rec)
		return
	case "system":
		if rec.Subtype != "compact_boundary" && rec.Subtype != "init" {
			p.stats.Ignored++
			return
		}
	case "result":
	case "summary":
		p.titles = append(p.titles, titled{rec.LeafUUID, rec.Summary})
		return
	case "custom-title":
		p.Title = rec.CustomTitle
		return
	case "ai-title":
		p.Title = cmp.Or(p.Title, rec.AITitle)
		return
	default:
		p.stats.Ignored++
		return
	}
	if rec.UUID != "" {
		hash := maphash.String(p.seed, rec.UUID)
		if _, again := p.seen[hash]; again {
			p.stats.Ignored++
			return
		}
		p.seen[hash] = struct{}{}
	}
	if p.enter(&rec) {
		p.record(&rec)
	}
}

// enter opens the record's session, and reports whether it could.
func (p *claude) enter(rec *claudeRecord) bool {
	key := cmp.Or(rec.ForkedFrom.SessionID, rec.SessionID, rec.SessionID2, p.key)
	own := rec.AgentID != "" && rec.Sidechain // a sub-agent's own file, if it begins like this
	if own && (!p.entered || p.sub != "") {
		key = "agent-" + rec.AgentID
	}
	if key == p.key && p.entered {
		p.header(rec)
		return true
	}
	if key != "" && p.closed[SafeID(key)] {
		p.bad(fmt.Errorf("session %s goes on after session %s began: record left out", key, p.key))
		return false
	}
	p.end()
	title := p.Title
	p.Session = Session{Client: string(Claude), ID: key}
	p.key, p.sub, p.entered = key, "", true
	if p.stats.Sessions == 0 {
		p.Title = title // came before the first record
	}
	if key == "agent-"+rec.AgentID {
		p.sub = rec.AgentID
		p.Parent = cmp.Or(rec.SessionID, rec.SessionID2)
	}
	p.header(rec)
	return true
}

func (p *claude) header(rec *claudeRecord) {
	p.Version = cmp.Or(rec.Version, p.Version)
	p.Dir = cmp.Or(p.Dir, rec.Cwd)
	p.Branch = cmp.Or(p.Branch, rec.GitBranch)
	p.Model = cmp.Or(rec.Model, p.Model)
	if rec.Message != nil && rec.Message.Model != "" && rec.Message.Model != "<synthetic>" {
		p.Model = rec.Message.Model
	}
}

// record turns a record of the open session into events.
func (p *claude) record(rec *claudeRecord) {
	base := Event{Time: parseTime(rec.Timestamp), Agent: p.agent(rec)}
	switch rec.Type {
	case "assistant":
		p.assistant(rec, base)
	case "user":
		p.userRecord(rec, base)
	case "attachment":
		switch rec.Attachment.Type {
		case "hook_additional_context":
			base.Kind, base.Origin, base.Text = User, Injected, strings.Join(rec.Attachment.Content, "\n")
			p.emit(base)
		case "queued_command": // typed while the agent worked
			mode := rec.Attachment.CommandMode
			if (mode == "" || mode == "prompt") && !p.fromAgent(rec.Attachment.Prompt.text()) {
				p.userTexts(rec, base, rec.Attachment.Prompt)
				return
			}
			base.Kind, base.Origin, base.Text = User, Injected, rec.Attachment.Prompt.text()
			if !p.dequeue(base.Text) {
				p.emit(base)
			}
		default:
			p.stats.Ignored++
		}
	case "system":
		if rec.Subtype == "compact_boundary" {
			base.Kind = Compaction
			p.boundary = &base
		}
	case "result":
		base.Kind, base.Outcome = End, OK
		if rec.IsError || strings.HasPrefix(rec.Subtype, "error") {
			base.Outcome, base.Text = Failed, rec.Subtype
		}
		p.emit(base)
	}
}

// agent names the sub-agent of a record in the parent's transcript.
func (p *claude) agent(rec *claudeRecord) string {
	switch {
	case !rec.Sidechain || p.sub != "" && p.sub == rec.AgentID:
		return ""
	case rec.AgentID != "":
		return rec.AgentID
	}
	root := cmp.Or(p.roots[rec.ParentUUID], rec.UUID, "sidechain")
	p.roots[rec.UUID] = root
	return root
}

// emit emits the held events, then e.
func (p *claude) emit(e Event) {
	p.settle(e.Kind == Compaction, e.Origin == Injected)
	p.run.emit(e)
}

// settle emits the held events before another event. A compaction stays held before injected text,
// because its summary may still come, and is dropped in favour of that summary.
func (p *claude) settle(summary, injected bool) {
	p.release()
	if p.boundary == nil || injected {
		return
	}
	boundary := *p.boundary
	p.boundary = nil
	if !summary {
		p.run.emit(boundary)
	}
}

// release emits the held text.
func (p *claude) release() {
	if p.held != nil {
		e := *p.held
		p.held = nil
		p.run.emit(e)
	}
}

// end completes the open session.
func (p *claude) end() {
	p.waiting = slices.DeleteFunc(p.waiting, func(q queued) bool { return q.session == p.key })
	p.settle(false, false)
	for _, t := range slices.Backward(p.titles) { // it may be of another session
		if _, found := p.seen[maphash.String(p.seed, t.leaf)]; found {
			p.Title = cmp.Or(p.Title, t.title)
		}
	}
	p.run.end()
}
