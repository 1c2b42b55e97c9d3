package dream

import (
	"strings"
	"sync"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Punctuation before and after a word of prose.
const (
	opening = `("'“‘`
	ends    = `,.;:!?)”’…`
	closing = ends + `"'`
)

// maxWord bounds a word of prose, in bytes, and maxDigits a number.
const (
	maxWord   = 32
	maxDigits = 4
)

// prose reports whether a text is plain words: those of a procedure, and those of the sessions. So
// it names no host, package, option, variable or program: these must be in code marks, which are
// checked.
func (d doings) prose(text string) bool {
	words := strings.Fields(text)
	for i, raw := range words {
		left := strings.TrimLeft(raw, opening)
		word := strings.ToLower(strings.TrimRight(left, closing))
		switch {
		case word == "" || word == "–" || word == "—" || word == "-":
			continue
		case strings.Trim(word, "0123456789") == "":
			if len(word) > maxDigits {
				return false
			}
			continue
		case !isWord(word) || secrets.has(wording.Stem(word)):
			return false
		case d.isProgram(word):
			// "make sure", "go to": a word of any procedure, in a place where it is no command
			next := ""
			if i+1 < len(words) && strings.TrimRight(left, closing) == left { // nothing ends there
				next = strings.ToLower(strings.Trim(words[i+1], opening+ends))
			}
			if !general.has(wording.Stem(word)) || !small.Has(next) {
				return false
			}
		case !general.has(wording.Stem(word)) && !d.words[wording.Stem(word)]:
			return false
		}
	}
	return true
}

// isWord reports whether a token is letters, with single hyphens and apostrophes inside.
func isWord(token string) bool {
	inner := true // only a letter may follow
	for _, r := range token {
		switch {
		case isLetter(r):
			inner = false
		case !inner && (r == '-' || r == '\'' || r == '’'):
			inner = true
		default:
			return false
		}
	}
	return !inner && len(token) <= maxWord
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }

// eachStem calls f with the stem of each word of a text.
func eachStem(text string, f func(stem string)) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isLetter(r) && r != '-' && r != '\'' && r != '’' }) {
		if w = strings.Trim(w, "-'’"); isWord(w) {
			f(wording.Stem(w))
			for part := range strings.SplitSeq(w, "-") {
				f(wording.Stem(part))
			}
		}
	}
}

// stems is a set of words by their stems, built at first use.
type stems struct {
	text string
	once sync.Once
	set  map[string]bool
}

func (s *stems) has(stemmed string) bool {
	s.once.Do(func() {
		s.set = map[string]bool{}
		for w := range strings.FieldsSeq(s.text) {
			s.set[wording.Stem(w)] = true
		}
	})
	return s.set[stemmed]
}

