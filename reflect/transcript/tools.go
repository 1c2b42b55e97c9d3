package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// actions says what the tools of each agent do, the same for tools of one name. Names are lower
// case; a tool not listed, an MCP tool for one, is Other.
var actions = sync.OnceValue(func() map[string]map[string]Action {
	return map[string]map[string]Action{
		"claude": {
			"bash": Run, "powershell": Run, "read": Read, "notebookread": Read,
			"edit": Edit, "write": Edit, "multiedit": Edit, "notebookedit": Edit,
			"grep": Search, "glob": Search, "ls": Search, "webfetch": Fetch, "websearch": Fetch, "web_search": Fetch,
			"task": Task, "agent": Task,
		},
		"codex": {
			"shell": Run, "shell_command": Run, "exec_command": Run, "local_shell": Run, "container.exec": Run, "unified_exec": Run,
			"apply_patch": Edit, "read_file": Read, "view_image": Read, "grep_files": Search, "list_dir": Search,
			"web_search": Fetch, "spawn_agent": Task,
		},
		"gemini": {
			"run_shell_command": Run, "read_file": Read, "read_many_files": Read, "replace": Edit, "write_file": Edit, "edit": Edit,
			"search_file_content": Search, "grep_search": Search, "grep": Search, "glob": Search, "list_directory": Search,
			"web_fetch": Fetch, "google_web_search": Fetch, "invoke_agent": Task, "codebase_investigator": Task, "delegate_to_agent": Task,
		},
		"copilot": {
			"bash": Run, "powershell": Run, "view": Read, "edit": Edit, "create": Edit, "apply_patch": Edit,
			"grep": Search, "rg": Search, "glob": Search, "web_fetch": Fetch, "web_search": Fetch, "task": Task,
			"run_in_terminal": Run, "replace_string_in_file": Edit, "create_file": Edit, "copilot_replacestring": Edit, "copilot_createfile": Edit,
		},
		"qwen": {
			"run_shell_command": Run, "read_file": Read, "read_many_files": Read, "edit": Edit, "write_file": Edit, "notebook_edit": Edit,
			"grep_search": Search, "glob": Search, "list_directory": Search, "web_fetch": Fetch, "web_search": Fetch, "agent": Task, "task": Task,
		},
		"opencode": {
			"bash": Run, "read": Read, "edit": Edit, "write": Edit, "multiedit": Edit, "patch": Edit, "apply_patch": Edit,
			"grep": Search, "glob": Search, "list": Search, "webfetch": Fetch, "websearch": Fetch, "codesearch": Fetch, "task": Task,
		},
		"cursor": {
			"shell": Run, "run_terminal_cmd": Run, "read": Read, "read_file": Read,
			"write": Edit, "search_replace": Edit, "edit_file": Edit, "delete": Edit, "delete_file": Edit,
			"grep": Search, "grep_search": Search, "codebase_search": Search, "glob_file_search": Search, "file_search": Search, "list_dir": Search,
			"web_search": Fetch, "task": Task,
			"run_terminal_command_v2": Run, "read_file_v2": Read, "edit_file_v2": Edit, "list_dir_v2": Search, "ripgrep_raw_search": Search, "semantic_search_full": Search,
		},
	}
})

// action looks a tool up; for an agent without a table, in all of them.
func action(client, tool string) Action {
	tool = strings.ToLower(tool)
	if known, found := actions()[client]; found {
		if a, found := known[tool]; found {
			return a
		}
		return Other
	}
	for _, known := range actions() {
		if a, found := known[tool]; found {
			return a
		}
	}
	return Other
}

// toolInput holds the fields of tool inputs that say what a call does, under the names that the
// agents use. JSON keys match in any case, so oldString and oldstring are one.
type toolInput struct {
	Command commandLine `json:"command"`
	Cmd     commandLine `json:"cmd"`

	Workdir     string `json:"workdir"`
	WorkingDir  string `json:"working_directory"`
	Cwd         string `json:"cwd"`
	Directory   string `json:"directory"`
	DirPath     string `json:"dir_path"`
	FilePath    string `json:"file_path"`
	FilePath2   string `json:"filePath"`
	AbsPath     string `json:"absolute_path"`
	Notebook    string `json:"notebook_path"`
	Path        string `json:"path"`
	Include     string `json:"include"`
	Paths       []string
	OldString   string `json:"old_string"`
	OldString2  string `json:"oldString"`
	NewString   string `json:"new_string"`
	NewString2  string `json:"newString"`
	OldStr      string `json:"old_str"`
	NewStr      string `json:"new_str"`
	FileText    string `json:"file_text"`
	NewSource   string `json:"new_source"`
	Content     string `json:"content"`
	Patch       string `json:"patch"`
	PatchText   string `json:"patchText"`
	Input       string `json:"input"`
	Pattern     string
	Query       string
	URL         string
	Prompt      string
	Message     string
	Description string
	Edits       []struct {
		OldString  string `json:"old_string"`
		OldString2 string `json:"oldString"`
		NewString  string `json:"new_string"`
		NewString2 string `json:"newString"`
	}
}

