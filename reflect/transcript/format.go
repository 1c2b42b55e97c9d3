package transcript

import (
	"errors"
	"strings"
)

// Format names a kind of transcript.
type Format string

const (
	Auto Format = "auto" // recognise the format by the first records
	// `opencode export`, a plugin's or the bus's events, `opencode run --format json`
	OpenCode  Format = "opencode"
	Claude    Format = "claude"    // Claude Code's JSONL, also its `--output-format stream-json`
	Codex     Format = "codex"     // Codex CLI's rollout JSONL
	Gemini    Format = "gemini"    // Gemini CLI's chats, JSONL or one JSON document
	Copilot   Format = "copilot"   // Copilot CLI's events.jsonl
	Qwen      Format = "qwen"      // Qwen Code's chats
	Aider     Format = "aider"     // Aider's .aider.chat.history.md
	SpecStory Format = "specstory" // a file of .specstory/history
	JSONL     Format = "jsonl"     // generic: one session per line
)

// Formats lists every format that Decode knows, Auto first.
var Formats = []Format{Auto, OpenCode, Claude, Codex, Gemini, Copilot, Qwen, Aider, SpecStory, JSONL}

// formatList is for error messages.
func formatList(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

var (
	// ErrUnknownFormat is returned when the input has no record of a known format, or none of the
	// requested one.
	ErrUnknownFormat = errors.New("unknown transcript format")
	// ErrEmpty is returned when the input has only white space.
	ErrEmpty = errors.New("empty transcript")
	// ErrBinary is returned when the input is not text.
	ErrBinary = errors.New("binary data, not a transcript")
	// ErrLineTooLong is passed to Sink.Bad for a line or an element larger than MaxLine.
	ErrLineTooLong = errors.New("too long")
	// ErrReplaced is passed to Sink.Bad for a line that was read, but with wrong UTF-8 replaced by
	// U+FFFD.
	ErrReplaced = errors.New("wrong UTF-8 replaced")
)
