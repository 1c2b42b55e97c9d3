package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// These tests check the claims of docs/secrets.md on fresh random values per cell. § marks the
// secret's place.

// valueKinds draws values. A name that announces a secret only weakly counts for the random ones.
var valueKinds = []struct {
	kind   string
	random bool
	draw   func(r *rand.Rand) string
}{
	{"28 letters and digits", true, func(r *rand.Rand) string { return draw(r, alphanumeric, 26) + "q7" }},
	{"32 bytes in base64", true, func(r *rand.Rand) string {
		b := make([]byte, 32)
		for i := range b {
			b[i] = byte(r.UintN(256))
		}
		return base64.StdEncoding.EncodeToString(b)
	}},
	{"32 hex digits", true, func(r *rand.Rand) string { return draw(r, lowHex, 30) + "a7" }},
	{"a person's", false, func(r *rand.Rand) string {
		words := []string{"Lemon", "Fox", "River", "Tiger", "Copper", "Window", "Garden"}
		return words[r.IntN(len(words))] + words[r.IntN(len(words))] + draw(r, "3456789", 2) + draw(r, "!#*?", 1)
	}},
}

// nameList has names that announce secrets: first those that count for any value, then those for
// random ones.
var nameList = [2][]string{
	strings.Fields(`PASSWORD DB_PASSWORD SMTP_PASS PGPASSWORD ADMIN_PWD ROOT_PASSWD DB_PW SMTP_PW ROOTPW PSK WIFI_PSK PRESHARED_KEY SHARED_KEY
		CLIENT_SECRET JWT_SECRET SECRET_KEY PRIVATE_KEY MASTER_KEY ENCRYPTION_KEY SIGNING_KEY STOREPASS KEYPASS PASSPHRASE KEY_PASSPHRASE
		DB_PASSWORD_PROD`),
	strings.Fields(`STRIPE_KEY CLIENT_KEY AES_KEY RSA_KEY FERNET_KEY UNSEAL_KEY DATA_KEY SENDGRID_KEY FIREBASE_KEY MAPS_KEY API_KEY APP_KEY
		MAILGUN_KEY ALGOLIA_KEY TWILIO_KEY LICENSE_KEY HMAC_KEY SESSION_KEY COOKIE_KEY DEPLOY_KEY WEBHOOK_KEY HMAC SALT PASSWORD_SALT
		SEED WALLET_SEED DSN CONNECTION_STRING SIGNING JWT PEPPER AUTH_TOKEN ACCESS_TOKEN GITHUB_TOKEN BOT_TOKEN REFRESH_TOKEN BASIC_AUTH
		DB_CRED OPENAI_KEY GEMINI_KEY VAULT_KEY STRIPE_KEY_LIVE`),
}

func snake(name string) string  { return strings.ToLower(name) }
func kebab(name string) string  { return strings.ReplaceAll(snake(name), "_", "-") }
func pointy(name string) string { return strings.ReplaceAll(snake(name), "_", ".") }
func pascal(name string) string { c := camel(name); return strings.ToUpper(c[:1]) + c[1:] }

