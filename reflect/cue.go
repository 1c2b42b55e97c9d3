package reflect

// Cues are words by which a person marks a statement as meant to last, or as meant for now.
// "Always" and "never" by themselves mark nothing: people also tell with them how a program
// behaves ("it always fails"). They count at the head of an instruction.

const (
	// verbs that head an instruction about work on a repository.
	verbs = `use|run|re-?run|add|commit|push|write|put|keep|call|check|create|prefer|include|make|do|test|` +
		`lint|format|build|update|ask|read|return|log|wrap|handle|validate|pass|name|follow|document|squash|` +
		`rebase|merge|start|set|pin|bump|tag|sign|open|close|edit|hand-edit|modify|touch|change|import|` +
		`export|mock|stub|hard-?code|store|save|expose|print|delete|remove|drop|rename|move|copy|install|` +
		`upgrade|downgrade|regenerate|generate|deploy|release|ship|publish|force[- ]push|skip|disable|` +
		`enable|ignore|catch|throw|raise|panic|assert|compare|sort|quote|escape|encode|hash|encrypt|trust|` +
		`assume|guess|rely|depend|leave|show|give|provide|explain|answer|reply|respond|speak|talk|summari[sz]e|` +
		`describe|review|verify|confirm|double[- ]check|ensure|be|have|get|go|take|treat|search|grep|work|` +
		`begin|switch|let|require|define|declare|avoid|consult|load|send|fetch|query|cache|defer|await|` +
		`apply|attach|prefix|annotate|translate|target|branch|amend|revert|reset|checkout|check out|stage|` +
		`mention|reference|link|place|extract|inline|reuse|duplicate|vendor|embed|propose|present|produce|` +
		`output|finish|stick|respect|preserve|maintain|bypass|suppress|emit|perform|execute|invoke|specify|` +
		`capitali[sz]e|refer|insert|alter|migrate|start|stop|restart|refactor|rewrite|overwrite|truncate|` +
		`block|join|concatenate|interpolate|share|instantiate|construct|group|split|squash|close|mutate|` +
		`subclass|inherit|nest|swallow|retry|paginate|stub|scope|version|backport|cherry-pick|indent|notify|` +
		`tell|say|wait|fall back|default|fail|think|look|consider|try|stop|render|serve|mark|resolve|access|` +
		`point|connect|hit|cast|throw|depend|approve|rely|introduce|reintroduce|re-?add|count|measure|` +
		`benchmark|profile|accept|expect|type|declare`
	// things a rule about a repository is about.
	nouns = `gems?|crates?|librar(?:y|ies)|tests?|test files?|unit tests|integration tests|e2e tests|specs?|exports?|fixtures?|mocks?|snapshots?|` +
		`golden files?|commits?|commit messages?|commit subjects?|branch(?:es)?|branch names?|pull requests?|` +
		`prs?|pr titles|merge requests?|migrations?|comments?|doc comments?|docstrings?|docs|documentation|` +
		`changelogs?|functions?|methods?|errors?|error messages?|exceptions?|files?|file names|filenames|` +
		`names?|variables?|env vars|environment variables|types?|components?|handlers?|endpoints?|routes|` +
		`packages?|imports?|dependenc(?:y|ies)|modules?|hooks?|classes|interfaces?|tables?|columns?|queries|` +
		`scripts?|configs?|config files?|logs?|log lines?|log messages|strings?|translations?|secrets?|` +
		`credentials?|tokens?|keys|api keys|constants?|enums?|structs?|schemas?|timestamps|dates|times|` +
		`ids|prices|amounts|money|code|generated code|generated files|protos?|proto files|public apis?|` +
		`apis?|releases?|versions?|tags?|todos?|feature flags|flags|images|assets|styles?|css|helpers|` +
		`utilities|workflows|jobs|lock ?files?|builds?|services|controllers|repositories|layers|adapters|` +
		`lines?|emojis?|indentation|todo comments|queries|responses`
	tools = `npm|pnpm|yarn|bun|pip|pipenv|poetry|uv|conda|make|just|task|mise|cargo|go|docker|podman|pytest|` +
		`unittest|vitest|jest|mocha|cypress|playwright|eslint|biome|prettier|black|ruff|flake8|mypy|pyright|` +
		`golangci-lint|gofmt|gofumpt|gradle|maven|mvn|bazel|nx|turbo|deno|node|tsc|webpack|vite|rollup|` +
		`esbuild|postgres(?:ql)?|mysql|sqlite|redis|mongo(?:db)?|dayjs|date-fns|moment(?:\.js)?|luxon|` +
		`axios|fetch|lodash|zod|yup|joi|prisma|drizzle|sqlc|gorm|terraform|tofu|helm|kubectl|git|gh|zsh|` +
		`bash|fish|tabs|spaces`
)

