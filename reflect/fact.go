package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Facts are what a person told about how something is, marked as worth knowing.

var (
	telling = lazy(`(?i)^(?:\W*(?:please|and|so|also|ok|but|oh|hey)\W+)*(?:fyi\b|for your information|note that\b|` +
		`note:|nb:|careful\b|heads up|keep in mind\b|bear in mind\b|remember that\b|remember:|just so you know|` +
		`for (?:future )?(?:reference|` +
		`context)|be aware|beware|important:|reminder:|gotcha:|(?:btw|by the way),? (?:the|our|we|ci|all|` +
		`prod|production|staging|every|each)\b)`)
	present = lazy(`(?i)\b(?:is|are|can|talks?|has|have|needs?|requires?|uses?|lives?|runs?|works?|only|expects?|` +
		`returns?|comes?|` +
		`depends?|supports?|must|can't|cannot|doesn't|don't|does not|do not|assumes?|listens?|contains?|` +
		`points?|means?|writes?|reads?|handles?|owns?|takes?|gets?|goes|breaks?|fails?|rejects?|sets?|` +
		`limits?|ships?|deploys?|builds?|generates?|caches?|syncs?)\b`)
	origins = lazy(`(?i)^(?:(?:the|our|all|everything|anything|files?|code)\s+)*\S.*\b(?:(?:is|` +
		`are) (?:auto-?)?generated (?:from|` +
		`by|with|using)|(?:is|are) the (?:single )?source of truth|(?:is|are) vendored from|(?:is|are) owned by the|` +
		`(?:is|are) deployed (?:by|from|via|through|with)|(?:is|are) mirrored (?:from|to))\b`)
	ourThings = lazy(`(?i)^our\s+(?:[\w-]+\s+){0,5}?(?:is|are|uses?|runs?|lives?|only|requires?|needs?|deploys?|` +
		`targets?|supports?)\b`)
	zhTelling = lazy(`^(?:注意|提醒|补充|备注|记住|请注意|顺便说一下|ちなみに|なお|注意|補足|참고로|주의)[，,：:、\s]`)
)

// findFacts looks for statements of how something is.
func findFacts(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		if s.lang != "en" {
			if foreignState.in(s.lang) != nil && foreignState.in(s.lang).MatchString(s.form) && concreteForeign(s.form) && !foreignPast.MatchString(s.form) {
				out = append(out, v.say(i, record.Fact))
			} else if (zhTelling.MatchString(s.text) || s.marked) && concreteForeign(s.form) && len(s.form) > 18 {
				out = append(out, v.say(i, record.Fact))
			}
			continue
		}
		text := s.form
		if text == "" || speculation.MatchString(text) || status.MatchString(text) || narrative.MatchString(text) {
			continue
		}
		names := pathName.MatchString(text) || symbol.MatchString(text) || namedAny.MatchString(text)
		switch {
		case (telling.MatchString(s.text) || s.marked) && present.MatchString(text) && (names || nounAny.MatchString(text)):
		case strings.HasSuffix(s.raw, "!!") && notThat.MatchString(text) && (names || nounAny.MatchString(text)):
		case origins.MatchString(text) && names:
		case ourThings.MatchString(text) && !ongoing.MatchString(text) && names && !s.task:
		default:
			continue
		}
		out = append(out, v.say(i, record.Fact))
	}
	return out
}

// foreignState is how something the code runs in or comes from is.
var foreignState = languages{
	{"zh", lazy(`(?:环境|线上|数据库|CI|流水线|分支|接口|服务|文件|目录|配置|代码|脚本|缓存|日志|` +
		`镜像)[^，。]{0,12}(?:从|由|通过|来自|基于)[^，。]{2,40}(?:部署|生成|发布|构建|维护|提供|管理|同步)`)},
	{"ja", lazy(`^(?:本番|ステージング|検証|開発|CI|DB|サーバー?|` +
		`データベース)(?:環境)?(?:の[^。、]{1,12})?は.+(?:なので|ため|から|ではなく).+(?:ません|できない|不可|です|ます)`)},
	{"ko", lazy(`^(?:운영|스테이징|개발|CI|DB|서버|데이터베이스)\S* .+(?:에서|으로|로) (?:배포|생성|관리)(?:돼|됩|되)`)},
}

// foreignPast is what happened, or went wrong.
var foreignPast = lazy(`刚|挂了|报错|失败|出错|问题|好像|应该是|可能|吗|昨天|今天|エラー|落ち|失敗|おかしい|실패|오류|에러`)

// notThat is how something is, against what one would think.
var notThat = lazy(`(?i)^(?:[\w.-]+ ){1,5}?(?:are|is) (?:\w+ ){1,3}?not \w+`)

// ongoing is something under way, no fact about how things are.
var ongoing = lazy(`(?i)\b(?:is|are) (?:\w+ly )?\w+ing\b|^our (?:\w+ )*(?:plan|goal|idea|problem|issue|task|aim|question|` +
	`guess|option|options|choice|next|first|best|only|demo|deadline) `)