// forms are ways to give a name a value. In environment forms a person's value is claimed for every
// name.
var forms = []struct {
	name, text  string
	style       func(string) string
	environment bool
}{
	{"dotenv", "N=§\n", strings.ToUpper, true},
	{"export, quoted", "export N=\"§\"\n", strings.ToUpper, true},
	{"export, single quotes", "export N='§'; make\n", strings.ToUpper, true},
	{"Dockerfile ENV", "ENV N=§\n", strings.ToUpper, true},
	{"Dockerfile ARG", "ARG N=§\n", strings.ToUpper, true},
	{"docker -e", "docker run -e N=§ img\n", strings.ToUpper, true},
	{"command's environment", "N=§ ./run --fast\n", strings.ToUpper, true},
	{"systemd", "Environment=\"N=§\"\n", strings.ToUpper, true},
	{"cmd set", "set N=§\r\n", strings.ToUpper, true},
	{"compose list", "    environment:\n      - N=§\n", strings.ToUpper, true},
	{"Makefile", "N := §\n", strings.ToUpper, false},
	{"PowerShell", "$env:N = \"§\"\n", strings.ToUpper, false},
	{"YAML, upper", "env:\n  N: §\n", strings.ToUpper, false},
	{"YAML, quoted", "  N: \"§\"\n", snake, false},
	{"JSON", "{\"N\": \"§\"}\n", camel, false},
	{"JSON, escaped", `"{\"N\": \"§\"}"` + "\n", snake, false},
	{"TOML", "N = \"§\"\n", snake, false},
	{"HCL", "  N = \"§\"\n", kebab, false},
	{"tfvars", "N = \"§\"\n", snake, false},
	{"ini", "[db]\nN = '§'\n", snake, false},
	{"properties", "app.N=§\n", pointy, false},
	{"helm --set", "helm upgrade x . --set app.N=§\n", camel, false},
	{"option", "tool --N §\n", kebab, false},
	{"option with =", "tool --N=§\n", kebab, false},
	{"query", "https://h.example/x?a=1&N=§&b=2\n", snake, false},
	{"header", "X-N: §\r\n", kebab, false},
	{"Go", "\tN := \"§\"\n", camel, false},
	{"Go field", "\tN: \"§\",\n", pascal, false},
	{"Python", "N = '§'\n", snake, false},
	{"Python environ", "os.environ['N'] = '§'\n", strings.ToUpper, false},
	{"JavaScript", "const N = '§';\n", camel, false},
	{"TypeScript", "const N: string = '§';\n", camel, false},
	{"Java", "private static final String N = \"§\";\n", strings.ToUpper, false},
	{"Rust", "let N: &str = \"§\";\n", snake, false},
	{"XML", "<N>§</N>\n", snake, false},
	{"log", "level=info N=§ took=3ms\n", snake, false},
}

// cells counts what was hidden, by row and column.
type cells struct {
	hidden, all map[string]int
	misses      []string
}

func (c *cells) add(ok bool, miss string, keys ...string) {
	if c.all == nil {
		c.all, c.hidden = map[string]int{}, map[string]int{}
	}
	for _, k := range append(keys, "all") {
		c.all[k]++
		if ok {
			c.hidden[k]++
		}
	}
	if !ok {
		c.misses = append(c.misses, miss)
	}
}

func (c *cells) rate(key string) float64 { return float64(c.hidden[key]) / float64(c.all[key]) }

// check prints the table and fails for each row and column below 97 %.
func (c *cells) check(tb testing.TB) {
	tb.Helper()
	for _, k := range slices.Sorted(maps.Keys(c.all)) {
		tb.Logf("%-44s %6.1f %% of %d", k, 100*c.rate(k), c.all[k])
		if c.rate(k) < 0.97 {
			tb.Errorf("%s: %.1f %% hidden, want 97", k, 100*c.rate(k))
		}
	}
	for i, miss := range c.misses {
		if i < 60 {
			tb.Logf("left: %q", miss)
		}
	}
}

// left reports whether text, redacted, still has the secret.
func left(tb testing.TB, text, secret string) (string, bool) {
	tb.Helper()
	got, _ := new(Scanner).Text(text)
	return got.String(), strings.Contains(got.String(), secret)
}

func TestNamesByValuesByForms(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := rand.New(rand.NewPCG(21, 21))
	var c cells
	for i, names := range nameList {
		for _, name := range names {
			for _, f := range forms {
				for _, v := range valueKinds {
					if i == 1 && !v.random && !f.environment {
						continue // not claimed
					}
					for range 2 {
						value := v.draw(r)
						text := strings.ReplaceAll(strings.ReplaceAll(f.text, "N", f.style(name)), "§", value)
						got, bad := left(t, text, value)
						c.add(!bad, got, "name "+name, "form "+f.name, "value "+v.kind)
					}
				}
			}
		}
	}
	c.check(t)
}

// passwordShapes are values of a person, ¶ is letters with a number and ‹a›, ‹b› are words; and
// alphabets of drawn ones, after a number of characters.
var passwordShapes = []string{
	"‹a›,¶", "‹a›;¶", "‹a›|¶", "‹a›<¶", "‹a›(‹b›)42", "‹a›[‹b›]42", "‹a›{‹b›}42", "‹a›'¶", "*‹a›42!", "%‹a›42!", "#‹a›42!",
	"16 !#$&()*+,-.:;=?[]^_{|}~<>", "20 ()[]{}<>-_", "16 %!&|=>", "24 !@#$%^&*",
}

