package redact

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/url"
	"strings"
)

// The corpus is built at run time, each secret from a prefix and a seeded random tail. So no file
// of the repository holds anything that a scanner would report.

// planted is a secret of the corpus.
type planted struct {
	kind string
	// with a provider's format, or a key or a URL; otherwise only its name reveals it
	structured bool
	name       string   // its name in assignments: DB_PASSWORD
	words      string   // its name in a sentence
	text       string   // as it is written
	hidden     []string // text that must be gone afterwards
}

// needles returns the parts that must not remain in redacted text: each hidden part, and the halves
// of long ones.
func (p planted) needles() []string {
	var all []string
	for _, h := range p.hidden {
		all = append(all, h, url.QueryEscape(h))
		if len(h) >= 20 {
			all = append(all, h[:len(h)/2], h[len(h)/2:])
		}
	}
	return all
}

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	digits    = "0123456789"
	lowHex    = digits + "abcdef"
)

func draw(r *rand.Rand, chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

// kinds of structured secrets: name, words, prefix in two pieces, alphabet and length.
var kinds = []struct {
	kind, name, words, a, b, chars string
	n                              int
}{
	{"github", "GITHUB_TOKEN", "GitHub token", "gh", "p_", alphanumeric, 36},
	{"github-oauth", "GH_TOKEN", "token", "gh", "o_", alphanumeric, 36},
	{"github-server", "GH_TOKEN", "token", "gh", "s_", alphanumeric, 36},
	{"github-fine", "GH_PAT", "personal access token", "github_", "pat_11", alphanumeric + "_", 80},
	{"gitlab", "GITLAB_TOKEN", "GitLab token", "gl", "pat-", alphanumeric + "-_", 20},
	{"aws-id", "AWS_ACCESS_KEY_ID", "access key", "AK", "IA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16},
	{"aws-temp-id", "AWS_ACCESS_KEY_ID", "access key", "AS", "IA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16},
	{"google-api", "GOOGLE_API_KEY", "Google API key", "AI", "za", alphanumeric + "-_", 35},
	{"google-oauth", "GOOGLE_CLIENT_SECRET", "client secret", "GOC", "SPX-", alphanumeric + "-_", 28},
	{"google-access", "ACCESS_TOKEN", "access token", "ya", "29.a0", alphanumeric + "-_", 120},
	{"slack-bot", "SLACK_BOT_TOKEN", "Slack token", "xo", "xb-2314567890-9876543210123-", alphanumeric, 24},
	{"slack-app", "SLACK_APP_TOKEN", "Slack app token", "xa", "pp-1-A0123ABCDEF-", alphanumeric, 64},
	{"stripe-live", "STRIPE_SECRET_KEY", "Stripe key", "sk_", "live_", alphanumeric, 24},
	{"stripe-restricted", "STRIPE_KEY", "Stripe key", "rk_", "live_51", alphanumeric, 97},
	{"stripe-webhook", "WEBHOOK_SECRET", "webhook secret", "wh", "sec_", alphanumeric, 32},
	{"openai", "OPENAI_API_KEY", "OpenAI key", "sk", "-", alphanumeric, 48},
	{"openai-project", "OPENAI_API_KEY", "OpenAI key", "sk-", "proj-", alphanumeric + "-_", 120},
	{"anthropic", "ANTHROPIC_API_KEY", "API key", "sk-", "ant-api03-", alphanumeric + "-_", 93},
	{"openrouter", "OPENROUTER_API_KEY", "API key", "sk-", "or-v1-", lowHex, 64},
	{"npm", "NPM_TOKEN", "npm token", "np", "m_", alphanumeric, 36},
	{"pypi", "TWINE_PASSWORD", "PyPI token", "py", "pi-AgEIcHlwaS5vcmc", alphanumeric + "-_", 130},
	{"sendgrid-like", "SENDGRID_API_KEY", "SendGrid key", "S", "G.", alphanumeric, 66},
	{"mailgun", "MAILGUN_API_KEY", "Mailgun key", "ke", "y-", lowHex, 32},
	{"twilio", "TWILIO_API_KEY", "Twilio key", "S", "K", lowHex, 32},
	{"shopify", "SHOPIFY_TOKEN", "Shopify token", "shp", "at_", lowHex, 32},
	{"digitalocean", "DO_TOKEN", "DigitalOcean token", "dop_", "v1_", lowHex, 64},
	{"doppler", "DOPPLER_TOKEN", "Doppler token", "dp.", "pt.", alphanumeric, 43},
	{"vault", "VAULT_TOKEN", "Vault token", "hv", "s.", alphanumeric + "-_", 92},
	{"databricks", "DATABRICKS_TOKEN", "Databricks token", "da", "pi", lowHex, 32},
	{"huggingface", "HF_TOKEN", "Hugging Face token", "h", "f_", alphanumeric, 34},
	{"linear", "LINEAR_API_KEY", "Linear key", "lin_", "api_", alphanumeric, 40},
	{"notion", "NOTION_TOKEN", "Notion token", "nt", "n_", alphanumeric, 46},
	{"figma", "FIGMA_TOKEN", "Figma token", "fi", "gd_", alphanumeric + "-_", 40},
	{"planetscale", "PSCALE_TOKEN", "PlanetScale token", "pscale_", "tkn_", alphanumeric + "-_", 43},
	{"supabase", "SUPABASE_TOKEN", "Supabase token", "sb", "p_", lowHex, 40},
	{"sentry", "SENTRY_AUTH_TOKEN", "Sentry token", "snt", "ryu_", lowHex, 64},
	{"newrelic", "NEW_RELIC_KEY", "New Relic key", "NR", "AK-", upperCase + digits, 27},
	{"square", "SQUARE_TOKEN", "Square token", "sq0", "csp-", alphanumeric + "-_", 43},
	{"adobe", "ADOBE_SECRET", "Adobe secret", "p8", "e-", alphanumeric, 32},
	{"age", "AGE_KEY", "age key", "AGE-SECRET-", "KEY-1", upperCase + digits, 58},
	{"telegram", "TELEGRAM_TOKEN", "bot token", "7654321098", ":AA", alphanumeric + "-_", 33},
	{"azure-client", "AZURE_CLIENT_SECRET", "client secret", "aB3", "8Q~", alphanumeric + "-_.", 34},
	{"groq", "GROQ_API_KEY", "Groq key", "gs", "k_", alphanumeric, 52},
	{"docker", "DOCKER_PAT", "Docker token", "dckr_", "pat_", alphanumeric + "-_", 27},
	{"tailscale", "TS_AUTHKEY", "Tailscale key", "tsk", "ey-auth-kABC123CNTRL-", alphanumeric, 32},
	{"rubygems", "GEM_KEY", "gem key", "ruby", "gems_", lowHex, 48},
	{"atlassian", "JIRA_TOKEN", "Jira token", "ATA", "TT3xFfGF0", alphanumeric + "-_", 170},
}

// plantedSecrets returns the corpus: structured secrets, and secrets that only a name reveals.
func plantedSecrets(r *rand.Rand) []planted {
	var all []planted
	add := func(p planted) {
		if len(p.hidden) == 0 {
			p.hidden = []string{p.text}
		}
		all = append(all, p)
	}
	for range 3 {
		for _, k := range kinds {
			// not ending in a dash or a dot
			tail := draw(r, k.chars, k.n-2) + draw(r, alphanumericOf(k.chars), 2)
			if k.kind == "sendgrid-like" {
				tail = tail[:22] + "." + tail[22:65]
			}
			add(planted{kind: k.kind, structured: true, name: k.name, words: k.words, text: k.a + k.b + tail, hidden: []string{tail}})
		}
		for _, p := range structuredOther(r) {
			p.structured = true
			add(p)
		}
	}
	for range 8 {
		for _, u := range unstructured(r) {
			add(u)
		}
	}
	return all
}

func alphanumericOf(chars string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_.", c) {
			return -1
		}
		return c
	}, chars)
}

