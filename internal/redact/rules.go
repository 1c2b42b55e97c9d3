package redact

import (
	"strings"
	"sync"
)

// format is a provider's format of a secret: a fixed prefix, then a number of bytes of a set.
type format struct {
	*family
	prefix string // at least three bytes, matched exactly
}

// family is formats that differ only in their prefix.
type family struct {
	rule     string
	prefixes string // separated by blanks
	set      setName
	min, max int  // length of the text after the prefix; 0 means no maximum
	wordy    bool // the prefix may begin an ordinary word or name: the rest must look random
	inside   bool // the prefix is inside the secret; check finds its start
	check    func(text string, start, end int) (int, int, bool)
}

// known are the formats, made at the first scan.
var known struct {
	once    sync.Once
	formats []format
}

// formats returns the formats in the order in which they are tried at each occurrence of a prefix.
func formats() []format {
	known.once.Do(func() {
		for i := range families {
			for prefix := range strings.FieldsSeq(families[i].prefixes) {
				known.formats = append(known.formats, format{&families[i], prefix})
			}
		}
	})
	return known.formats
}

// families are the formats by what they have alike. A check may move either end.
//
// Lengths are those that the providers document or issue, or somewhat less if they have varied. The
// text after a wordy prefix must also look random.
var families = [...]family{
	{rule: "github-token", prefixes: "ghp_ gho_ ghu_", set: alnumSet, min: 30, max: 255},
	{rule: "github-token", prefixes: "ghs_", set: dotSet, min: 30, max: 1024},
	{rule: "github-token", prefixes: "ghr_", set: alnumSet, min: 30, max: 255},
	{rule: "github-token", prefixes: "github_pat_", set: wordSet, min: 36, max: 255},
	{rule: "gitlab-token", prefixes: "glpat-", set: dotSet, min: 18, max: 320},
	{rule: "gitlab-token", prefixes: "gldt-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefixes: "glrt-", set: dotSet, min: 20, max: 100},
	{rule: "gitlab-token", prefixes: "glcbt- glptt- glft- glimt- glagent- gloas- glsoat-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefixes: "GR1348941", set: dashSet, min: 20, max: 60},
	{rule: "bitbucket-token", prefixes: "ATBB", set: alnumSet, min: 32, max: 40},
	{rule: "bitbucket-token", prefixes: "ATCTT3xFfG", set: anySet, min: 60},
	{rule: "atlassian-token", prefixes: "ATATT3xFfG", set: anySet, min: 60},

	{rule: "aws-access-key", prefixes: "AKIA ASIA ABIA ACCA", set: upperSet, min: 16, max: 16},
	{rule: "aws-session-token", prefixes: "IQoJb3JpZ2lu FwoGZXIvYXdz", set: base64Set, min: 80},
	{rule: "aws-bedrock-key", prefixes: "ABSKQmVkcm9ja0FQSUtleS", set: base64Set, min: 60},
	{rule: "google-api-key", prefixes: "AIza", set: dashSet, min: 33, max: 40},
	{rule: "google-oauth-secret", prefixes: "GOCSPX-", set: dashSet, min: 20, max: 40},
	{rule: "google-oauth-token", prefixes: "ya29.", set: dotSet, min: 30},
	{rule: "google-oauth-token", prefixes: "1//0", set: dashSet, min: 40, max: 160, wordy: true},
	{rule: "azure-client-secret", prefixes: "8Q~ 7Q~", set: dotTilde, min: 31, max: 36, inside: true, check: azureSecret},
	{rule: "azure-key", prefixes: "JQQJ99", set: alnumSet, min: 20, max: 60, inside: true, check: azureKey},
	{rule: "azure-key", prefixes: "AAAAACOG", set: alnumSet, min: 4, max: 4, inside: true, check: azureKey},
	{rule: "azure-key", prefixes: "+ASt +ABa", set: base64Set, min: 8, max: 12, inside: true, check: azureKey},
	{rule: "digitalocean-token", prefixes: "dop_v1_ doo_v1_ dor_v1_", set: hexSet, min: 60, max: 70},
	{rule: "alibaba-access-key", prefixes: "LTAI", set: alnumSet, min: 16, max: 26, wordy: true},
	{rule: "tencent-secret-id", prefixes: "AKID", set: alnumSet, min: 32, max: 32},
	{rule: "yandex-key", prefixes: "AQVN", set: dashSet, min: 35, max: 40},
	{rule: "cloudflare-key", prefixes: "v1.0-", set: dashSet, min: 150, max: 190, wordy: true},
	{rule: "flyio-token", prefixes: "fm2_", set: base64Set, min: 60},
	{rule: "flyio-token", prefixes: "fo1_", set: dashSet, min: 40, max: 60},
	{rule: "heroku-key", prefixes: "HRKU-", set: dashSet, min: 36, max: 80},
	{rule: "netlify-token", prefixes: "nfp_", set: alnumSet, min: 36, max: 60},
	{rule: "render-key", prefixes: "rnd_", set: alnumSet, min: 24, max: 40, wordy: true},
	{rule: "scalingo-token", prefixes: "tk-us-", set: dashSet, min: 40, max: 60, wordy: true},
	{rule: "aiven-token", prefixes: "AVNS_", set: dashSet, min: 15, max: 40},
	{rule: "planetscale-token", prefixes: "pscale_tkn_ pscale_pw_ pscale_oauth_", set: dotSet, min: 30, max: 70},
	{rule: "supabase-token", prefixes: "sbp_", set: alnumSet, min: 40, max: 48},
	{rule: "supabase-token", prefixes: "sb_secret_", set: dashSet, min: 24, max: 60},
	{rule: "neon-key", prefixes: "napi_", set: alnumSet, min: 40, max: 80},
	{rule: "hashicorp-vault-token", prefixes: "hvs.", set: dashSet, min: 24, max: 300},
	{rule: "hashicorp-vault-token", prefixes: "hvb.", set: dashSet, min: 24, max: 400},
	{rule: "hashicorp-vault-token", prefixes: "hvr.", set: dashSet, min: 24, max: 300},
	{rule: "terraform-token", prefixes: "atlasv1.", set: dashSet, min: 50, max: 80, inside: true, check: terraformToken},
	{rule: "pulumi-token", prefixes: "pul-", set: hexSet, min: 40, max: 40, wordy: true},
	{rule: "doppler-token", prefixes: "dp.pt.", set: alnumSet, min: 38, max: 50},
	{rule: "doppler-token", prefixes: "dp.st.", set: dotSet, min: 38, max: 90},
	{rule: "doppler-token", prefixes: "dp.ct. dp.sa. dp.scim. dp.audit.", set: alnumSet, min: 38, max: 50},
	{rule: "onepassword-token", prefixes: "ops_eyJ", set: base64Set, min: 80},
	{rule: "age-secret-key", prefixes: "AGE-SECRET-KEY-1", set: upperSet, min: 50, max: 60},
	{rule: "age-secret-key", prefixes: "AGE-PLUGIN-", set: dashSet, min: 30, max: 300, wordy: true},
	{rule: "tailscale-key", prefixes: "tskey-", set: dashSet, min: 24, max: 120},

	{rule: "openai-key", prefixes: "sk-proj- sk-svcacct- sk-admin-", set: dashSet, min: 20, max: 256},
	{rule: "anthropic-key", prefixes: "sk-ant-", set: dashSet, min: 20, max: 256},
	{rule: "openrouter-key", prefixes: "sk-or-v1-", set: hexSet, min: 40, max: 80},
	{rule: "openai-key", prefixes: "sk-", set: alnumSet, min: 20, max: 256, wordy: true},
	{rule: "huggingface-token", prefixes: "hf_ api_org_", set: alnumSet, min: 30, max: 40, wordy: true},
	{rule: "groq-key", prefixes: "gsk_", set: alnumSet, min: 40, max: 64, wordy: true},
	{rule: "xai-key", prefixes: "xai-", set: alnumSet, min: 60, max: 100},
	{rule: "perplexity-key", prefixes: "pplx-", set: alnumSet, min: 40, max: 64},
	{rule: "replicate-token", prefixes: "r8_", set: alnumSet, min: 37, max: 40},
	{rule: "langsmith-key", prefixes: "lsv2_pt_ lsv2_sk_", set: wordSet, min: 32, max: 60},
	{rule: "elevenlabs-key", prefixes: "sk_", set: hexSet, min: 48, max: 48, wordy: true},
	{rule: "pinecone-key", prefixes: "pcsk_", set: wordSet, min: 40, max: 90},
	{rule: "tavily-key", prefixes: "tvly-", set: dashSet, min: 24, max: 60},
	{rule: "e2b-key", prefixes: "e2b_", set: hexSet, min: 40, max: 40, wordy: true},
	{rule: "nvidia-key", prefixes: "nvapi-", set: dashSet, min: 60, max: 72},
	{rule: "together-key", prefixes: "tgp_v1_", set: dashSet, min: 40, max: 50},
	{rule: "fireworks-key", prefixes: "fw_", set: alnumSet, min: 22, max: 30, wordy: true},
	{rule: "jina-key", prefixes: "jina_", set: dashSet, min: 55, max: 65, wordy: true},
	{rule: "firecrawl-key", prefixes: "fc-", set: hexSet, min: 32, max: 32, wordy: true},
	{rule: "google-api-key", prefixes: "AQ.Ab8R", set: dashSet, min: 40, max: 60},
	{rule: "cursor-key", prefixes: "crsr_", set: hexSet, min: 64, max: 64},
	{rule: "vercel-key", prefixes: "vck_", set: alnumSet, min: 50, max: 64},
	{rule: "databricks-token", prefixes: "dapi", set: hexSet, min: 32, max: 32},

	{rule: "slack-token", prefixes: "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefixes: "xoxd-", set: anySet, min: 20, max: 400},
	{rule: "slack-token", prefixes: "xoxe- xoxe.xox", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefixes: "xapp-", set: dashSet, min: 20, max: 400},
	{rule: "slack-webhook", prefixes: "hooks.slack.com/", set: anySet, min: 35, max: 200, check: webhookPath},
	{rule: "slack-webhook", prefixes: "hooks.slack.com%2F", set: dashPercent, min: 35, max: 200, check: webhookPath},
	{rule: "discord-webhook", prefixes: "discord.com/api/ discordapp.com/api/", set: anySet, min: 60, max: 200, check: webhookPath},
	{rule: "teams-webhook", prefixes: "webhook.office.com/", set: atSet, min: 60, max: 300, check: webhookPath},
	{rule: "telegram-token", prefixes: ":AA", set: dashSet, min: 32, max: 34, inside: true, check: telegramToken},
	{rule: "sendgrid-key", prefixes: "SG.", set: dotSet, min: 50, max: 80},
	{rule: "sendinblue-key", prefixes: "xkeysib- xsmtpsib-", set: dashSet, min: 70, max: 90},
	{rule: "mailgun-key", prefixes: "key-", set: hexSet, min: 32, max: 32, wordy: true},
	{rule: "resend-key", prefixes: "re_", set: wordSet, min: 28, max: 40, wordy: true},

	{rule: "stripe-key", prefixes: "sk_live_ sk_test_ rk_live_ rk_test_", set: alnumSet, min: 16, max: 250},
	{rule: "stripe-webhook-secret", prefixes: "whsec_", set: base64Set, min: 24, max: 100},
	{rule: "square-token", prefixes: "sq0atp-", set: dashSet, min: 20, max: 50},
	{rule: "square-token", prefixes: "sq0csp-", set: dashSet, min: 40, max: 50},
	{rule: "square-token", prefixes: "EAAA", set: dashSet, min: 56, max: 64, wordy: true},
	{rule: "facebook-token", prefixes: "EAA", set: alnumSet, min: 80, max: 300, wordy: true},
	{rule: "braintree-token", prefixes: "access_token$production$", set: dollarSet, min: 40, max: 60},
	{rule: "plaid-token", prefixes: "access-production- access-sandbox-", set: dashSet, min: 36, max: 36},
	{rule: "flutterwave-key", prefixes: "FLWSECK", set: dashSet, min: 20, max: 60},
	{rule: "shippo-token", prefixes: "shippo_live_", set: hexSet, min: 40, max: 40},
	{rule: "easypost-key", prefixes: "EZAK", set: alnumSet, min: 54, max: 54},
	{rule: "shopify-token", prefixes: "shpat_ shpca_ shppa_ shpss_", set: hexSet, min: 32, max: 40},

	{rule: "duffel-token", prefixes: "duffel_live_ duffel_test_", set: dashSet, min: 43, max: 43},
	{rule: "lob-key", prefixes: "live_", set: hexSet, min: 35, max: 35, wordy: true},
	{rule: "polar-token", prefixes: "polar_oat_ polar_pat_", set: alnumSet, min: 36, max: 64},
	{rule: "onfido-token", prefixes: "api_live. api_live_us. api_live_ca. api_sandbox.", set: dotSet, min: 40, max: 60},

	{rule: "npm-token", prefixes: "npm_", set: alnumSet, min: 36, max: 50},
	{rule: "pypi-token", prefixes: "pypi-AgE", set: dashSet, min: 50, max: 400},
	{rule: "rubygems-key", prefixes: "rubygems_", set: hexSet, min: 48, max: 48},
	{rule: "crates-token", prefixes: "cio", set: alnumSet, min: 32, max: 32, wordy: true},
	{rule: "nuget-key", prefixes: "oy2", set: alnumSet, min: 43, max: 43, wordy: true},
	{rule: "clojars-token", prefixes: "CLOJARS_", set: alnumSet, min: 60, max: 60},
	{rule: "artifactory-token", prefixes: "cmVmdGtuOjAx", set: alnumSet, min: 40, max: 60},
	{rule: "k3s-token", prefixes: "::server: ::node:", set: alnumSet, min: 16, max: 64, inside: true, check: k3sToken},
	{rule: "harness-token", prefixes: "pat. sat.", set: dotSet, min: 68, max: 68, wordy: true, check: harnessToken},
	{rule: "deno-token", prefixes: "ddp_ ddw_", set: alnumSet, min: 36, max: 36, wordy: true},
	{rule: "inngest-key", prefixes: "signkey-prod- signkey-branch-", set: hexSet, min: 32, max: 64},
	{rule: "mongodb-secret", prefixes: "mdb_sa_sk_", set: dashSet, min: 36, max: 50},
	{rule: "xata-key", prefixes: "xau_", set: alnumSet, min: 36, max: 50, wordy: true},
	{rule: "docker-token", prefixes: "dckr_pat_", set: dashSet, min: 24, max: 40},
	{rule: "docker-token", prefixes: "dckr_oat_", set: dashSet, min: 24, max: 50},
	{rule: "artifactory-key", prefixes: "AKCp", set: alnumSet, min: 65, max: 75, wordy: true},
	{rule: "circleci-token", prefixes: "CCIPAT_ CCIPRJ_", set: wordSet, min: 40, max: 80},
	{rule: "buildkite-token", prefixes: "bkua_", set: alnumSet, min: 40, max: 40},
	{rule: "sonar-token", prefixes: "squ_ sqp_ sqa_", set: hexSet, min: 40, max: 40},
	{rule: "sourcegraph-token", prefixes: "sgp_", set: wordSet, min: 40, max: 70},
	{rule: "linear-key", prefixes: "lin_api_", set: alnumSet, min: 32, max: 48},
	{rule: "linear-key", prefixes: "lin_oauth_", set: alnumSet, min: 32, max: 72},
	{rule: "notion-token", prefixes: "ntn_", set: alnumSet, min: 40, max: 60},
	{rule: "notion-token", prefixes: "secret_", set: alnumSet, min: 43, max: 43, wordy: true},
	{rule: "figma-token", prefixes: "figd_ figoh_", set: dashSet, min: 36, max: 60},
	{rule: "postman-key", prefixes: "PMAK-", set: dashSet, min: 50, max: 64},
	{rule: "airtable-token", prefixes: "pat", set: dotSet, min: 79, max: 79, wordy: true, check: airtableToken},
	{rule: "hubspot-token", prefixes: "pat-na1- pat-eu1-", set: dashSet, min: 36, max: 36},
	{rule: "contentful-token", prefixes: "CFPAT-", set: dashSet, min: 40, max: 50},
	{rule: "typeform-token", prefixes: "tfp_", set: dotSet, min: 40, max: 70},
	{rule: "readme-key", prefixes: "rdme_", set: alnumSet, min: 60, max: 80},
	{rule: "prefect-key", prefixes: "pnu_", set: alnumSet, min: 36, max: 36},
	{rule: "sentry-token", prefixes: "sntrys_", set: base64Under, min: 40, max: 400},
	{rule: "sentry-token", prefixes: "sntryu_", set: hexSet, min: 60, max: 70},
	{rule: "grafana-token", prefixes: "glsa_", set: wordSet, min: 36, max: 48},
	{rule: "grafana-token", prefixes: "glc_", set: base64Set, min: 32, max: 400, wordy: true},
	{rule: "newrelic-key", prefixes: "NRAK-", set: alnumSet, min: 27, max: 27},
	{rule: "newrelic-key", prefixes: "NRJS-", set: alnumSet, min: 19, max: 19},
	{rule: "newrelic-key", prefixes: "NRII-", set: dashSet, min: 32, max: 32},
	{rule: "dynatrace-token", prefixes: "dt0c01.", set: dotSet, min: 80, max: 96},
	{rule: "posthog-key", prefixes: "phx_", set: alnumSet, min: 40, max: 60},
	{rule: "launchdarkly-key", prefixes: "sdk-", set: dashSet, min: 36, max: 36, wordy: true},
	{rule: "axiom-token", prefixes: "xaat- xapt-", set: dashSet, min: 36, max: 36},
	{rule: "mapbox-token", prefixes: "sk.eyJ", set: dotSet, min: 60, max: 120},
	{rule: "frameio-token", prefixes: "fio-u-", set: dashSet, min: 64, max: 64},
	{rule: "yandex-token", prefixes: "y0_", set: dashSet, min: 50, max: 70, wordy: true},
	{rule: "adobe-secret", prefixes: "p8e-", set: dashSet, min: 32, max: 40},
	{rule: "twitter-bearer", prefixes: "AAAAAAAAAAAAAAAAAAAAA", set: anySet, min: 60, max: 120},
	{rule: "wakatime-key", prefixes: "waka_", set: dashSet, min: 36, max: 36},
	{rule: "instagram-token", prefixes: "IGQV", set: dashSet, min: 80, max: 300, wordy: true},
	{rule: "dropbox-token", prefixes: "sl.", set: dashSet, min: 100, max: 1400, wordy: true},

	// Hashes of passwords, which allow guessing.
	{rule: "password-hash", prefixes: "$2a$ $2b$ $2y$", set: cryptSet, min: 56, max: 56},
	{rule: "password-hash", prefixes: "$argon2 $scrypt$ $pbkdf2 pbkdf2_sha pbkdf2:sha scrypt:32768: bcrypt_sha256$", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefixes: "$apr1$ $1$", set: cryptSet, min: 24, max: 40},
	{rule: "password-hash", prefixes: "$5$", set: cryptSet, min: 43, max: 90},
	{rule: "password-hash", prefixes: "$6$", set: cryptSet, min: 86, max: 130},
	{rule: "password-hash", prefixes: "$y$ $7$", set: cryptSet, min: 50, max: 130},
	{rule: "password-hash", prefixes: "$P$", set: cryptSet, min: 31, max: 31},
	{rule: "password-hash", prefixes: "$S$", set: cryptSet, min: 52, max: 52},
	{rule: "password-hash", prefixes: "{SSHA", set: hashSet, min: 30, max: 130},
	{rule: "password-hash", prefixes: "SCRAM-SHA-256$", set: cryptSet, min: 90, max: 160},

	{rule: "wallet-key", prefixes: "xprv yprv zprv tprv uprv vprv", set: alnumSet, min: 100, max: 112},
	{rule: "wallet-key", prefixes: "nsec1", set: alnumSet, min: 58, max: 58},
	{rule: "nats-seed", prefixes: "SUA SAA SOA", set: upperSet, min: 55, max: 55, wordy: true},

	{rule: "jwt", prefixes: "eyJ", set: dotSet, min: 40, check: jwt},
}

// at locates the secret that begins with the format's prefix at text[i].
func (f *format) at(text string, i int) (start, end int, ok bool) {
	if !strings.HasPrefix(text[i:], f.prefix) || !f.inside && !boundary(text, i) {
		return 0, 0, false
	}
	limit := 4096
	if f.max > 0 {
		limit = f.max + 1
	}
	body := i + len(f.prefix)
	end = f.set.run(text, body, limit)
	for end > body && isOneOf(text[end-1], ".:,") {
		end-- // the end of a sentence
	}
	if n := end - body; n < f.min || f.max > 0 && n > f.max {
		return 0, 0, false
	}
	if f.check != nil {
		return f.check(text, i, end)
	}
	if !wellMade(text[body:end], f) {
		return 0, 0, false
	}
	return i, end, true
}

// wellMade reports whether the text after a prefix can be a secret: not x's or stars and, for a
// wordy prefix, not words joined by dashes.
func wellMade(body string, f *format) bool {
	sh := shapeOf(body)
	if sh.distinct < 5 {
		return false
	}
	return !f.wordy || sh.random() || sh.digit > 1 && (sh.symbol == 0 || sh.parts*5 > sh.letters()+sh.digit)
}

func azureSecret(text string, start, end int) (int, int, bool) {
	start = alnumOr(text, start, 3, "_~.-")
	return start, end, boundary(text, start) && end-start >= 37
}

func alnumOr(text string, at, n int, more string) int {
	for ; n > 0 && at > 0 && (sets[alnumSet].has(text[at-1]) || isOneOf(text[at-1], more)); n-- {
		at--
	}
	return at
}

func azureKey(text string, start, end int) (int, int, bool) {
	start = base64Plain.back(text, start, 80)
	return start, end, end-start >= 80 && end-start <= 90
}

func terraformToken(text string, start, end int) (int, int, bool) {
	if start == 0 || text[start-1] != '.' {
		return 0, 0, false
	}
	from := alnumSet.back(text, start-1, 20)
	return from, end, start-1-from >= 10
}

func webhookPath(text string, start, end int) (int, int, bool) {
	i := strings.LastIndexAny(text[start:end], "/%") // %2F
	if i < 0 {
		return 0, 0, false
	}
	last := shapeOf(text[start+i+1 : end])
	return start, end, last.n >= 20 && last.digit > 0 && last.distinct > 7
}

func telegramToken(text string, start, end int) (int, int, bool) {
	from := digitSet.back(text, start, 12)
	n := start - from
	return from, end, n >= 8 && n <= 11 && (boundary(text, from) || strings.HasSuffix(text[:from], "/bot")) && shapeOf(text[start:end]).distinct > 8
}

// k3sToken requires the digest of a cluster before the secret.
func k3sToken(text string, start, end int) (int, int, bool) {
	from := alnumSet.back(text, start, 70)
	return from, end, strings.HasPrefix(text[from:], "K10")
}

func harnessToken(text string, start, end int) (int, int, bool) {
	return start, end, text[start+26] == '.' && text[start+51] == '.' && isHex(text[start+27:start+51])
}

func airtableToken(text string, start, end int) (int, int, bool) {
	dot := start + len("pat") + 14
	return start, end, text[dot] == '.' && isHex(text[dot+1:end])
}

// wallet reports whether text[start:end] is made like a key in Bitcoin's import format: 51 or 52
// digits of base 58.
func wallet(text string, start, end int) (int, int, bool) {
	n, first := end-start, text[start]
	if !(n == 51 && first == '5' && isOneOf(text[start+1], "HJK") || n == 52 && isOneOf(first, "KL")) {
		return 0, 0, false
	}
	v := text[start:end]
	return start, end, !strings.ContainsAny(v, "0OIl+/_-") && shapeOf(v).random() && shapeOf(v).digit > 1
}

// jwt requires a header, a payload and a signature, or at least a long payload if the signature is
// cut off.
func jwt(text string, start, end int) (int, int, bool) {
	end = jwtLines(text, start, end)
	header, rest, ok := strings.Cut(joined(text[start:end]), ".")
	payload, signature, _ := strings.Cut(rest, ".")
	if !ok || len(header) < 12 || len(payload) < 12 {
		return 0, 0, false
	}
	// not encrypted either
	if !strings.HasPrefix(payload, "eyJ") && strings.Count(signature, ".") < 2 {
		return 0, 0, false
	}
	return start, end, len(signature) >= 8 || len(payload) >= 40
}

// jwtLines returns the end of a token that continues over lines of one width.
func jwtLines(text string, start, end int) int {
	width := end - start
	if width > 128 {
		return end
	}
	for {
		next := end
		for _, eol := range [...]string{"\n", "\r\n", `\n`} {
			if strings.HasPrefix(text[end:], eol) {
				next = end + len(eol)
			}
		}
		for next > end && next < len(text) && text[next] == ' ' {
			next++
		}
		to := dotSet.run(text, next, width+1)
		if next == end || to-next > width || to-next < 8 || shapeOf(text[next:to]).digit == 0 {
			return end
		}
		if end = to; to-next < width {
			return end
		}
	}
}

// runFormat is a format without a fixed prefix: a run of letters and digits of one length.
type runFormat struct {
	rule string
	// text[start:end] is a whole run of alnum + / = _ -
	match func(text string, start, end int) (int, int, bool)
}

var runFormats = [...]runFormat{
	{"twilio-key", func(text string, start, end int) (int, int, bool) {
		return start, end, end-start == 34 && text[start:start+2] == "SK" && isHex(text[start+2:end]) && shapeOf(text[start:end]).upper == 2
	}},
	{"mailchimp-key", func(text string, start, end int) (int, int, bool) {
		n := end - start
		return start, end, (n == 36 || n == 37) && text[start+32:start+35] == "-us" && isHex(text[start:start+32])
	}},
	{"mailgun-key", func(text string, start, end int) (int, int, bool) {
		v := text[start:end]
		return start, end, len(v) == 50 && v[32] == '-' && v[41] == '-' && isHex(v[:32]+v[33:41]+v[42:])
	}},
	{"newrelic-key", func(text string, start, end int) (int, int, bool) {
		return start, end, end-start == 40 && text[end-4:end] == "NRAL" && isHex(text[start:end-4])
	}},
	{"wallet-key", wallet},
	{"discord-token", func(text string, start, end int) (int, int, bool) {
		n := end - start
		if n < 23 || n > 28 || !isOneOf(text[start], "MNO") || end+8 > len(text) || text[end] != '.' || text[end+7] != '.' {
			return 0, 0, false
		}
		last := dashSet.run(text, end+8, 50)
		return start, last, last-end-8 >= 27 && shapeOf(text[start:last]).random()
	}},
}

// formatOf returns the rule of the format that a value begins with, or nothing.
func formatOf(v string) string {
	for _, f := range formats() {
		if strings.HasPrefix(v, f.prefix) {
			if _, _, ok := f.at(v, 0); ok {
				return f.rule
			}
		}
	}
	return ""
}
