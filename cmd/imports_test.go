package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/reverie-memory/reverie/"

// arrows lists the packages of this module that each package may import. A package that is not here
// may not exist; "cmd" may import everything below it.
var arrows = map[string][]string{
	"internal/file":  nil,
	"internal/exit":  nil,
	"gitstore/share": {"gitstore", "gitstore/purge", "gitstore/record", "gitstore/remotes", "internal/clone", "internal/config", "internal/exit", "internal/git", "internal/pattern", "internal/plural", "internal/redact", "internal/unseen"},
	"internal/clone": {"dream", "gitstore", "gitstore/anchor", "gitstore/purge", "gitstore/record", "gitstore/trust", "hooks", "internal/config", "internal/derived",
		"internal/dotenv", "internal/exit", "internal/file", "internal/git", "internal/redact", "reflect", "reflect/transcript", "reflect/transcript/past"},
	"internal/reader": {"gitstore", "gitstore/anchor", "gitstore/recall", "gitstore/recall/vector", "gitstore/record", "gitstore/trust",
		"internal/attack", "internal/clone", "internal/config", "internal/docs", "internal/exit", "internal/history", "internal/ollama", "internal/plural", "internal/unseen", "prompts/door"},
	"internal/hint":   {"gitstore", "gitstore/purge", "gitstore/record", "gitstore/trust", "hooks/githook", "internal/config", "internal/exit", "internal/file", "internal/git"},
	"internal/period": nil,
	"internal/checkpoint": {"gitstore", "gitstore/record", "hooks", "internal/clone", "internal/cut", "internal/exit", "internal/git", "internal/job", "internal/learn/ingest",
		"internal/reader", "reflect", "reflect/transcript"},
	"internal/remember": {"dream", "gitstore", "gitstore/anchor", "gitstore/guard", "gitstore/recall", "gitstore/record", "gitstore/record/transfer", "internal/clone", "internal/exit", "internal/pattern", "internal/plural", "internal/reader"},
	"internal/approval": {"gitstore/record", "gitstore/trust", "internal/clone", "internal/config", "internal/reader", "internal/unseen"},
	"internal/history":  {"internal/git"},
	"internal/dossier":  {"gitstore/brief", "gitstore/record", "internal/history", "internal/learn/inbox", "internal/reader", "internal/plural"},
	"cmd/tell":          {"gitstore/record", "gitstore/trust", "internal/dossier", "internal/history", "internal/job", "internal/learn/inbox", "internal/plural", "internal/reader", "internal/status", "internal/term", "reflect"},
	"internal/undo":     {"gitstore", "gitstore/record", "internal/clone", "internal/history"},
	"internal/plural":   nil,
	"internal/status":   {"gitstore", "gitstore/brief", "internal/clone", "gitstore/record", "internal/config", "internal/job", "internal/kv", "internal/learn", "internal/learn/ingest", "internal/model", "internal/plural", "internal/reader", "prompts", "internal/upkeep", "reflect/compress"},
	"internal/block":    {"internal/exit", "internal/pattern"},
	"internal/term":     {"gitstore/recall/terms", "internal/pattern", "internal/plural", "internal/redact", "internal/unseen"},
	"internal/job":      {"internal/file", "internal/git"},
	"internal/learn": {"dream", "gitstore", "gitstore/purge", "gitstore/record", "internal/clone", "internal/config", "internal/file", "internal/learn/dreams", "internal/learn/inbox", "internal/learn/ingest", "internal/model",
		"prompts", "prompts/door", "reflect", "reflect/transcript"},
	"internal/learn/dreams":   {"dream", "gitstore", "gitstore/anchor", "gitstore/purge", "gitstore/record", "internal/clone", "internal/learn/inbox", "prompts", "reflect", "reflect/transcript"},
	"internal/learn/inbox":    {"dream", "gitstore", "gitstore/record", "gitstore/trust", "internal/clone", "internal/config", "internal/exit", "internal/history", "internal/plural", "reflect/transcript"},
	"internal/offer":          {"dream", "gitstore", "gitstore/record", "gitstore/share", "internal/clone", "internal/config", "internal/file", "internal/git", "internal/reader"},
	"internal/learn/ingest":   {"hooks", "hooks/setup/agents", "internal/clone", "internal/file", "internal/git", "internal/job", "internal/redact", "reflect", "reflect/transcript", "reflect/transcript/past"},
	"internal/model":          {"internal/config", "internal/exit", "internal/model/agent", "internal/ollama", "prompts"},
	"internal/model/agent":    {"hooks", "internal/cut", "internal/file", "internal/job", "internal/process"},
	"internal/pattern":        nil,
	"internal/lexicon":        {"internal/pattern"},
	"internal/derived":        {"internal/file"},
	"internal/dotenv":         {"internal/file", "internal/git"},
	"internal/cut":            nil,
	"internal/mcpconn":        {"internal/cut"},
	"internal/finding":        nil,
	"internal/unseen":         nil,
	"internal/attack":         {"internal/finding", "internal/pattern", "internal/unseen"},
	"internal/docs":           {"gitstore/recall/terms", "internal/file", "internal/pattern"},
	"internal/process":        nil,
	"internal/shell":          nil,
	"internal/upkeep":         {"gitstore/brief", "gitstore/guard", "gitstore/purge", "gitstore/recall", "gitstore/recall/vector", "gitstore/remotes", "gitstore/share", "gitstore/trust", "internal/clone", "internal/kv", "internal/reader", "prompts/door", "reflect/compress", "reflect/transcript", "worktree", "worktree/try"},
	"internal/kv":             {"internal/derived", "internal/exit", "internal/file", "internal/git", "internal/redact"},
	"internal/demo":           {"examples", "internal/job", "internal/pattern", "reflect", "reflect/transcript"},
	"internal/preview":        {"dream", "gitstore/record", "internal/clone", "internal/foreign", "internal/intake", "internal/learn/ingest", "internal/reader", "internal/redact", "reflect", "reflect/transcript", "reflect/transcript/past"},
	"internal/intake":         {"dream", "gitstore", "gitstore/guard", "gitstore/record", "gitstore/record/transfer", "hooks/setup/agents", "internal/clone", "internal/derived", "internal/exit", "internal/file", "internal/foreign", "internal/plural", "internal/reader", "internal/redact"},
	"internal/git":            {"internal/file", "internal/pattern", "internal/process"},
	"internal/redact":         nil,
	"internal/config":         {"internal/file", "internal/period"},
	"internal/ollama":         {"internal/cut"},
	"internal/sqlite":         {"internal/pattern"},
	"internal/testrepo":       {"hooks"},
	"reflect/transcript/past": {"reflect/transcript", "internal/file", "internal/pattern", "internal/sqlite"},
	"prompts":                 nil,
	"prompts/door":            {"prompts", "internal/file", "internal/pattern", "internal/redact"},
	"sandbox":                 {"internal/config", "internal/exit", "internal/process"},
	"reflect/transcript":      {"internal/pattern", "internal/shell"},
	"gitstore":                {"internal/file", "internal/git", "internal/redact", "internal/unseen"},
	"gitstore/catalog":        {"internal/file"},
	"gitstore/record":         {"gitstore", "gitstore/catalog", "gitstore/recall/terms", "gitstore/record/wording", "internal/pattern", "internal/redact"},
	"gitstore/record/wording": {"internal/lexicon", "internal/pattern"},
	"gitstore/anchor":         {"gitstore/record", "internal/file", "internal/git", "internal/pattern"},
	"gitstore/recall/terms":   {"internal/pattern"},
	"gitstore/recall":         {"gitstore/catalog", "gitstore/record", "gitstore/recall/terms", "internal/pattern"},
	"gitstore/guard":          {"gitstore/recall", "gitstore/record", "gitstore/record/wording", "hooks", "internal/file", "internal/pattern", "internal/shell"},
	"gitstore/recall/vector":  {"gitstore/recall", "gitstore/record", "internal/file"},
	"gitstore/recall/pack":    nil,
	"gitstore/purge":          {"gitstore", "gitstore/record", "gitstore/remotes", "internal/exit", "internal/file", "internal/git", "internal/pattern", "internal/plural", "internal/redact", "internal/shell"},
	"gitstore/remotes":        {"gitstore", "internal/exit", "internal/file", "internal/git"},
	"gitstore/trust":          {"gitstore", "gitstore/record", "internal/config", "internal/derived", "internal/exit", "internal/file", "internal/pattern"},
	"hooks":                   {"internal/file", "internal/pattern", "internal/redact", "internal/shell"},
	"hooks/slash":             nil,
	"packaging/plugins":       {"gitstore/record", "hooks", "hooks/setup/agents", "hooks/slash", "internal/pattern"},
	"hooks/setup/agents":      {"hooks", "hooks/slash", "internal/file", "internal/pattern"},
	"hooks/setup":             {"gitstore", "gitstore/brief", "gitstore/record", "hooks", "hooks/githook", "hooks/setup/agents", "hooks/setup/ci", "internal/block", "internal/clone", "internal/config", "internal/exit", "internal/file", "internal/git", "internal/job", "internal/plural", "internal/reader", "internal/redact", "worktree"},
	"hooks/setup/ci":          {"internal/pattern"},
	"hooks/setup/doctor": {"gitstore", "gitstore/recall/vector", "gitstore/record", "gitstore/trust", "hooks", "hooks/githook", "hooks/setup/agents", "hooks/setup",
		"internal/clone", "internal/config", "internal/file", "internal/hint", "internal/job", "internal/learn/ingest", "internal/model", "internal/ollama", "internal/plural", "internal/reader", "internal/capture"},
	"hooks/githook":      {"hooks", "internal/file", "internal/git", "internal/pattern", "internal/redact"},
	"worktree":           {"gitstore", "internal/file", "internal/git", "internal/process", "internal/redact", "worktree/diff"},
	"worktree/agent":     {"worktree"},
	"worktree/audit":     {"worktree", "worktree/diff", "prompts", "internal/cut"},
	"worktree/container": {"worktree", "sandbox", "internal/git", "internal/redact"},
	"worktree/diff":      {"internal/git", "internal/redact"},
	"worktree/program":   {"worktree", "worktree/agent", "internal/git"},
	"worktree/loop": {"gitstore", "hooks", "hooks/githook", "internal/clone", "internal/config", "internal/exit", "internal/file", "internal/git", "internal/job", "internal/reader", "internal/redact", "reflect",
		"worktree", "worktree/container", "worktree/loop/fault", "worktree/loop/phase", "worktree/loop/plan", "worktree/loop/session", "worktree/loop/status"},
	"worktree/loop/fault": {"internal/exit", "internal/job", "internal/ollama", "internal/unseen", "sandbox", "worktree", "worktree/agent"},
	"worktree/loop/phase": {"gitstore", "gitstore/brief", "hooks", "internal/cut", "internal/job", "internal/model", "internal/plural", "internal/reader", "internal/redact", "internal/unseen", "prompts",
		"sandbox", "worktree", "worktree/agent", "worktree/audit", "worktree/container", "worktree/diff", "worktree/try", "worktree/verify"},
	"worktree/loop/plan": {"internal/config", "internal/exit", "internal/git", "internal/reader", "internal/unseen", "prompts", "sandbox", "worktree", "worktree/agent", "worktree/container",
		"worktree/loop/fault", "worktree/loop/phase", "worktree/program", "worktree/try", "worktree/verify"},
	"worktree/loop/session": {"hooks", "internal/clone", "internal/cut", "internal/file", "internal/unseen", "reflect", "reflect/transcript", "worktree", "worktree/agent", "worktree/verify"},
	"worktree/loop/status":  {"internal/clone", "internal/exit", "internal/git", "internal/plural", "internal/unseen", "worktree", "worktree/agent"},
	"worktree/try":          {"internal/file", "internal/git"},
	"worktree/verify":       {"worktree"},
	"reflect/compress":      {"reflect/transcript", "internal/derived", "internal/file", "internal/pattern", "internal/plural", "internal/redact"},
	"reflect/claim":         {"internal/lexicon", "internal/pattern"},
	"reflect/train":         {"reflect/claim"},
	"reflect":               {"gitstore/record", "gitstore/record/wording", "internal/attack", "internal/cut", "internal/file", "internal/lexicon", "internal/pattern", "internal/plural", "internal/redact", "internal/shell", "prompts", "reflect/claim", "reflect/compress", "reflect/transcript"},
	"reflect/labelled":      {"gitstore/record", "reflect/transcript"},
	"reflect/eval":          {"gitstore/record", "internal/redact", "prompts", "reflect", "reflect/labelled", "reflect/transcript"},
	"dream":                 {"gitstore/guard", "gitstore/record", "gitstore/record/wording", "gitstore/recall", "prompts", "internal/attack", "internal/cut", "internal/pattern", "internal/unseen"},
	"cmd/reverie":           {"cmd"},
	"cmd/tui":               nil,
	"cmd/welcome":           {"hooks", "hooks/githook", "hooks/setup/agents", "internal/intake", "internal/learn/ingest", "internal/plural"},
	"cmd/help":              nil,
	"cmd/wire":              {"gitstore/brief", "gitstore/record", "hooks/githook", "internal/dossier", "internal/learn/inbox", "internal/reader", "reflect"},
	"cmd/usage":             {"cmd/help", "internal/exit", "internal/shell"},
	"cmd/argv":              {"cmd/help"},
	"cmd/complete":          {"cmd/argv", "cmd/help", "gitstore/record", "hooks", "internal/pattern", "internal/reader", "worktree"},
	"cmd/report":            {"internal/demo", "internal/plural", "internal/preview", "internal/term"},
	"examples":              nil,
	"cmd/check":             {"dream", "gitstore", "gitstore/record", "gitstore/remotes", "hooks/setup/ci", "internal/attack", "internal/clone", "internal/config", "internal/exit", "internal/finding", "internal/git", "internal/hint", "internal/plural", "internal/reader", "internal/redact", "internal/term", "internal/unseen", "internal/dossier", "internal/history", "internal/learn/inbox"},

	"gitstore/brief": {"gitstore", "gitstore/anchor", "gitstore/guard", "gitstore/recall", "gitstore/recall/pack", "gitstore/record", "gitstore/trust", "hooks", "internal/attack", "internal/block", "internal/clone", "internal/config", "internal/cut", "internal/derived", "internal/exit", "internal/file", "internal/git", "internal/pattern", "internal/plural", "internal/reader", "internal/redact", "internal/unseen", "reflect", "reflect/transcript"},

	"internal/foreign":         {"internal/file", "internal/lexicon", "internal/pattern", "internal/sqlite", "internal/docs", "reflect/transcript/past"},
	"gitstore/record/transfer": {"gitstore/record", "internal/pattern", "internal/redact"},

	"internal/capture": {"gitstore", "gitstore/guard", "gitstore/record", "gitstore/brief", "gitstore/recall", "hooks", "internal/checkpoint", "internal/clone", "internal/config", "internal/cut", "internal/file", "internal/git", "internal/job", "internal/learn",
		"internal/learn/ingest", "internal/reader", "internal/redact", "internal/unseen", "reflect/transcript"},
	"internal/worker": {"gitstore", "gitstore/brief", "hooks", "internal/clone", "internal/config", "internal/job", "internal/learn", "internal/learn/ingest", "internal/reader"},
	"internal/mcp": {"gitstore", "gitstore/brief", "gitstore/recall", "gitstore/recall/pack", "gitstore/record", "hooks", "hooks/slash", "internal/checkpoint", "internal/cut", "internal/exit", "internal/git", "internal/hint",
		"internal/job", "internal/kv", "internal/learn", "internal/mcpconn", "internal/pattern", "internal/period", "internal/plural", "internal/reader", "internal/remember", "internal/status", "internal/upkeep", "reflect/compress", "reflect/transcript",
		"worktree", "worktree/loop", "worktree/loop/plan", "worktree/loop/status"},

	"cmd/web": {"gitstore", "gitstore/brief", "gitstore/recall", "gitstore/record", "internal/clone", "internal/dossier", "internal/hint", "internal/history", "internal/learn", "internal/learn/inbox",
		"internal/approval", "internal/exit", "internal/plural", "internal/reader", "internal/remember", "internal/unseen", "reflect", "reflect/transcript",
		"worktree", "worktree/agent", "worktree/loop/status", "internal/undo"},
}

