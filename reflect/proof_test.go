package reflect

import "testing"

func TestSameMatter(t *testing.T) {
	for _, c := range []struct {
		text, quote string
		want        bool
	}{
		{"User IDs in the context must not be truncated.", "the id gets truncated! needs fixing", true},
		{"User IDs in the context must not be logged.", "the id gets truncated! needs fixing", false},
		{"Squash commits before merging.", "squash", true},
		{"`dotnet test` runs without `-m:1`.", "dont use -m:1", true},
		{"`dotnet test` runs without a filter.", "dont use -m:1", false},
		{"Never commit secrets, e.g. API keys.", "the follow-up can wait till monday, e.g. after standup", false},
		{"Тесты не запускаются на сервере.", "не надо вешать это на кнопку", false},
		{"Always run `lint` before a commit.", "перед каждым коммитом всегда запускай lint, пожалуйста", true},
		{"Перед выпуском запускается полная сборка.", "полную сборку перед выпуском запускай сам", true},
		{"Перед выпуском запускается полная сборка.", "удали старые журналы на сервере", false},
		{"اعداد در کل سیستم انگلیسی می\u200cمانند.", "همه اعداد انگلیسی باقی بمانند", true},
		{"اعداد در کل سیستم انگلیسی می\u200cمانند.", "رنگ کارت آورده آبی است", false},
	} {
		if got := sameMatter(c.text, c.quote); got != c.want {
			t.Errorf("%q of %q: %v", c.text, c.quote, got)
		}
	}
}

func TestDangling(t *testing.T) {
	for text, want := range map[string]string{
		"It needs a token.":                                  "It",
		"Run it by `make`.":                                  "it",
		"Mark It Down opens a file in its editor.":           "",
		"In Mark It Down the order is Edit, Move.":           "",
		"The mail worker reads its queue.":                   "",
		"Everyone says It is broken, as discussed on Monday": "as discussed",
	} {
		if got := dangling(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
