package agents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files with commands come and go with their folders, a user's file in the place of one stays as it
// is, and so does every other file in the folder.
func TestCommandFilesLeaveTheUsersAlone(t *testing.T) {
	for name, folder := range map[string]string{"claude": ".claude/commands/reverie", "codex": ".codex/skills/reverie", "gemini": ".gemini/commands/reverie",
		"copilot": ".copilot/skills/reverie", "qwen": ".qwen/commands/reverie", "cursor": ".cursor/skills/reverie"} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			clone := p.clone("clone")
			all := commands(agent(t, name), p.m.Folder(name))
			if len(all) == 0 {
				t.Fatal("no command")
			}
			before := p.tree()
			for _, target := range all {
				if target.Hooks() || target.serves() || filepath.Dir(target.File) != filepath.Join(p.home, folder) {
					t.Errorf("%+v", target)
				}
				p.install(target, clone)
				if s, err := p.in.Examine(target); err != nil || !s.Installed || s.Other || s.Serves || len(s.Programs) > 0 {
					t.Errorf("%+v, %v", s, err)
				}
			}
			for _, target := range all {
				p.write(target.File, read(t, target.File)+"of another version\n", 0o600)
				if s, err := p.in.Examine(target); err != nil || !s.Other {
					t.Errorf("an old file passes: %+v, %v", s, err)
				}
				if fate := p.remove(target, clone); fate != Goes {
					t.Errorf("%s %s", target.File, fate)
				}
			}
			if d := cmp.Diff(before, p.tree()); d != "" {
				t.Error(d)
			}
			p.stateless()

			own := all[0]
			p.write(own.File, "mine\n", 0o644)
			p.write(filepath.Join(filepath.Dir(own.File), "other.txt"), "mine too\n", 0o644)
			before = p.tree()
			var refused *RefusedError
			if _, err := p.in.Plan(own, "/opt/reverie", clone); !errors.As(err, &refused) {
				t.Errorf("a user's file: %v", err)
			}
			for _, target := range all[1:] {
				p.install(target, clone)
				p.remove(target, clone)
			}
			if fate := p.remove(own, AllClones); fate != Gone {
				t.Errorf("a user's file %s", fate)
			}
			if d := cmp.Diff(before, p.tree()); d != "" {
				t.Error(d)
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
