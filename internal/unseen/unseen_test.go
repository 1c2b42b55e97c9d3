package unseen

import "testing"

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"plain":            "",
		"tab\there":        "",
		"emoji 👩‍💻 and ❤️": "",
		"فارسی می‌خواهم":   "",
		"हिन्दी क्‍ष":      "",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f": "",
		"🏴\U000e0067\U000e0062":   "U+E0067 U+E0062",
		"日本語":                     "",
		"Grüße":                   "",
		"pass\u200bword":          "U+200B",
		"a\u200db":                "U+200D",
		"a\u202eb\u202e":          "U+202E",
		"x\u2066y":                "U+2066",
		"soft\u00adhyphen":        "U+00AD",
		"tag\U000e0041\U000e0042": "U+E0041 U+E0042",
		"esc\x1b[31m":             "U+001B",
		"sel\U000e0101":           "U+E0101",
		"a\ufe0f":                 "U+FE0F",
		"blank\u3164":             "U+3164",
		"mid\ufeffdle":            "U+FEFF",
	} {
		if got := Names(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n":                  "a\tb\n",
		"می\u200cخواهم 👩\u200d💻":  "می\u200cخواهم 👩\u200d💻",
		"\x1b[31m":                "^[[31m",
		"a\u202eb":                "a<U+202E>b",
		"git\u200c push a\u200db": "git<U+200C> push a<U+200D>b",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestReveal(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":     "plain\ttext\n",
		"emoji 👩‍💻 and ❤️":  "emoji 👩‍💻 and ❤️",
		"pass\u200bword":    "pass<U+200B>word",
		"a\u200db\u3164":    "a<U+200D>b<U+3164>",
		"a\ufe0f":           "a<U+FE0F>",
		"\ufeffbegins":      "<U+FEFF>begins",
		"line\u2028line":    "line<U+2028>line",
		"tag\U000e0041":     "tag<U+E0041>",
		"\u0600١٢":          "\u0600١٢",
		"broken \ufffd too": "broken \ufffd too",
	} {
		if got := Reveal(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestControl(t *testing.T) {
	for _, r := range "\n\t\r\x00\x1b\u007f\u0085\u00ad\u0600\u200b\u200d\u202e\u2066\ufeff\u2028\u2029\U000e0041" {
		if !Control(r) {
			t.Errorf("%U is none", r)
		}
	}
	for _, r := range "a é中\u00a0\u3164\ufe0f\ufffd" {
		if Control(r) {
			t.Errorf("%U is one", r)
		}
	}
}
