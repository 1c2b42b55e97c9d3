package redact

import (
	"strings"
	"testing"
)

// innocents are texts about secrets without one, by what they are.
var innocents = []struct{ what, lines string }{
	{"TypeScript", `
privateKey: Uint8Array
sign(msg: Uint8Array, secretKey: Uint8Array): Uint8Array;
keygen: (seed?: Uint8Array) => { secretKey: Uint8Array; publicKey: Uint8Array };
token: string | null;
password?: string;
password: string | undefined = undefined
apiKey: process.env.API_KEY,
apiKey: process.env.X ?? '',
password: process.env.A || process.env.B2,
<td>Password</td><td>string2</td>
<label name="password">Password</label>
secret: z.string()
secret: z.string().min(32),
const token: Promise<AccessToken2> = getToken();
readonly encryptionKey: CryptoKey;
psk: Float64Array;
privateKey: Ed25519PrivateKey;
type Auth = { token: JWT; key: Base64UrlString };
if(apiKey==null){apiKey=defaultApiKey$2}const x=1
password: $t('login.password2'),
<input data-testid="password-input-2" placeholder="Password1">
passwordHash: bytes32;
const { privateKey: key2048 } = pair
password: Bcrypt(x).Sum256
password: Map<Foo,Bar2>
<code>psk: &#x3C;Buffer>, identity: &#x3C;string>
private key: 2*randint(0,2^371)
// Convert password to UTF-16LE
login({password:a1,user:b2})
password: "<your-password-2>"
password: "<set-in-env-2>"
password: (ctx)=>ctx.Pass2
password: user?.Password2
password: "{{ .Values.dbPassword2 }}"
password: "[A-Za-z0-9]{8,64}$"
password: '#password-input'
password: "\d{8}Ab"
"password": "auth.password2",
"password": "v1.2.3"
"password": "Must be 12 chars!"
`},
	{"Go", `
func Sign(privateKey *ecdsa.PrivateKey, msg []byte) ([]byte, error)
password *string
Password string ` + "`json:\"password,omitempty\"`" + `
token, err := s.NextToken2(ctx)
secretKey := key256[:]
PrivateKey: testRSA2048PrivateKey,
var rsaPrivateKey = test1024Key
psk := tls13.NewEarlySecret(hash.New, nil)
pass := po.undo[len(po.undo)-1]
Secret: Bug4Secret{1},
EMVSPASSWORD       = Errno(169)
{hexKey: hexPKCS1TestPKCS8Key, errorContains: "x"},
password := os.Getenv("DB_PASSWORD2")
authKey [32]byte
secret = sha256Digest
const DLT_LINUX_SLL_AUTH = C.NL80211_AUTH_TYPE
IDC_PIN = 32671
setPassword(newPassword2)
getPassword("db2-main")
NewSecret("[a-z0-9]{32}[A-Z]{2}")
password := []byte(os.Args[2])
	var ret PrivateKey
	ret.Unpack(&tmp)
for _, zip := range zips {
	zip := data[p:]
	https := u.Scheme == "https"
`},
	{"Python", `
password: Optional[str] = None
def login(self, password: SecretStr, token: bytes32 = b"") -> None:
private_key: Ed25519PrivateKey
api_key: str = Field(..., env="API_KEY")
SECRET_KEY = os.environ["SECRET_KEY"]
SECRET_KEY = config("SECRET_KEY")
token = secrets.token_urlsafe(32)
salt = bcrypt.gensalt(12)
PBKDF2HMAC = rust_openssl.kdf.PBKDF2HMAC
    private_key,
    chain=chain,
"MYSQL_NATIVE_PASSWORD",
"MYSQL_CACHING_SHA2_PASSWORD",
`},
	{"Rust, Java, Kotlin, Swift", `
pub secret_key: [u8; 32],
let key: Secp256k1SecretKey = random();
let pw = &args[2];
fn open(password: &str, salt: &[u8; 16]) -> Result<Vec<u8>, Error>
private final PrivateKey privateKey;
private String password;
val token: AccessToken32? = null
let privateKey: Curve25519.KeyAgreement.PrivateKey
var apiKey: String { get }
`},
	{"placeholders and lookups", `
password: <your-password-2>
API_KEY=<your-key>
API_KEY=your_api_key_123
TOKEN=xxxxxxxxxxxxxxxxxxxx
TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
PASSWORD=${DB_PASSWORD}
PASSWORD=$(pass show db/prod2)
PASSWORD=changeme123
PASSWORD=%DB_PASSWORD%
secret: {{ .Values.secretKey2 }}
password: !vault db/prod
password: ENC[AES256_GCM]
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
db_password = var.db_password2
password = data.vault_generic_secret.db2.data["password"]
password: op://vault/item2/password
sshpass -p "$PASS" ssh bob@h
redis-cli -a "$REDIS_PASSWORD" ping
mysql -u root -p"$MYSQL_PWD" app
curl -u "$USER:$PASS" https://h.example/
echo "$TOKEN" | docker login -u bob --password-stdin
openssl rsa -passin env:KEY_PASS -in k.pem
openssl rsa -passin file:/run/pw2 -in k.pem
mysql -p -u root app2
docker login -u bob registry2.example
docker run -p 8080:80 img
ssh -p 2222 bob@h
unzip -p a.zip b2.txt
7z x a.7z -otarget2
INFO login ok user=bob method=password ip=10.0.0.2
gcloud secrets versions access latest --secret=db-password2
Cache restored from key: node-cache-Linux-npm-54f1b9ec6e61e914b65556fffd92bf48c6f52e5a0780388b1abdd5d5c6dc585b
password: String!
The password is base64-encoded.
fastcgi_pass unix:/run/php/php8.2-fpm.sock;
postgres://app:{db_password}@db/app
https://h:8443/x?mail=bob@acme.io
https://h:8443?mail=bob@acme.io
re.compile("://[^:]+:([^@]+)@")
ngrok http 11434 --host-header="localhost:11434"
`},
	{"paths, styles, dates, colours", `
--pwd "D:\work\Project2\src"
--pwd "C:\Users\Bob7\AppData\Local\Temp\x9f8Aq2LmZ0"
PWD=/tmp/tmp.k3Jd9sK2ls/x
OLDPWD=/home/bob7/src
--pass: #16a34a;
--token-color: #9f8a72ff;
.token.keyword2 { color: #d73a49 }
key1 = 1979-05-27T07:32:00Z
token_expires: 2026-11-23T10:11:12Z
password_file: /run/secrets/db2
fastcgi_pass unix:/run/php/php8.2-fpm.sock;
INFO login ok user=bob method=password ip=10.0.0.2 req=c4b885ce8bf6e03c
man5/passwd.5 man2/memfd_secret.2 man2/migrate_pages.2
all of which have to pass: ` + "`" + `--older-than 90d` + "`" + `, ` + "`" + `-k KIND` + "`" + `
WWW-Authenticate: Bearer resource_metadata="https://example.com/x"
WWW-Authenticate: Bearer error=invalid_token
"_PIN": 16223, "PIN": 28228
	PASS
	ok  	modernc.org/sqlite	0.128s
serverToken: "test-token-123",
secret: tls-secret-2
"integrity": "sha512-9f8Aq2LmZ0pWx7KdT4vRb6Yc1Nn5Sg3Hj8Uo2Ie4E9f8Aq2LmZ0pWx7KdT4vRb6Yc1Nn5Sg3Hj8Uo2Ie4EaA=="
token: 4f2c9d1e-8b7a-4f5e-9d3c-2b1a09f8e7d6
"cacheKey": "users:v2:page3"
"publicKey": "04ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b2"
partition_key = "tenant2#user7"
"S3Key": "RHEL5export-i-fh8sjjsq.ova"
random_seed = 1234567
`},
	{"English", `
The password is required.
The password is stored in the vault2 service.
The token is a 32-byte value.
password must be 8 to 64 characters
Use the password reset form2 link.
passwords are hashed with argon2id and a 16-byte salt
the password hash uses sha512 and base64
My password is wrong, and so is the PIN.
Set the pin to 13 and the LED to 7.
The token was added in v2.3.1
The secret is to use http2 here.
Password for bob:
Enter your PIN
Use bcrypt2 as the password hash.
use SHA-256 as the password digest
use OAuth2 as the auth method
The password's length is 12, its hash's SHA512.
Forgot the password? Reset2FA
look up the password in vault2
password (optional): the user's
tests pass is what counts2
The seed phrase is twelve words that should be written on paper and kept in a safe place
Store the mnemonic in the wallet, then derive the key from the mnemonic and the passphrase of the user
Recovery codes are shown once. Keep them safe.
login with GitHub / GitLab works
the WA / SA / Gawler2024 pages, open Fr / Sa / So10-18Uhr
log in as admin and check
credentials: see docs/login2.md
| Option | Password | Description |
| name | token | type |
`},
	{"other languages", `
密码是必填项
密码长度为8到16位
请输入密码
密码错误，请重试
密钥为空时报错
令牌已过期
密碼不正確
パスワードは必須です
パスワードは8文字以上です
トークンが無効です
비밀번호는 필수입니다
비밀번호는 8자 이상이어야 합니다
Das Passwort ist erforderlich.
Das Passwort ist in der Datei config2 gespeichert
Le mot de passe est obligatoire.
Le mot de passe est trop court
La contraseña es obligatoria.
La contraseña es incorrecta
A senha é obrigatória.
Пароль обязателен.
Пароль неверный
пароль для сервера не задан
пароль: обязателен
пароль: обязателен!
Пароль: 8–16 символов
Пароль: 8-значный код
Пароль пользователя — обязательное поле
Пользователь с паролем администратора
API-ключ обязателен
ключ API не задан
password: 8文字以上
password: 최소8자리 이상
{"password": "8文字以上16文字以下"}
{"password": "密码至少8位"}
密码：8到16位字符
密码：至少8位!
密码=必填!
密钥为空时返回404
密钥为空则报错E404。
トークンが無効なら401。
パスワードは「8文字以上」です
APIキーは必須です
비밀번호는 12자리입니다
비밀번호로 로그인하세요
API 키가 필요합니다
Das Passwort „Geheimnis“ ist schlecht.
Passwort: „erforderlich“
Das Passwort „${DB_PASSWORD}“ setzen
Click “Forgot password” and then “Reset2”.
The password field’s label is “Passwort”.
Settings » Password » Reset2FA » Done
Einstellungen › Passwort › Reset2FA › OK
Şifre zorunlu
şifreniz en az 8 karakter olmalı
deşifre: sha256sum2
Parola yanlış
رمز عبور الزامی است
گذرواژه باید حداقل ۸ کاراکتر باشد
رمز عبور: حداقل ۸ کاراکتر
`},
}