// quotedShapes are those that only quotes, commands and elements hold together.
var quotedShapes = []string{"‹a›/¶!", "‹a›.¶", "‹a›.‹b›.42", "#¶", "%‹a›‹b›42%", "{‹a›42!", "<‹a›42#", "[‹a›!42", "v3.9f2aX"}

// shaped draws a value of a shape.
func shaped(r *rand.Rand, shape string) string {
	if n, chars, ok := strings.Cut(shape, " "); ok && kind[n[0]] == kDigit {
		length := 16
		fmt.Sscan(n, &length)
		return draw(r, lowerCase, 2) + draw(r, digits, 2) + draw(r, upperCase, 2) + draw(r, alphanumeric+chars, length-8) + draw(r, digits+upperCase, 2)
	}
	words := []string{"Lemon", "Fox", "River", "Tiger", "Copper", "Window", "Garden", "Harbor"}
	a := r.IntN(len(words))
	b := (a + 1 + r.IntN(len(words)-1)) % len(words)
	return strings.NewReplacer("‹a›", words[a], "‹b›", strings.ToLower(words[b]), "¶", strings.ToLower(words[b])+draw(r, "3456789", 2)).Replace(shape)
}

func TestShapesOfPasswords(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 24))
	var c cells
	add := func(form, shape string) {
		value := shaped(r, shape)
		text := strings.ReplaceAll(form, "§", value)
		got, bad := left(t, text, value[:len(value)-len(value)/3])
		_, tail := left(t, text, value[len(value)/3:])
		c.add(!bad && !tail, got, "form "+form, "shape "+shape)
	}
	quotes := []string{"export DB_PASSWORD='§'\n", "  password: \"§\"\n", `{"password": "§"}`, `const password = "§";`, "The password is `§`.",
		"sshpass -p '§' ssh h", "mysql -uroot -p'§' db", "<password>§</password>", "tool --password '§' run"}
	for range 6 {
		for _, shape := range passwordShapes {
			for _, form := range append([]string{"DB_PASSWORD=§\nX=1\n", "  password: §\n  port: 1\n", "the password is §\n", "postgres://app:§@db:5432/app"}, quotes...) {
				if strings.Contains(shape, "'") && strings.Contains(form, "'") || strings.Contains(form, "://") && strings.Contains(shape, "{‹") || strings.Contains(form, "password: §") && strings.Contains(shape, "#") && !strings.Contains(shape, " ") {
					continue // two quotes, a template, or a comment
				}
				add(form, shape)
			}
		}
		for _, form := range []string{"  password: §\n", "the password is §\n", "the password is §.\n"} {
			add(form, "‹b›-tiger-fox-42")
		}
		add("the password is §\n", "‹a›Fox!")
		for _, shape := range quotedShapes {
			for _, form := range quotes {
				add(form, shape)
			}
		}
	}
	c.check(t)
}

func TestEscapesInQuotes(t *testing.T) {
	for _, text := range []string{
		`{"password": "HarborFalcon281\u0026"}`, `{"password": "HarborFalcon281\\u0026"}`, `{"text":"{\"password\": \"HarborFalcon281\\\"Zq7\"}"}`,
		`{"text":"{\"password\": \"HarborFalcon281\\u0027\"}"}`, `password = "HarborFalcon281\"x"`, `sshpass -p 'it'\''sHarborFalcon281' ssh h`,
		`{"command": "export DB_PASSWORD='Zq7\\\"HarborFalcon281'"}`, `{"command": "sshpass -p '-HarborFalcon281!' ssh h"}`,
	} {
		if got, bad := left(t, text, "HarborFalcon281"); bad {
			t.Errorf("left in %s", got)
		}
		doc := asJSON(map[string]string{"output": text})
		if got, _, err := new(Scanner).JSON([]byte(doc)); err != nil || strings.Contains(got.String(), "HarborFalcon281") {
			t.Errorf("left in %s, %v", got, err)
		}
	}
}

