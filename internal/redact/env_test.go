package redact

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvValues(t *testing.T) {
	file := undotted("\ufeff# settings\r\n" + `
export API_TOKEN="aB3d·E5fG\"hI9" # the token
DB_PASSWORD='it is $ecret 9'
DATABASE_URL=postgres://app:s3cr3tpw@db:5432/app?x=1
DEBUG=true
NODE_ENV=development
PORT=8080
HOST=http://localhost:3000
POSTGRES_PASSWORD=postgres
LOG_FILE=/var/log/app-2026.log
RELEASE=4f2c9d1e8b7a6f5e4d3c2b1a09f8e7d6c5b4a392
REGION=us-east-1
SOME_VALUE=9f8A·q2Lm·Z0pW·x7Kd·T4vR   # no name that says so
EMPTY=
REF=${API_TOKEN}
smtp_pass: plum-jam-42
not an entry
TLS_KEY="-----BEGIN-----
9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc·1Nn5·Sg3H·j8Uo·2Ie4·E9f8
-----END-----"
AFTER_SECRET=tea-and-rum-77
API_TOKEN_2=aB3d·E5fG"hI9
`)
	want := []string{`aB3d·E5fG"hI9`, `it is $ecret 9`, "s3cr3tpw", "9f8A·q2Lm·Z0pW·x7Kd·T4vR", "plum-jam-42", "9f8A·q2Lm·Z0pW·x7Kd·T4vRb6Yc·1Nn5·Sg3H·j8Uo·2Ie4·E9f8", "tea-and-rum-77"}
	for i := range want {
		want[i] = undotted(want[i])
	}
	if diff := cmp.Diff(want, EnvValues("app/.env.local", strings.NewReader(file), 99, false)); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if got := EnvValues(".env.example", strings.NewReader(file), 99, false); got != nil {
		t.Errorf("a template gave %q", got)
	}
}

func TestEnvValuesAreFoundInText(t *testing.T) {
	s := New(EnvValues(".env", strings.NewReader("APP_SECRET=plum-jam-42\n"), 99, false)...)
	if got, _ := s.Text("he said plum-jam-42 twice"); got.String() != "he said [redacted:literal] twice" {
		t.Errorf("got %s", got)
	}
}

func TestEnvValuesHaveBounds(t *testing.T) {
	if got := EnvValues(".env", strings.NewReader("A_SECRET=plum-jam-42\nB_SECRET=plum-jam-43\nC_SECRET=plum-jam-44\n"), 2, true); len(got) != 2 {
		t.Errorf("%d values, want 2", len(got))
	}
	// Values over two lines each cost what they are long, not what the file is: less than the
	// megabytes that copying the rest took.
	file := strings.Repeat("A=\"x\nplum\"\n", 4<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	EnvValues(".env", strings.NewReader(file), 99, false)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes for a file of %d", used, len(file))
	}
}

