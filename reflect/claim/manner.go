package claim

import (
	"slices"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// A manner is a word's effect on a sentence, independent of the subject. Words of one manner share
// features. So a rule is recognised even with a modal or a quantifier that the training text has
// only in other rules.
type manner uint8

const (
	none manner = iota
	modal
	negation
	quantifier
	lasting
	passing
	we
	you
	me
	pointing
	reason
	contrast
	asking
	please
	guess
	saying
	condition
	existing
)

// mannerWords lists the words of each manner, without apostrophes. A Chinese or Japanese character
// counts as a word.
var mannerWords = [...]string{
	modal: `should must shall need needs has have ought supposed required mandatory allowed may can cannot cant shouldnt mustnt neednt
		muss müssen soll sollen sollte sollten darf dürfen debe deben debería hay tiene doit doivent faut devrait deve devem precisa tem должен должны
		надо нужно можно нельзя следует 须 應 应 必 要 べ 해야 합니다 됩니다`,
	negation: `not no never dont doesnt isnt arent wont without none nothing nobody neither nor avoid stop isnt wasnt didnt nie nicht kein keine keinen niemals
		ohne nunca jamás sin ningún ninguna ne pas jamais sans aucun não nunca sem nenhum не нет никогда без 不 别 勿 無 无 没 禁 ず 않 안 말 마세요 없이`,
	quantifier: `any every all each only always both everything anything everywhere anywhere whole entire per single one same alle alles jede jeder jedes nur immer
		einzige todo todos toda todas cada solo sólo siempre único tout tous toute toutes chaque seul seulement toujours unique só sempre apenas
		все всё каждый каждая каждое только всегда один любой любая 都 每 全 只 各 常 皆 毎 모든 매번 항상 각 만 전부`,
	lasting: `always never forever henceforth default generally general convention rule policy principle standard whenever future onwards anymore immer künftig
		grundsätzlich standardmäßig regel siempre norma regla convención toujours désormais règle convention sempre regra padrão convenção всегда впредь правило
		соглашение 永 规 約 규칙 원칙 앞으로`,
	passing: `now today currently tomorrow yesterday tonight later first then next temporarily yet still meanwhile jetzt heute erstmal gerade morgen vorerst ahora hoy
		mañana luego maintenant aujourdhui demain agora hoje depois amanhã сейчас сегодня пока завтра потом 今 先 暂 지금 오늘 일단 내일`,
	we:       `we our us ours lets wir unser unsere uns nosotros nuestro nuestra nuestros nous notre nos on nós nosso nossa a мы наш наша нас нам 我们 우리 저희`,
	you:      `you your yours du dein deine ihr sie tú tu usted su vous votre vos você seu sua ты вы твой ваш 你 您 너 당신`,
	me:       `i im ive id ill my me mine ich mein meine mir mich yo mi me je mon ma mes moi eu meu minha я мой моя мне меня 我 私 俺 僕 저는 나는 제가`,
	pointing: `this that it these those here there its them they he she dies diese dieser dieses das hier da esto eso este esta ese aquí ça cela ce cette ces ici isso isto este esta esse aqui это этот эта эти тут здесь там 这 那 此 它 こ そ 이거 그거 이 그 저 여기`,
	reason: `because since otherwise therefore cause cuz so weil da sonst damit denn porque ya pues parce car sinon puisque porque pois senão потому чтобы иначе
		так 因 否 为 以 때문 니까 ので から`,
	contrast: `instead rather over than but except unless prefer preferred statt sondern außer lieber vez sino excepto plutôt sauf lieu mais vez exceto prefira
		вместо а кроме лучше 而 除 代 대신 말고 보다 ではなく`,
	asking: `what why how where when who which can could would will does did is are was should was wie warum wo wann wer qué por cómo dónde cuándo quién
		pourquoi comment où quand qui quoi o que como onde quando quem что почему как где когда кто 吗 呢 什 怎 か 왜 뭐 어떻게`,
	please: `please pls thanks thank kindly bitte danke por favor gracias sil merci obrigado obrigada пожалуйста спасибо 请 谢 ください お願 주세요 부탁`,
	guess: `maybe perhaps probably think guess seems looks might wonder hmm suppose apparently vielleicht wohl glaube scheint quizás creo parece peut-être
		crois semble talvez acho может наверное кажется думаю 可能 好像 也许 かも たぶん 아마`,
	saying:    `says said told writes wrote asks asked according reviewer claims sagt sagte meint dice dijo según dit selon disse diz segundo говорит сказал написал 说 言 書 다고 라고`,
	condition: `if when whenever before after until once while unless wenn falls bevor nach sobald bis si cuando antes después hasta quand avant après lorsque se quando antes depois если когда прежде после до 时 前 后 後 때 전에 후에 면 なら たら`,
	existing:  `is are has lives runs uses belongs owns comes goes stays means contains needs takes returns holds ist sind hat läuft liegt es son está están va vive est sont vit va é são está fica это есть находится лежит 是 在 有 です あり 입니다 있`,
}

// manners maps the hash of a word to its manner.
var manners = sync.OnceValue(func() map[uint32]manner {
	all := map[uint32]manner{}
	for m := modal; m <= existing; m++ {
		for w := range strings.FieldsSeq(mannerWords[m]) {
			if _, taken := all[hashOf(w)]; !taken {
				all[hashOf(w)] = m
			}
		}
	}
	return all
})

// marks lists words by which a sentence claims to last or to be general.
var marks = sync.OnceValue(func() map[uint32]bool {
	all := map[uint32]bool{}
	for w := range strings.FieldsSeq(`always never henceforth whenever anytime anymore generally convention must mustnt forbidden prohibited banned
		immer niemals nie künftig grundsätzlich generell standardmäßig konvention regel verboten ausschließlich
		siempre nunca jamás norma regla convención prohibido toujours jamais désormais dorénavant systématiquement convention règle interdit
		sempre jamais regra convenção padrão proibido всегда никогда впредь отныне правило соглашение запрещено`) {
		all[hashOf(w)] = true
	}
	return all
})

var markPhrase = pattern.New(`(?i)\b(?:ha(?:s|ve) to|from (?:now|here|today|this point) on(?:wards?)?|going forward|in (?:the )?future|as a rule|no exceptions?|in general|at all times|for (?:future|later) reference|(?:not|never|\w+n['’]?t) (?:\w+ ){0,2}ever|` +
	`under no circumstances|no longer|ab (?:jetzt|sofort)|in zukunft|de ahora en adelante|a partir de (?:ahora|agora)|por defecto|en general|dès maintenant|` +
	`à partir de maintenant|par défaut|en règle générale|daqui (?:em|pra|para) (?:diante|frente)|por padrão)\b|с этого момента|по умолчанию|ни в коем случае|` +
	`以后|今后|从现在|往后|一律|始终|永远|绝不|绝对不|禁止|严禁|不允许|不准|不得|务必|必须|每次|每当|总是|统一|默认|约定|规定|规范|原则|都要|只能|` +
	`今後|これから|以後|必ず|絶対|常に|いつも|毎回|決して|禁止|ルール|規約|方針|原則|二度と|` +
	`앞으로|항상|언제나|절대|반드시|무조건|매번|금지|규칙|컨벤션|다시는|원칙|기본적으로`)

// preferring matches a person's statement of taste.
var preferring = pattern.New(`(?i)\bI(?:'d| would)? (?:always |really |generally |usually )*(?:prefer|like|love|hate|rather)\b`)

// fromNow matches the beginning of a sentence about the future in general. German ones stay, since
// without them the sentence would read as a question.
var fromNow = pattern.New(`(?i)^(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|henceforth|in future|de ahora en adelante|` +
	`a partir de (?:ahora|agora)|désormais|dorénavant|à partir de maintenant|daqui (?:em|pra|para) (?:diante|frente)|с этого момента|впредь|отныне|` +
	`以后|今后|从现在(?:开始|起)|今後は?|これからは?|앞으로는?)[,，、]?\s*`)

// remembering matches the beginning of a sentence that asks to remember the rest.
var remembering = pattern.New(`(?i)^[^\pL\pN]*(?:(?:please|pls|ok|okay|also|and|so|hey|just|bitte|por favor|пожалуйста)[, ]+)*(?:(?:remember|keep in mind|bear in mind)(?: that |: )|` +
	`(?:merke? dir|denke? dran|recuerda|souviens-toi|lembre(?:-se)?|запомни)(?:(?: |, )(?:dass|que|de que|что) |: )|请?记住[：:]|覚えて(?:おいて)?[：:、])\s*`)

// ofToday matches a sentence that is to be remembered for now, or that reminds of one thing.
var ofToday = pattern.New(`(?i)\b(?:now|today|tomorrow|yesterday|yet|already|currently|at the moment|i am|i'm|i (?:was|have|had|will|just)|you (?:just|have|had|were|did))\b|` +
	`\b(?:remember|mind) that (?:bug|issue|error|problem|one|time|day|thing|crash|fix|discussion|conversation)\b`)

// remembers reports whether a sentence asks to remember for good what it says.
func (s *Sentence) remembers() bool {
	return remembering.MatchString(s.text) && !ofToday.MatchString(s.text)
}

// bounded matches sentences that hold until an event, or let an agent act without asking. They need
// a person's review, as orders do.
var bounded = pattern.New(`(?i)\b(?:until|as long as|while (?:i|we|you|he|she|they|it|the|[a-z]+ is)|so long as|till)\b|` +
	`^\W*(?:put|let)\b|\b(?:without asking|(?:never|don'?t|do not) ask|approve (?:every|all|any)|you are)\b|` +
	`^\W*(?:each|every|the) [\w-]+ (?:has|have) to have\b|\b(?:possibly|maybe|perhaps|probably|ideally|not sure)\b|->|=`)

// temporary matches what binds a rule to a time, or to the task at hand, in the languages of the
// training text.
var temporary = pattern.New(`(?i)` +
	// English
	`\b(?:for (?:now|today|the moment)|(?:the rest of|the current) (?:pr|branch|task|session|chat)|(?:in|for|on|during|within|throughout) this (?:pr|pull request|branch|task|session|file|ticket|issue|commit|conversation|chat))\b|` +
	// German
	`\b(?:bis (?:auf weiteres|morgen|heute|zum|zur|ende|montag|dienstag|mittwoch|donnerstag|freitag)|heute|vorerst|(?:in|für|auf) diese[mnrs]? (?:pr|branch|aufgabe|sitzung|session|datei|ticket))\b|` +
	// Russian
	`(?:^|\PL)(?:до (?:конца|релиза|выпуска|завтра)|пока|сегодня|сейчас|(?:в|для) эт(?:ом|ой|ого) (?:pr|пр|задач[еи]|ветк[еи]|файл[еа]|сесси[и]|коммит[еа]))(?:\PL|$)|` +
	// French
	`\b(?:jusqu|aujourd)['’]|\bpour (?:l['’]instant|le moment)\b|\b(?:dans|pour|pendant) cet?(?:te)? (?:pr|branche|tâche|session|fichier|ticket)\b|` +
	// Spanish and Portuguese
	`\b(?:hasta|hoy|por ahora|(?:en|para) est[ea] (?:pr|rama|tarea|sesión|archivo|fichero)|hoje|por enquanto|(?:nest|para est)[ae] (?:pr|branch|tarefa|arquivo))\b|(?:^|\PL)até(?:\PL|$)|` +
	// Chinese, Japanese, Korean
	`今天|这次|本次|暂时|目前|(?:这个|本) ?(?:PR|分支|任务|会话|文件)|直到|今日|今回|(?:この|本) ?(?:PR|ブランチ|タスク|セッション|ファイル)|まで|오늘|이번|당분간|이 (?:PR|브랜치|작업|세션|파일)|까지`)

// fromToday matches a beginning that lasts, though it names the day.
var fromToday = pattern.New(`(?i)\ba partir de (?:hoy|hoje)\b|à partir d['’]aujourd['’]hui|\bab heute\b|今日から|从今天(?:起|开始)|오늘부터`)

// bound reports whether a sentence holds for a time or a task, or needs a person for another
// reason.
func (s *Sentence) bound() bool {
	return order.MatchString(s.text) || bounded.MatchString(s.text) || s.ironic() || temporary.MatchString(fromToday.ReplaceAllString(s.text, ""))
}

// praise matches the beginning of a sentence, or a whole one, that may praise the opposite of what
// follows, after an interjection in group 1. scorn matches the end of a sentence that shows it.
var (
	praise = pattern.New(`(?i)^\W*(?:(oh|ah|wow)\W+|(?:well|yeah|yes|ok|okay|so|just)\W+)*(?:great|well done|(?:nice|good)(?: (?:one|job|work|going))?|` +
		`brilliant|wonderful|fantastic|awesome|amazing|excellent|perfect|lovely|bravo|congrat\w*|thanks a lot|sure|yeah,? right|genius|clever|` +
		`slow clap|na toll|klasse|perfekt|genial|génial|parfait|браво|молодец)(?:\s*[,.!…]+|\s+[–—-]\s|\s*$)`)
	scorn = pattern.New(`(?i)(?:\b(?:genius|einstein|sherlock|smart ?ass|why don['’]?t (?:you|we|ya))|[,.…]\s*(?:right|not|huh)|\s/s)\W*$|[🙄🙃🤡]`)
)

// sincere matches what follows praise that is meant.
var sincere = pattern.New(`(?i)\bfrom (?:now|here) on\b`)

// ironic reports whether a sentence may mean the opposite of its words. Praise in a sentence of its
// own is mostly meant.
func (s *Sentence) ironic() bool {
	if s.Joined && s.before != nil {
		if m := praise.FindStringSubmatch(s.before.text); m != nil && m[0] == s.before.text && m[1] != "" {
			return true
		}
	}
	return praise.MatchString(s.text) && !sincere.MatchString(s.text) || scorn.MatchString(s.text)
}

// leadingWords matches what may stand before an order or a wish.
const leadingWords = `(?i)^[^\pL\pN]*(?:(?:please|pls|ok|okay|also|and|so|no|now|then|next|instead|let'?s|bitte|und|dann|y|por favor|puis|et|e|и|потом|теперь|а|i(?:['’]?d| would)? (?:want|like) you to)[ ,.]+)*`

// order matches the beginning of an order to make, change or look at one thing.
var order = pattern.New(leadingWords + `(?:(?:add|address|adapt|analy[sz]e|build|check|clean|come up with|compare|commit (?:any|all|the|this|these|your|it|and)|continue|create|debug|delete|deploy (?:it|this|the)|describe|draft|explain|extract|figure out|find|fix|generate|` +
	`help|implement|improve|introduce|investigate|list|look|make|merge|migrate|move|outline|plan (?:the|how|a)|proceed|propose|reconstruct|redesign|redo|refactor|remove|rename|replace|research|restore|review|rewrite|show|suggest|summari[sz]e|` +
	`tell me|throw|try to|update|walk|write|` +
	`mach|erstelle|füge|schau|prüfe|behebe|schreib|zeig|haz|crea|añade|agrega|arregla|corrige|escribe|revisa|vamos a|fais|ajoute|écris|vérifie|montre|faça|crie|adicione|corrija|escreva|verifique)\b|` +
	`crée|давай|проанализируй|сделай|исправ|найди|реши|обнови|продолж|добав|допиши|перепиши|напиши|создай|посмотри|проверь|удали|объясни|покажи|帮我|给我|看一下|看看)`)

// wish matches the beginning of a sentence that asks for one thing in other words.
var wish = pattern.New(leadingWords + `(?:(?:(?:i|we) )?(?:do )?(?:also |still )?needs? an?\b|i (?:do )?(?:also |still )?want to\b|i(?:['’]?d| would) like to\b|` +
	`ich (?:möchte|will)\b|quiero\b|je veux\b|quero\b|я хочу|мне нужно|我想)`)

// supposing matches a sentence that its author only supposes. A rule may follow a comma or a colon.
var supposing = pattern.New(`(?i)^[^\pL\pN]*(?:(?:ok|okay|so|and|but|well|hm+)\b[ ,.]*)*(?:i (?:guess|suppose|wonder|assume)|apparently)\b(?:[^:,;]|[:,;]\S)*$`)

// oneThing are quantifiers that an order may have of one thing.
var oneThing = pattern.NewWords("all both entire everything one only same single whole alle alles todo todos toda todas tout tous toutes все всё один 全")

// onlyOrdered reports whether a sentence asks for one thing: no word of it can make a rule of an
// order, and none behind the wish a rule of a wish.
func (s *Sentence) onlyOrdered() bool {
	from, wished := 0, wish.FindStringIndex(s.text)
	if wished != nil {
		from = wished[1]
	} else if !order.MatchString(s.text) {
		return false
	}
	known := manners()
	return !slices.ContainsFunc(s.tokens, func(t token) bool {
		if t.start < from {
			return false
		}
		switch known[t.hash] {
		case modal, negation, lasting, contrast:
			return true
		case condition:
			return wished != nil
		case quantifier:
			word := strings.ToLower(s.text[t.start:t.end])
			return !oneThing.Has(word) && (wished == nil || word != "any")
		}
		return false
	})
}

// writtenDown matches the beginning of a sentence that asks to write down a rule. The rest states
// it.
var writtenDown = pattern.New(`(?i)^(?:(?:please|pls|ok|also|and|so|now|then|lets|let'?s|can you|could you)\b[ ,]*)*(?:update|add|create|write|make|put|extend|change|document|record|note)\b[^.!?:]{0,40}?` +
	`\b(?:rules?|claude\.md|agents\.md|gemini\.md|copilot[- ]instructions|instructions|guidelines|memory|\.cursorrules|conventions?)\b(?: file)?(?: (?:(?:that|which) (?:says|specifies|states|mentions)|saying|stating|so)(?: that)?| that| to (?:say|specify|state|mention)(?: that)?|:)\s+`)

// faulty matches reports of a fault and of a habit, whose words look like lasting marks.
var faulty = pattern.New(`(?i)\b(?:as|like|wie|como|comme|come) (?:always|immer|siempre|toujours|sempre)\b|как всегда|\btoujours pas\b|\bimmer noch\b|\bnoch immer\b|\b(?:but|and) (?:is |are |was |were )?never (?:actually )?(?:called|invoked|reached|executed|triggered|referenced)\b`)

// failing matches reports of something that does not work, which are settled in their session. A
// rule may follow one.
var failing = pattern.New(`(?i)\b(?:is|are|was|were|does|do|did)(?:n['’]?t| not) (?:\w+ ){0,2}(?:properly|correctly|(?:displayed|shown|visible|working|loading|rendered|triggered|called|there) any ?more)\b|` +
	`\bseems? to (?:never|not)\b|\balways ==|^\W*(?:(?:and|but|so|also|now|still|yeah) )*i (?:still |now )?(?:see|seem to|am getting|get (?:an?|the) error|got (?:an?|the|this) error|have an (?:issue|error|problem))\b`)

// concluding matches the beginning of a rule behind a report.
var concluding = pattern.New(`(?i)[,;:]\s*(?:so|therefore|hence|always|never|please|use|don['’]?t|do not|we|you)\b`)

// reports reports whether a sentence is nothing but the report of a fault.
func (s *Sentence) reports() bool {
	at := failing.FindStringIndex(s.text)
	if at == nil || concluding.MatchString(s.text) {
		return false
	}
	known := marks()
	return !slices.ContainsFunc(s.tokens, func(t token) bool { return t.end <= at[0] && t.shape < symbol && known[t.hash] })
}

// lasts reports whether a sentence claims to last or to be general.
func (s *Sentence) lasts() bool {
	if faulty.MatchString(s.text) {
		return false
	}
	known := marks()
	for _, t := range s.tokens {
		if t.shape < symbol && known[t.hash] {
			return true
		}
	}
	return markPhrase.MatchString(s.text)
}
