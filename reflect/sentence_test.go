package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // raw
	}{
		{"ends", "One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"no end inside a name", "Use e.g. v1.2 of cmd/x.go now. Run `a. b` then.", []string{"Use e.g. v1.2 of cmd/x.go now.", "Run `a. b` then."}},
		{"a dot that is an argument", "cmake -S . -B build, always", []string{"cmake -S . -B build, always"}},
		{"Chinese needs no space", "用 pnpm。不要用 npm！", []string{"用 pnpm。", "不要用 npm！"}},
		{"items", "- one thing\n* two things\n3. three things", []string{"- one thing", "* two things", "3. three things"}},
		{"a line goes on", "never commit to\nmain\nThis is new", []string{"never commit to\nmain", "This is new"}},
		{"code and quotes fall out", "a b\n```\ncode here\n```\n> quoted\n\tindented\nc d", []string{"a b", "c d"}},
		{"a log falls out to the blank line", "look\nERROR boom\nsecond line\n\nfixed?", []string{"look", "fixed?"}},
		{"a paste falls out", "I got this feedback:\n\nAlways do x.\nNever do y.", nil},
		{"a quotation falls out", "it says \"Do x. Never do y.\" there. And now", []string{"And now"}},
		{"machine text", "<command-name>/exit</command-name>", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, s := range sentences(0, test.text) {
				got = append(got, s.raw)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	for text, want := range map[string]string{"use pnpm": "en", "immer größer": "en", "用 pnpm": "zh", "pnpm を使う": "ja", "pnpm 쓰세요": "ko"} {
		if got := language(text); got != want {
			t.Errorf("language(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestQuestions(t *testing.T) {
	for text, want := range map[string]bool{
		"why is it slow": true, "is it done?": true, "should we use x": true, "ok, can you add it": true, "do we need it": true,
		"can you always run the linter": false, "could you please never do x?": false, "Do not use x.": false, "use x": false,
		"为什么失败": true, "可以吗？": true, "用 pnpm": false, "使えますか": true, "할까요": true,
	} {
		if got := isQuestion(text, language(text)); got != want {
			t.Errorf("isQuestion(%q) = %v", text, got)
		}
	}
}