// Each value stands in a private file, under a name that says nothing, in each of the forms in
// which such files are written.
func TestPrivateFileGivesEveryValue(t *testing.T) {
	secrets := []string{"gamma-River-4zt", "theta-Mesa-2pp", "alpha-Beach-9xk", "hunter2hunter2", "p4ss.word", "Gamma/River-4zt",
		"9f2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b", "0c5e1b3a-8d4f-4b7e-9a61-2f3d4c5b6a70", "admin:pa55word", "changeme123", "user1&&pass2",
		"12monkeys!", "ann2@example.com", "correct horse 9 battery", "1a2b3c4d", "pässwort99", "river,4zt-mesa"}
	for _, secret := range secrets {
		for name, form := range map[string]string{
			"plain": "THING=%s\n", "export": "export THING=%s\n", "spaced": "THING = %s  \n", "quoted": "THING=\"%s\"\n", "single": "THING='%s'\n",
			"backquoted": "THING=`%s`\n", "commented": "THING=%s # it\n", "tab comment": "THING=%s\t# it\n", "quoted commented": "THING=\"%s\" # it\n",
			"CRLF": "A=b\r\nTHING=%s\r\nC=d\r\n", "BOM": "\ufeffTHING=%s\n", "no line end": "THING=%s", "YAML": "thing: %s\n", "YAML quoted": "  thing: \"%s\"\n",
			"JSON": "{\"a\": {\"thing\": [\"%s\"]}}", "JSON value": "THING='{\"a\":\"%s\"}'\n", "lines": "THING=\"first\n%s\nlast\"\n", "csh": "setenv THING '%s'\n",
			"fish": "set -gx THING \"%s\"\n", "PowerShell": "$env:THING = \"%s\"\n", "two on a line": "export A=\"b\" THING=\"%s\"\n", "list": "- THING=\"%s\"\n",
			"interpolated": "THING=${HOME}\nX=\"${A}%s\"\n", "npm": "//registry.example.org/:thing=%s\n", "URL": "THING=amqp://app:%s@mq:5672/v\n",
		} {
			escaped := secret
			if name == "URL" {
				escaped = strings.NewReplacer("/", "%2F", "@", "%40", "&", "%26", " ", "%20", "ä", "%C3%A4", ",", "%2C").Replace(secret)
			}
			values := EnvValues(".env", strings.NewReader(strings.ReplaceAll(form, "%s", escaped)), 99, true)
			got, _ := New(values...).Text("it is <" + secret + "> today")
			if strings.Contains(got.String(), secret) {
				t.Errorf("%s, %s: %q gave %q", name, secret, form, values)
			}
		}
	}
	utf16 := []byte{0xff, 0xfe}
	for _, c := range "THING=gamma-River-4zt\r\n" {
		utf16 = append(utf16, byte(c), 0)
	}
	if got := EnvValues(".env", bytes.NewReader(utf16), 99, true); !slices.Equal(got, []string{"gamma-River-4zt"}) {
		t.Errorf("UTF-16: %q", got)
	}
	var long strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "word%d", i)
	}
	if got, _ := New(EnvValues(".env", strings.NewReader("X="+long.String()), 99, true)...).Text(long.String()); strings.Contains(got.String(), "word") {
		t.Errorf("of a long value is left: %s", got)
	}
}

// Public words and malformed values stay even in a private file. A shared file yields fewer values.
func TestPrivateFileKeepsWhatIsPublic(t *testing.T) {
	for _, v := range []string{"true", "production", "localhost", "8080", "1234567890", "1_000_000", "86400seconds", "512megabytes", "2026-11-23", "2026-11-23T10:00:00Z",
		"/var/log/app-2026.log", "./data/store1", "../conf/app2.yml", "~/.ssh/id_ed25519", `C:\Users\ann2\x`, "src/v2/handlers", "app-2026.log", "server1.pem",
		"http://localhost:3000/v1", "https://api2.example.com/v1/things?page=2", "api2.example.com", "db1.internal:5432", "postgres16:5432", "kafka1:9092,kafka2:9092",
		"10.0.0.1:6379", "fe80::1a2b:3c4d", "00:1a:2b:3c:4d:5e", "us-east-1", "europe-west4", "en_US.UTF-8", "utf8mb4_unicode_ci", "aes-256-gcm", "secp256k1", "argon2id",
		"hmac-sha256", "v1.12.3-beta4", "postgres:16-alpine", "--max-old-space-size=4096", "gpt-4o-mini", "claude-3-5-sonnet-20241022", "<your key 1>", "$OTHER_KEY1",
		"op://vault/item1/key", "sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"} {
		if got := EnvValues(".env", strings.NewReader("THING='"+v+"'\n"), 99, true); len(got) > 0 {
			t.Errorf("%s gave %q", v, got)
		}
	}
	for key, want := range map[string]int{"GIT_COMMIT": 0, "RELEASE": 0, "REFRESH": 1, "THING": 1, "SHARED_SECRET": 1} {
		if got := EnvValues(".env", strings.NewReader(key+"=4f2c9d1e8b7a6f5e4d3c2b1a09f8e7d6c5b4a392\n"), 99, true); len(got) != want {
			t.Errorf("%s: %d values, want %d", key, len(got), want)
		}
	}
	if got := EnvValues(".env", strings.NewReader("THING=gamma-River-4zt\n"), 99, false); got != nil {
		t.Errorf("a shared file gave %q", got)
	}
	for name, want := range map[string]int{".env": 1, ".env.local": 1, ".env.district": 1, "app.env": 1, ".env.example": 0, "example.env": 0, ".env-template": 0, ".env.DIST": 0} {
		if got := EnvValues("a/"+name, strings.NewReader("THING=gamma-River-4zt\n"), 99, true); len(got) != want {
			t.Errorf("%s: %d values, want %d", name, len(got), want)
		}
	}
}
