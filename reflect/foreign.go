package reflect

import "github.com/reverie-memory/reverie/gitstore/record"

// Rules in Chinese, Japanese and Korean. They have no word order to go by as English has, so
// a rule must bear a lasting mark, order something, name something, and be no wish for what
// the program should do.

var (
	foreignNegative = lazy(`不要|别|不能|不得|不准|不许|不可|禁止|严禁|绝不|绝对不|永远不|切勿|不允许|只能|必须|` +
		`务必|禁止|ないで|しない|使わない|ません|ダメ|だめ|하지 ?마|지 마|말아|말 것|금지|안 됩니다|안 돼`)
	foreignOrder = lazy(`转成|转为|返回|传|存|用|使用|要|必须|务必|放|写|运行|执行|提交|改|加|保持|遵循|走|跑|不|别|只|先|统一|命名|` +
		`回答|回复|禁止|严禁|必ず|使|書|実行|ください|禁止|しない|すること|` +
		`ないで|ように|てほしい|走らせ|回|作|置|ルール|付け|쓰|써|사용|하세요|해줘|해 줘|해주세요|합니다|한다|마세요|` +
		`마라|금지|하지|두|주세요|세요|야 (?:해|합니다|돼|됩니다)|면 안|` +
		`실행|작성|돌려`)
	foreignReport = lazy(`总是(?:失败|报错|出错|出现|返回|显示|会)|每次(?:都)?(?:失败|报错|出错|出现|会报|要等)|` +
		`一直(?:失败|报错|卡|转|在|没)|必ず(?:失敗|エラー|落ち)|いつも(?:失敗|` +
		`エラー|落ち)|报错了|每次都?返回|毎回(?:失敗|エラー|落ち)|항상 (?:실패|에러|오류)|매번 (?:실패|에러|오류)|` +
		`都(?:必须|要)?(?:加上|改成|换成|改为|支持|实现)|一律(?:改|` +
		`换)|(?:禁止|不允许|不能让?|不准)用户|用户(?:永远|必须|不能|绝不)|我(?:以后|每次|记得|觉得|想)|以后再|` +
		`以后(?:可能|会|还会)|今后(?:可能|会)|帮我|实现|新增|添加一个|写一个|做一个`)
)

// foreignFeature is an order to build something that users see.
var foreignFeature = lazy(`(?:页面?|列表|弹窗|按钮|表单|菜单|勾选框|输入框|图标|对话框|导航|首页)[^，。]{0,10}(?:加|新增|增加|显示|展示|隐藏|跳转|弹出)(?:一个|上|个|一下)?|` +
	`(?:加|新增|增加)(?:一个|上|个)[^，。]{0,16}(?:页面?|列表|弹窗|按钮|表单|菜单|勾选框|输入框|图标|字段|接口|功能|选项)|` +
	`(?:ボタン|画面|ページ|モーダル|一覧|チェックボックス|フォーム)[^、。]{0,12}(?:追加|表示|出し|つけて)|` +
	`(?:버튼|화면|페이지|모달|목록|체크박스)[^,.]{0,12}(?:추가|표시|보여)`)

// quotedWords are words of the program, not of the person.
var quotedWords = lazy(`“[^”]*”|「[^」]*」|『[^』]*』|"[^"]*"|《[^》]*》`)

// foreignRule tells whether a sentence in Chinese, Japanese or Korean lays down a rule: it
// bears a lasting mark and orders something.
func foreignRule(s *sentence) (record.Kind, bool) {
	marked := s.rules || s.marked || lasting.in(s.lang).MatchString(quotedWords.ReplaceAllString(s.text, "")) || foreignContrast(s.text)
	if !marked && !(s.lang == "zh" && zhMust.MatchString(s.text) && !s.task && zhReason.MatchString(s.text)) {
		return "", false
	}
	if !concreteForeign(s.text) {
		return "", false
	}
	if !foreignOrder.MatchString(s.text) || foreignReport.MatchString(s.text) || foreignFeature.MatchString(s.text) {
		return "", false
	}
	text := s.form
	switch {
	case replies.MatchString(text) && !projectText.MatchString(text):
		return record.Preference, true
	case foreignContrast(text):
		return record.Convention, true
	case foreignNegative.MatchString(text):
		return record.Constraint, true
	}
	return record.Convention, true
}

// projectText is text that belongs to the project, whatever language it is to be in.
var projectText = lazy(`(?i)commit|api|log|doc|readme|\bpr|提交|注释|文档|日志|标题|分支|变量|接口|错误信息|` +
	`コミット|コメント|タイトル|ブランチ|ドキュメント|ログ|커밋|주석|제목|문서|로그`)

var (
	zhMust   = lazy(`必须|不能|只能|不得|不要|别|要先`)
	zhReason = lazy(`，那?(?:是|都是)|才能|生成的|因为|否则|不然|下游|线上|兼容|合规|客户|会(?:导致|失败|挂|崩|丢|` +
		`乱|被)|，\S+在用`)
	zhContrast = lazy(`(?i)(?:用|使用|改用)\s*(` + "`?(?:" + tools + ")`?" + `)[^。]*(?:不要|别|不|而不是|不能|代替|` +
		`替代)[^。]*?(?:` + tools + `)|(?:不要|别)(?:再)?用\s*` + "`?(?:" + tools + ")`?" + `[^。]*用\s*` + "`?(?:" + tools + ")`?")
	jaContrast = lazy(`(?i)(?:` + tools + `)\S*(?:ではなく|じゃなく|でなく|の代わりに)[^。]*(?:` + tools + `)`)
	koContrast = lazy(`(?i)(?:` + tools + `)\S*\s*(?:말고|대신|이 아니라|가 아니라)[^.]*(?:` + tools + `)`)
)

// foreignContrast tells whether one tool is named in place of another.
func foreignContrast(text string) bool {
	return zhContrast.MatchString(text) || jaContrast.MatchString(text) || koContrast.MatchString(text)
}
