package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	adjectives = "amber brisk copper dusty eager fuzzy gentle hollow ivory jagged keen lunar mellow narrow olive plain quiet rustic silver tidy urban vivid woven yellow zesty bold crisp deep early faint grand humble inner joint known loose merry noble outer proud"
	nouns      = "ledger parser queue router socket tenant upload voucher widget archive broker cursor digest export fixture gateway handler invoice journal kernel locale mailer notice order payment quota report schema ticket user vault worker index bundle cache driver event filter grid hook image"
)

func word(words string, i int) string {
	all := strings.Fields(words)
	return all[i%len(all)]
}

func adjective(i int) string { return word(adjectives, i) }
func noun(i int) string      { return word(nouns, i) }

// statement returns the rule that a person states in session i, different for each.
func statement(i int) string {
	a, n, m := adjective(i), noun(i/40), noun(i/40+1+i%7)
	switch i % 4 {
	case 0:
		return fmt.Sprintf("Always run `make %s-%s-%d` before you change the %s.", a, n, i, m)
	case 1:
		return fmt.Sprintf("Never edit %s/%s%d.go by hand, the %s generator owns it.", n, a, i, m)
	case 2:
		return fmt.Sprintf("Never call %s%d from the %s %s.", m, i, a, n)
	}
	return fmt.Sprintf("Never import %s%d from the %s %s package.", m, i, a, n)
}

// session returns a transcript of Claude Code in which a person states a rule and work follows.
func session(i int, dir, rule string) []byte {
	var b strings.Builder
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * 4 * time.Hour)
	e := json.NewEncoder(&b)
	n := 0
	line := func(who string, content any) {
		n++
		e.Encode(map[string]any{"type": who, "uuid": fmt.Sprintf("u%d", n), "sessionId": fmt.Sprintf("5f0c1e2a-0000-4000-8000-%012d", i),
			"timestamp": at.Add(time.Duration(n) * time.Second).Format(time.RFC3339), "cwd": dir, "message": map[string]any{"role": who, "content": content}})
	}
	call := func(name string, input any, result string) {
		id := fmt.Sprintf("t%d", n)
		line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}})
		line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": false}})
	}
	line("user", fmt.Sprintf("please add a %s field to the %s", adjective(i*3), noun(i)))
	call("Edit", map[string]any{"file_path": fmt.Sprintf("%s/%s.go", dir, noun(i)), "old_string": "a", "new_string": "b"}, "done")
	line("user", rule)
	line("assistant", []any{map[string]any{"type": "text", "text": "Understood."}})
	call("Bash", map[string]any{"command": "git status --short"}, " M x.go")
	return []byte(b.String())
}
