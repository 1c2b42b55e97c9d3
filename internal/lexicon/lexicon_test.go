package lexicon

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Always sign commits":                      "general ruling",
		"this must stay":                           "binding ruling",
		"we should test it":                        "ruling",
		"The list is empty":                        "",
		"nevertheless it works":                    "",
		"mustard":                                  "",
		"Nie direkt auf main pushen":               "general binding ruling refusing",
		"Die Datei darf nicht fehlen":              "binding ruling refusing",
		"kein Problem":                             "refusing",
		"Ne jamais modifier ce fichier":            "general binding ruling refusing",
		"ces fichiers sont interdits":              "binding ruling refusing",
		"Non usare mai npm":                        "general binding ruling refusing",
		"Bis Mai ist alles fertig":                 "",
		"the retry logic cannot be observed":       "",
		"これはべき等です":                                 "",
		"テストを書くべきです":                               "ruling",
		"Gebruik altijd pnpm":                      "general ruling",
		"Använd aldrig npm":                        "general binding ruling refusing",
		"Nigdy nie używaj npm":                     "general binding ruling refusing",
		"Никогда не пушь в main":                   "general binding ruling refusing",
		"тесты должны проходить":                   "binding ruling",
		"Заборонено змінювати схему":               "binding ruling refusing",
		"Asla npm kullanma":                        "general binding ruling refusing",
		"هرگز به main پوش نکن":                     "general binding ruling refusing",
		"استخدم pnpm دائماً":                       "general ruling",
		"必须使用 pnpm":                                "general binding ruling",
		"不要用 npm":                                  "ruling refusing",
		"别用 npm":                                   "refusing",
		"这个很特别":                                    "",
		"分别运行两个测试":                                 "",
		"必ずpnpmを使う":                                "general binding ruling",
		"mainに直接プッシュしないで":                          "ruling refusing",
		"항상 pnpm을 사용":                              "general ruling",
		"main에 직접 푸시하지 마세요":                        "ruling refusing",
		"Nunca edite à mão; siempre con migración": "general binding ruling refusing",
	} {
		var got []string
		for _, p := range []struct {
			name string
			is   bool
		}{{"general", General.MatchString(text)}, {"binding", Binding.MatchString(text)}, {"ruling", Ruling.MatchString(text)}, {"refusing", Refusing.MatchString(text)}} {
			if p.is {
				got = append(got, p.name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}
