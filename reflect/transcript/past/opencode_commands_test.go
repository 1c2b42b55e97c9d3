package past

import "testing"

func TestTextsOfCommandsAreKnown(t *testing.T) {
	for _, test := range []struct {
		template, text string
		want           bool
	}{
		{"---\ndescription: Run tests\n---\n\nRun $ARGUMENTS. Always push $1!\n", `Run all. Always push all!`, true},
		{"Run $ARGUMENTS. Always push!", "Run all. Always push! And more", false},
		{"Always push.\r\n", "Always push.", true},
		{"Always push.", "Always push.\n\n\"more words\"", true},
		{"Always push.", "Always push. I mean it.", false},
		{"Always push.\n\nLog: !`git log`", "Always push.\n\nLog: one\ntwo", true},
		{"Always push. <hook_context>x</hook_context>", "Always push.", true},
		{"$ARGUMENTS", "Always push.", false},
		{"---\nx: y\n---\n", "Always push.", false},
	} {
		if got := newCommandText(test.template).gives(test.text); got != test.want {
			t.Errorf("%q gives %q: %v", test.template, test.text, got)
		}
	}
}
