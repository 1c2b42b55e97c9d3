package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestPreferences(t *testing.T) {
	for said, want := range map[string]string{
		"I prefer short functions over long ones":                         "Prefer short functions over long ones.",
		"btw i don't like it when you add comments that restate the code": "Avoid adding comments that restate the code.",
		"My preference is early returns over nested ifs.":                 "Prefer early returns over nested ifs.",
		"I generally prefer request specs over controller specs.":         "Prefer request specs over controller specs.",
	} {
		r := wants(t, script{user(said)}, want)
		if len(r.Candidates) == 1 && r.Candidates[0].Kind != record.Preference {
			t.Errorf("%s: kind %s", said, r.Candidates[0].Kind)
		}
	}
	for _, said := range []string{"I prefer option 2", "i prefer the blue one", "I'd prefer if you left it", "I like it", "I'd rather use a map", "I love that"} {
		wants(t, script{user(said)})
	}
}

func TestDecisions(t *testing.T) {
	for said, want := range map[string]string{
		"We decided to use Postgres instead of MySQL because we need JSONB indexes.":               "Use Postgres instead of MySQL because we need JSONB indexes.",
		"ok, let's go with SQLite because it has to work offline":                                  "Use SQLite because it has to work offline.",
		"Let's use chi rather than gin since it sticks to net/http.":                               "Use chi rather than gin since it sticks to net/http.",
		"yes, uuid v7 it is, for exactly that reason: sortable + native type.":                     "Use uuid v7: sortable + native type.",
		"yes do that, postgres advisory locks. redis is going away next quarter anyway":            "Use postgres advisory locks: redis is going away next quarter anyway.",
		"go with the second option, the queue. cron won't do because two replicas would both fire": "Use the queue: cron won't do because two replicas would both fire.",
		"我们决定用 Redis Stream，不用 Kafka，因为运维就一个人":                                                     "用 Redis Stream，不用 Kafka，因为运维就一个人。",
	} {
		r := wants(t, script{user(said)}, want)
		if len(r.Candidates) == 1 && r.Candidates[0].Kind != record.Decision {
			t.Errorf("%s: kind %s", said, r.Candidates[0].Kind)
		}
	}
	for _, said := range []string{
		"let's go with approach B because it's simpler", "let's use 12 chars instead of 10", "let's skip it since nobody uses it",
		"we decided to drop that feature", "let's keep it simple because we have little time", "I decided to go home", "Let's use SQLite",
	} {
		wants(t, script{user(said)})
	}
	wants(t, script{agent("Let's go with SQLite because it has to work offline.")})
}

func TestFacts(t *testing.T) {
	for said, want := range map[string]string{
		"keep in mind that the API is rate limited to 10 requests per second": "The API is rate limited to 10 requests per second.",
		"fyi the staging db is read-only, so migrations go through CI":        "The staging db is read-only, so migrations go through CI.",
		"our CI runs on node 20":                                      "Our CI runs on node 20.",
		"`client.ts` is generated from openapi.yaml":                  "`client.ts` is generated from openapi.yaml.",
		"the e2e tests need a running server on :3000. remember that": "The e2e tests need a running server on :3000.",
		"스테이징은 main이 아니라 release 브랜치에서 배포돼요. 기억해두세요.":                 "스테이징은 main이 아니라 release 브랜치에서 배포돼요.",
	} {
		r := wants(t, script{user(said)}, want)
		if len(r.Candidates) == 1 && r.Candidates[0].Kind != record.Fact && r.Candidates[0].Kind != record.Convention {
			t.Errorf("%s: kind %s", said, r.Candidates[0].Kind)
		}
	}
	for _, said := range []string{
		"note that the tests are failing right now", "fyi I already pushed the fix", "keep in mind this is just a prototype",
		"our login page is broken", "our users are complaining about the API latency", "the config is in the wrong place",
	} {
		wants(t, script{user(said)})
	}
}

