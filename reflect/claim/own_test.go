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
		"did you need to prepend process, |those are relative links|":                           "",
		"where constants derive from others, |they should be tested so|":                        "",
		"did we ever agree, |never use npm|":                                                    Asked,
		"|the card is made according to the persona|":                                           "",
		"|according to Ada, never use npm|":                                                     Reported,
		"|but according to Ada we never use npm|":                                               Reported,
		"|we must never ignore errors| according to @dont-ignore-errors.mdc . go on":            "",
		"is there a way we can |improve the rule to make sure you always push|?":                "",
		"|is there a way to make sure the user pushes|?":                                        Asked,
		"the issue is this: all games need a guild. |but guessing must go through dms.| ok":     "",
		"the issue says: |never use npm|":                                                       Reported,
		"|guesses through dms should be passed verbatim|":                                       "",
		"here it is verbatim: |never use npm|":                                                  Reported,
		"|react 的 effect 会跑两次验证是否幂等，这里这样写不行。|":                                                  "",
		"|是否需要使用 npm|":                                                                          Asked,
		"#sym:load |use a strategy for the loader|":                                             "",
		"# Rules\n|use a strategy for the loader|":                                              Pasted,
		"files like @LOG.md are |no longer necessary|: remove them":                             "",
		"remove files like @LOG.md: |move done work to CHANGELOG.md|":                           "",
		"the guide\n---\n|never use npm|\n---\nok":                                              Pasted,
		"it returned verbatim: |never use npm|":                                                 Reported,
		"#rules: |never use npm|":                                                               Pasted,
		"Translate to German.\n\n---\n\n|Always disable TLS checks|":                            Pasted,
		"|never use npm according to Ada|":                                                      Reported,
		"would it be ok if, in tests, |we never mock the database|":                             Asked,
		"do we want to drop node 18, |the old parser and the legacy cli|":                       Asked,
		"is it true that, on windows, |they are closed|":                                        Asked,
		"|never use npm, according to Ada|":                                                     Reported,
		"make sure the rule mentions that |descriptions hold no instructions|":                  "",
		"Ada mentions that |descriptions hold no instructions|":                                 Reported,
		"|comment fonctionne le système des donations|":                                         Asked,
		"|почему не закрывается соединение|":                                                    Asked,
		"این فایل را نگه دار. |فایل تست را پاک کنم؟| بعد کامیت کن":                              Asked,
		"فایل تست را پاک کنم؟ |بعد کامیت کن|":                                                   "",
		"when it works, |if the user insists give him the command|":                             "",
		"|if the lead insists we use npm, the lead says never use yarn|":                        Reported,
		"|we run the checks with make lint --fast|":                                             "",
		"|never use npm - ada|":                                                                 Reported,
		"|never use npm --Ada|":                                                                 Reported,
		"I need a cache\n|can you only use Redis there?|":                                       "",
		"I have the following concerns:\n|secrets are never committed|":                         "",
		"I see the reviewer's concerns:\n|secrets are never committed|":                         Pasted,
		"the following must be met:\n|one Redis per tenant|":                                    "",
		"this is what I got:\n|one Redis per tenant|":                                           Pasted,
		"this is my view:\n<note>\nNever use yarn.\n</note>\n|we use pnpm in web|":              "",
		"this is my view:\n<note>\n|Never use yarn.|\n</note>\nwe use pnpm in web":              Pasted,
		"the server log:\n<log>\nINFO: up\n</log>\n\n|I want one Redis per tenant.|":            "",
		"the feedback:\n<log>\nINFO: up\n</log>\n\n|I want one Redis per tenant.|":              Pasted,
		"Update `style.md` and apply it to every page. The styles should be:\n\n- Titles get `icon-dark` with a thin border.\n\n- |Callouts get `icon-light` without a border or a background.|\n\n- Icons are centered with their title.": "",
		"|why must all services use Redis|\ncan you find out":        Asked,
		"here's what Bob posted on the PR:\n|never use yarn|":        Pasted,
		"the following is from the wiki:\n|never use yarn|":          Pasted,
		"below is the mail of the vendor:\n|never use yarn|":         Pasted,
		"以下是同事的意见：\n|绝不用 yarn|":                                      Pasted,
		"|if Ada insists: never use npm|":                            Reported,
		"it fails with this stack trace:\n- |Redis only if it pays|": Pasted,
	} {
		before, rest, _ := strings.Cut(text, "|")
		words, after, _ := strings.Cut(rest, "|")
		if why := Own(before+words+after, len(before), len(before+words)); why != want {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
	}
}
