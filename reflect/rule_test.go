package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestRulesThatLast(t *testing.T) {
	for _, test := range []struct {
		said string
		kind record.Kind
		want string
	}{
		{"from now on, please always run `make lint` before you commit", record.Workflow, "Always run `make lint` before committing."},
		{"ok so btw we never use default exports in this repo", record.Constraint, "We never use default exports."},
		{"Please don't ever commit directly to main, always open a PR.", record.Constraint, "Don't ever commit directly to main, always open a PR."},
		{"never edit files in src/generated, they get overwritten by the codegen", record.Constraint, "Never edit files in src/generated, they get overwritten by the codegen."},
		{"Never use npm in web/. It writes a lock file that CI rejects.", record.Constraint, "Never use npm in web/: it writes a lock file that CI rejects."},
		{"no emojis in commit messages please", record.Constraint, "No emojis in commit messages."},
		{"please stop adding emojis to commit messages", record.Constraint, "Avoid adding emojis to commit messages."},
		{"Use uv instead of pip", record.Convention, "Use uv, never pip."},
		{"always use pnpm in this repo, never npm install", record.Convention, "Use pnpm, never npm."},
		{"we use conventional commits here", record.Convention, "We use conventional commits."},
		{"All public functions must have doc comments.", record.Constraint, "All public functions must have doc comments."},
		{"Tests must not hit the network, mock the HTTP client instead.", record.Constraint, "Tests must not hit the network, mock the HTTP client instead."},
		{"whenever you change the schema, run `pnpm db:generate`", record.Workflow, "Whenever changing the schema, run `pnpm db:generate`."},
		{"After editing any .proto file run `make proto`, otherwise the go stubs are stale", record.Workflow, "After editing any .proto file run `make proto`, otherwise the go stubs are stale."},
		{"Don't use `any` in TypeScript, because it defeats strict mode.", record.Constraint, "Don't use `any` in TypeScript, because it defeats strict mode."},
		{"I want you to always write a failing test first", record.Convention, "Always write a failing test first."},
		{"Never push to main unless I tell you to.", record.Constraint, "Never push to main unless told to."},
		{"never run migrations against prod without asking me first", record.Constraint, "Never run migrations against prod without asking first."},
		{"can you always answer in German?", record.Preference, "Always answer in German."},
		{"The `sdk/` directory is off-limits, it is vendored from upstream", record.Constraint, "The `sdk/` directory is off-limits, it is vendored from upstream."},
		{"DONT EVER hardcode secrets in tests", record.Constraint, "Don't ever hardcode secrets in tests."},
		{"I want all commits to follow conventional commits from now on", record.Constraint, "All commits must follow conventional commits."},
		{"# always use named exports", record.Convention, "Always use named exports."},
		{"You're supposed to run the linter before every commit", record.Workflow, "Run the linter before every commit."},
		{"Rule of thumb: one component per file", record.Convention, "One component per file."},
		{"please keep all API types in packages/types, not in the app", record.Convention, "Keep all API types in packages/types, not in the app."},
		{"The convention in this codebase is to wrap errors with %w", record.Convention, "Wrap errors with %w."},
		{"every PR needs a changelog entry", record.Convention, "Every PR needs a changelog entry."},
		{"we prefer explicit errors over panics", record.Convention, "We prefer explicit errors over panics."},
		{"no co-authored-by trailers please", record.Constraint, "No co-authored-by trailers."},
		{"nothing in internal/legacy may be imported from new code", record.Convention, "Nothing in internal/legacy may be imported from new code."},
		{"tests live next to the code here", record.Convention, "Tests live next to the code."},
		{"the client API must stay backwards compatible with 1.x, customers pin ^1", record.Constraint, "The client API must stay backwards compatible with 1.x, customers pin ^1."},
		{"以后提交前必须先跑 make lint", record.Constraint, "提交前必须先跑 make lint。"},
		{"记住：不要直接修改 generated 目录下的文件，那是 protoc 生成的", record.Constraint, "不要直接修改 generated 目录下的文件，那是 protoc 生成的。"},
		{"代码注释一律用英文", record.Convention, "代码注释一律用英文。"},
		{"请始终使用中文回复我", record.Preference, "始终使用中文回复我。"},
		{"コメントは常に英語で書いてください。", record.Convention, "コメントは常に英語で書いてください。"},
		{"앞으로 커밋 메시지는 항상 영어로 작성해 주세요", record.Convention, "커밋 메시지는 항상 영어로 작성해 주세요."},
	} {
		r := wants(t, script{user(test.said)}, test.want)
		if len(r.Candidates) == 1 && r.Candidates[0].Kind != test.kind {
			t.Errorf("%s: kind %s, want %s", test.said, r.Candidates[0].Kind, test.kind)
		}
	}
}

