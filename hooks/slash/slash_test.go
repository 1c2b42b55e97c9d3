package slash

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// Every form of a command has the whole text, in a file that its client can read and that runs
// nothing by itself.
func TestFormsHoldTheText(t *testing.T) {
	skill := Skill("$")
	for _, c := range Commands() {
		if strings.ContainsAny(c.text, "$") || strings.Contains(c.text, "!`") || strings.Contains(c.text, "{") || strings.Contains(c.text, "'''") || len(c.text) > 700 {
			t.Errorf("%s: %d bytes: %s", c.Name, len(c.text), c.text)
		}
		var gemini struct{ Description, Prompt string }
		if err := toml.Unmarshal([]byte(c.Gemini()), &gemini); err != nil || gemini.Description != c.About || gemini.Prompt != c.Text("{{args}}") {
			t.Errorf("%s: %+v, %v", c.Name, gemini, err)
		}
		head, body, _ := strings.Cut(strings.TrimPrefix(c.Claude(), "---\n"), "\n---\n\n")
		if body != c.Text("$ARGUMENTS") || !strings.Contains(head, "\ndescription: "+c.About) || strings.ContainsAny(c.About, ":#\"\\") {
			t.Errorf("%s: %s", c.Name, c.Claude())
		}
		if !strings.Contains(skill, "\n\n"+c.text+"\n") {
			t.Errorf("the skill lacks %s", c.Name)
		}
		if of := Templates()[c.Name]; c.Name != "remember" && of.Text+"\n" != c.Text("$ARGUMENTS") || !strings.Contains(of.Text, "\n\n$ARGUMENTS\n") {
			t.Errorf("%s: %q", c.Name, of.Text)
		}
		for _, file := range []string{c.Claude(), c.Gemini(), skill} {
			if !Ours([]byte(file)) {
				t.Errorf("%s: not known as ours: %s", c.Name, file)
			}
		}
	}
	if Ours([]byte("---\ndescription: mine\n---\n# managed by reverie\n")) {
		t.Error("a user's file is taken for ours")
	}
}