// general lists words of any procedure: none names a download, a person or a decision. Words with
// effects beyond the working copy (delete, publish, deploy) need a session that used them.
var general = stems{text: `
	a an the this that these those it its they them their there here one two three four five each every both either
	neither another other others all any some few more most less least much many enough same such own only just even
	also too very quite still yet already again once twice always never not no nor none nothing anything something
	everything and or but so if then else than as because since while when whenever where wherever whether until unless
	although though however thus therefore of in on at by for from to into onto with without within through over under
	above below between among after before during behind beside besides near next out off up down back about around
	against along across per via like instead first second third last final finally now later earlier early late soon
	meanwhile afterwards beforehand otherwise is are was were be been being am has have had having do does did done
	doing don't doesn't isn't aren't can cannot can't could may might must shall should will would need needs let lets
	what which who whose how why you your we our us
	add adds adjust asked align alter answer appear apply applies arrange become begin bring build builds built call carry
	cause change check choose clean clear close collect come commit compare compile complete confirm consider contain
	convert copy correct count cover create decide define depend describe differ document edit end ensure enter
	execute exist expect explain extend extract fail fails failure fill find finish fit fix follow format gather
	generate get gets getting give given go goes going happen help hold identify implement import improve include
	increase insert inspect introduce investigate keep kept know known lead leave left lint list load locate look
	make makes making mark match mean measure mention merge migrate miss move name note notice observe occur open order
	pass passes pick place prepare prevent print proceed produce prove provide put raise re-run rerun reach read rebuild
	record reduce refer reflect refresh regenerate regress remain rename reorder repeat replace report reproduce require
	resolve restart result return review revise rewrite run ran save say see seen select separate set setting show shown
	skill solve sort split stage stand start state stay stop store succeed success suggest sure switch take taken tell
	test think treat trigger try turn type understand undo update use using used validate verify view wait want warn
	watch work works write written wrong yield
	able absent accurate additional agent alone alternative appropriate argument array assertion attempt backend bad
	baseline basic batch behaviour behavior benchmark better big binary block body boolean boundary branch broken bug
	bundle cache case certain chain chapter clause client code column command comment common compact comparison
	component concept condition config configuration conflict consistent constant constraint content context convention
	correctly coverage current cycle data database date day debug default dependency detail diff difference different
	direct direction directory docs documentation driver duplicate edge effect element empty entry environment equal
	error event exact exactly example exception existing expected expression external extra fact feature field file
	fine fixture flag folder force form formatter frontend full function generated generator global golden
	good graph green group guard guide handler header high history hook idea identifier index individual information
	initial inner input integration interface internal issue item job kind label large latest layer layout level library
	line linter local lock log long low main manual matching member memory message metadata method migration missing
	mock mode model modified module new node normal null number object obvious old operation option original outer
	output overview package page pair parameter parent parser part particular path pattern performance phase piece plain
	plan point position possible prefix present previous primary private problem procedure process program project
	proper property protocol public purpose quality query question quick ready real reason recent red reference
	regression related relative release relevant remaining repository request response right root route routine row rule
	runner safe sample schema scope script section sequence serial server service session several shape short side
	signature simple single size small snapshot software source specific spec stable standard statement static status
	step storage stream strict string structure style subset suffix suitable suite summary support symbol syntax system
	table target task team template term text thing time title together tool top topic total track tree true false
	type unit unknown unused up-to-date useful usual valid value variable variant version violation visible whole
	wide word workflow workspace worktree zero`}

// secrets lists things that no skill may request or pass on.
var secrets = stems{text: `password passwords passwd passphrase passcode secret token credential credentials bearer otp cookie cookies apikey api-key
	passwort kennwort contraseña senha wachtwoord lösenord heslo parola пароль 密码 パスワード reverie`}

// programs lists well-known programs: prose that names one is a command without its marks.
var programs = pattern.NewWords(`ansible apk apt apt-get aptitude awk aws az base64 bash bower brew bun bundle bundler bunx busybox bzip2
	cabal cargo chgrp chmod choco chown clang cmake cmd composer conda corepack cp crontab csh curl dart dd deno dig dnf docker
	docker-compose dotnet doas dpkg easy_install egrep env eval exec fish flutter flyctl ftp gcc gcloud gdb gem gh git glab go gpg
	gradle gradlew grep gsutil gunzip gzip helm heroku iex invoke iptables java javac jq julia just kill killall kubectl launchctl ln
	lua lynx make mix mkfs mongo mount mv mvn mysql mysqldump nc ncat netcat netlify nginx ninja nix nmap node nohup npm npx nox nuget
	openssl osascript pacman paru passwd perl php pip pip3 pipenv pipx pkg pkill pnpm podman poetry powershell psql pulumi pwsh python
	python2 python3 rake rclone redis-cli reboot rm rmdir rsync ruby rustc rustup sbt schtasks scp sed service sftp sh shred shutdown
	snap socat sqlite3 ssh ssh-add ssh-keygen sudo su svn systemctl task tar tee telnet terraform tox unzip uv uvx vagrant vercel
	wget winget wrangler xargs xcodebuild yarn yay yum zig zip zsh zypper`)

// small lists words that follow a word which is no command.
var small = pattern.NewWords(`a an the this that these those it its them they each every both any your our sure certain one two no to back on
	in into through over until while if when where whether what for from with after before again is are was has have can may must
	should will does so as of`)

// Words that say what to do with a file, and words that end such a phrase.
var (
	editing = pattern.NewWords(`edit edits edited editing change changing adjust adjusting extend extending fill write writing
		rewrite add adding insert update updating put create creating rename modify revise correct fix replace define implement
		mention document`)
	running = pattern.NewWords(`then run runs running rerun re-run execute executing call calling start starting launch invoke use
		using try with via`)
	// "edit the test x", "and test x"
	eitherWay = pattern.NewWords(`build compile test type source load open enter`)
	joining   = pattern.NewWords(`and or to also`)
	naming    = pattern.NewWords(`a an the this that these those each every any your its our no`)
)