func TestTalkThatIsNoRule(t *testing.T) {
	for _, said := range []string{
		// of the moment
		"don't commit yet", "Don't touch the other commands for now.", "Just commit this now", "do not proceed until I confirm",
		"No changes to the API in this PR.", "always show me the diff this time", "before you start, read docs/ARCHITECTURE.md",
		"Do not run the migration, I will do it", "all tests must pass before you finish", "fix the test, the code is right",
		// about the program
		"it never worked", "always fails with the same error", "The flag is defined on the watch command but never read in RunE.",
		"the button should always be visible on the page", "When a user logs in, always redirect to /home",
		"Remember the last agent they resumed to and have that be the default", "It should remember your last mode and reuse it.",
		"every time I run it, it crashes", "we use the first 4 words as the slug", "never show the banner again after dismissal",
		"Add a validation: emails must be unique and passwords must be at least 8 chars",
		"we should always show it", "The point was to NEVER see the same row twice.",
		// asked, supposed, reported
		"why does it always return null?", "should we always use UTC?", "what if we always cached the result?",
		"I think we should probably always log errors", "the linter says: never use var", "the docs say you should never call Close twice",
		"if you use npm instead of pnpm the lockfile breaks",
		// points at what only the session knows
		"please never do that again", "don't use that helper, use the other one", "don't ever write it like this",
		// an order to change the code
		"migrate from npm to pnpm", "convert all tests to vitest instead of jest", "Use a mutex instead of a channel here",
		"update the plan in case we want something different in the future",
		"tests must be added", "All variables should be renamed to camelCase", "every function should now take a context",
		"all tests should use the new helper", "every file needs a license header, add it", "auth.go must be refactored",
		"# Fix the parser bug in the lexer", "put all of it in main.go", "the convention is not followed in foo.go, fix it",
		"The system prompt should say: always answer in French", "TODO: always validate", "use the API in this repo to fetch data",
		"stop running the tests", "I want all tests to pass", "after every request the cache is cleared", "I always use vim",
		// empty words
		"always be careful", "never give up", "please always think hard",
		"以后再说吧", "这次先不要提交", "为什么每次都失败？", "帮我写一个函数，必须支持并发", "按钮一律改成蓝色",
		"还是一样的错误，你总是改来改去", "登录页面必须支持微信登录", "用户永远不能看到这个页面", "别用 axios 了，换成 fetch", "我记得之前是用 Redis 的",
		"このエラーを必ず直してください", "ログイン画面は必ずメールアドレスを入力させる", "버튼은 항상 파란색으로 해주세요", "이 버그를 꼭 고쳐 주세요",
		"今回はテストを書かないでください", "いつもエラーになる", "항상 실패해요",
	} {
		wants(t, script{user(said)})
	}
}

func TestOnlyTypedWordsAreSaid(t *testing.T) {
	rule := "Always use pnpm, never npm, in web/."
	for _, o := range []transcript.Origin{transcript.Injected, transcript.Summary, transcript.Command, transcript.Delegated} {
		wants(t, script{given(o, rule)})
	}
	wants(t, script{agent(rule)})
	wants(t, script{add(transcript.Event{Kind: transcript.User, Origin: transcript.Typed, Agent: "sub", Text: rule})})
	r := Study(transcript.Session{Client: "claude", ID: "s1", Parent: "s0"}, script{user(rule)}.events())
	if len(r.Candidates) > 0 {
		t.Errorf("a sub-agent's session said %v", texts(r))
	}
}

func TestInjectedRuleIsNotLearnedBack(t *testing.T) {
	memory := given(transcript.Injected, "<memory>\n- Never edit files in src/generated.\n- Use tabs.\n</memory>")
	wants(t, script{memory, user("never edit files in src/generated!")}, "Never edit files in src/generated.")
	wants(t, script{user("- Never edit files in src/generated."), memory}, "Never edit files in src/generated.")
	r := wants(t, script{memory, user("why is this in there?\n- Never edit files in src/generated.")})
	if diff := cmp.Diff(map[string]int{"echo": 1}, r.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestPastedTextIsNotSaid(t *testing.T) {
	for _, said := range []string{
		"look:\n```\n# Always use tabs in tests\nnever use npm in web/\n```\n",
		"> Always validate inputs in handlers\n> Never use npm in web/",
		"here's the feedback I got:\n\nAlways use table-driven tests.\nNever use npm in web/.",
		"WARNING you must never ignore decoding errors in handlers",
		"The text is: \"Be kind. You must always check commit messages.\"",
		"Implement the following plan:\n\n# Plan\n\n## Context\nAlways use pnpm.\n\n## Steps\n- Never use npm in tests.\n",
		"[Request interrupted by user for tool use]",
	} {
		wants(t, script{user(said)})
	}
}

func TestListUnderRuleHeading(t *testing.T) {
	wants(t, script{user("Some conventions for this repo:\n- tests next to the code\n- table-driven tests\n\nnow fix the bug")},
		"Tests next to the code.", "Table-driven tests.")
	wants(t, script{user("Do these:\n- add tests\n- fix the lint errors")})
}

func TestRefusalsAreCounted(t *testing.T) {
	r := wants(t, script{user("never use npm in web/ for now. Should we always use pnpm? Always use `x [redacted:jwt]` in tests.")})
	if diff := cmp.Diff(map[string]int{"for now": 1, "redacted": 1}, r.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestPathsComeFromTheSentence(t *testing.T) {
	r := study(t, script{user("Never edit files in src/generated or web/, always change schema.prisma and use net/http/httptest in tests.")})
	if len(r.Candidates) != 1 {
		t.Fatalf("%d candidates", len(r.Candidates))
	}
	if diff := cmp.Diff([]string{"src/generated", "web/**", "schema.prisma"}, r.Candidates[0].Paths); diff != "" {
		t.Error(diff)
	}
}

func TestPathsOfTheReasonAreNotTheRules(t *testing.T) {
	r := study(t, script{user("Always use pnpm in web/: npm writes a package-lock.json that CI rejects.")})
	if len(r.Candidates) != 1 {
		t.Fatalf("%d candidates", len(r.Candidates))
	}
	if diff := cmp.Diff([]string{"web/**"}, r.Candidates[0].Paths); diff != "" {
		t.Error(diff)
	}
}