func TestInnocentTextStays(t *testing.T) {
	for _, in := range innocents {
		for line := range strings.Lines(in.lines) {
			for _, text := range []string{strings.TrimSuffix(line, "\n"), line, "x\n" + line + "y2Ab4\n"} {
				if got, report := new(Scanner).Text(text); report.Found > 0 {
					t.Errorf("%s: %q became %q", in.what, text, got)
				}
			}
		}
		if got, report := new(Scanner).Text(in.lines); report.Found > 0 {
			t.Errorf("%s, all lines: %s", in.what, got)
		}
	}
}

func TestOnlySecretsSpread(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"password = 'Uint8Array'; new Uint8Array(4)", "password = 'Uint8Array'; new Uint8Array(4)"},
		{"DB_PASS=letmein\nlet letmein in", "DB_PASS=[redacted:assignment]\nlet letmein in"},
		{"PASSWORD=production-db\nproduction-db is up", "PASSWORD=production-db\nproduction-db is up"},
		{"The PIN is 471199. Build 471199 passed.", "The PIN is [redacted:assignment]. Build 471199 passed."},
		{"password=tom77xy z tom77xy", "password=[redacted:assignment] z [redacted:assignment]"},
	} {
		if got, _ := new(Scanner).Text(tt.text); got.String() != tt.want {
			t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestManyNamesInOneRunHideNothing(t *testing.T) {
	for _, n := range []int{1, 8, 9, 64, 65, 300} {
		text := strings.Repeat("token=", n) + "password=Kd83qpXm7a"
		if got, _ := new(Scanner).Text(text); strings.Contains(got.String(), "Kd83qpXm7a") {
			t.Errorf("%d names: %s", n, got)
		}
	}
}
