package redact

import (
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
	if diff := cmp.Diff(want, EnvValues("app/.env.local", strings.NewReader(file))); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if got := EnvValues(".env.example", strings.NewReader(file)); got != nil {
		t.Errorf("a template gave %q", got)
	}
}

func TestEnvValuesAreFoundInText(t *testing.T) {
	s := New(EnvValues(".env", strings.NewReader("APP_SECRET=plum-jam-42\n"))...)
	if got, _ := s.Text("he said plum-jam-42 twice"); got.String() != "he said [redacted:literal] twice" {
		t.Errorf("got %s", got)
	}
}
