package redact

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// command is a program that takes a secret as an argument under an innocent name.
type command struct {
	names []string // as typed, at least three bytes each; one may be two words
	// options and keywords whose next argument, or text after an equals sign, is a secret
	next   []string
	glued  []string // options directly followed by the secret: -phunter2
	pairs  []string // options whose argument is user:secret, also glued to a letter: -sSu, -ubob:x
	cookie []string // options whose argument is cookies
	strip  string   // possible text before the secret
	parts  string   // an argument split by one of these bytes is user and secret
	words  int      // the position of the secret among the arguments, without options; 0 for none
	share  bool     // the argument after \\server\share is a secret
	slash  bool     // options begin with a slash too
	needs  string   // an option without which the command takes no such secret
}

var commands = [...]command{
	{names: []string{"redis-cli", "valkey-cli"}, next: []string{"-a", "--pass"}},
	{names: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami"}, next: []string{"-w"}},
	{names: []string{"ldappasswd"}, next: []string{"-w", "-a", "-s"}},
	{names: []string{"mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "sshpass"}, next: []string{"-p"}, glued: []string{"-p"}},
	{names: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "7za", "7zz", "7z "}, glued: []string{"-p"}},
	{names: []string{"sqlcmd", "bcp", "unzip", "zip"}, next: []string{"-P"}, glued: []string{"-P"}},
	{names: []string{"cqlsh", "docker login", "podman login", "buildah login", "skopeo login", "nerdctl login", "crane auth login", "registry login", "oc login", "az login", "cf login", "evil-winrm",
		"docker\", \"login", "az sql server create", "psexec", "crackmapexec", "netexec", "nxc ", "supabase ", "cypher-shell", "rabbitmqadmin",
		"elasticsearch-users", "expo login", "eas login", "dotnet nuget", "security unlock-keychain", "ncftpput"}, next: []string{"-p"}},
	{names: []string{"sqlplus", "expdp", "impdp"}, parts: "/"},
	{names: []string{"unrar", "rar "}, glued: []string{"-p", "-hp"}},
	{names: []string{"openssl"}, next: []string{"-passin", "-passout", "-pass", "-password", "-k", "-K"}, strip: "pass:"},
	{names: []string{"nmcli"}, next: []string{"password", "wifi-sec.psk", "802-11-wireless-security.psk", "wep-key0"}},
	{names: []string{"wpa_passphrase", "rabbitmqctl add_user", "rabbitmqctl change_password", "npm config set", "net user", "NET USER",
		"bw login", "drush upwd", "dotnet user-secrets set"}, words: 2},
	{names: []string{"net use", "NET USE"}, share: true, slash: true},
	{names: []string{"curl"}, pairs: []string{"-u", "--user", "-U", "--proxy-user"}, cookie: []string{"-b", "--cookie"}},
	{names: []string{"wget"}, pairs: []string{"--user"}},
	{names: []string{"http", "https"}, pairs: []string{"-a", "--auth"}},
	{names: []string{"smbclient"}, pairs: []string{"-U", "--user"}},
	{names: []string{"rpcclient"}, pairs: []string{"-U"}},
	{names: []string{"lftp"}, pairs: []string{"-u"}},
	{names: []string{"htpasswd"}, words: 3, needs: "b"},
	{names: []string{"poetry config http-basic."}, words: 3},
	{names: []string{"mc alias set"}, words: 4},
	{names: []string{"az keyvault secret set", "SecureString"}, next: []string{"--value"}},
	{names: []string{"security add-generic-password"}, next: []string{"-w"}},
	{names: []string{"schtasks"}, next: []string{"/rp", "/RP"}, slash: true},
	{names: []string{"winrs"}, glued: []string{"-p:"}},
	{names: []string{"pdftk"}, next: []string{"input_pw", "user_pw", "owner_pw"}},
	{names: []string{"xfreerdp"}, glued: []string{"/p:"}, slash: true},
	{names: []string{"ipmitool", "mosquitto_pub", "mosquitto_sub"}, next: []string{"-P"}},
	{names: []string{"snmpwalk", "snmpget"}, next: []string{"-A", "-X", "-c"}},
	{names: []string{"vault login", "vault unseal", "vault operator unseal", "heroku auth:token", "ConvertTo-SecureString",
		"bw unlock", "wandb login", "ansible-vault encrypt_string", "oathtool", "AUTH default", "set-initial-password"}, words: 1},
	{names: []string{"aws configure set"}, next: []string{"aws_secret_access_key", "aws_session_token"}},
	{names: []string{"gh secret set", "gh variable set"}, next: []string{"-b", "--body"}},
	{names: []string{"fly secrets set"}, parts: "="},
	{names: []string{"ssh-keygen"}, next: []string{"-N", "-P"}},
	{names: []string{"gpg"}, next: []string{"--passphrase"}},
	{names: []string{"keytool"}, next: []string{"-storepass", "-keypass", "-srcstorepass", "-deststorepass"}},
	{names: []string{"jarsigner"}, next: []string{"-storepass", "-keypass"}},
}

// maxCommand bounds a command line, and perLine the commands examined on one line.
const (
	maxCommand = 600
	perLine    = 4
)

// look examines the arguments of the command whose name is at s.text[at:].
func (c *command) look(s *scan, at int, name string) {
	end := at + len(name)
	if !boundary(s.text, at) || end < len(s.text) && sets[alnumSet].has(name[len(name)-1]) && !isOneOf(s.text[end], " \t\"'\\") {
		return
	}
	if at >= s.line.end {
		s.line.end, s.line.commands = min(len(s.text), at+maxCommand), 0
		if i := strings.IndexByte(s.text[at:s.line.end], '\n'); i >= 0 {
			s.line.end = at + i
		}
	}
	if s.line.commands++; s.line.commands > perLine {
		return
	}
	if next, ok := closers(s.text, end); ok { // in a list of arguments
		listed := *c
		listed.words = 0
		listed.arguments(s, next)
		return
	}
	c.arguments(s, end)
}

// arguments examines the arguments from s.text[at] on, to the end of the command.
func (c *command) arguments(s *scan, at int) {
	text, word, option := s.text, 0, ""
	needed := c.needs == ""
	for limit := min(len(text), at+maxCommand); at < limit; {
		switch {
		case isOneOf(text[at], " \t,"):
			at++
			continue
		case text[at] == '\\' && at+1 < limit && isOneOf(text[at+1], "\n\r"): // goes on
			at += 2
			continue
		case c.share && (strings.HasPrefix(text[at:], `\\`) || text[at] == '/'): // or /user:DOMAIN\bob
			if text[at] == '\\' {
				option = `\\`
			}
			for at < limit && kind[text[at]] != kSpace {
				at++
			}
			continue
		case isOneOf(text[at], "\n\r|;&)`") || text[at] == '\\' && escapeEnd(text, min(at+2, len(text))):
			return
		}
		start, end, next, closed := argumentAt(text, at)
		at = next
		switch arg := text[start:end]; {
		case !closed && arg != "" && arg[0] == '-' && arg[len(arg)-1] == '=': // --user="…"
			if name := arg[:len(arg)-1]; c.takes(name) {
				option = name
			}
		case option != "":
			c.argument(s, option, start, end)
			option = ""
		case c.flags(arg):
			needed = needed || arg[1] != '-' && strings.Contains(arg, c.needs)
			if c.takes(arg) {
				option = arg
			} else if last := "-" + arg[len(arg)-1:]; alnumSet.run(arg, 1, 8) == len(arg) && slices.Contains(c.pairs, last) {
				option = last
			} else {
				at = max(at, c.within(s, start, end))
			}
		case c.takes(arg): // a keyword
			option = arg
		default:
			word++
			c.operand(s, start, end, closed, needed && c.words == word)
		}
	}
}

// argumentAt returns the argument at text[at:] without its quotes, and where the next may begin.
func argumentAt(text string, at int) (start, end, next int, closed bool) {
	start, end, closed = quotedAt(text, at)
	switch {
	case !closed:
		end = bareEnd(text, at, true)
		for i := end; i < len(text) && isOneOf(text[i], ",:'\""); i++ {
			if isOneOf(text[i], `'"`) { // bob,'hunter2'
				end = i
				break
			}
		}
		return at, end, max(end, at+1), false
	case text[end] == '\\':
		return start, end, end + 2, true
	}
	_, n := utf8.DecodeRuneInString(text[end:])
	return start, end, end + n, true
}

// flags reports whether an argument is a flag.
func (c *command) flags(arg string) bool {
	return len(arg) > 1 && (arg[0] == '-' || arg[0] == '/' && c.slash)
}

// within examines the value inside the flag text[start:end], such as --name=value and -pvalue. If
// the value is quoted, it returns its end.
func (c *command) within(s *scan, start, end int) (next int) {
	flag := s.text[start:end]
	if name, v, ok := strings.Cut(flag, "="); ok && c.takes(name) {
		c.argument(s, name, end-len(v), end)
		return 0
	}
	for _, p := range c.pairs {
		if len(p) == 2 && strings.HasPrefix(flag, p) {
			c.argument(s, p, start+2, end)
		}
	}
	for _, g := range c.glued {
		if !strings.HasPrefix(flag, g) {
			continue
		}
		from := start + len(g)
		quotedFrom, quotedTo, quoted := quotedAt(s.text, from)
		if quoted {
			from, end, next = quotedFrom, quotedTo, quotedTo+1
		}
		s.secretArgument(from, end, from > start+len(g))
		break
	}
	return next
}

// operand examines the argument text[start:end], which is not a flag. secret means that the
// command expects a secret there.
func (c *command) operand(s *scan, start, end int, closed, secret bool) {
	arg := s.text[start:end]
	if secret && (closed || secretValue(arg, hard, attached)) {
		s.secretArgument(start, end, closed)
	}
	if i := strings.IndexAny(arg, c.parts); c.parts != "" && i > 0 && !path(arg[:i]) {
		stop := end
		if sign := strings.IndexByte(arg[i:], '@'); sign >= 0 {
			stop = start + i + sign
		}
		s.secretArgument(start+i+1, stop, false)
	}
}

// takes reports whether an option's or a keyword's next argument matters.
func (c *command) takes(option string) bool {
	for _, list := range [...][]string{c.next, c.pairs, c.cookie} {
		for _, o := range list {
			if o == option {
				return true
			}
		}
	}
	return false
}

// argument examines the argument text[start:end] of an option.
func (c *command) argument(s *scan, option string, start, end int) {
	has := func(list []string) bool {
		for _, o := range list {
			if o == option {
				return true
			}
		}
		return false
	}
	switch arg := s.text[start:end]; {
	case has(c.cookie):
		s.found = cookies(s.text, start, s.found)
	case has(c.pairs):
		if i := strings.IndexAny(arg, ":%,"); i > 0 {
			if from, to, ok := quotedAt(s.text, end); ok && i == len(arg)-1 {
				start, end = from-i-1, to
			}
			s.secretArgument(start+i+1, end, true)
		}
	case c.strip != "" && strings.HasPrefix(arg, c.strip):
		s.secretArgument(start+len(c.strip), end, true)
	case c.strip == "pass:" && strings.Contains(arg, ":"): // env:X, file:X
	default:
		s.secretArgument(start, end, false)
	}
}

// secretArgument redacts text[start:end], in a secret's place, unless it is a placeholder or a
// path.
func (s *scan) secretArgument(start, end int, sure bool) {
	if start >= end {
		return
	}
	v := unescapedTwice(s.text[start:end])
	sure = sure || start > 0 && isOneOf(s.text[start-1], `"'`) && shapeOf(v).mixed()
	if credential(v) && !codeName(v) && (sure || v[0] != '-') && !(path(v) && !(shapeOf(v).random() && v[0] != '/' && v[0] != '.')) && !strings.Contains(v, "...") {
		s.note(span{start, end, ruleHeader})
	}
}

// lookStdin looks for the secret that a command reads from its standard input: echo hunter2 | sudo
// -S, <<< hunter2.
func lookStdin(s *scan, at int) {
	text := s.text
	low := max(0, at-300)
	line := text[low:at]
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		low, line = low+i+1, line[i+1:]
	}
	if i := strings.LastIndexByte(line, '|'); i > 0 {
		from := -1
		for _, giver := range [...]string{"echo ", "printf ", "Write-Output ", "<<<"} {
			if j := strings.LastIndex(line[:i], giver); j > from {
				from = j
			}
		}
		if from >= 0 && line[from] == '<' {
			from += 2
		}
		if from >= 0 {
			s.lastArgument(low+from, low+i, 99)
		}
	}
	end := min(len(text), at+200)
	if i := strings.IndexByte(text[at:end], '\n'); i >= 0 {
		end = at + i
	}
	for _, here := range [...]string{"<<<", `\u003c\u003c\u003c`} {
		if i := strings.Index(text[at:end], here); i >= 0 {
			// its last character serves as the command
			s.lastArgument(at+i+len(here)-1, min(len(text), end+1), 1)
		}
	}
}

// printers are commands that print a secret that they name.
const printers = " terraform tofu kubectl gcloud aws az vault op pass bw printenv echo cat argocd security "

// printed looks for a secret on the line below a printer.
func printed(s *scan, n name) {
	line := commandBefore(s.text, n.start)
	command, _, ok := strings.Cut(line, " ")
	if !ok || !strings.Contains(printers, " "+command+" ") {
		return
	}
	before := s.text[max(0, n.start-len("env:")):n.start]
	switch command {
	case "echo":
		ok = strings.HasSuffix(before, "$") || strings.HasSuffix(before, "{") || strings.HasSuffix(before, "env:")
	case "cat":
		ok = strings.HasSuffix(before, "/")
	case "kubectl":
		end := lineEnd(s.text, n.end, maxCommand)
		ok = end > 0 && (strings.Contains(s.text[n.end:end], "base64") || strings.Contains(s.text[n.end:end], "jsonpath"))
	}
	if ok {
		nextAlone(s, n.end, false)
	}
}

// lookPrinted looks for a secret below a command that makes one, at the beginning of a line or
// behind a prompt.
func lookPrinted(s *scan, at int) {
	if commandBefore(s.text, at) == "" {
		nextAlone(s, at, true)
	}
}

// commandBefore returns the text of a line before a place, without a shell's prompt.
func commandBefore(text string, at int) string {
	line := text[max(0, at-200):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for _, prompt := range [...]string{"$ ", "# ", "% ", "> ", "❯ ", "➜ ", "+ "} {
		if i := strings.Index(line, prompt); i >= 0 && i < 60 {
			return strings.TrimLeft(line[i+len(prompt):], " ")
		}
	}
	return strings.TrimLeft(line, " \t")
}

// nextAlone redacts the next line if it is a secret alone. An object's id is one only if hex may
// be.
func nextAlone(s *scan, at int, hex bool) {
	end := lineEnd(s.text, at, maxCommand)
	if end < 0 || end == len(s.text) {
		return
	}
	start := end + 1
	rest := s.text[start:min(len(s.text), start+maxJudged)]
	v, _, whole := strings.Cut(rest, "\n")
	v = strings.TrimRight(v, " \r")
	if (whole || len(rest) < maxJudged) && len(v) >= minPrivate && !strings.ContainsAny(v, " \"'`{},") && (hex || !isHex(v)) && (shapeOf(v).random() || strong(v)) && secretValue(v, hard, attached) {
		s.note(span{start, start + len(v), ruleAssignment})
	}
}

// lastArgument redacts the last of the first most arguments of the command text[start:end], or its
// part after a colon.
func (s *scan) lastArgument(start, end, most int) {
	i := start + 1
	for s.text[start] != '<' && i < end && kind[s.text[i]] != kSpace {
		i++
	}
	from, to := 0, 0
	for i < end && most > 0 {
		if kind[s.text[i]] == kSpace {
			i++
			continue
		}
		a, b, closed := quotedAt(s.text, i)
		if !closed {
			a, b = i, bareEnd(s.text, i, true)
		}
		from, to, i = a, min(b, end), max(b, i)+1
		for closed && i < end && !utf8.RuneStart(s.text[i]) {
			i++
		}
		if closed && b < end && s.text[b] == '\\' {
			i++
		}
		most--
	}
	if from >= to {
		return
	}
	v := strings.TrimSuffix(strings.TrimSuffix(s.text[from:to], `\n`), `\\n`)
	to = from + len(v)
	if j := strings.IndexByte(v, ':'); j > 0 && identifierWith(v[:j], "-.") {
		from += j + 1
	}
	s.secretArgument(from, to, true)
}