// kindsOfSecrets are forms of secrets beside assignments: § is a random value, ¶ a person's
// password, and h, H, B, D random hex, base64 and digits in ‹›, with their length.
var kindsOfSecrets = []struct{ kind, text string }{
	{"Telegram's URL", "GET https://api.telegram.org/bot7012345678:‹T›/getMe"},
	{"Go MySQL DSN", "app:§@tcp(db:3306)/x?parseTime=true"},
	{"Go MySQL DSN in code", `sql.Open("mysql", "app:¶@tcp(127.0.0.1:3306)/x")`},
	{"Go MySQL DSN on a socket", "DSN=app:§@unix(/run/mysqld.sock)/x"},
	{"ODBC", "Driver={SQL};Server=db;Uid=sa;Pwd=¶;"},
	{"ADO", "Server=db;User Id=sa;Password=¶;Encrypt=True"},
	{"JDBC", "jdbc:postgresql://db/x?user=app&password=§&ssl=true"},
	{"libpq", "host=db user=app password=¶ dbname=x"},
	{"redis URL", "redis://:§@cache:6379/0"},
	{"amqp URL", "amqp://svc:§@mq:5672/vh"},
	{"Oracle thin", "jdbc:oracle:thin:scott/§@db:1521:orcl"},
	{"sqlplus", "sqlplus scott/§@//db:1521/orcl"},
	{"WireGuard PrivateKey", "PrivateKey = ‹B32›"},
	{"WireGuard PresharedKey", "PresharedKey = ‹B32›"},
	{"wpa_supplicant", "network={\n  ssid=\"x\"\n  psk=\"¶\"\n}"},
	{"wpa_supplicant, raw", "\tpsk=‹h64›"},
	{"pgpass", "db.corp:5432:app:svc:§"},
	{"pgpass with stars", "*:*:*:svc:§"},
	{"netrc", "machine h.example login bob password ¶"},
	{"netrc in lines", "machine h.example\n  login bob\n  password ¶\n"},
	{"my.cnf", "[client]\nuser=app\npassword=¶\n"},
	{"htpasswd, bcrypt", "ann:$2y$10$‹C53›"},
	{"htpasswd, apr1", "ann:$apr1$‹C8›$‹C22›"},
	{"shadow", "root:$6$‹C8›$‹C86›:19000:0:99999:7:::"},
	{"yescrypt", "root:$y$j9T$‹C22›$‹C43›:19000:"},
	{"argon2", "$argon2id$v=19$m=65536,t=3,p=4$‹C22›$‹C43›"},
	{"Django's hash", "pbkdf2_sha256$600000$‹C22›$‹B32›"},
	{"Werkzeug's hash", "scrypt:32768:8:1$‹C16›$‹h128›"},
	{"Bitcoin, compressed", "wallet K‹W51›"},
	{"Bitcoin, WIF", "import 5J‹W49› now"},
	{"xprv", "xprv‹W107›"},
	{"BIP 39", "mnemonic: ‹words›"},
	{"BIP 39, seed phrase", "My seed phrase is \"‹words›\"."},
	{"recovery codes", "Recovery codes:\n‹r›\n‹r›\n‹r›\n"},
	{"Ethereum accounts", "accounts: [\"0x‹h64›\"],"},
	{"curl cookie", "curl -b PHPSESSID=‹h26› https://h.example/"},
	{"curl -u", "curl -u bob:¶ https://h.example/"},
	{"curl --user", "curl -sS --user=bob:§ https://h.example/"},
	{"wget", "wget --user=bob --password=¶ https://h.example/x"},
	{"redis-cli -a", "redis-cli -h cache -a § ping"},
	{"ldapsearch -w", "ldapsearch -x -D cn=admin,dc=x -w ¶ -b dc=x"},
	{"mongosh -p", "mongosh -u root -p ¶ --authenticationDatabase admin"},
	{"mongosh --password", "mongosh --username root --password ¶"},
	{"unzip -P", "unzip -P ¶ a.zip"},
	{"7z -p", "7z x -p¶ a.7z"},
	{"keytool -storepass", "keytool -list -keystore k.jks -storepass ¶"},
	{"keytool -keypass", "keytool -genkey -keypass ¶ -alias x"},
	{"openssl -passin", "openssl rsa -in k.pem -passin pass:¶ -out o.pem"},
	{"openssl enc -k", "openssl enc -aes-256-cbc -k ¶ -in a"},
	{"nmcli", "nmcli device wifi connect Home password ¶"},
	{"sshpass -p", "sshpass -p ¶ ssh bob@h"},
	{"sshpass -p, quoted", "sshpass -p '¶' ssh bob@h"},
	{"docker login --password-stdin", "echo § | docker login -u bob --password-stdin"},
	{"sudo -S", "echo '¶' | sudo -S apt update"},
	{"here-string", "docker login -u bob --password-stdin <<< \"§\""},
	{"gh auth", "gh auth login --with-token <<< §"},
	{"chpasswd", "echo \"bob:¶\" | sudo chpasswd"},
	{"PGPASSWORD", "PGPASSWORD=¶ psql -h db"},
	{"mysql -p", "mysql -u root -p¶ app"},
	{"mysql -p, quoted", "mysql -u root -p'¶' app"},
	{"net use without a letter", `net use \\srv\share ¶`},
	{"net use", `net use Z: \\srv\share ¶ /user:bob`},
	{"smbclient", "smbclient //srv/share -U bob%¶"},
	{"az login", "az login -u bob@x.example -p ¶"},
	{"aws configure", "aws configure set aws_secret_access_key ‹B30›"},
	{"gcloud", "gcloud sql users set-password root --password=¶"},
	{"gh secret", "gh secret set DEPLOY --body §"},
	{"heroku", "heroku config:set API_KEY=§"},
	{"vault kv", "vault kv put secret/app password=¶"},
	{"vault login", "vault login §"},
	{"ansible", "ansible-playbook x.yml -e \"db_pw=¶\""},
	{"kubectl literal", "kubectl create secret generic x --from-literal=password=¶"},
	{"htpasswd -b", "htpasswd -bc f ann ¶"},
	{"CSV", "username,password\nbob,¶\nann,§"},
	{"CSV, quoted", "\"id\",\"token\",\"name\"\n\"1\",\"§\",\"bob\"\n"},
	{"TSV", "user\tpassword\nbob\t¶\n"},
	{"Markdown table", "| user | password |\n|---|---|\n| bob | ¶ |"},
	{"Markdown table, code", "| Service | User | Password |\n|:--|:--|:--|\n| db | app | `¶` |\n| mq | svc | `§` |\n"},
	{"psql", " id | username | password \n----+----------+----------\n  1 | bob      | ¶\n(1 row)\n"},
	{"mysql", "+----+----------+\n| id | password |\n+----+----------+\n|  1 | ¶ |\n+----+----------+\n"},
	{"INSERT", "INSERT INTO users (name, password, age) VALUES ('bob', '¶', 3), ('ann', '§', 4);"},
	{"COPY", "COPY users (id, password, name) FROM stdin;\n1\t¶\tbob\n\\.\n"},
	{"IDENTIFIED BY", "CREATE USER x IDENTIFIED BY '¶';"},
	{"next line", "Password:\n¶\n"},
	{"next line, indented", "API token\n\n  Password:\n    §\n"},
	{"next line, heading", "**Password**\n\n§\n"},
	{"quoted with blanks", "export DB_PASS='p#ss w0rd! ¶'"},
	{"full-width equals", "password＝¶"},
	{"full-width colon", "密码：¶"},
	{"JSON web token in lines", "‹J60›\n"},
	{"use the password", "Use the password ¶ for staging."},
	{"with password", "Log in as admin with password ¶ and check."},
	{"login with a / b", "login with admin / ¶"},
	{"an account and its password", "connect as usual, use sa / ¶"},
	{"an account and its password, joined", "login sa/¶ works"},
	{"creds", "creds: bob:¶"},
	{"PIN", "The PIN is ‹d6›."},
	{"PIN in settings", "PIN=‹d6›"},
	{"netrc in lines, not indented", "machine h.example\nlogin bob\npassword ¶\n"},
	{"curl -u, glued", "curl -sS -ubob:¶ http://h.example/"},
	{"curl -u, after other letters", "curl -sSu bob:¶ http://h.example/"},
	{"net use, after the user", `net use Z: \\srv\share /user:CORP\bob ¶`},
	{"net user", "net user bob ¶ /add"},
	{"sudo -S, typographic quotes", "echo “¶” | sudo -S reboot"},
	{"quote behind an option", "xfreerdp /u:bob /p:'¶' /v:h"},
	{"quote behind a user", "lftp -u bob,'¶' sftp://h"},
	{"list of arguments", `["sshpass", "-p", "¶", "ssh", "h"]`},
	{"glued in a list of arguments", "['mysql', '-u', 'root', '-p¶']"},
	{"az keyvault", "az keyvault secret set --vault-name v --name DbPassword --value '¶'"},
	{"aws ssm", "aws ssm put-parameter --name /app/db --type SecureString --value '¶'"},
	{"dotnet user-secrets", "dotnet user-secrets set 'Db:Password' '¶'"},
	{"mc alias", "mc alias set m http://h:9000 bob §"},
	{"redis AUTH", "AUTH default §"},
	{"wrangler", "echo § | wrangler secret put API_TOKEN"},
	{"gcloud secrets", "printf '¶' | gcloud secrets create x --data-file=-"},
	{"Rust's String", `let password = String::from("¶");`},
	{"Go's bytes", `password := []byte("¶")`},
	{"pydantic", "password: SecretStr = SecretStr('¶')"},
	{"alternative", "password: process.env.DB_PASSWORD || '¶',"},
	{"alternative of null", "password: process.env.DB_PASSWORD ?? '¶',"},
	{"alternative in Python", "password = os.getenv('P') or '¶'"},
	{"YAML block", "password: |\n  ¶\nuser: x\n"},
	{"YAML block, folded", "password: >-\n  ¶\nuser: x\n"},
	{"YAML tag", "password: !!str ¶"},
	{"YAML anchor", "pwd: &pw ¶\nother: *pw\n"},
	{"HCL variable", "variable \"db_password\" {\n  type    = string\n  default = \"¶\"\n}"},
	{"default of an option", "p.add_argument('--password', default='¶')"},
	{"plist", "<key>Password</key>\n<string>¶</string>"},
	{"IDENTIFIED BY, double quotes", `CREATE USER x IDENTIFIED BY "¶";`},
	{"IDENTIFIED WITH", "ALTER USER x IDENTIFIED WITH mysql_native_password BY '¶';"},
	{"CSV, words in the heading", "User name,Access key ID,Secret access key\nci,x,‹B30›"},
	{"two columns", "NAME          VALUE\nDB_HOST       db\nDB_PASSWORD   ¶\n"},
	{"vault kv get", "Key         Value\n---         -----\npassword    ¶\nusername    app\n"},
	{"colour before the value", "\x1b[1mpassword:\x1b[0m ¶"},
	{"purpose in brackets", "Password (prod): ¶"},
	{"numbered key", "Unseal Key 1: ‹B32›"},
	{"sshpass -e", "SSHPASS='¶' sshpass -e ssh h"},
	{"setter", `ds.setPassword("¶");`},
	{"builder", `.password("¶")`},
	{"pair", "requests.get(url, auth=('bob', '¶'))"},
	{"call with a user", `req.SetBasicAuth("bob", "¶")`},
	{"credential of .NET", `new NetworkCredential("bob", "¶")`},
	{"terraform output", "$ terraform output -raw db_password\n¶\n"},
	{"kubectl get secret", "$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n§\n"},
	{"gcloud versions access", "gcloud secrets versions access latest --secret=db-password\n¶\n"},
	{"aws get-secret-value", "aws secretsmanager get-secret-value --secret-id prod/db --query SecretString --output text\n¶\n"},
	{"printenv", "bob@h:~$ printenv DB_PASSWORD\n§\n"},
	{"cat /run/secrets", "$ cat /run/secrets/db_password\n¶\n"},
	{"openssl rand", "$ openssl rand -hex 32\n‹h64›\n"},
	{"k3s", "join with K10‹h64›::server:‹h32›"},
	{"Harness", "pat.‹W22›.‹h24›.‹W20›"},
	{"Mailgun", "send with ‹h32›-‹h8›-‹h8› today"},
	{"New Relic's license", "‹h36›NRAL"},
	{"Azure storage key alone", "use ‹W76›+ASt‹W6›== for it"},
}

