package past

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// How much of a file is read to learn where its session began. A first prompt with images can be
// long.
const (
	headStep = 16 << 10
	headMost = 8 << 20
)

// firstLines calls look for the lines that begin a file until it says that it knows enough. A line
// that is torn, or goes beyond the bound, ends it.
func firstLines(path string, look func(line []byte) (enough bool)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(io.LimitReader(file, headMost), headStep)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 && look(line) || err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func when(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}

func base(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// Claude Code: projects/<name of the directory>/<session>.jsonl, sub-agents in
// <session>/subagents/. Forks and queues write records without a directory first.

func (f *finder) claude(projects string) {
	for _, project := range f.folders(projects) {
		f.each(transcript.Claude, project, []string{".jsonl"}, f.claudeFile)
		for _, session := range f.folders(project) {
			f.each(transcript.Claude, filepath.Join(session, "subagents"), []string{".jsonl"}, f.claudeFile)
		}
	}
}

func (f *finder) claudeFile(path string, s *Session) (bool, error) {
	err := firstLines(path, func(line []byte) bool {
		var r struct {
			Cwd, SessionID, AgentID, Timestamp string
			IsSidechain                        bool
		}
		if json.Unmarshal(line, &r) != nil {
			return false
		}
		if s.Started.IsZero() {
			s.Started = when(r.Timestamp)
		}
		s.Dir, s.ID = r.Cwd, base(path)
		if r.AgentID != "" && r.IsSidechain {
			s.ID, s.Parent = "agent-"+r.AgentID, r.SessionID
		}
		return r.Cwd != ""
	})
	return s.Dir != "" && f.trees.hold(s.Dir), err
}

// Codex: sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl; archived_sessions/ has those that were
// put away.

func (f *finder) codex(sessions string) {
	folders := []string{sessions}
	for depth := 0; depth <= 3; depth++ {
		var below []string
		for _, dir := range folders {
			f.each(transcript.Codex, dir, []string{".jsonl"}, f.codexFile)
			if depth < 3 {
				below = append(below, f.folders(dir)...)
			}
		}
		folders = below
	}
}

func (f *finder) codexFile(path string, s *Session) (bool, error) {
	lines := 0
	err := firstLines(path, func(line []byte) bool {
		lines++
		var r struct {
			Timestamp, Type string
			Payload         struct {
				ID, Cwd string
				Parent  string `json:"parent_thread_id"`
				Source  json.RawMessage
			}
		}
		if json.Unmarshal(line, &r) != nil {
			return false
		}
		if s.Started.IsZero() {
			s.Started = when(r.Timestamp)
		}
		switch r.Type {
		case "session_meta":
			s.ID, s.Dir = r.Payload.ID, r.Payload.Cwd
			var from struct {
				Subagent struct {
					Spawn struct {
						Parent string `json:"parent_thread_id"`
					} `json:"thread_spawn"`
				}
			}
			_ = json.Unmarshal(r.Payload.Source, &from) // often a text
			s.Parent = cmp.Or(r.Payload.Parent, from.Subagent.Spawn.Parent)
		case "turn_context":
			s.Dir = r.Payload.Cwd
		}
		return s.Dir != "" || lines > 50
	})
	s.ID = cmp.Or(s.ID, base(path))
	return s.Dir != "" && f.trees.hold(s.Dir), err
}

// Gemini CLI: tmp/<name of the project>/chats/session-*.jsonl, of older versions .json. A chat
// tells its directory by a hash alone, so that only directories that are named somewhere can be
// recognised.

func (f *finder) gemini(tmp string) {
	dirs := map[string]string{} // the repository's directories by their hash
	for root := range f.trees.roots {
		dirs[GeminiHash(root)] = root
	}
	for dir := range GeminiProjects(filepath.Dir(tmp)) {
		if f.trees.hold(dir) {
			dirs[GeminiHash(dir)] = dir
		}
	}
	look := func(path string, s *Session) (bool, error) { return geminiFile(path, s, dirs) }
	for _, project := range f.folders(tmp) {
		chats := filepath.Join(project, "chats")
		for _, dir := range append([]string{chats}, f.folders(chats)...) {
			f.each(transcript.Gemini, dir, []string{".jsonl", ".json"}, look)
		}
	}
}

// GeminiHash returns the hash by which Gemini CLI names a directory.
func GeminiHash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// maxProjects bounds the folders whose marks are read.
const maxProjects = 10000

// GeminiProjects returns the directories that Gemini CLI has worked in, each with the name of its
// folder in tmp: first those of its list of projects, then those of the projects' own marks.
func GeminiProjects(home string) iter.Seq2[string, string] {
	return func(yield func(dir, name string) bool) {
		var list struct{ Projects map[string]string }
		if data, err := file.ReadLinked(filepath.Join(home, "projects.json"), headMost); err == nil {
			_ = json.Unmarshal(data, &list) // what cannot be read names nothing
		}
		for _, dir := range slices.Sorted(maps.Keys(list.Projects)) {
			if !yield(dir, list.Projects[dir]) {
				return
			}
		}
		projects, _ := os.ReadDir(filepath.Join(home, "tmp"))
		for _, p := range projects[:min(len(projects), maxProjects)] {
			data, err := file.ReadLinked(filepath.Join(home, "tmp", p.Name(), ".project_root"), headStep)
			if err == nil && !yield(strings.TrimSpace(string(data)), p.Name()) {
				return
			}
		}
	}
}

func geminiFile(path string, s *Session, dirs map[string]string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	d := json.NewDecoder(io.LimitReader(file, headMost))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false, nil
	}
	hash := ""
	for d.More() {
		key, err := d.Token()
		if err != nil || key == "messages" {
			break
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			break
		}
		var text string
		_ = json.Unmarshal(raw, &text)
		switch key {
		case "sessionId":
			s.ID = text
		case "projectHash":
			hash = text
		case "startTime":
			s.Started = when(text)
		}
	}
	s.Dir = dirs[hash]
	return s.Dir != "", nil
}

// Copilot CLI: session-state/<session>/events.jsonl.

func (f *finder) copilot(state string) {
	for _, session := range f.folders(state) {
		if f.over() {
			return
		}
		f.file(transcript.Copilot, filepath.Join(session, "events.jsonl"), f.copilotFile)
	}
}

func (f *finder) copilotFile(path string, s *Session) (bool, error) {
	s.ID = filepath.Base(filepath.Dir(path))
	err := firstLines(path, func(line []byte) bool {
		var r struct {
			Type, Timestamp string
			Data            struct {
				SessionID string
				Context   struct{ Cwd string }
			}
		}
		if json.Unmarshal(line, &r) != nil {
			return false
		}
		if s.Started.IsZero() {
			s.Started = when(r.Timestamp)
		}
		s.ID = cmp.Or(r.Data.SessionID, s.ID)
		s.Dir = r.Data.Context.Cwd
		return s.Dir != ""
	})
	return s.Dir != "" && f.trees.hold(s.Dir), err
}

// Qwen Code: projects/<name of the directory>/chats/<session>.jsonl.

func (f *finder) qwen(projects string) {
	for _, project := range f.folders(projects) {
		f.each(transcript.Qwen, filepath.Join(project, "chats"), []string{".jsonl"}, f.claudeFile)
	}
}

// Aider: .aider.chat.history.md in a work tree. It names no directory and tells no sessions apart
// until it is read.

func (f *finder) aider(history string) {
	f.file(transcript.Aider, history, func(path string, s *Session) (bool, error) {
		s.ID, s.Dir = "history", filepath.Dir(path)
		return true, nil
	})
}
