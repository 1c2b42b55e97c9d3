package reflect

import "testing"

func TestStatementForm(t *testing.T) {
	for said, want := range map[string]string{
		"ok so please use tabs":                              "Use tabs.",
		"btw, from now on you should never use npm, thanks!": "Never use npm.",
		"I'd like you to always use tabs from now on":        "Always use tabs.",
		"you must not commit to main":                        "Do not commit to main.",
		"please remember not to commit secrets":              "Do not commit secrets.",
		"In this project, we use tabs":                       "We use tabs.",
		"we use slices here, and never lists":                "We use slices, and never lists.",
		"NEVER use npm!!!":                                   "Never use npm.",
		"run `make fmt` before you commit":                   "Run `make fmt` before committing.",
		"ask me before you delete files":                     "Ask before deleting files.",
		"never deploy until I tell you to":                   "Never deploy until told to.",
		"the convention here is that tests are table-driven": "Tests are table-driven.",
		"dont use npm - it breaks CI":                        "Don't use npm: it breaks CI.",
		"`make x` is the way":                                "`make x` is the way.",
		"pnpm is the package manager":                        "pnpm is the package manager.",
		"no use pnpm":                                        "Use pnpm.",
		"no emojis in commits":                               "No emojis in commits.",
		"station ids: they are strings":                      "Station ids are strings.",
		"请记住：以后不要用 npm":                                      "不要用 npm。",
		"もう一つ、今後は pnpm を使ってください、お願いします": "もう一つ、今後は pnpm を使ってください。",
		"참고로 앞으로는 pnpm 쓰세요, 부탁해요":       "pnpm 쓰세요.",
	} {
		list := sentences(0, said)
		if len(list) != 1 {
			t.Errorf("%q: %d sentences", said, len(list))
			continue
		}
		if got := statement(list[0]); got != want {
			t.Errorf("statement(%q) = %q, want %q", said, got, want)
		}
	}
}

func TestGerund(t *testing.T) {
	for verb, want := range map[string]string{"add": "adding", "commit": "committing", "change": "changing", "run": "running", "see": "", "have": "", "added": "", "tie": "tying", "push": "pushing", "bump": "bumping"} {
		if got := gerund(verb); got != want {
			t.Errorf("gerund(%q) = %q, want %q", verb, got, want)
		}
	}
}

func TestUnresolved(t *testing.T) {
	for text, want := range map[string]bool{
		"Use that instead.": true, "Never do this again.": true, "Always use the other file.": true, "It must be fast.": true,
		"Never call it directly.": true, "Use option 2.": true, "Don't add such comments.": true, "Keep it in sync.": true,
		"Use pnpm, never npm: it breaks CI.": false, "Avoid comments that restate the code.": false, "This repo uses tabs.": false,
		"Never push to main.": false, "Keep files that CI needs.": false,
	} {
		if got := unresolved(text, "en"); got != want {
			t.Errorf("unresolved(%q) = %v", text, got)
		}
	}
}