// call builds the Call event of a tool with the input given as JSON.
func call(client, tool string, input []byte) Event {
	e := Event{Kind: Call, Tool: tool, Action: action(client, tool)}
	var in toolInput
	if decode(input, &in) != nil {
		e.Text = string(input)
		return e
	}
	switch e.Action {
	case Run:
		e.Command = cmp.Or(string(in.Command), string(in.Cmd))
		e.Dir = cmp.Or(in.Workdir, in.WorkingDir, in.Cwd, in.DirPath, in.Directory)
		if patch, found := patchOf(e.Command); found {
			e.Action, e.Command, e.Dir = Edit, "", ""
			e.Paths, e.Old, e.New = parsePatch(patch)
		}
	case Read:
		e.Paths = in.files()
	case Edit:
		e.Paths = in.files()
		e.Old, e.New = cmp.Or(in.OldString, in.OldString2, in.OldStr), cmp.Or(in.NewString, in.NewString2, in.NewStr, in.NewSource, in.Content, in.FileText)
		var olds, news []string
		for _, edit := range in.Edits {
			olds = append(olds, cmp.Or(edit.OldString, edit.OldString2))
			news = append(news, cmp.Or(edit.NewString, edit.NewString2))
		}
		if len(olds) > 0 {
			e.Old, e.New = strings.Join(olds, "\n"), strings.Join(news, "\n")
		}
		if patch := cmp.Or(in.PatchText, in.Patch, in.Input); patch != "" {
			e.Paths, e.Old, e.New = parsePatch(patch)
		}
	case Search:
		e.Text = cmp.Or(in.Pattern, in.Query)
		e.Paths = append(in.files(), in.DirPath)
	case Fetch:
		e.Text = cmp.Or(in.URL, in.Query, in.Prompt)
	case Task:
		e.Text = cmp.Or(in.Prompt, in.Message, in.Query, in.Description)
	}
	if e.Action == Other || e.Action == Task && e.Text == "" {
		e.Text = compact(input)
	}
	return e
}

func (in toolInput) files() []string {
	return append([]string{cmp.Or(in.FilePath, in.FilePath2, in.AbsPath, in.Notebook, in.Path)}, in.Paths...)
}

// patchOf returns the patch if a command line does nothing but hand one to apply_patch.
func patchOf(command string) (string, bool) {
	head, _, found := strings.Cut(command, patchBegins)
	if !found || !strings.Contains(head, "apply_patch") && !strings.Contains(head, "applypatch") {
		return "", false
	}
	return command[len(head):], true
}

// compact returns JSON without white space; nothing for an empty object.
func compact(b []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return string(b)
	}
	if s := out.String(); s != "{}" && s != "null" {
		return s
	}
	return ""
}

// unadvised takes an agent's advice, which is no part of the choice, off an option.
func unadvised(option string) string { return strings.ReplaceAll(option, " (Recommended)", "") }

// exitLine begins the text in which Claude Code and others report that a command failed.
var exitLine = pattern.New(`^Exit code (-?\d{1,9})(?:\r?\n|$)`)

// cutExit takes the line with an exit code off the beginning of a text; exit is nil without one.
func cutExit(text string) (exit *int, rest string) {
	m := exitLine.FindStringSubmatch(text)
	if m == nil {
		return nil, text
	}
	n, _ := strconv.Atoi(m[1])
	return &n, text[len(m[0]):]
}

// outcomeOf is the outcome a process's exit code means.
func outcomeOf(exit *int) Outcome {
	switch {
	case exit == nil:
		return Unknown
	case *exit == 0:
		return OK
	}
	return Failed
}