// lasting marks what is meant to hold beyond the task at hand.
var lasting = languages{
	{"en", lazy(`(?i)\bfrom now on\b|\bfrom here on(?: out)?\b|\bgoing forward\b|^(?:\W*(?:please|and|so|also|` +
		`ok|but)\W+)*in (?:the )?future\b|\b(?:always|never|don'?t|do not|stop|avoid|please)\b.*\bin (?:the )?future\b|` +
		`\bi (?:only|always) (?:ever )?want\b|\bfor (?:the )?future(?: reference| sessions?| work)?\b|` +
		`^(?:\W*\w+\W+)?next time\b|\bever,|\bnever, ever\b|` +
		`\b(?:naming|format|convention|style|pattern)s? (?:here )?is\b|` +
		`\b(?:that|this|it) (?:goes|holds|applies) for (?:every|all|any)\b|\bas a (?:general )?rule\b|` +
		`\brule of thumb\b|\bas a (?:matter of )?policy\b|` +
		`\bas a convention\b|\bby convention\b|\b(?:our|the|team|repo|project|house|coding) (?:convention|` +
		`policy|rule|standard|guideline|style)s? (?:is|are|says?|here|in (?:this|our))\b|\b(?:convention|` +
		`policy|rule|standing rule|project rule)\s?:|^(?:\W*(?:please|and|so|also|ok|but|again)\W+)*(?:do )?remember(?:\s?[:,]|` +
		` to | that | we | not to | never | always )|\b(?:please|always|must) remember (?:to|that|not)\b|` +
		`\bkeep in mind\b|\b(?:every|each) time (?:you|we|i|someone)\b|\bwhenever (?:you|we|someone|a|` +
		`an)\b|\bonly ever\b|\bi never want\b|,? always[.!]*$|\bat all times\b|\bdon'?t ever\b|\bdo not ever\b|` +
		`\bunder no circumstances\b|\bno exceptions\b|\bwithout exception\b|\bis (?:strictly |absolutely )?(?:forbidden|` +
		`prohibited|off[- ]limits|banned|not allowed)\b|\bare (?:strictly )?(?:forbidden|prohibited|off[- ]limits|` +
		`banned|not allowed)\b|\bever[.!]?$|\bwithout (?:asking|approval|permission|(?:my|our|explicit) (?:ok|` +
		`okay|approval|permission|consent)|(?:me|us) (?:agreeing|approving|saying|signing)|telling|checking with)\b|\b(?:before|after|on|with|in|for) (?:every|` +
		`each) (?:new |single )?(?:\w+ )?(?:commit|push|pr|pull request|merge|release|change|edit|migration|` +
		`deploy\w*|session|task)\b|^\w+\b[^,;]*\balways\s*[,;]|\bdon't forget\s?[:,]|\bin general we\b|` +
		`\bhouse rule\b|\bhard rule\b|\bfor all future\b|\b(?:for|in) (?:every|all|each) (?:new |future )?(?:sessions?|` +
		`tasks?|prs?|pull requests?|commits?|repos?|changes?)\b`)},
	{"zh", lazy(`以后|今后|从现在(?:开始|起)|从今(?:以后|往后|天起)|往后|一律|始终|永远|绝不|绝对不|绝对禁止|禁止|` +
		`严禁|不允许|不准|不许|务必|请?记住|记得(?:每次|总是|一定|始终|都|不要|别)|切记|牢记|每次|` +
		`每当|不要再|别再|不得|约定|惯例|规范(?:是|要求|[:：])|规定|原则上|统一(?:用|使用|采用|放|写)|总是(?:用|使用|` +
		`要|先)|都(?:必须|要用|得用)|一直(?:都)?(?:放|` +
		`用|是|写|走)|从来(?:不|都)|一定要|一定不要|千万(?:不要|别)|任何(?:时候|情况下)`)},
	{"ja", lazy(`今後|これから(?:は|ずっと)|以後|必ず|絶対に|常に|いつも(?:使|は)|毎回|決して|禁止|覚えて(?:おいて)?|` +
		`ルール(?:です|として|は|[:：])|規約|方針(?:です|として|は)|二度と|原則(?:として)?|ないこと|すること|決まり(?:です|だ|に|$)`)},
	{"ko", lazy(`앞으로(?:는|도)?|항상|언제나|절대(?:로)?|반드시|무조건|매번|기억해|금지|규칙(?:입니다|이에요|이야|` +
		`[:：])|컨벤션|다시는|원칙적으로|꼭 `)},
}