// structuredOther returns secrets with more than one part.
func structuredOther(r *rand.Rand) []planted {
	b64url := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	slackPath := "T" + draw(r, upperCase+digits, 9) + "/B" + draw(r, upperCase+digits, 10) + "/" + draw(r, alphanumeric, 24)
	jwtTail := draw(r, alphanumeric+"-_", 42) + "x"
	sas := url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(draw(r, alphanumeric, 32))))
	urlPass := draw(r, alphanumeric, 14)
	mongoPass := draw(r, alphanumeric, 18)
	adoPass := draw(r, alphanumeric+"!*", 15) + "7"
	account := base64.StdEncoding.EncodeToString([]byte(draw(r, alphanumeric, 64)))
	key := base64.StdEncoding.EncodeToString([]byte(draw(r, alphanumeric, 600)))
	var pem strings.Builder
	for i := 0; i < len(key); i += 64 {
		pem.WriteString(key[i:min(len(key), i+64)] + "\n")
	}
	lines := strings.Fields(pem.String())
	return []planted{
		{kind: "jwt", name: "SESSION_TOKEN", words: "session token", text: b64url(`{"alg":"HS256","typ":"JWT"}`) + "." + b64url(`{"sub":"`+draw(r, digits, 10)+`"}`) + "." + jwtTail, hidden: []string{jwtTail}},
		{kind: "slack-webhook", name: "SLACK_WEBHOOK_URL", words: "webhook", text: "https://hooks.slack" + ".com/services/" + slackPath, hidden: []string{slackPath}},
		{kind: "postgres-url", name: "DATABASE_URL", words: "database URL", text: "postgres" + "://app:" + urlPass + "@db.internal:5432/app", hidden: []string{urlPass}},
		{kind: "mongo-url", name: "MONGO_URI", words: "connection string", text: "mongodb+srv" + "://svc:" + mongoPass + "@c0.ab1cd.mongodb.net/x?retryWrites=true", hidden: []string{mongoPass}},
		{kind: "ado", name: "CONNECTION_STRING", words: "connection string", text: "Server=tcp:db1,1433;Database=app;User Id=sa;Pass" + "word=" + adoPass + ";Encrypt=True", hidden: []string{adoPass}},
		{kind: "azure-storage", name: "STORAGE", words: "connection string", text: "DefaultEndpointsProtocol=https;AccountName=ex;Account" + "Key=" + account + ";EndpointSuffix=core.windows.net", hidden: []string{account}},
		{kind: "sas", name: "BLOB_URL", words: "blob URL", text: "https://ex.blob.core.windows.net/c/f.txt?sv=2022-11-02&se=2030-01-01&sp=r&si" + "g=" + sas, hidden: []string{sas}},
		{kind: "pem", name: "TLS_KEY", words: "private key", text: "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + pem.String() + "-----END RSA PRIV" + "ATE KEY-----", hidden: lines[:len(lines)-1]},
		{kind: "pem-cut", name: "TLS_KEY", words: "private key", text: "-----BEGIN PRIV" + "ATE KEY-----\n" + strings.Join(lines[:6], "\n"), hidden: lines[:6]},
		{kind: "pgp", name: "GPG_KEY", words: "private key", text: "-----BEGIN PGP PRIV" + "ATE KEY BLOCK-----\n\n" + pem.String() + "=aB3x\n-----END PGP PRIV" + "ATE KEY BLOCK-----", hidden: lines[:len(lines)-1]},
	}
}

