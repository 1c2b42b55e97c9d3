// Package attack finds text that gives orders to the agents that read it, or that disguises its
// nature. Agents read memories, so any author of a memory may try either. Find is a net, not a
// proof: it does not replace a person who reads each proposal before the merge. Honest statements
// about a project must pass; TestInnocentSentences has examples.
//
// Untag is for text that is passed on regardless: its result can neither open nor close an element
// of the surrounding text.
package attack

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// form describes one form of an attack.
type form struct {
	level  finding.Level
	what   string // completes "this looks like …"
	looks  *pattern.Pattern
	needs  *need
	warned bool             // a warning against it ("never run …") is worth a note only
	passed *pattern.Pattern // its first group matches words to ignore; may be nil
	// reports whether a match is innocent, from its line's remainder; may be nil
	innocent func(line string) bool
}

// look returns the pattern of a form. It ignores case, and a space matches any white space.
func look(form string) *pattern.Pattern {
	return pattern.New("(?i)" + strings.ReplaceAll(form, " ", `[\s>*_]+`))
}

// forms are made at first use: most commands look for no attacks.
var forms = sync.OnceValue(func() []form {
	all := []form{
		{level: finding.Error, what: "an order to ignore other instructions",
			looks: look(`\b(ignore|disregard|forget|override|bypass|do not follow|don't follow|do not obey|stop following|pay no attention to)( (all|any|every|the|your|of|my|these|those|other|everything in)){0,4} (previous|prior|earlier|above|preceding|foregoing|former|system|developer|original|safety)( \w+)? (instruction|prompt|guideline|directive|direction)s?\b`)},
		{level: finding.Error, what: "an order to ignore other instructions",
			looks: look(`\b(ignore|disregard|forget)( (all|everything|anything|whatever))( that)?( was| has been| came)?( said| written)? (above|before this|you (were|have been|are) told|you know|your instructions)\b`)},
		{level: finding.Error, what: "an order to ignore other instructions",
			looks: look(`\b(ignore|disregard|forget|do not follow|don't follow|do not obey)( (all|any|the|your|of|these|those)){0,3} (instructions?|prompts?|rules|guidelines) (above|so far|that came before|you (have|were|are)|given (to you|so far|above|earlier|before))\b`)},
		{level: finding.Warning, what: "an order to ignore other rules",
			looks: look(`\b(ignore|disregard|forget|override)( (all|any|every|the|your|of|my|these|those|other)){0,4} (previous|prior|earlier|above|preceding|foregoing) (rules|messages?|context|constraints|policy|policies|orders|memories)\b`)},
		{level: finding.Error, what: "an order to ignore other instructions",
			looks: look(`忽略(之前|以上|先前|上面|前面|所有)的?(所有|全部)?的?(指令|指示|提示|说明)|(以前|これまで|上記|前)の(すべての)?(指示|命令)を(すべて)?無視|(ignoriere|vergiss)( alle| die| deine){0,2} (vorherigen|bisherigen|früheren|obigen) (anweisungen|instruktionen)|(ignora|olvida)( todas)?( las| tus) instrucciones (anteriores|previas)|(ignorez|oubliez|ignore|oublie)( toutes)?( les| tes| vos) (instructions|consignes) (précédentes|antérieures)`)},
		{level: finding.Error, what: "an order to ignore other instructions",
			looks: look(`(игнорируй(те)?|забудь(те)?|не обращай(те)? внимания на)( все| всё| эти| свои| любые){0,2} (предыдущие|прежние|прошлые|системные|вышеуказанные) (инструкции|указания|правила)|(ignore|ignora|ignori|dimentica|esqueça|desconsidere)( tutte| todas)?( le| as| suas| tue){0,2} (istruzioni|instruções) (precedenti|anteriores|prévias)|(negeer|vergeet)( alle| de){0,2} (vorige|eerdere|bovenstaande) (instructies|aanwijzingen)|(zignoruj|zapomnij)( wszystkie)? (poprzednie|wcześniejsze) (instrukcje|polecenia)|(önceki|yukarıdaki)( tüm)? (talimatları|yönergeleri) (yok say|unut|görmezden gel)|이전(의)? (모든 )?(지시|명령|지침)(를|을|사항을)? ?(모두 )?(무시|잊)|(无视|忘记|忘掉|不要理会|忽视|無視|忽略)(掉)?(你)?(之前|以上|先前|上面|前面|此前|所有|一切)(的)?(所有|全部|一切)?(的)?(指令|指示|提示词?|说明|规则|要求|命令)|(以前|これまで|上記|上|前)の(すべての|全ての)?(指示|命令|ルール|プロンプト)を?(すべて|全て)?(忘れ|破棄)|تجاهل (جميع )?(التعليمات|الأوامر) السابقة`)},
		{level: finding.Warning, what: "words that claim to outrank others",
			looks: look(`\b(this|these|the following)( \w+){0,2} (overrides?|supersedes?|takes? (precedence|priority) over|replaces?) (all |any |every |the |your )*(other |previous |prior |earlier |existing |system |older ){1,3}(instructions?|prompts?|rules|guidelines|directives|memories|orders)\b`)},
		{level: finding.Warning, what: "a note to agents",
			looks: look(`(^|[\n.!?>*#\[(-])[\s>*#_"'\[(-]*(important )?(ai|llm|agents?|assistants?|model|copilot|claude|codex|gemini|chatgpt|gpt)(-| )?(note|notice|instructions?|directive|message|alert|action required|task|todo|must read|only)\b[\])*_]*( \w+){0,2}:|\b(note|notice|message|instructions?|attention|reminder|hint|directive|warning|p\.?s\.?)( to| for|:| -)( (all|any|every|the|our|dear|you|automated|autonomous|coding|ai|reading|my))*( (ais?|llms?|ai agents?|coding agents?|coding assistants?|ai assistants?|language models?|claude|codex|gemini|copilot|chatgpt)\b)`)},
		{level: finding.Warning, what: "a note to agents",
			looks: look(`\b(if|when) you( are|'re) (reading this|processing this|summari[sz]ing this)\b|\b(any|every|whichever|whatever) (ai|llm|agent|assistant|language model)( \w+){0,3} (reading|reads|processing|sees|seeing) this\b|\b(hey|hi|hello|dear|attention),? (ai|claude|codex|gemini|copilot|chatgpt|assistant|llm|language model)\b`)},
		{level: finding.Warning, what: "a new role for an agent",
			looks: look(`\byou are now (a|an|dan|free|unrestricted|jailbroken|no longer|root|the administrator)\b|\bfrom now on,? you (are|act|will act|must act) (a|an|as)\b|\b(enter|enable|activate) (developer|dan|god|jailbreak|unrestricted) mode\b`)},
		{level: finding.Error, what: "new instructions for an agent",
			looks: look(`\byour (real|actual|true|new|only|primary|hidden) (task|goal|objective|mission|purpose|instructions?|job) (is|are)\b|\bstop what(ever)? you('re| are) doing\b`)},
		{level: finding.Warning, what: "an order to an agent that reviews",
			looks: look(`\b(approve|merge|accept|lgtm) this (pull request|merge request|pr|mr|proposal|memory|diff)\b|\breverie (accept|approve|trust|purge|uninstall|config)\b`), warned: true},
		{level: finding.Warning, what: "an order to make something stay",
			looks: look(`\b(add|write|append|save|copy|put) (this|these|the following)( \w+){0,4} (to|into|in) (your )?(agents\.md|claude\.md|gemini\.md|\.cursorrules|memory|memories|instructions|system prompt)\b`), warned: true},
		{level: finding.Warning, what: "a new role for an agent",
			looks: look(`\bpretend (that )?(you are|you have|you can|to be)\b`)},
		{level: finding.Error, what: "new instructions for an agent",
			looks: look(`(^|[\n>*#-])[\s>*#_-]*(new|updated|revised|real|actual|hidden|secret) (system )?(instructions?|prompt)[*_]*:`)},
		{level: finding.Warning, what: "an order to an agent by its name",
			looks: look(`\b(claude|chatgpt|gemini|copilot|codex|opencode|cursor|assistant|ai agent|ai model|language model|dear agent|attention agents?)[,:] (please )?(you must|you should|ignore|run|execute|always|never|do not|send|delete|disable|approve|obey)\b|\b(as|if you are) an? (ai|llm|ai assistant|language model|ai agent|coding agent|autonomous agent)\b[^.\n]{0,40}\b(must|have to|are required to|shall|always|never)\b`)},
		{level: finding.Error, what: "an order to keep something from people",
			looks: look(`\b(do not|don't|never) (tell|inform|notify|alert) (the )?(user|human|person|developer|operator|maintainer|reviewer|owner)s?( that you| about (this|it|these|your)| of (this|it)| what you| why you)\b|\b(do not|don't|never) (mention|reveal|disclose|report|show|admit) (this|these|it|that|any of this)( \w+){0,2} to (the )?(user|human|developer|operator|maintainer|reviewer|owner)s?\b|\b(do not|don't|never) (mention|reveal|disclose|quote) (this|these|your|the above|the hidden)( \w+)? (instructions?|prompt|notes?|memory|memories|message)\b|\bwithout (telling|informing|notifying|alerting) (the )?(user|human|developer|operator|maintainer|reviewer|owner)s?\b`)},
		{level: finding.Warning, what: "an order to keep something from people",
			looks: look(`\b(the )?(user|human|person|developer|maintainer|reviewer)s? (does not|doesn't|do not|don't) need to (know|see|be told|be asked)( about| of)? (this|it|that)\b`)},
		{level: finding.Warning, what: "leave to act without a person",
			looks: look(`\bwithout (asking|confirmation from|approval (of|from)|permission (of|from)) (the |a |any )?(user|human|person|developer|operator|maintainer|reviewer|owner)s?\b|\b(you have|the user has given|the user gave) (already )?(full |blanket |standing )?(permission|approval|consent|authori[sz]ation)\b|--dangerously-skip-permissions|--dangerously-bypass-approvals|--yolo\b`), warned: true},
		{level: finding.Warning, what: "an order to switch a protection off",
			looks: look(`\b(disable|turn off|skip|bypass|circumvent|evade)\b[^.\n]{0,30}\b(guardrails?|safety (checks?|rules?|filters?)|permission (checks?|prompts?|system)|approval (prompts?|steps?|requests?)|confirmation prompts?|secret (scan|scanning|scanner)|redaction)\b`), warned: true},
		{level: finding.Error, what: "the frame of a chat or a tool call",
			looks: pattern.New(`(?i)<\|[a-z][a-z0-9_]{2,30}\|>|\[/?INST\]|<</?SYS>>|</?(start|end)_of_turn>|</?\s*(system[-_ ]?(reminder|prompt|message|instructions?)|tool[-_]?(calls?|use|result|results|response)|function[-_](calls?|results?|response)|antml:[a-z_]+|user[-_](prompt|message|input|query)|assistant[-_]?(message|response)?|reverie[-_:a-z]*)(\s[^>]{0,200})?/?>|<invoke\s+name\s*=|<parameter\s+name\s*=\s*"[^"]*"\s*>[^<]{0,200}</parameter|<!--\s*reverie:|<environment_context>|</?important(_instructions)?>`)},
		{level: finding.Warning, what: "the frame of a chat",
			looks: pattern.New(`(?i)</?(system|instructions)>|(^|\n)[\s>]*(#{1,6}\s*)?(human|assistant)\s*:\s|(^|\n)[\s>]*#{2,6}\s*(system|instructions?|response)\s*:`)},
		{level: finding.Error, what: "a tool call",
			looks: pattern.New(`(?i)"(tool_calls|function_call|tool_use_id|tool_call_id)"\s*:|"type"\s*:\s*"(tool_use|tool_result|function_call)"|\{\s*"(name|tool)"\s*:\s*"[\w.-]+"\s*,\s*"(arguments|input|parameters)"\s*:\s*[{"]`)},
		{level: finding.Error, what: "a download that is run at once", warned: true,
			looks: pattern.New(`(?i)\b(curl|wget|aria2c|lynx|http|https)\b[^\n]*\|&?\s*((sudo|doas)\s+(-\w+\s+)*|exec\s+|nohup\s+|xargs\s+(-\S+\s+)*|env\s+(\w+=\S*\s+|-\w+\s+)*|\\)*(/[\w/]+/)?((ba|z|da|k|c|fi|a|tc)?sh|python[\d.]*|perl|ruby|node|deno|bun|php|pwsh|powershell|iex|invoke-expression|source)\b|\b(eval|exec|source|(ba|z|da|k|fi|a)?sh|python[\d.]*|perl|ruby|node|php|pwsh|powershell)\b[^\n|;]{0,20}["'` + "\x60" + `(<$]\(?\s*(curl|wget|irm|iwr)\b|\b(irm|iwr|invoke-webrequest|invoke-restmethod|downloadstring)\b[^\n]*\|\s*(iex|invoke-expression|&)|\b(iex|invoke-expression)\b\W[^\n]*\b(irm|iwr|invoke-webrequest|invoke-restmethod|downloadstring|downloaddata)\b|(^|[\s;&|` + "\x60" + `])\.\s+<\(\s*(curl|wget)\b|\b(exec|eval)\s*\(?[^\n]{0,60}\b(urlopen|requests\.get|urllib|fetch|http\.get)\s*\(|\b(base64|base32|xxd|uudecode|gunzip|openssl)\b[^\n]*\|\s*((sudo|exec|env)\s+)*(/[\w/]+/)?((ba|z|da|k|a)?sh|python[\d.]*|perl|node|ruby|php|iex)\b|\b(eval|(ba|z|da)?sh\s+-c|source)\b[^\n]{0,12}(\$\(|<\(|` + "\x60" + `)[^\n]{0,60}\b(base64|base32|xxd)\s+-|\b(powershell|pwsh)\b[^\n]*\s-e(nc|c|ncodedcommand)?\s+[A-Za-z0-9+/=]{16,}`)},
		{level: finding.Warning, what: "code from an address that is run", warned: true,
			looks:    look(`\b(run|execute|eval|invoke|source|install|apply|import)\b( (the|this|that|a|an|our|its|following|latest|install|installer|setup|script|command|code|file|plugin|package|instructions?|steps|in|at|from|found|listed|described|directly|hosted|with))* [` + "`\"'(<\\[" + `]*(git\+)?https?://|\b(pip3?|npm|pnpm|yarn|bun|gem|uv|cargo|go|npx|bunx|deno|brew)( \w+){0,2}( -\S+)* (git\+)?https?://|\b(follow|obey|do|perform|carry out)( (the|all|its|these|any|every))* (instructions?|steps|orders|commands)( (given|found|listed|written|described))? (at|from|on|in|under) [` + "`\"'(<\\[" + `]*(https?://|www\.)`),
			innocent: staysLocal},
		{level: finding.Warning, what: "an order to skip checks", warned: true,
			looks: pattern.New(`(?i)\bgit\b[^\n]{0,60}\s(--no-verify|--no-gpg-sign)\b|(^|[\s` + "\x60" + `(])--no-verify\b|\bgit\s+commit\b[^\n` + "\x60" + `]{0,40}\s-[a-z]*n[a-z]*\s|\b(HUSKY\s*=\s*["']?0|HUSKY_SKIP_HOOKS|PRE_COMMIT_ALLOW_NO_CONFIG|core\.hooksPath[\s=]+/dev/null|commit\.gpgsign[\s=]+false|http\.sslVerify[\s=]+["']?(false|0)|strict-ssl[\s=]+false|GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED\s*=\s*["']?0|PYTHONHTTPSVERIFY\s*=\s*["']?0|GONOSUMDB|GONOSUMCHECK|GOFLAGS\s*=\s*-insecure|GOINSECURE|--trusted-host)`)},
		{level: finding.Warning, what: "an order to skip checks", warned: true,
			looks: look(`\b(disable|turn off|switch off|skip|bypass|circumvent|evade|remove|deactivate)( (all|any|the|every|our|its|those|these|of|git|ci|your))* (pre-?commit|pre-?push|git|commit|security|signature|certificate|integrity|malware|antivirus|branch|code(-| )signing|checksum)(-| )(hooks?|checks?|checking|verification|validation|scans?|scanning|scanners?|protections?|rules|review)\b`)},
		{level: finding.Error, what: "a download that is run at once", warned: true,
			looks: pattern.New(`(?i)\b(curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n|]*\|\s*(sudo\s+(-\w+\s+)*)?(/usr)?(/bin/)?(env\s+)?(ba|z|da|k|c|fi|a)?sh\b|\b(curl|wget|iwr|irm|invoke-webrequest)\b[^\n|]*\|\s*(sudo\s+)?(python[\d.]*|perl|ruby|node|php|iex|invoke-expression)\b|\b((ba|z|da|k)?sh|source|eval|\.)\s+(-c\s+)?["']?(<|\$)\(\s*(curl|wget)\b|\b(iex|invoke-expression)\s*\(+\s*(iwr|irm|invoke-webrequest|new-object)|\bbase64\s+(-d|-D|--decode)\b[^\n|]*\|\s*(sudo\s+)?(ba|z|da)?sh\b`)},
		{level: finding.Warning, what: "a download that is run", warned: true,
			looks: pattern.New(`(?i)\b(curl|wget)\b[^\n]*https?://[^\n]*(&&|;)\s*(sudo\s+)?(((ba|z|da)?sh|python3?|node|perl)\s|chmod\s+[+\w]+\s|\./)`)},
		{level: finding.Error, what: "a command that destroys a home or a disk", warned: true,
			looks: pattern.New("(?i)\\brm\\s+(-[a-z-]+\\s+)*-[a-z]*(rf|fr|r)[a-z]*\\s+(-[a-z-]+\\s+)*[\"']?(/|~|\\$HOME|\\$\\{HOME\\})/?\\*?[\"']?(\\s|$|[`;&|.,)])|\\bmkfs(\\.\\w+)?\\s+/dev/|\\bdd\\s[^\\n]*\\bof=/dev/(sd|nvme|disk|hd)|:\\(\\)\\s*\\{\\s*:\\|:&\\s*\\};:")},
		{level: finding.Error, what: "a command that sends secrets away", warned: true,
			looks:    pattern.New(`(?i)\b(curl|wget|nc|ncat|netcat|http|https|scp|iwr|invoke-webrequest|invoke-restmethod)\b[^\n|]*(\.env\b|\.ssh/|id_(rsa|ed25519|ecdsa)|\.aws/|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.kube/|/etc/(passwd|shadow)|\$\((env|printenv|cat)\b|` + "`(env|printenv|cat)\\b" + `)|\b(env|printenv|cat\s+\S*(\.env|id_rsa|id_ed25519|\.netrc|\.npmrc|credentials|\.ssh/\S*|\.aws/\S*))\s*\|[^\n]*\b(curl|wget|nc|ncat|netcat)\b`),
			passed:   pattern.New("(?i)(?:--env-file[= ]|--netrc-file[= ]|\\bscp -i |--netrc[`\"']? (?:reads?|uses?|looks into) [`\"']?)([\\w./~-]+)"),
			innocent: staysHere},
		{level: finding.Warning, what: "an order to read what is secret", warned: true,
			looks: look(`\b(read|cat|open|print|load|dump|show|copy|pass|include|paste) [^.\n]{0,40}(~/\.ssh/|\bid_(rsa|ed25519)\b|~/\.aws/|\.git-credentials\b|~/\.netrc|/etc/(passwd|shadow))`)},
		{level: finding.Error, what: "an order to send something away", warned: true,
			looks: look(`\b(send|post|upload|exfiltrate|transmit|forward|leak|e-?mail|submit|append|include)\b[^.\n]{0,60}(\.env\b|\b(id_rsa|ssh keys?|private keys?|environment variables|env vars|the conversation|chat history|system prompt|this session|the transcript|source code|file contents|contents of|user's (files|credentials|data))\b)[^\n]{0,60}\b(to|at|into|in|via)\b[^\n]{0,30}(https?://|\b[\w.+-]+@[\w-]+\.\w)`)},
		{level: finding.Warning, what: "an order to send secrets away", warned: true,
			looks:    look(`\b(send|upload|exfiltrate|transmit|forward|leak|e-?mail)\b[^.\n]{0,60}\b(secrets?|credentials?|api[-_\s]?keys?|access tokens?|passwords?)\b[^\n]{0,60}\b(to|at|via)\b[^\n]{0,30}(https?://|\b[\w.+-]+@[\w-]+\.\w)`),
			innocent: staysInTest},
		{level: finding.Error, what: "an image that tells somebody what was read",
			looks: pattern.New(`(?i)!\[[^\]\n]*\]\(\s*<?(https?:)?//[^)\s]*([?&#=]|\{|\$|%7B)|<(img|video|audio|source|link)\b[^>\n]*\b(src|srcset|href|poster)\s*=\s*["']?\s*(https?:)?//|<(iframe|object|embed|script|form|meta|base)\b[^>\n]*\b(src|srcdoc|data|href|action|content|http-equiv)\s*=`)},
		{level: finding.Warning, what: "an image that is fetched from elsewhere",
			looks: pattern.New(`(?i)!\[[^\]\n]*\]\(\s*<?(https?:)?//|!\[[^\]\n]+\]\[`)},
		{level: finding.Error, what: "a link that carries data away",
			looks: pattern.New(`(?i)[^!]\[[^\]\n]*\]\(\s*<?https?://[^)\s]*[?&#=/]([^)\s]*(\{\{|\$\{|\$\(|%7B%7B)|(\[|<|\{)?(data|secret|secrets|token|tokens|contents?|conversation|history|base64|key|env|password)(\]|>|\})[^)\s]*\))`)},
		{level: finding.Error, what: "a link that runs code or reads files",
			looks: pattern.New(`(?i)\]\(\s*<?\s*(javascript|vbscript|data|file)\s*:|<a\b[^>\n]*\bhref\s*=\s*["']?\s*(javascript|vbscript|data)\s*:`)},
		{level: finding.Warning, what: "an address that collects what others send",
			looks: pattern.New(`(?i)\b([\w-]+\.)*(webhook\.site|requestbin\.(com|net)|requestcatcher\.com|pipedream\.net|ngrok(-free)?\.(io|app|dev)|burpcollaborator\.net|oastify\.com|oast\.(pro|live|site|online|fun|me)|interact\.sh|beeceptor\.com|hookbin\.com|transfer\.sh|termbin\.com|canarytokens\.com)\b`)},
		{level: finding.Warning, what: "text that does not show where Markdown is rendered",
			looks: pattern.New(`(?i)<!--|\bstyle\s*=\s*["'][^"']*(display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0)|<(template|noscript)\b|(^|\n)\[//\]:\s*#`)},
		{level: finding.Warning, what: "text that stands far to the right of what shows",
			looks: pattern.New(`(^|\n)[^\n]*\S[ \t]{120,}\S`), innocent: inTable},
		{level: finding.Warning, what: "a long run of encoded text, which nobody can review",
			looks: pattern.New(`[A-Za-z0-9+/]{200,}|(\\x[0-9a-fA-F]{2}){30,}|([0-9a-fA-F]{2}[ :]){80,}`)},
	}
	for i := range all {
		all[i].needs = needOf(all[i].looks.String())
	}
	return all
})