func TestCorrectionNamesTheRival(t *testing.T) {
	wants(t, script{run("npm install", 0, ""), user("no, use pnpm instead")}, "Use pnpm, not npm.")
	wants(t, script{refused("go test ./..."), user("use mise run test please, it sets the CGO flags")},
		"Use `mise run test`, not `go test ./...`: it sets the CGO flags.")
	wants(t, script{run("npm install", 0, ""), user("thanks"), user("no, use pnpm instead")})
	wants(t, script{run("npm install", 0, ""), user("use pnpm instead for now")})
	wants(t, script{run("ls", 0, ""), user("use grep instead")})
	wants(t, script{user("use pnpm instead")})
}

func TestLaterWordsReplaceEarlierOnes(t *testing.T) {
	r := wants(t, script{
		user("Always use npm, never yarn."),
		agent("ok"),
		user("actually no, use pnpm, not npm"),
	}, "Use pnpm, never npm.")
	if len(r.Candidates) == 1 && r.Candidates[0].Corrects != "Use npm, never yarn." {
		t.Errorf("corrects %q", r.Candidates[0].Corrects)
	}
	r = wants(t, script{
		user("never mock the clock in tests"),
		agent("ok"),
		user("scratch that, forget what I said about the clock"),
	})
	if diff := cmp.Diff(map[string]int{"retracted": 1}, r.Dropped); diff != "" {
		t.Error(diff)
	}
	wants(t, script{
		user("never mock the clock in tests"),
		agent("Shall I rename it?"),
		user("thanks"),
		user("ignore the failing benchmark"),
	}, "Never mock the clock in tests.")
}

func TestSameStatementTwiceIsOne(t *testing.T) {
	r := wants(t, script{user("never push to main"), agent("ok"), user("NEVER push to main!!")}, "Never push to main.")
	if len(r.Candidates) == 1 && len(r.Candidates[0].Evidence) != 2 {
		t.Errorf("evidence %v", r.Candidates[0].Evidence)
	}
}

func TestTopicsThatContradict(t *testing.T) {
	for _, pair := range [][2]string{
		{"Use pnpm, never npm.", "Use yarn for installing packages."},
		{"Always answer in German.", "Reply in English."},
		{"Use tabs for indentation.", "Indent with spaces."},
		{"Run `make lint` to lint.", "Run `make lint` to lint."},
	} {
		if a, b := topic(pair[0]), topic(pair[1]); a != b || a == "" {
			t.Errorf("topics of %q and %q: %q, %q", pair[0], pair[1], a, b)
		}
	}
	for _, text := range []string{"v2 下游三个系统在用，不能改字段。", "Deterministic-serialization implementation-specific considerations."} {
		if got := topic(text); got != "" {
			t.Errorf("topic of %q: %q, a bag of words", text, got)
		}
	}
	if a, b := topic("Never edit generated files."), topic("Never push to main."); a == b {
		t.Errorf("one topic %q for two subjects", a)
	}
}

// What a person shows is not what a person says.
func TestWordsOfOthersInAMessage(t *testing.T) {
	const rule = "Always use pnpm in web/, never npm: npm writes a package-lock.json and CI rejects it."
	wants(t, script{user("fix the build please.\n\n" + rule)}, rule)
	for _, said := range []string{
		"[Pasted text #1 +20 lines]\n" + rule,
		"From: Bo <bo@example.org>\nSubject: build\n\n" + rule,
		"can you review this doc?\n\n---\n" + rule + "\n---\nthanks",
		"> " + rule,
		"```\n" + rule + "\n```",
	} {
		wants(t, script{user(said)})
	}
}

// The next sentence is a reason only if it speaks of the same thing.
func TestNextSentenceOfAnotherThingIsNoReason(t *testing.T) {
	wants(t, script{user("we keep all the time zone handling in Schedule::Clock, views don't do Time.zone.now on their own. The litres come from the sensor table, they're sometimes null, show a dash then.")},
		"We keep all the time zone handling in Schedule::Clock, views don't do Time.zone.now on their own.")
}
