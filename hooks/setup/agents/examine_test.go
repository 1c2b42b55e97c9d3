package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// codex 0.169.0 itself produced the keys and the hashes for these entries.
func TestCodexApprovalIsRecognised(t *testing.T) {
	e := entry{key: key{Event: "SessionStart"}, Command: "'/opt/my bin/reverie' hook codex", Timeout: agent(t, "codex").Deliveries[0].Timeout}
	if got := codexHash(e); got != "sha256:7160e38f32630ab072fa9a33224897d7dc00a672f9534c744670fdfdad398819" {
		t.Errorf("hash %s", got)
	}
	e = entry{key: key{Event: "PreToolUse", Matcher: "Bash|apply_patch"}, Command: "'/opt/my bin/reverie' hook codex || true", Timeout: 5 * time.Second}
	if got := codexHash(e); got != "sha256:05601696847bbc08d3e583e8836a99f9392bff013bbd46256db34f4ab31b4577" {
		t.Errorf("hash with a matcher: %s", got)
	}
	p := newPlace(t)
	target := p.user("codex")
	p.install(target, p.clone("clone"))
	look := func() string {
		s, err := p.in.Examine(target)
		if err != nil {
			t.Fatal(err)
		}
		var why []string
		for _, h := range p.m.Hindrances(s, "") {
			why = append(why, h.Why)
		}
		return strings.Join(why, "\n")
	}
	if got := look(); !strings.Contains(got, "once you approve them") {
		t.Errorf("before: %s", got)
	}
	approve := func(event, hash, more string) string {
		return "[hooks.state.\"" + target.File + ":" + event + ":0:0\"]\ntrusted_hash = \"" + hash + "\"\n" + more
	}
	s, _ := p.in.Examine(target)
	var config string
	for _, e := range s.entries {
		hash, more := codexHash(e), ""
		switch e.Event {
		case "Stop":
			hash = "sha256:00"
		case "PreCompact":
			more = "enabled = false\n"
		}
		config += approve(snake(e.Event), hash, more)
		if e.Event == "SessionStart" {
			p.write(filepath.Join(p.home, ".codex", "config.toml"), config, 0o600)
			if got := look(); !strings.Contains(got, "not approved: UserPromptSubmit, Stop, PreCompact, SessionEnd") {
				t.Errorf("with one approved: %s", got)
			}
		}
	}
	p.write(filepath.Join(p.home, ".codex", "config.toml"), config, 0o600)
	got := look()
	if strings.Contains(got, "not approved") || !strings.Contains(got, "may skip them: Stop") || !strings.Contains(got, "turned off in Codex: PreCompact") || strings.Count(got, "\n") != 1 {
		t.Errorf("after: %s", got)
	}
	p.write(filepath.Join(p.home, ".codex", "config.toml"), "[", 0o600)
	if got := look(); !strings.Contains(got, "config.toml") {
		t.Errorf("spoilt: %s", got)
	}
}

func TestExamineNamesWhatIsMissingAndDoubled(t *testing.T) {
	p := newPlace(t)
	target := p.user("gemini")
	p.install(target, p.clone("clone"))
	text, _ := os.ReadFile(target.File)
	changed := strings.Replace(string(text), `"AfterAgent": [`, `"AfterModel": [`, 1)
	changed = strings.Replace(changed, `"SessionEnd": [`, `"SessionEnd": [{"hooks": [{"command": "/other/reverie hook gemini"}]},`, 1)
	p.write(target.File, changed, 0o600)
	s, err := p.in.Examine(target)
	if err != nil || strings.Join(s.Missing, " ") != "AfterAgent" || strings.Join(s.Twice, " ") != "SessionEnd" || len(s.Programs) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	p.install(target, p.clone("clone"))
	if s, err = p.in.Examine(target); err != nil || len(s.Missing)+len(s.Twice) > 0 || len(s.Programs) != 1 {
		t.Errorf("after: %+v, %v", s, err)
	}
}
