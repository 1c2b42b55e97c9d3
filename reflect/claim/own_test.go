package claim

import (
	"strings"
	"testing"
)

// A person who pastes a program's output goes on in words of their own. The message stays in doubt,
// so that a person decides. No other paste ends before its message.
func TestOwnWordsAfterOutput(t *testing.T) {
	const rule = "We never call foo in the worker, use bar there."
	const trace = "TypeError: foo is undefined\n    at foo (a.js:1:2)\n"
	for text, want := range map[string]string{
		"I get this error:\n" + trace + "\n" + rule:                         "",
		"I get this error:\n" + trace + "\nOk, we never call foo in there.": "",
		"I get this error:\n\n" + trace + "\n" + rule:                       "",
		// without an empty line
		"I get this error:\n" + trace + rule: Pasted,
		// without a speaker
		"I get this error:\n" + trace + "\nNever call foo in the worker.": Pasted,
		// not a program's
		"I get this error:\nFoo is not defined there.\n\n" + rule: Pasted,
		// a reviewer's, with a trace
		"The feedback:\n" + trace + "\n" + rule:                                     Pasted,
		"The ticket has an error:\nFeedback of a reviewer:\n" + trace + "\n" + rule: Pasted,
		"The review says:\nFix the error:\n" + trace + "\n" + rule:                  Pasted,
		// a mail
		"From: Ada\nThe error:\n" + trace + "\n" + rule: Pasted,
	} {
		last := text[strings.LastIndex(text, "\n")+1:]
		if why := Own(text, len(text)-len(last), len(text)); why != want {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
		if want == "" && Hearsay(text) == "" {
			t.Errorf("%q is beyond doubt", text)
		}
	}
}

// A file, an agent's earlier work and a technology stack are not other people's words.
func TestOwnWordsBesideNames(t *testing.T) {
	for text, want := range map[string]string{
		"I read the guide you've written, and |I want Bazel to build all of it.|":               "",
		"I read the guide that Ada has written, and |I want Bazel to build all of it.|":         Reported,
		"|the docs you've written say never push to main|":                                      Reported,
		"|the guide you linked reads never push to main|":                                       Reported,
		"|a guy I know wrote always use yarn|":                                                  Reported,
		"|CONTRIBUTING.md reads never push to main|":                                            Reported,
		"|don't look for transcript.json, look for summary.csv|":                                "",
		"as the transcript says, |never look for summary.csv|":                                  Reported,
		"I want a shop, with this technology stack:\n- Go\n- |Redis only if it pays|\nto begin": "",
		"send 5 at most, but |when replied to one it returns all of them|":                      "",
		"|when asked, the lead says never use npm|":                                             Reported,
		"|comment on each exported function, always|":                                           "",
		"|comment fonctionne le système des donations|":                                         Asked,
		"|почему не закрывается соединение|":                                                    Asked,
		"it fails with this stack trace:\n- |Redis only if it pays|":                            Pasted,
	} {
		before, rest, _ := strings.Cut(text, "|")
		words, after, _ := strings.Cut(rest, "|")
		if why := Own(before+words+after, len(before), len(before+words)); why != want {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
	}
}