// Suspicion locates an apparent attack in a text.
type Suspicion struct {
	Line  int // from 1
	Last  int // the line on which it ends
	Level finding.Level
	What  string // completes "this looks like …"
	Text  string // the words; if one kind shows several times on a line, each on a line of its own
}

// More matches on one line only serve to hide something or to waste time.
const (
	maxInnocent = 2000 // maximum length of an innocent line, in bytes
	maxWarnings = 8    // warnings in one match
)

// First describes the first apparent attack in some texts, notes aside, or returns "".
func First(texts ...string) string {
	for _, text := range texts {
		for _, s := range Find(text) {
			if s.Level != finding.Note {
				return s.What
			}
		}
	}
	return ""
}

// Find returns apparent attacks, in the order of lines, each kind once per line.
func Find(text string) []Suspicion {
	var out []Suspicion
	plain := foldText(text)
	starts := startsOf(plain)
	folded := fold(plain)
	seen := map[Suspicion]int{} // without their text
	for _, p := range forms() {
		if !p.needs.met(folded) {
			continue
		}
		read := p.read(plain)
		var add func(from, to, warnings int)
		add = func(from, to, warnings int) {
			match := read[from:to]
			start := from + len(match) - len(strings.TrimLeft(match, "\n \t>"))
			first := starts.line(start)
			begin := starts[first-1]
			line, _, _ := strings.Cut(read[start:], "\n")
			if p.innocent != nil && len(line) <= maxInnocent && p.innocent(line) {
				return
			}
			at := p.level
			if p.warned && warnings < maxWarnings && warnsOf(read[max(begin, start-100):start]) {
				at = finding.Note
			}
			s := Suspicion{Line: first, Last: starts.line(max(start, to-1)), Level: at, What: p.what}
			words := strings.Join(strings.Fields(match), " ")
			if i, ok := seen[s]; ok {
				out[i].Text += "\n" + words
			} else {
				seen[s] = len(out)
				s.Text = words
				out = append(out, s)
			}
			if at == finding.Note { // another sentence may begin after the warning
				if end := beginsAnew.FindStringIndex(read[start:to]); end != nil && start+end[1] < to {
					rest := start + end[0] + 1
					if again := p.looks.FindStringIndex(read[rest:to]); again != nil {
						add(rest+again[0], rest+again[1], warnings+1)
					}
				}
			}
		}
		for _, at := range p.looks.FindAllStringIndex(read, -1) {
			add(at[0], at[1], 0)
		}
	}
	slices.SortStableFunc(out, func(a, b Suspicion) int { return a.Line - b.Line })
	return out
}

// starts holds the offsets at which the lines of a text begin.
type starts []int

func startsOf(text string) starts {
	var all starts
	for i := 0; ; {
		all = append(all, i)
		next := strings.IndexByte(text[i:], '\n')
		if next < 0 {
			return all
		}
		i += next + 1
	}
}

// line returns the number of the line, from 1, that has an offset.
func (s starts) line(offset int) int {
	n, exact := slices.BinarySearch(s, offset)
	if exact {
		n++
	}
	return n
}

// read returns a text with the words crossed out that the form ignores.
func (p form) read(text string) string {
	if p.passed == nil {
		return text
	}
	found := p.passed.FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return text
	}
	out := []byte(text)
	for _, at := range found {
		for i := at[2]; i < at[3]; i++ {
			out[i] = 'x'
		}
	}
	return string(out)
}

// foldText returns a text as a reader sees it: it replaces look-alike letters and removes
// characters without width. Lines keep their numbers.
func foldText(text string) string {
	text = norm.NFKC.String(strings.ReplaceAll(text, "\r\n", "\n"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			return ' '
		case r == '’' || r == 'ʼ':
			return '\''
		case unseen.Always(r) || r == '\u200d' || r == '\u200c':
			return -1
		}
		return r
	}, text)
}
