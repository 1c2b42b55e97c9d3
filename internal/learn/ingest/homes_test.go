package ingest

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// An agent's variable moves its sessions along with its settings; a relative path is ignored.
func TestHomesFollowAbsoluteVariables(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, c := range []struct{ value, root string }{{"", ""}, {"moved/it", ""}, {filepath.Join(home, "moved"), filepath.Join(home, "moved")}} {
		for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "QWEN_HOME", "XDG_DATA_HOME"} {
			t.Setenv(name, c.value)
		}
		want := past.Homes{transcript.Claude: {filepath.Join(home, ".claude")}, transcript.Codex: {filepath.Join(home, ".codex")},
			transcript.Gemini: {filepath.Join(home, ".gemini")}, transcript.Copilot: {filepath.Join(home, ".copilot")},
			transcript.Qwen: {filepath.Join(home, ".qwen")}, transcript.OpenCode: {filepath.Join(home, ".local", "share", "opencode")}}
		if c.root != "" {
			want = past.Homes{transcript.Claude: {c.root}, transcript.Codex: {c.root}, transcript.Gemini: {filepath.Join(c.root, ".gemini")},
				transcript.Copilot: {c.root}, transcript.Qwen: {c.root}, transcript.OpenCode: {filepath.Join(c.root, "opencode")}}
		}
		got, err := Homes()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", c.value, err, diff)
		}
	}
}
