package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// undotted takes the dots out of a test's text. They break up what a scanner of this repository
// would report.
func undotted(s string) string { return strings.ReplaceAll(s, "·", "") }

func TestTextTakesSecretsOut(t *testing.T) {
	github := "gh" + "p_" + strings.Repeat("aB3dE5", 6)
	for _, tt := range []struct{ name, text, want string }{
		{"provider's format", "push with " + github + " please", "push with [redacted:github-token] please"},
		{"env file", "A=1\nDB_PASS=s3cr3t\n", "A=1\nDB_PASS=[redacted:assignment]\n"},
		{"word in an env file", "DB_PASS=letmein", "DB_PASS=[redacted:assignment]"},
		{"value keeps its format's name", "TOKEN=" + github, "TOKEN=[redacted:github-token]"},
		{"every occurrence", "password=hunter2\necho hunter2 | login", "password=[redacted:assignment]\necho [redacted:assignment] | login"},
		{"no part of a longer word", "password=tom77x in tom77xyz and 1tom77x; tom77x", "password=[redacted:assignment] in tom77xyz and 1tom77x; [redacted:assignment]"},
		{"sentence", "My password is hunter2, ok?", "My password is [redacted:assignment], ok?"},
		{"sentence that says what for", "password for staging: hunter2", "password for staging: [redacted:assignment]"},
		{"Chinese", "数据库密码：Xk9m·Pq2v·L7", "数据库密码：[redacted:assignment]"},
		{"typographic quotes", "Passwort: „Kx9v·Qm2L·p7Tj“, wie immer", "Passwort: „[redacted:assignment]“, wie immer"},
		{"guillemets", "пароль: «Kx9v·Qm2L·p7Tj»", "пароль: «[redacted:assignment]»"},
		{"guillemets around the noun", "«пароль: Kx9v·Qm2L·p7Tj»", "«пароль: [redacted:assignment]»"},
		{"guillemets within", "DB_PASSWORD=Ab1«Cd2!·x9Qz", "DB_PASSWORD=[redacted:assignment]"},
		{"a guillemet within", "password: Ab1‹Cd2!·x9Qz", "password: [redacted:assignment]"},
		{"Cyrillic letters", "password: Василёк27!", "password: [redacted:assignment]"},
		{"Cyrillic letters, no sign", "пароль: вОрона2031Снег", "пароль: [redacted:assignment]"},
		{"Cyrillic letters, next line", "Пароль:\nВасилёк27!", "Пароль:\n[redacted:assignment]"},
		{"Korean letters", "비밀번호: 무지개27!", "비밀번호: [redacted:assignment]"},
		{"Japanese and Latin letters", "パスワード: 朝顔Qx27!です", "パスワード: [redacted:assignment]です"},
		{"Japanese letters in quotes", "パスワードは「あさがお27」です", "パスワードは「[redacted:assignment]」です"},
		{"full width", "パスワードは Ｑｘ２７ｖＭｍ８ です", "パスワードは [redacted:assignment] です"},
		{"Persian digits", "رمز عبور: باران۲۷!", "رمز عبور: [redacted:assignment]"},
		{"YAML", "  password: Tr0ub4dor&3\n", "  password: [redacted:assignment]\n"},
		{"XML", "<password>hunter2</password>", "<password>[redacted:assignment]</password>"},
		{"XML, name in an attribute", `<property name="db.password">Lemon·Fox42!</property>`, `<property name="db.password">[redacted:assignment]</property>`},
		{"XML in entities", "&lt;password&gt;Lemon·Fox42!&lt;/password&gt;", "&lt;password&gt;[redacted:assignment]&lt;/password&gt;"},
		{"HTML table", "<td>Password</td><td>Lemon·Fox42!</td>", "<td>Password</td><td>[redacted:assignment]</td>"},
		{"name and value apart", `{"name":"DB_PASSWORD","value":"hunter2x"}`, `{"name":"DB_PASSWORD","value":"[redacted:assignment]"}`},
		{"escaped JSON", `"{\"password\":\"hunter2\",\"n\":1}"`, `"{\"password\":\"[redacted:assignment]\",\"n\":1}"`},
		{"escaped line end before the name", `"x\npassword=hunter2\ny"`, `"x\npassword=[redacted:assignment]\ny"`},
		{"escaped ampersand", `"a=1\u0026token=aB3d·E5fG·7hI9jK\u0026b=2"`, `"a=1\u0026token=[redacted:assignment]\u0026b=2"`},
		{"terminal's colours", "\x1b[32mAPI_KEY\x1b[0m=\x1b[33maB3d·E5fG·7hI9\x1b[0m", "\x1b[32mAPI_KEY\x1b[0m=\x1b[33m[redacted:assignment]\x1b[0m"},
		{"netrc", "machine h login bob password hunter2", "machine h login bob password [redacted:assignment]"},
		{"option", "mysql --password hunter2 db", "mysql --password [redacted:assignment] db"},
		{"name and value on two lines", "- name: DB_PASSWORD\n  value: hunter2\n", "- name: DB_PASSWORD\n  value: [redacted:assignment]\n"},
		{"dotted name", "app.api.key=9f8A·q2Lm·Z0pW\n", "app.api.key=[redacted:assignment]\n"},
		{"parentheses", "the password (Xk9m·Pq2v·L7) expired", "the password ([redacted:assignment]) expired"},
		{"comparison", `if (password === "hunter2") {`, `if (password === "[redacted:assignment]") {`},
		{"SQL", "CREATE USER bob IDENTIFIED BY 'hunter2';", "CREATE USER bob IDENTIFIED BY '[redacted:assignment]';"},
		{"git's prompt", "Password for 'https://bob@h.example': hunter2", "Password for 'https://bob@h.example': [redacted:assignment]"},
		{"mysql -p", "mysql -u root -phunter2 db", "mysql -u root -p[redacted:credentials] db"},
		{"curl -u", "curl -u admin:p@ssw0rd https://h/x", "curl -u admin:[redacted:credentials] https://h/x"},
		{"bearer", "Authorization: Bearer aB3d·E5fG·7hI9jK1m", "Authorization: Bearer [redacted:credentials]"},
		{"cookie", "Cookie: sid=9f8A·q2Lm·Z0pW·x7Kd·T4vR; theme=dark", "Cookie: sid=[redacted:credentials]; theme=dark"},
		{"URL", "git clone https://bob:hunter2@h.example/r", "git clone https://bob:[redacted:url-password]@h.example/r"},
		{"URL without a user", "redis://:p4ssw0rd@cache:6379/0", "redis://:[redacted:url-password]@cache:6379/0"},
		{"ADO", "Server=h;User Id=sa;Password=P@ssw0rd;Encrypt=True", "Server=h;User Id=sa;Password=[redacted:assignment];Encrypt=True"},
		{"JDBC", "jdbc:mysql://h/db?user=root&password=hunter2&ssl=1", "jdbc:mysql://h/db?user=root&password=[redacted:assignment]&ssl=1"},
		{"random beside a word", "token (old): use 9f8A·q2Lm·Z0pW·x7Kd·T4vRb6 there", "token (old): use [redacted:entropy] there"},
		{"base64 of an assignment", "x: UEFT·U1dP·UkQ9·aHVu·dGVy·Mi1h·bmQt·bW9y·ZQ== end", "x: [redacted:base64] end"},
		{"unknown marker hides nothing", "[redacted:" + github + "]", "[redacted:[redacted:github-token]]"},
	} {
		var s *Scanner
		got, report := s.Text(undotted(tt.text))
		if diff := cmp.Diff(undotted(tt.want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if n := strings.Count(tt.want, markerHead); report.Found != n && !strings.HasPrefix(tt.text, markerHead) {
			t.Errorf("%s: found %d, want %d", tt.name, report.Found, n)
		}
	}
}

func TestPrivateKeysGoWhole(t *testing.T) {
	line := strings.Repeat("aB3dE5fG", 8)
	head, tail := "-----BEGIN RSA PRIV"+"ATE KEY-----", "-----END RSA PRIV"+"ATE KEY-----"
	for _, tt := range []struct{ name, text, want string }{
		{"lines", "a\n" + head + "\n" + line + "\n" + line + "\nabcd==\n" + tail + "\nb", "a\n[redacted:private-key]\nb"},
		{"with headers", head + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + line + "\n" + tail, "[redacted:private-key]"},
		{"escaped", `"` + head + `\n` + line + `\n` + line + `\n` + tail + `\n"`, `"[redacted:private-key]\n"`},
		{"without an end", "x " + head + "\n" + line + "\n" + line + "\n", "x [redacted:private-key-begin]\n"},
		{"without a beginning", "x\n" + line + "\n" + line + "\n" + tail + "\ny", "x\n[redacted:private-key]\ny"},
		{"indented", "k: |\n  " + head + "\n  " + line + "\n  " + tail + "\nz: 1", "k: |\n  [redacted:private-key]\nz: 1"},
		{"only named", `if strings.Contains(s, "` + head + `") { return "` + tail + `" }`, `if strings.Contains(s, "` + head + `") { return "` + tail + `" }`},
	} {
		got, _ := new(Scanner).Text(tt.text)
		if diff := cmp.Diff(tt.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestTextLeavesTheRestAlone(t *testing.T) {
	for _, text := range []string{
		`password = os.Getenv("DB_PASSWORD")`, `token := r.Header.Get("X-Token")`, "password: string", "tokenCount: 5", "max_tokens=4096",
		"token = nextToken()", "password=${DB_PASSWORD}", "password: ${{ secrets.DB_PASSWORD }}", "password=<your-password>", "password=$(pass show db)",
		"PASSWORD=changeme", "API_KEY=your-api-key", "api_key: xxxxxxxxxxxxxxxx", "password: *******", "const token = await getToken()",
		"PASSWORD_MIN_LENGTH=12", `<input type="password" name="password1">`, "secret: my-secret-name", "password = self.password2",
		"apiKey: process.env.API_KEY,", "token_type=bearer", "PrivateKey: testRSA2048PrivateKey,", "REDACTED", "password=REDACTED", "--- PASS: TestUnicode2Tables (0.01s)",
		"password=[redacted:assignment]", `{"token":"[redacted:github-token]"}`, `date -u +%Y-%m-%dT%H:%M:%SZ`, `"password", "scram-sha-256"`, "password = utf8_to_utf16_dup(v)", "sk-ssh-ed25519-cert-v01@openssh.com",
		"Pass `-Dpamconfdir=no1`", "12 of 13 tests passed; password reset works",
		"commit 4f2c9d1e8b7a6f5e4d3c2b1a09f8e7d6c5b4a392 fix token refresh", "token refresh broke in 4f2c9d1e",
		"auth: revert 4f2c9d1e8b7a6f5e4d3c2b1a09f8e7d64f2c9d1e8b7a6f5e4d3c2b1a09f8e7d6", "secret rotated 01HF7YAT00EXAMPLEKM5Z3QXAB",
		"token: 4f2c·9d1e-8b7·a-4f5e-9d3c-2b1a09f8e7d6", "example.com/auth/token v0.1.0 h1:9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc·1Nn5·Sg3H·j8Uo·2Ie4·E=",
		`"secret-lib": {"integrity": "sha512-9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc·1Nn5·Sg3H·j8Uo·2Ie4·E9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc·1Nn5·Sg3H·j8Uo·2Ie4·EaA=="}`,
		`"output_tokens":8},"requestId":"req_011CWzQWRk82heojjQ5z8JTp"`, "key fingerprint is SHA256:9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc·1Nn5·Sg3H·j8Uo·2Ie4·E",
		"/etc/ssl/private/server.key", "postgres://user:password@localhost:5432/db", "https://example.com:8080/a@b", "https://${USER}:${PASS}@host/",
		"secret key in src/auth/tokenStore2/handlers/v1Beta3/index.ts", "public key: AAAAC3NzaC1lZDI1NTE5AAAAIJ7y·Yq3v·Qxk2·mLw9·eR5t·Up8s·Df1g·Hj4K",
	} {
		text = undotted(text)
		got, report := new(Scanner).Text(text)
		if got.String() != text || report.Found != 0 || report.ByRule != nil {
			t.Errorf("%q became %q, report %+v", text, got.String(), report)
		}
	}
}

func TestRedactedTextStaysAsItIs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s := New("a literal, " + draw(r, alphanumeric, 12))
	for _, p := range plantedSecrets(r) {
		for _, c := range carriers {
			text := c.write(r, p)
			once, _ := s.Text(text)
			twice, report := s.Text(once.String())
			if diff := cmp.Diff(once.String(), twice.String()); diff != "" || report.Found != 0 {
				t.Fatalf("%s in %s changed again, found %d (-once +twice):\n%s", p.kind, c.name, report.Found, diff)
			}
		}
	}
}

func TestLiterals(t *testing.T) {
	secret := `plum "jam" & tea/9`
	s := New(secret, "true", "8080", "development", "", "abc", "localhost")
	for _, tt := range []struct{ name, text, want string }{
		{"as it is", "x " + secret + " y", "x [redacted:literal] y"},
		{"JSON-escaped", `{"x":"plum \"jam\" \u0026 tea/9"}`, `{"x":"[redacted:literal]"}`},
		{"URL-encoded", "?q=plum+%22jam%22+%26+tea%2F9&r", "?q=[redacted:literal]&r"},
		{"trivial ones are ignored", "true 8080 development localhost abc", "true 8080 development localhost abc"},
	} {
		got, _ := s.Text(tt.text)
		if diff := cmp.Diff(tt.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	longer := New("plum-jam-42", "plum-jam-42-and-tea-77", "plum-jam-42-and")
	if got, _ := longer.Text("<plum-jam-42-and-tea-77> <plum-jam-42-and-> <plum-jam-42>"); got.String() != "<[redacted:literal]> <[redacted:literal]-> <[redacted:literal]>" {
		t.Errorf("the longest literal is not taken: %s", got)
	}
}

func TestTextWithoutSecretsAllocatesNothing(t *testing.T) {
	text := strings.Repeat(undotted("the password reset works; token = nextToken(); see https://example.com/a/b?c=d and sha512-9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc1Nn5Sg3H\n"), 50)
	s := New("a literal, 4711")
	if n := testing.AllocsPerRun(20, func() { s.Text(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestReportCounts(t *testing.T) {
	var s Scanner
	_, report := s.Text("password=hunter2 hunter2\nhttps://bob:hunt3r22@h.example/")
	_, more := s.Text("DB_PASS=s3cr3t")
	report.Add(more)
	report.Add(Report{})
	want := Report{Found: 4, ByRule: map[string]int{"assignment": 3, "url-password": 1}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	var sum Report
	sum.Add(more)
	sum.Add(more)
	if more.Found != 1 || more.ByRule["assignment"] != 1 {
		t.Errorf("Add changed what it added: %+v", more)
	}
}

func TestRedactedGivesCopies(t *testing.T) {
	got, _ := new(Scanner).Text("plain")
	got.Bytes()[0] = 'X'
	encoded, err := json.Marshal(map[string]Redacted{"k": got})
	if err != nil || string(encoded) != `{"k":"plain"}` || got.Len() != 5 || !bytes.Equal(got.Bytes(), []byte("plain")) {
		t.Errorf("got %s, %v, %q", encoded, err, got)
	}
}

func TestScannerServesManyAtOnce(t *testing.T) {
	s := New("a literal, 4711")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, _ := s.Text("a literal, 4711; password=hunter2"); got.String() != "[redacted:literal]; password=[redacted:assignment]" {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	wg.Wait()
}

func TestValuesAreWhatTextTakesOut(t *testing.T) {
	one, two := "ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a", "AKIA"+"Q7RTX2VJKM4WZNPL"
	var s *Scanner
	got := s.Values("token = " + one + "\nid: " + two + ", once more " + one + "\n")
	if want := []string{one, two, one}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.Values("nothing secret here"); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
