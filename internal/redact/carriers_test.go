package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// carrier is a kind of text that contains a secret.
type carrier struct {
	name  string
	json  bool // the text is a JSON document
	write func(r *rand.Rand, p planted) string
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func inside(s string) string { q := asJSON(s); return q[1 : len(q)-1] }

func camel(name string) string {
	parts := strings.Split(strings.ToLower(name), "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

func indented(s, by string) string { return strings.ReplaceAll(s, "\n", "\n"+by) }

var carriers = []carrier{
	{name: "prose", write: func(r *rand.Rand, p planted) string {
		return fmt.Sprintf([]string{"I checked again, and the %s is %s, so the deploy should work now.",
			"Here is the %s: %s\nPlease do not share it.", "For staging use the %s `%s` until Friday."}[r.IntN(3)], p.words, p.text)
	}},
	{name: "shell export", write: func(r *rand.Rand, p planted) string {
		return fmt.Sprintf([]string{"$ export %s=\"%s\"\n$ make deploy\n", "export %s='%s' && ./run.sh\n"}[r.IntN(2)], p.name, p.text)
	}},
	{name: "dotenv", write: func(r *rand.Rand, p planted) string {
		if strings.Contains(p.text, "\n") {
			return "PORT=8080\n" + p.name + "=\"" + p.text + "\"\nDEBUG=true\n"
		}
		return "PORT=8080\n" + p.name + "=" + p.text + "\nDEBUG=true\n"
	}},
	{name: "json", json: true, write: func(r *rand.Rand, p planted) string {
		return `{"id": 7, "config": {"debug": false, ` + asJSON(camel(p.name)) + `: ` + asJSON(p.text) + `}, "n": [1, 2]}`
	}},
	{name: "json in jsonl", json: true, write: func(r *rand.Rand, p planted) string {
		return asJSON(map[string]any{"type": "tool_result", "content": "cat config.json\n" + asJSON(map[string]any{"name": "x", strings.ToLower(p.name): p.text})})
	}},
	{name: "escaped json", write: func(r *rand.Rand, p planted) string {
		return `{"type":"text","text":"` + inside(asJSON(map[string]any{"a": 1, strings.ToLower(p.name): p.text})) + `"}`
	}},
	{name: "yaml", write: func(r *rand.Rand, p planted) string {
		if strings.Contains(p.text, "\n") {
			return "db:\n  " + strings.ToLower(p.name) + ": |\n    " + indented(p.text, "    ") + "\n  port: 5432\n"
		}
		q := []string{"", `"`, "'"}[r.IntN(3)]
		return "db:\n  " + strings.ToLower(p.name) + ": " + q + p.text + q + "\n  port: 5432\n"
	}},
	{name: "toml", write: func(r *rand.Rand, p planted) string {
		if strings.Contains(p.text, "\n") {
			return "[db]\n" + strings.ToLower(p.name) + " = '''\n" + p.text + "'''\nport = 5432\n"
		}
		return "[db]\n" + strings.ToLower(p.name) + " = \"" + p.text + "\"\nport = 5432\n"
	}},
	{name: "http header", write: func(r *rand.Rand, p planted) string {
		v := strings.ReplaceAll(p.text, "\n", "")
		h := []string{"Authorization: Bearer ", "X-Api-Key: ", "X-Auth-Token: "}[r.IntN(3)]
		return "GET /v1/things HTTP/1.1\r\nHost: api.example.com\r\n" + h + v + "\r\nAccept: */*\r\n\r\n"
	}},
	{name: "curl", write: func(r *rand.Rand, p planted) string {
		v := strings.ReplaceAll(p.text, "\n", "")
		return fmt.Sprintf([]string{`curl -sS -H "Authorization: Bearer %s" https://api.example.com/v1`, `curl -X POST -u 'deploy:%s' https://ci.example.com/build`,
			`curl -H 'X-Api-Key: %s' -d @body.json https://api.example.com/`}[r.IntN(3)], v)
	}},
	{name: "url", write: func(r *rand.Rand, p planted) string {
		return "2026/11/20 14:03:05 GET https://api.example.com/v1/items?page=2&" + strings.ToLower(p.name) + "=" + url.QueryEscape(p.text) + "&sort=asc 200"
	}},
	{name: "env dump", write: func(r *rand.Rand, p planted) string {
		return "\x1b[36mHOME\x1b[0m=/root\n\x1b[36m" + p.name + "\x1b[0m=\x1b[33m" + p.text + "\x1b[0m\n\x1b[36mSHLVL\x1b[0m=1\n"
	}},
	{name: "go", write: func(r *rand.Rand, p planted) string {
		return fmt.Sprintf("func main() {\n\tconst %s = %q\n\tc := client.New(%s)\n}\n", camel(p.name), p.text, camel(p.name))
	}},
	{name: "javascript", write: func(r *rand.Rand, p planted) string {
		return "const client = new Client({\n  " + camel(p.name) + ": " + asJSON(p.text) + ",\n  timeout: 5000,\n});\n"
	}},
	{name: "python", write: func(r *rand.Rand, p planted) string {
		return "import os\nos.environ[" + asJSON(p.name) + "] = '" + inside(p.text) + "'\nrun(retries=3)\n"
	}},
	{name: "commit message", write: func(r *rand.Rand, p planted) string {
		return "commit 4f2c9d1e8b7a6f5e4d3c2b1a09f8e7d6c5b4a392\n\n    config: rotate the " + p.words + "\n\n    Old " + p.name + " was " + indented(p.text, "    ") + "\n"
	}},
	{name: "base64", write: func(r *rand.Rand, p planted) string {
		return "data:\n  app.env: " + base64.StdEncoding.EncodeToString([]byte("MODE=fast\n"+p.name+"="+p.text+"\n")) + "\n"
	}},
	{name: "log line", write: func(r *rand.Rand, p planted) string {
		return `time=2026-11-20T14:03:05Z level=info msg="connecting" attempt=2 ` + strings.ToLower(p.name) + "=" + asJSON(p.text) + " took=31ms\n"
	}},
	{name: "markdown table", write: func(r *rand.Rand, p planted) string {
		return "| Variable | Value | Note |\n|---|---|---|\n| `" + p.name + "` | `" + strings.ReplaceAll(p.text, "\n", "<br>") + "` | staging |\n"
	}},
	{name: "code fence", write: func(r *rand.Rand, p planted) string {
		return "Run it like this:\n\n```sh\ndeploy --env prod --" + strings.ReplaceAll(strings.ToLower(p.name), "_", "-") + " '" + p.text + "' --wait\n```\n"
	}},
}
