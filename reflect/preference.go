package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Preferences are one person's taste, in so many words: "I prefer small commits".

var (
	prefer = lazy(`(?i)^(?:i|i'd|i would)\s+(?:(?:also|really|generally|usually|always|personally|strongly|much|` +
		`typically|tend to)\s+)*(prefer|like|love|favou?r|hate|dislike|don't like|do not like|can't stand)\s+(.+)$`)
	preferThing   = lazy(`(?i)\b(?:over|rather than|instead of|to)\b|^(?:[\w-]+\s+){0,3}?[\w-]+(?:s|ing|ed)\b|^to \w+|^(?:it )?when \w+ing\b`)
	myPreference  = lazy(`(?i)^my (?:personal )?preference is (?:for |to )?(.+)$`)
	foreignPrefer = lazy(`我(?:个人)?(?:更|比较|还是)?(?:喜欢|偏好|习惯|倾向于?)(?:用|使用|写|看)?|私は.+(?:好き|好み|派)|(?:の)?(?:ほう|方)が(?:好き|好み|いい)|(?:을|를|이|가) (?:더 )?(?:선호|좋아)`)
)

// findPreferences looks for sentences in which a person tells a taste.
func findPreferences(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		if s.lang != "en" {
			if foreignPrefer.MatchString(s.text) && concreteForeign(s.text) {
				out = append(out, v.say(i, record.Preference))
			}
			continue
		}
		text, evidence := v.statementOf(i)
		if m := myPreference.FindStringSubmatch(text); m != nil {
			f := v.sayAs(i, record.Preference, "Prefer "+m[1], evidence)
			out = append(out, f)
			continue
		}
		m := prefer.FindStringSubmatch(text)
		if m == nil || !preferThing.MatchString(m[2]) || definite(m[2]) && !lasting.in("en").MatchString(s.text) {
			continue
		}
		if strings.HasPrefix(strings.ToLower(text), "i'd") || strings.HasPrefix(strings.ToLower(text), "i would") {
			if !lasting.in("en").MatchString(s.text) && !strings.Contains(strings.ToLower(text), "generally") {
				continue // of the case at hand
			}
		}
		what := m[2]
		what = likeDoing.ReplaceAllString(what, "$1")
		verb := "Prefer "
		switch strings.ToLower(m[1]) {
		case "hate", "dislike", "don't like", "do not like", "can't stand":
			verb = "Avoid "
		}
		out = append(out, v.sayAs(i, record.Preference, verb+what, evidence))
	}
	return out
}

// likeDoing is what statement made of "it when you add".
var likeDoing = lazy(`(?i)^(?:it )?when (\w+ing)\b`)

// concreteForeign tells whether a sentence of another script names something: Latin words
// stand for tools and symbols there.
var latin = lazy(`[A-Za-z]{2,}|[A-Z]\d|缩进|注释|提交|测试|中文|英文|简洁|简短|命名|コミット|テスト|コメント|日本語|커밋|테스트|주석|한국어|변수|함수|関数|変数|函数|变量|组件|接口|目录|文件|代码|迁移|分支|依赖|文档|日志|整数|字符串|时间戳|时区|主键|数据库`)

func concreteForeign(text string) bool { return latin.MatchString(text) }