// passing marks what is meant for now, or is a state of affairs that will pass.
var passing = languages{
	{"en", lazy(`(?i)\bfor now\b|\bright now\b|\bnow[.!]?$|\bnow[,;]|\bbefore (?:you |we |i )?(?:finish|continu|` +
		`proceed|stop|mov)(?:e|ing|ping)?\b|\buntil all\b|\bat the moment\b|\bat this point\b|\bfor the moment\b|` +
		`\bfor the time being\b|\b(?:this|just this|only this) (?:one )?time\b|\bjust this once\b|\bjust once\b|` +
		`\bthis once\b|\btemporar(?:y|ily)\b|\btoday\b|\btonight\b|\btomorrow\b|\byesterday\b|\bthis (?:week|` +
		`morning|afternoon|evening|session|task|branch|pr|pull request|commit|ticket|change|round|iteration|` +
		`step|experiment|one|feature|bug|case|run|conversation|release)\b|\bcurrent(?:ly)? (?:session|` +
		`task|branch|pr|change|commit|broken|failing)\b|\b(?:not|don'?t|do not|nothing|never)\b[^.]*\byet\b|` +
		`\byet[.!]?$|\bin this (?:session|pr|branch|commit|task|case)\b|\bfor this (?:session|pr|task|` +
		`one|change|branch|commit|case|file|test|feature|release)\b|\buntil (?:i|we|the|tomorrow|monday|` +
		`it'?s|then|further)\b|\blater on\b|\bnext (?:week|sprint)\b|\bwip\b|\bquick(?:ly)? (?:fix|hack|` +
		`test|check)\b|\bjust (?:for|to) (?:test|debug|now|try)|\bbefore (?:doing|changing|touching|making|` +
		`you do|you change|you make) any(?:thing|\s+(?:changes?|edits?))\b|\bfirst[,.]? (?:then|and then)\b|` +
		`\bonly if i\b|\bhypothetical(?:ly)?\b|\bexperiment(?:al(?:ly)?|ing)?\b|\bdemo\b`)},
	{"zh", lazy(`这次|本次|这一次|这回|暂时|目前|现在(?:先|不要|别|还|就|是)|今天|明天|昨天|临时|等会|待会|一会儿?|` +
		`刚才|刚刚|这个(?:PR|pr|分支|任务|提交|会话|需求|` +
		`文件|函数|测试|bug)|先(?:不要|别|不用|这样|跳过|看|做|把|改)|还没|等我(?:一下|回来|看|弄|改完)`)},
	{"ja", lazy(`今回|とりあえず|一旦|いったん|今は|いまは|今日|明日|昨日|さっき|まだ|この(?:PR|ブランチ|タスク|` +
		`ファイル|コミット|関数|テスト)|仮に|一時的`)},
	{"ko", lazy(`이번(?:에|만|엔|에는)?|일단|지금은|오늘|내일|어제|아직|임시|잠깐|방금|이 (?:PR|브랜치|작업|파일|` +
		`커밋|함수|테스트)`)},
}

// habitRequest asks for a habit in the form of a question.
var habitRequest = lazy(`(?i)^(?:\W*(?:please|and|so|also|ok|but)\W+)*(?:can|could|would|` +
	`will) you (?:please )?(?:always|never|from now on|in (?:the )?future|stop)\b`)

// status marks a report of how things stand, not of how they are.
var status = lazy(`(?i)\b(?:failing|fails|failed|broken|crash(?:es|ed|ing)|still|already|just (?:pushed|merged|added|` +
	`fixed|saw|noticed|realised|realized|got|ran|did|changed|updated)|done|finished|is down|was|were|` +
	`did|didn'?t|doesn'?t (?:work|look|seem|show|run|compile|build)|isn'?t working|not working|got|` +
	`seems?|current(?:ly)?|looks? like|i (?:think|guess|suspect|wonder|believe|assume)|maybe|perhaps|` +
	`probably|might|presumably|apparently|we(?:'ll| will) need|need(?:s)? to (?:be )?(?:fix|check|` +
	`look|update|add|figure)|todo)\b`)

var (
	headingWords = lazy(`(?i)\b(?:conventions|always|never|remember|keep in mind|ground rules|house style|from now on|` +
		`going forward)\b[^.]*[:：]$|\b(?:our|team|project|repo|repository|code|coding|style|house|general|` +
		`standing) (?:rules?|guidelines?|standards?|preferences)\b[^.]*[:：]$|\b(?:rules?|guidelines?|standards?) (?:for|` +
		`of|in) (?:this|the|our) (?:repo|repository|project|code|codebase|team)\b[^.]*[:：]$|(?:规则|约定|规范|` +
		`记住|以后|今后|从现在(?:开始|起)|注意事项|守则|ルール|規約|今後|覚えて|규칙|앞으로|기억)[^。]*[:：]$`)
	headingPassing = lazy(`(?i)\b(?:implement|add|new|business|validation|firewall|lint|eslint|routing|css|security|` +
		`failing|error|broken|the following (?:error|output))\b`)
)

// ruleHeading tells whether a line calls the list that follows it rules.
func ruleHeading(line string) bool {
	return headingWords.MatchString(line) && (!headingPassing.MatchString(line) || lasting.in("en").MatchString(line)) && !passing.in("en").MatchString(line)
}