// aroundThem are carriers that do not change the form.
var aroundThem = []struct {
	name  string
	write func(text string) string
}{
	{"alone", func(s string) string { return s }},
	{"in a text", func(s string) string { return "I ran this:\n\n```sh\n" + s + "\n```\n\nIt worked.\n" }},
	{"CRLF", func(s string) string { return "x\r\n" + strings.ReplaceAll(s, "\n", "\r\n") + "\r\ny\r\n" }},
	{"JSON string", nil},
	{"JSON string as text", func(s string) string { return asJSON(map[string]string{"output": "x\n" + s + "\ny"}) }},
}

// fill replaces the signs in a kind's text with drawn values and returns these.
func fill(r *rand.Rand, text string) (string, []string) {
	const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	var secrets []string
	put := func(v string) string {
		secrets = append(secrets, v)
		return v
	}
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "§¶‹")
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		text = text[i:]
		switch {
		case strings.HasPrefix(text, "§"):
			b.WriteString(put(valueKinds[0].draw(r)))
			text = text[len("§"):]
			continue
		case strings.HasPrefix(text, "¶"):
			b.WriteString(put(valueKinds[3].draw(r)))
			text = text[len("¶"):]
			continue
		}
		end := strings.Index(text, "›")
		what := text[len("‹"):end]
		text = text[end+len("›"):]
		var n int
		fmt.Sscanf(what[1:], "%d", &n)
		switch what[0] {
		case 'T':
			b.WriteString("AA" + put(draw(r, alphanumeric+"-_", 32)+"x"))
		case 'h':
			b.WriteString(put(draw(r, lowHex, n-1) + "d"))
		case 'B':
			b.WriteString(put(base64.StdEncoding.EncodeToString([]byte(draw(r, alphanumeric, n)))))
		case 'C':
			v := draw(r, alphanumeric+"./", n-1) + "e"
			if n > 30 {
				put(v)
			}
			b.WriteString(v)
		case 'W':
			b.WriteString(put(draw(r, base58, n)))
		case 'U':
			b.WriteString(put(draw(r, alphanumeric+"-_", n) + "x"))
		case 'J':
			v := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+draw(r, digits, 10)+`","name":"Ann","iat":1516239022}`)) + "." + put(draw(r, alphanumeric, 43))
			v = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + v
			for ; len(v) > n; v = v[n:] {
				b.WriteString(v[:n] + "\n")
			}
			b.WriteString(v)
			secrets = append(secrets, v[max(0, len(v)-20):])
		case 'd':
			b.WriteString(put(draw(r, digits, n)))
		case 'r':
			b.WriteString(put(draw(r, lowHex, 4) + "7-2" + draw(r, lowHex, 4)))
		case 'w':
			var words []string
			for range 12 {
				words = append(words, []string{"abandon", "ripple", "tiger", "cousin", "velvet", "orbit", "maple", "sock", "gauge", "urban", "wheel", "fox"}[r.IntN(12)])
			}
			b.WriteString(put(strings.Join(words, " ")))
		}
	}
	return b.String(), secrets
}