// unstructured returns one secret of each kind that has no format.
func unstructured(r *rand.Rand) []planted {
	symbols := "!#%*+-_=?^~"
	strong := draw(r, lowerCase, 4) + draw(r, upperCase, 3) + draw(r, digits, 3) + draw(r, symbols, 2) + draw(r, alphanumeric, 4)
	b := make([]byte, 32)
	for i := range b {
		b[i] = byte(r.UintN(256))
	}
	human := []string{"Summer", "Winter", "Tiger", "Coffee", "Dragon", "Monkey", "Sunshine", "Liverpool"}[r.IntN(8)]
	return []planted{
		{kind: "password-16", name: "DB_PASSWORD", words: "database password", text: draw(r, alphanumeric, 14) + "7x"},
		{kind: "password-symbols", name: "ADMIN_PASSWORD", words: "admin password", text: strong},
		{kind: "password-human", name: "SMTP_PASSWORD", words: "SMTP password", text: human + draw(r, digits, 2) + "!" + draw(r, digits, 1)},
		{kind: "password-word-digits", name: "REDIS_PASSWORD", words: "Redis password", text: strings.ToLower(human) + draw(r, digits, 3)},
		{kind: "hex-32", name: "API_KEY", words: "API key", text: draw(r, lowHex, 31) + "7"},
		{kind: "hex-64", name: "JWT_SECRET", words: "JWT secret", text: hex.EncodeToString(b)},
		{kind: "base64-44", name: "ENCRYPTION_KEY", words: "encryption key", text: base64.StdEncoding.EncodeToString(b)},
		{kind: "aws-secret", name: "AWS_SECRET_ACCESS_KEY", words: "secret access key", text: draw(r, alphanumeric+"+/", 38) + "a9"},
		{kind: "token-24", name: "AUTH_TOKEN", words: "auth token", text: draw(r, alphanumeric, 24)},
		{kind: "token-40", name: "CLIENT_SECRET", words: "client secret", text: draw(r, alphanumeric+"-_", 38) + "q8"},
		{kind: "token-lower", name: "ACCESS_TOKEN", words: "access token", text: draw(r, lowerCase+digits, 28) + "k4"},
	}
}
