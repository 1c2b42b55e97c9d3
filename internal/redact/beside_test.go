package redact

import (
	"strings"
	"testing"
)

// Text beside a secret stays, and so does what only looks like a place for one. § marks a secret.
func TestWhatStandsBesideASecretStays(t *testing.T) {
	const secret, pass, id = "Zq7x9Kk2Lp", "Lemon42!", "9fceb02d0ae598e95dc970b74767f19372d61af8"
	for _, line := range []string{
		"PGPASSWORD=§hunter22§;psql -h db", "password=§" + secret + "§;1.2.3.4", "password: §" + secret + "§|admin|true", "helm --set password=§" + pass + "§,u=bob",
		"{password=§" + secret + "§}{id=12}", "<user password=§" + secret + "§>Bob</user>", "<data name=\"Password\"><value>§" + pass + "§</value></data>",
		"password: §wuQys8P}/M#R§", "CREATE USER a IDENTIFIED WITH mysql_native_password BY '§" + secret + "§'", "use §hunter2§ as the password",
		"$ printenv DB_PASSWORD\n§" + secret + "!§", "❯ echo $PASSWORD\n§" + secret + "!§", "$ openssl rand -hex 20\n§" + id + "§",

		"identified withȺȺȺȺ by x", "users identified with roles, ordered by 'created_at'", "cmd --password >Out2file", "cmd --password 2>/tmp/Err1.log",
		"$ git commit -m \"rotate password\"\n" + id, "$ git log -1 --format=%H -- internal/auth/password.go\n" + id, "$ kubectl get pods -o name -n secret\npod/api-7d9f8b6c5d-x2k9q",
		"echo \"resetting password\"\ngit-checkout-9fceb02d0ae5", "Run openssl rand -base64 24\nkubectl-apply-f-x9Q2z7.yaml", "aws ssm put-parameter --name r --value eu-west-1",
		"<password></password><host>db1Server42</host>", "password: see-ticket-42", "password: eu-west-1", "the password is notNull!", `"password": "Auth/Login2"`, `"password": "#section2"`, `"password": "Need 12!"`,
		"changed the password in Release42!", "use Keycloak24 as the secret", `setSecret("k8s-secret-name2")`, "video_box.ico-7a388b69018576d24b59331fd60aab0c.png",
	} {
		parts := strings.Split(line, "§")
		if len(parts) == 3 {
			parts[1] = "[redacted:"
		}
		got, _ := new(Scanner).Text(strings.ReplaceAll(line, "§", ""))
		if want := strings.Join(parts, ""); len(parts) == 1 && got.String() != want || len(parts) == 3 && (!strings.HasPrefix(got.String(), parts[0]+parts[1]) || !strings.HasSuffix(got.String(), "]"+parts[2])) {
			t.Errorf("%s: %s", line, got)
		}
	}
}
