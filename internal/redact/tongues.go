package redact

import "strings"

// verbEnd returns the end of a verb of any language at text[at:], or of a purpose and a verb, or 0.
func verbEnd(text string, at int, blank bool) int {
	if end := verb(text, at, blank); end > 0 || !blank {
		return end
	}
	for t := range tongues {
		for _, p := range tongues[t].purposes {
			if rest := text[at:]; rest[0] == p[0] && strings.HasPrefix(rest, p) && len(rest) > len(p) && (isOneOf(rest[len(p)], " :") || p[len(p)-1] == '\'') {
				if end := purposeEnd(text, at+len(p)); end > 0 {
					return end
				}
			}
		}
	}
	return 0
}

// tongue is a language in which a sentence gives a secret: a noun, perhaps a purpose, a verb or
// particle, and the value.
type tongue struct {
	language string
	nouns    []string // in lower case, without those that lookName finds as names
	verbs    []string // between the noun and the value, without blanks
	purposes []string // for: words between the noun and its verb begin like this
	joined   bool     // the verb may be missing, or stand without blanks around it
	ahead    []string // as: words between a value and its noun, if the value comes first
}

// tongues lists the words of each language in the order noun, purpose, verb, value. In all of them
// a colon or an equals sign serves as the verb; in joined languages a blank does.
var tongues = [...]tongue{
	{language: "English", nouns: []string{"pin code", "pin number", "the pin", "your pin", "my pin"},
		verbs: []string{"is now", "is:", "is", "was", "are", "to", "equals", "will be", "should be", "changed to", "set to", "reset to",
			"has been changed to", "has been set to", "has been reset to", "is generated for root@localhost:", "was changed to", "was set to", "was reset to"},
		purposes: []string{"for", "of", "on"}, ahead: []string{"as", "as the", "as a", "as your", "as my", "for the", ", the", "prompted for the", "asked for the"}},
	{language: "Chinese", nouns: []string{"密码", "密碼", "口令", "密钥", "密鑰", "令牌", "金钥", "金鑰", "通行码", "通行碼"},
		verbs: []string{"已改为", "已改為", "设置为", "設定為", "设定为", "重置为", "重設為", "更改为", "变更为", "就是", "改成了", "改成", "改为", "改為", "设为", "設為", "是", "为", "為", "叫"}, joined: true, ahead: []string{"作为", "作為", "当作", "當作"}},
	{language: "Japanese", nouns: []string{"パスワード", "パスフレーズ", "暗証番号", "秘密鍵", "トークン", "シークレット", "apiキー"},
		verbs: []string{"は", "が", "を"}, joined: true, ahead: []string{"を"}},
	{language: "Korean", nouns: []string{"비밀번호", "암호", "패스워드", "비번", "토큰", "비밀 키", "api 키", "api키"},
		verbs: []string{"는", "은", "가", "이", "를", "을", "로"}, joined: true, ahead: []string{"를", "을"}},
	{language: "German", nouns: []string{"zugangscode", "geheimnis", "schlüssel", "paßwort"},
		verbs: []string{"ist jetzt", "ist", "lautet jetzt", "lautet", "war", "heißt jetzt", "heißt", "wurde auf", "wurde geändert auf"}, ahead: []string{"als"}, purposes: []string{"für", "von", "vom", "zum", "des", "der"}},
	{language: "French", nouns: []string{"mot de passe", "mots de passe", "code secret", "clé secrète", "phrase secrète", "mdp", "clé api", "clé d'api"},
		verbs: []string{"est", "était", "sera", "c'est", "a été changé en"}, ahead: []string{"comme"}, purposes: []string{"pour", "de", "du", "d'"}},
	{language: "Spanish", nouns: []string{"contraseña", "contrasena", "mi clave", "tu clave", "clave secreta", "la clave", "frase de paso", "clave api", "clave de api"},
		verbs: []string{"es", "era", "será", "ha sido cambiada a", "fue cambiada a"}, ahead: []string{"como"}, purposes: []string{"para", "de", "del"}},
	{language: "Portuguese", nouns: []string{"senha", "palavra-passe", "chave secreta", "chave api", "chave de api"},
		verbs: []string{"é", "era", "será", "foi alterada para", "foi mudada para"}, ahead: []string{"como"}, purposes: []string{"para", "do", "da", "de"}},
	{language: "Italian", nouns: []string{"parola d'ordine", "chiave api"},
		verbs: []string{"è", "è stata cambiata in"}, ahead: []string{"come"}, purposes: []string{"per", "di", "del"}},
	{language: "Russian", nouns: []string{"пароль", "Пароль", "ПАРОЛЬ", "пароля", "паролем", "секретный ключ", "токен", "Токен",
		"api-ключ", "api ключ", "ключ api", "Ключ api"},
		verbs: []string{"это", "был", "будет", "—", "–", "-"}, purposes: []string{"от", "для", "к", "на", "администратора", "пользователя", "сервера", "базы"}, joined: true, ahead: []string{"как", "в качестве"}},
	{language: "Turkish", nouns: []string{"şifre", "Şifre", "şifresi", "şifremiz", "şifrem", "parolam", "parola", "parolası", "api anahtarı"},
		verbs: []string{"artık", "olarak"}},
	{language: "Persian", nouns: []string{"رمز عبور", "گذرواژه", "کلمه عبور", "پسورد", "توکن", "کلید api"},
		purposes: []string{"برای", "سرور", "پایگاه", "کاربر"}, joined: true},
}

// hints are words behind a noun that sometimes lead to its value: changed the password to …
var hints = []string{"a ", "auf ", "en ", "in ", "para ", "на ", "type ", "? ", "s ", "’s "}

// verb returns the end of the longest verb of any language at text[at:], or 0.
func verb(text string, at int, blank bool) int {
	rest, end := text[at:], 0
	if rest == "" {
		return 0
	}
	for t := range tongues {
		for _, v := range tongues[t].verbs {
			if rest[0] != v[0] || !strings.HasPrefix(rest, v) || len(rest) == len(v) {
				continue
			}
			switch next := rest[len(v)]; {
			case tongues[t].joined && v[0] >= 0x80: // 是X
				end = max(end, at+len(v))
			case next == ' ' && blank, next == ' ' && v[len(v)-1] == ':', next == ':' && blank && len(rest) > len(v)+1 && rest[len(v)+1] == ' ':
				end = max(end, at+len(v)+1)
			}
		}
	}
	return end
}

// purposeEnd returns the start of the value in `the staging server is hunter2` and `staging:
// hunter2`, or 0.
func purposeEnd(text string, at int) int {
	for i := at; i < len(text) && i < at+64; i++ {
		switch c := text[i]; {
		case c == ':' && i+1 < len(text) && text[i+1] == ' ':
			return i + 2
		case c == ' ':
			if end := verb(text, i+1, true); end > 0 {
				return end
			}
		case isOneOf(c, "\n,;(){}=\"") && !(c == ',' && i+1 == len(text)):
			return 0
		}
	}
	return 0
}
