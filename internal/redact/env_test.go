package redact

import (
	"runtime"
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
	if diff := cmp.Diff(want, EnvValues("app/.env.local", strings.NewReader(file), 99)); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if got := EnvValues(".env.example", strings.NewReader(file), 99); got != nil {
		t.Errorf("a template gave %q", got)
	}
}

func TestEnvValuesAreFoundInText(t *testing.T) {
	s := New(EnvValues(".env", strings.NewReader("APP_SECRET=plum-jam-42\n"), 99)...)
	if got, _ := s.Text("he said plum-jam-42 twice"); got.String() != "he said [redacted:literal] twice" {
		t.Errorf("got %s", got)
	}
}

func TestEnvValuesHaveBounds(t *testing.T) {
	if got := EnvValues(".env", strings.NewReader("A_SECRET=plum-jam-42\nB_SECRET=plum-jam-43\nC_SECRET=plum-jam-44\n"), 2); len(got) != 2 {
		t.Errorf("%d values, want 2", len(got))
	}
	// Values over two lines each cost what they are long, not what the file is: less than the megabytes that copying the rest took.
	file := strings.Repeat("A=\"x\nplum\"\n", 4<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	EnvValues(".env", strings.NewReader(file), 99)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes for a file of %d", used, len(file))
	}
}
