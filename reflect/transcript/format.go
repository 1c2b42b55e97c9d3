package transcript

import (
	"errors"
	"strings"
)

// Format names a kind of transcript.
type Format string

const (
	Auto      Format = "auto"      // recognise the format by the first records
	OpenCode  Format = "opencode"  // `opencode export`, a plugin's or the bus's events, `opencode run --format json`
	Claude    Format = "claude"    // Claude Code's JSONL, also its `--output-format stream-json`
	Codex     Format = "codex"     // Codex CLI's rollout JSONL
	Gemini    Format = "gemini"    // Gemini CLI's chats, JSONL or one JSON document
	Copilot   Format = "copilot"   // Copilot CLI's events.jsonl
	Aider     Format = "aider"     // Aider's .aider.chat.history.md
	SpecStory Format = "specstory" // a file of .specstory/history
	JSONL     Format = "jsonl"     // generic: one session per line
)

// Formats holds every format Decode knows, Auto first.
var Formats = []Format{Auto, OpenCode, Claude, Codex, Gemini, Copilot, Aider, SpecStory, JSONL}

// formatList is for error messages.
func formatList(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

var (
	// ErrUnknownFormat is returned when no record of a known format was found, or none of the
	// format asked for.
	ErrUnknownFormat = errors.New("unknown transcript format")
	// ErrEmpty is returned when the input holds nothing but white space.
	ErrEmpty = errors.New("empty transcript")
	// ErrBinary is returned when the input is not text.
	ErrBinary = errors.New("binary data, not a transcript")
	// ErrLineTooLong is given to Sink.Bad for a line or an element larger than MaxLine.
	ErrLineTooLong = errors.New("too long")
	// ErrReplaced is given to Sink.Bad for a line that was read, but held wrong UTF-8, which
	// was replaced by U+FFFD.
	ErrReplaced = errors.New("wrong UTF-8 replaced")
)
