package recall

import (
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func known() []record.Memory {
	all := memories(
		"Before `go test ./internal/store/...`, run `docker compose up -d db`: else it fails with \"dial tcp 127.0.0.1:5433: connect: connection refused\".",
		"The REST API has to stay backwards compatible with 2.x, the mobile app pins it.",
		"Orders are kept in Postgres, not in a queue: refunds need transactions",
		"`parseHeader` must not allocate: it runs for every request.",
		"提交信息用中文写，不要用英文。",
		"Run the tests with make test before every commit.",
		"Files are written by a temporary one and a rename.",
	)
	pnpm := record.New(record.Memory{Kind: record.Convention, Text: "Always use pnpm in web/, never npm: npm writes a package-lock.json and CI rejects it.", Paths: []string{"web/**"}})
	return append(all, pnpm)
}

// Talk to an assistant concerns no memory, whatever words they share.
func TestChatIsAboutNothing(t *testing.T) {
	for _, prompt := range []string{
		"", "continue", "thanks", "thank you, that looks great!", "fix the test", "fix the tests please", "run the tests again", "ok, go on", "commit this",
		"please commit and push", "what does this file do?", "why does it fail?", "yes", "no, the other one", "can you explain that?", "now write a test for it",
		"add error handling to the new function", "make it work", "rename the variable", "try again with the other file", "is there a bug in this code?",
		"look at the app and tell me what you think", "write the files again", "继续", "谢谢", "修复测试", "请继续修改代码", "テストを修正して", "続けてください", "테스트 수정해줘", "계속해줘",
	} {
		if got := relevant(t, known(), prompt); len(got) != 0 {
			t.Errorf("%q: %q for %q", prompt, got[0].Memory.Text, got[0].Words)
		}
	}
}

func TestPromptIsAboutWhatItNames(t *testing.T) {
	all := known()
	for prompt, want := range map[string]string{
		"why are orders kept in postgres?":                                   all[2].Text,
		"go test ./internal/store/... says connection refused, what is that": all[0].Text,
		"dial tcp 127.0.0.1:5433: connect: connection refused":               all[0].Text,
		"speed up parseHeader":                                               all[3].Text,
		"can we break the REST API for the mobile app in this release?":      all[1].Text,
		"提交信息应该用英文吗":                                                         all[4].Text,
		"please take the button out of web/src/cart.tsx and tidy up the styles around it, the designers were unhappy": all[7].Text,
		"npm install in web/ does not work, I get a strange message about the lock file":                              all[7].Text,
	} {
		got := relevant(t, all, prompt)
		if len(got) == 0 {
			t.Errorf("%q: nothing", prompt)
		} else if got[0].Memory.Text != want {
			t.Errorf("%q: %q for %q", prompt, got[0].Memory.Text, got[0].Words)
		}
	}
}

// A name in many memories is no evidence.
func TestNameThatIsEverywhereIsNoReason(t *testing.T) {
	var texts []string
	for _, w := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"} {
		texts = append(texts, "Handlers in internal/server log "+w+" once.")
	}
	prompt := "move the retry loop of the client behind an interface, so that internal/server can wrap the transport, the tracing and the metrics as it likes"
	if got := relevant(t, memories(texts...), prompt); len(got) != 0 {
		t.Errorf("%d for %q", len(got), got[0].Words)
	}
}

func FuzzRelevant(f *testing.F) {
	for _, s := range []string{"fix web/a.ts", "\xff\xfe/x", "用中文 --opt ß.İ", "a/b/c.d:1 E1234 __ ::", "ǅ/ﬁ.go"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, prompt, text string) {
		all := append(known(), record.New(record.Memory{Kind: record.Note, Text: text, Paths: []string{text}}))
		for _, r := range relevant(t, all, prompt) {
			if r.Weight < enough || len(r.Words) == 0 {
				t.Errorf("%q: %q for %q, %v", prompt, r.Memory.Text, r.Words, r.Weight)
			}
		}
	})
}