// testsOnly are packages that only tests may import.
var testsOnly = []string{"internal/testrepo"}

// outside lists modules that only one package of the project may import.
var outside = map[string][]string{
	"github.com/go-git/go-git/v5":            {"internal/git"},
	"github.com/ollama/ollama":               {"internal/ollama"},
	"github.com/urfave/cli/v2":               {"cmd", "cmd/argv", "cmd/complete", "cmd/help", "cmd/usage"},
	"charm.land/bubbletea/v2":                {"cmd/tui"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/mcp", "internal/mcpconn"},
	"github.com/google/jsonschema-go":        nil, // tests only; the SDK below links it anyway
	"modernc.org/sqlite":                     nil, // tests only; it would slow every start
}

func TestImportsFollowTheArrows(t *testing.T) {
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	list.Dir = ".."
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir                    string
			Imports, TestImports, XTestImports []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows[name]
		if !known && name != "cmd" && !strings.HasPrefix(name, "bench") && !strings.HasPrefix(name, "e2e") {
			t.Errorf("%s is not in the picture", name)
		}
		for _, i := range p.Imports {
			ours, isOurs := strings.CutPrefix(i, module)
			switch {
			case isOurs && slices.Contains(testsOnly, ours):
				t.Errorf("%s imports %s, which is for tests", name, ours)
			case isOurs && known && !slices.Contains(allowed, ours):
				t.Errorf("%s imports %s: that arrow is not in the picture", name, ours)
			}
			for mod, users := range outside {
				if (i == mod || strings.HasPrefix(i, mod+"/")) && !slices.Contains(users, name) {
					t.Errorf("%s imports %s; only %v may", name, i, users)
				}
			}
		}
	}
	if seen < 8 {
		t.Fatalf("go list named %d packages only", seen)
	}
}

// The page on architecture lists every package, and no other.
func TestPackageListIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "## Packages\n")
	list, _, _ = strings.Cut(list, "\n## ")
	if !found {
		t.Fatal("there is no list of packages")
	}
	listed := map[string]bool{}
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "    "); ok {
			listed[strings.Fields(name)[0]] = true
		}
	}
	for name := range arrows {
		if !listed[name] && !strings.HasPrefix(name, "reflect/train") {
			t.Errorf("%s is not in the list", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		if info, err := os.Stat("../" + name); err != nil || !info.IsDir() {
			t.Errorf("%s is in the list, and does not exist", name)
		}
	}
}