func TestKindsByCarriers(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	var c cells
	for _, k := range kindsOfSecrets {
		for _, a := range aroundThem {
			if a.name == "JSON string as text" && strings.Contains(k.text, "\n") {
				continue // not claimed: the format has no lines
			}
			for range 8 {
				text, secrets := fill(r, k.text)
				var got string
				if a.write == nil {
					doc, err := json.Marshal(map[string]string{"output": text})
					if err != nil {
						t.Fatal(err)
					}
					out, _, err := new(Scanner).JSON(doc)
					if err != nil {
						t.Fatal(err)
					}
					got = out.String()
				} else {
					got, _ = left(t, a.write(text), "")
				}
				bad := slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(got, s) })
				c.add(!bad, k.kind+": "+got, "kind "+k.kind, "carrier "+a.name)
			}
		}
	}
	c.check(t)
}

func TestSentencesByLanguage(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	var c cells
	for _, tongue := range tongues {
		nouns := tongue.nouns
		switch tongue.language {
		case "English":
			nouns = []string{"password", "The database password", "My secret", "passphrase", "access token"}
		case "German":
			nouns = append([]string{"Das Passwort", "das Kennwort"}, nouns...)
		}
		blank := " "
		if tongue.joined && tongue.language != "Russian" {
			blank = ""
		}
		for _, noun := range nouns {
			for _, verb := range append([]string{":", "：", " =", "＝"}, tongue.verbs...) {
				for _, v := range valueKinds {
					value := v.draw(r)
					between := blank + verb + " "
					if strings.HasPrefix(noun, "access") && !v.random {
						continue
					}
					if verb == ":" || verb == "：" || verb == "＝" {
						between = verb + " "
					}
					for _, text := range []string{noun + between + value, "x, " + noun + between + value + ".\n", noun + between + "`" + value + "` y"} {
						got, bad := left(t, text, value)
						c.add(!bad, got, "language "+tongue.language)
					}
				}
			}
			for _, purpose := range tongue.purposes {
				for _, verb := range append([]string{""}, tongue.verbs...) {
					value := valueKinds[0].draw(r)
					between := " " + purpose + " server-2" + strings.TrimRight(" "+verb, " ") + " "
					if verb == "" {
						between = " " + purpose + " server-2: "
					}
					got, bad := left(t, noun+between+value, value)
					c.add(!bad, got, "language "+tongue.language)
				}
			}
		}
	}
	for _, text := range []string{"管理员口令为§，请勿外传", "登录名 admin，密码 §", "密码（root）是 §。", "資料庫密碼是 §", "パスワードは「§」です", "DBのパスワードは § です", "비밀번호는 § 입니다",
		"비밀번호: §", "Das Passwort lautet §.", "das Passwort für den Server ist §", "Le mot de passe est §.", "mot de passe pour la base : §", "La contraseña es §.",
		"contraseña del servidor: §", "Пароль: §", "пароль от сервера: §", "пароль — §", "a senha é §", "令牌：§", "密鑰為§",
		"Das Passwort ist „§“", "Passwort: „§”", "Das Passwort „§“ gilt.", "Das Kennwort für die Datenbank ist „§“", "Mein Passwort: ‚§‘", "Das Passwort ist »§«",
		"password: “§”", "The password is “§”", "The password is ‘§’", "Le mot de passe est «\u00a0§\u00a0».", "密码“§”", "пароль: “§",
		"APIキーは§です", "Пароль администратора — §", "Пароль сервера: §", "Подключайся с паролем §", "비밀번호로 § 를 쓰세요", "das Root-Passwort heißt jetzt §",
		"use § as the password", "Use § as my passphrase.", "nimm § als Passwort", "utilise § comme mot de passe", "usa § como contraseña",
		"use § como senha", "usa § come password", "请用 § 作为密码", "§をパスワードとして使ってください", "§를 비밀번호로 사용하세요", "используй § как пароль",
		"it's “§”, the password", "password? §", "the wifi password's §", "DB pass is §", "creds are bob/§",
		"das Passwort wurde auf § geändert", "密码改成了§", "я поменял пароль на §", "cambié la contraseña a §", "a senha foi alterada para §",
		"Benutzer bob, Passwort §", "usuario bob y contraseña §", "usuário bob, senha §", "utente bob, password §",
		"mit dem Passwort § anmelden", "parola § olarak ayarlandı", "şifrem §",
		"şifre=§", "Parola olarak § kullan", "گذرواژه § است", "رمز عبور سرور: §"} {
		for _, v := range valueKinds {
			value := v.draw(r)
			got, bad := left(t, strings.ReplaceAll(text, "§", value), value)
			c.add(!bad, got, "sentence "+text)
		}
	}
	c.check(t)
}

func TestEveryVerbIsReached(t *testing.T) {
	for _, tongue := range tongues {
		for _, v := range tongue.verbs {
			text := " " + v + " x"
			if end := verb(text, 1, true); end < 1+len(v) || end > 2+len(v) {
				t.Errorf("%s: the verb %q ends at %d in %q", tongue.language, v, end, text)
			}
		}
		for _, p := range tongue.purposes {
			text := p + " mail: x"
			if end := verbEnd(text, 0, true); end != len(text)-1 {
				t.Errorf("%s: the purpose %q ends at %d in %q", tongue.language, p, end, text)
			}
		}
		for _, noun := range tongue.nouns {
			if end, _, ok := nounAt("("+noun+")", 1); !ok || end != 1+len(noun) {
				t.Errorf("%s: the noun %q ends at %d", tongue.language, noun, end)
			}
		}
	}
}
