// Command plugins writes the plugins for agents that their own commands install: a folder for
// Claude Code and Codex, an extension for Gemini CLI and a package for OpenCode. It also writes the
// marketplace at the top of the repository and the entry for the MCP Registry. The files come from
// the tables that init uses, so go generate follows a change of those.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/hooks/slash"
	"github.com/reverie-memory/reverie/internal/pattern"
)

//go:generate go run .

//go:embed skill.md
var skill string

const (
	program = "reverie" // in PATH: a plugin cannot know the folder
	about   = "A repository's memory, kept in git"
	license = "MIT"
	page    = "https://github.com/reverie-memory/reverie"
)

// top is the repository's top, seen from this folder.
const top = "../.."

// folders belong to this program alone, below this folder.
var folders = []string{"reverie", "gemini", "opencode"}

// object is a JSON object.
type object = map[string]any

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		os.Exit(1)
	}
}

// write replaces all files.
func write() error {
	changes, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	all, err := files(string(changes))
	if err != nil {
		return err
	}
	for _, dir := range folders {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	for name, text := range all {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// newest matches the heading of the newest version in the changelog.
var newest = pattern.New(`(?m)^## .*?(\d+\.\d+\.\d+)$`)

// files returns the texts of all files by their names below this folder. The changelog names the
// version.
func files(changes string) (map[string][]byte, error) {
	found := newest.FindStringSubmatch(changes)
	if found == nil {
		return nil, fmt.Errorf("CHANGELOG.md names no version")
	}
	version := found[1]
	all := map[string][]byte{}
	for _, name := range folders {
		all[name+"/skills/reverie/SKILL.md"] = []byte(strings.Replace(skill, "KINDS", record.KindList(), 1))
	}
	for _, c := range slash.Commands() {
		all["reverie/commands/"+c.Short()+".md"] = []byte(strings.Replace(c.Claude(), slash.Header, "", 1))
		all["gemini/commands/reverie/"+c.Short()+".toml"] = []byte(strings.TrimPrefix(c.Gemini(), slash.Header))
	}
	for name, agent := range map[string]string{"reverie/hooks/hooks": "claude", "reverie/hooks/codex": "codex", "gemini/hooks/hooks": "gemini"} {
		a, _ := hooks.Find(agent)
		text, err := agents.Entries(a, program)
		if err != nil {
			return nil, err
		}
		all[name+".json"] = text
	}
	all["opencode/index.js"] = agents.Module(program)

	server := func(agent string) object {
		return object{"reverie": object{"command": program, "args": []string{"mcp", "--agent", agent}}}
	}
	author := object{"name": "The Reverie authors"}
	manifest := object{"name": "reverie", "version": version, "description": about, "author": author, "homepage": page, "license": license}
	for name, value := range map[string]object{
		// Qwen Code takes servers only from here.
		"reverie/.claude-plugin/plugin.json": with(manifest, object{"mcpServers": server("claude")}),
		// Codex prefers its own manifest, and the files that this one names.
		"reverie/.codex-plugin/plugin.json": with(manifest, object{"skills": "./skills/", "hooks": "./hooks/codex.json", "mcpServers": server("codex")}),
		"gemini/gemini-extension.json":      {"name": "reverie", "version": version, "description": about, "mcpServers": server("gemini")},
		"opencode/package.json": {"name": "@reverie-memory/opencode", "version": version, "description": about, "license": license, "homepage": page,
			"type": "module", "main": "index.js", "files": []string{"index.js", "skills"}},
		top + "/.claude-plugin/marketplace.json": {"name": "reverie", "description": about, "owner": author,
			"plugins": []object{{"name": "reverie", "source": "./packaging/plugins/reverie", "description": about}}},
		"server.json": {
			"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
			"name":        "io.github.reverie-memory/reverie",
			"description": about,
			"repository":  object{"url": page, "source": "github"},
			"version":     version,
			"packages": []object{{"registryType": "npm", "identifier": "reverie-memory", "version": version, "transport": object{"type": "stdio"},
				"packageArguments": []object{{"type": "positional", "value": "mcp"}}}},
		},
	} {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(value); err != nil {
			return nil, err
		}
		all[name] = text.Bytes()
	}
	return all, nil
}

// with returns the members of both objects.
func with(a, b object) object {
	all := object{}
	for _, o := range []object{a, b} {
		for k, v := range o {
			all[k] = v
		}
	}
	return all
}
