package redact

import "strings"

// format is a provider's format of a secret: a fixed prefix, then a number of bytes of a set.
type format struct {
	rule     string
	prefix   string // at least three bytes, matched exactly
	set      setName
	min, max int  // length of the text after the prefix; 0 means no maximum
	wordy    bool // the prefix may begin an ordinary word or name: the rest must look random
	inside   bool // the prefix is inside the secret; check finds its start
	check    func(text string, start, end int) (int, int, bool)
}

// formats are tried in order at each occurrence of a prefix. A check may move either end.
//
// Lengths are those that the providers document or issue, or somewhat less if they have varied. The
// text after a wordy prefix must also look random.
var formats = [...]format{
	{rule: "github-token", prefix: "ghp_", set: alnumSet, min: 30, max: 255},
	{rule: "github-token", prefix: "gho_", set: alnumSet, min: 30, max: 255},
	{rule: "github-token", prefix: "ghu_", set: alnumSet, min: 30, max: 255},
	{rule: "github-token", prefix: "ghs_", set: dotSet, min: 30, max: 1024},
	{rule: "github-token", prefix: "ghr_", set: alnumSet, min: 30, max: 255},
	{rule: "github-token", prefix: "github_pat_", set: wordSet, min: 36, max: 255},
	{rule: "gitlab-token", prefix: "glpat-", set: dotSet, min: 18, max: 320},
	{rule: "gitlab-token", prefix: "gldt-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glrt-", set: dotSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glcbt-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glptt-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glft-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glimt-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glagent-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "gloas-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "glsoat-", set: dashSet, min: 20, max: 100},
	{rule: "gitlab-token", prefix: "GR1348941", set: dashSet, min: 20, max: 60},
	{rule: "bitbucket-token", prefix: "ATBB", set: alnumSet, min: 32, max: 40},
	{rule: "bitbucket-token", prefix: "ATCTT3xFfG", set: anySet, min: 60},
	{rule: "atlassian-token", prefix: "ATATT3xFfG", set: anySet, min: 60},

	{rule: "aws-access-key", prefix: "AKIA", set: upperSet, min: 16, max: 16},
	{rule: "aws-access-key", prefix: "ASIA", set: upperSet, min: 16, max: 16},
	{rule: "aws-access-key", prefix: "ABIA", set: upperSet, min: 16, max: 16},
	{rule: "aws-access-key", prefix: "ACCA", set: upperSet, min: 16, max: 16},
	{rule: "aws-session-token", prefix: "IQoJb3JpZ2lu", set: base64Set, min: 80},
	{rule: "aws-session-token", prefix: "FwoGZXIvYXdz", set: base64Set, min: 80},
	{rule: "aws-bedrock-key", prefix: "ABSKQmVkcm9ja0FQSUtleS", set: base64Set, min: 60},
	{rule: "google-api-key", prefix: "AIza", set: dashSet, min: 33, max: 40},
	{rule: "google-oauth-secret", prefix: "GOCSPX-", set: dashSet, min: 20, max: 40},
	{rule: "google-oauth-token", prefix: "ya29.", set: dotSet, min: 30},
	{rule: "google-oauth-token", prefix: "1//0", set: dashSet, min: 40, max: 160, wordy: true},
	{rule: "azure-client-secret", prefix: "8Q~", set: dotTilde, min: 31, max: 36, inside: true, check: azureSecret},
	{rule: "azure-client-secret", prefix: "7Q~", set: dotTilde, min: 31, max: 36, inside: true, check: azureSecret},
	{rule: "azure-key", prefix: "JQQJ99", set: alnumSet, min: 20, max: 60, inside: true, check: azureKey},
	{rule: "azure-key", prefix: "AAAAACOG", set: alnumSet, min: 4, max: 4, inside: true, check: azureKey},
	{rule: "digitalocean-token", prefix: "dop_v1_", set: hexSet, min: 60, max: 70},
	{rule: "digitalocean-token", prefix: "doo_v1_", set: hexSet, min: 60, max: 70},
	{rule: "digitalocean-token", prefix: "dor_v1_", set: hexSet, min: 60, max: 70},
	{rule: "alibaba-access-key", prefix: "LTAI", set: alnumSet, min: 16, max: 26, wordy: true},
	{rule: "tencent-secret-id", prefix: "AKID", set: alnumSet, min: 32, max: 32},
	{rule: "yandex-key", prefix: "AQVN", set: dashSet, min: 35, max: 40},
	{rule: "cloudflare-key", prefix: "v1.0-", set: dashSet, min: 150, max: 190, wordy: true},
	{rule: "flyio-token", prefix: "fm2_", set: base64Set, min: 60},
	{rule: "flyio-token", prefix: "fo1_", set: dashSet, min: 40, max: 60},
	{rule: "heroku-key", prefix: "HRKU-", set: dashSet, min: 36, max: 80},
	{rule: "netlify-token", prefix: "nfp_", set: alnumSet, min: 36, max: 60},
	{rule: "render-key", prefix: "rnd_", set: alnumSet, min: 24, max: 40, wordy: true},
	{rule: "scalingo-token", prefix: "tk-us-", set: dashSet, min: 40, max: 60, wordy: true},
	{rule: "aiven-token", prefix: "AVNS_", set: dashSet, min: 15, max: 40},
	{rule: "planetscale-token", prefix: "pscale_tkn_", set: dotSet, min: 30, max: 70},
	{rule: "planetscale-token", prefix: "pscale_pw_", set: dotSet, min: 30, max: 70},
	{rule: "planetscale-token", prefix: "pscale_oauth_", set: dotSet, min: 30, max: 70},
	{rule: "supabase-token", prefix: "sbp_", set: alnumSet, min: 40, max: 48},
	{rule: "supabase-token", prefix: "sb_secret_", set: dashSet, min: 24, max: 60},
	{rule: "neon-key", prefix: "napi_", set: alnumSet, min: 40, max: 80},
	{rule: "hashicorp-vault-token", prefix: "hvs.", set: dashSet, min: 24, max: 300},
	{rule: "hashicorp-vault-token", prefix: "hvb.", set: dashSet, min: 24, max: 400},
	{rule: "hashicorp-vault-token", prefix: "hvr.", set: dashSet, min: 24, max: 300},
	{rule: "terraform-token", prefix: "atlasv1.", set: dashSet, min: 50, max: 80, inside: true, check: terraformToken},
	{rule: "pulumi-token", prefix: "pul-", set: hexSet, min: 40, max: 40, wordy: true},
	{rule: "doppler-token", prefix: "dp.pt.", set: alnumSet, min: 38, max: 50},
	{rule: "doppler-token", prefix: "dp.st.", set: dotSet, min: 38, max: 90},
	{rule: "doppler-token", prefix: "dp.ct.", set: alnumSet, min: 38, max: 50},
	{rule: "doppler-token", prefix: "dp.sa.", set: alnumSet, min: 38, max: 50},
	{rule: "doppler-token", prefix: "dp.scim.", set: alnumSet, min: 38, max: 50},
	{rule: "doppler-token", prefix: "dp.audit.", set: alnumSet, min: 38, max: 50},
	{rule: "onepassword-token", prefix: "ops_eyJ", set: base64Set, min: 80},
	{rule: "age-secret-key", prefix: "AGE-SECRET-KEY-1", set: upperSet, min: 50, max: 60},
	{rule: "age-secret-key", prefix: "AGE-PLUGIN-", set: dashSet, min: 30, max: 300, wordy: true},
	{rule: "tailscale-key", prefix: "tskey-", set: dashSet, min: 24, max: 120},

	{rule: "openai-key", prefix: "sk-proj-", set: dashSet, min: 20, max: 256},
	{rule: "openai-key", prefix: "sk-svcacct-", set: dashSet, min: 20, max: 256},
	{rule: "openai-key", prefix: "sk-admin-", set: dashSet, min: 20, max: 256},
	{rule: "anthropic-key", prefix: "sk-ant-", set: dashSet, min: 20, max: 256},
	{rule: "openrouter-key", prefix: "sk-or-v1-", set: hexSet, min: 40, max: 80},
	{rule: "openai-key", prefix: "sk-", set: alnumSet, min: 20, max: 256, wordy: true},
	{rule: "huggingface-token", prefix: "hf_", set: alnumSet, min: 30, max: 40, wordy: true},
	{rule: "huggingface-token", prefix: "api_org_", set: alnumSet, min: 30, max: 40, wordy: true},
	{rule: "groq-key", prefix: "gsk_", set: alnumSet, min: 40, max: 64, wordy: true},
	{rule: "xai-key", prefix: "xai-", set: alnumSet, min: 60, max: 100},
	{rule: "perplexity-key", prefix: "pplx-", set: alnumSet, min: 40, max: 64},
	{rule: "replicate-token", prefix: "r8_", set: alnumSet, min: 37, max: 40},
	{rule: "langsmith-key", prefix: "lsv2_pt_", set: wordSet, min: 32, max: 60},
	{rule: "langsmith-key", prefix: "lsv2_sk_", set: wordSet, min: 32, max: 60},
	{rule: "elevenlabs-key", prefix: "sk_", set: hexSet, min: 48, max: 48, wordy: true},
	{rule: "pinecone-key", prefix: "pcsk_", set: wordSet, min: 40, max: 90},
	{rule: "tavily-key", prefix: "tvly-", set: dashSet, min: 24, max: 60},
	{rule: "e2b-key", prefix: "e2b_", set: hexSet, min: 40, max: 40, wordy: true},
	{rule: "databricks-token", prefix: "dapi", set: hexSet, min: 32, max: 32},

	{rule: "slack-token", prefix: "xoxb-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxp-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxa-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxr-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxs-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxc-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxd-", set: anySet, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxe-", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xoxe.xox", set: dashPercent, min: 20, max: 400},
	{rule: "slack-token", prefix: "xapp-", set: dashSet, min: 20, max: 400},
	{rule: "slack-webhook", prefix: "hooks.slack.com/", set: anySet, min: 35, max: 200, check: webhookPath},
	{rule: "slack-webhook", prefix: "hooks.slack.com%2F", set: dashPercent, min: 35, max: 200, check: webhookPath},
	{rule: "discord-webhook", prefix: "discord.com/api/", set: anySet, min: 60, max: 200, check: webhookPath},
	{rule: "discord-webhook", prefix: "discordapp.com/api/", set: anySet, min: 60, max: 200, check: webhookPath},
	{rule: "teams-webhook", prefix: "webhook.office.com/", set: atSet, min: 60, max: 300, check: webhookPath},
	{rule: "telegram-token", prefix: ":AA", set: dashSet, min: 32, max: 34, inside: true, check: telegramToken},
	{rule: "sendgrid-key", prefix: "SG.", set: dotSet, min: 50, max: 80},
	{rule: "sendinblue-key", prefix: "xkeysib-", set: dashSet, min: 70, max: 90},
	{rule: "sendinblue-key", prefix: "xsmtpsib-", set: dashSet, min: 70, max: 90},
	{rule: "mailgun-key", prefix: "key-", set: hexSet, min: 32, max: 32, wordy: true},
	{rule: "resend-key", prefix: "re_", set: wordSet, min: 28, max: 40, wordy: true},

	{rule: "stripe-key", prefix: "sk_live_", set: alnumSet, min: 16, max: 250},
	{rule: "stripe-key", prefix: "sk_test_", set: alnumSet, min: 16, max: 250},
	{rule: "stripe-key", prefix: "rk_live_", set: alnumSet, min: 16, max: 250},
	{rule: "stripe-key", prefix: "rk_test_", set: alnumSet, min: 16, max: 250},
	{rule: "stripe-webhook-secret", prefix: "whsec_", set: base64Set, min: 24, max: 100},
	{rule: "square-token", prefix: "sq0atp-", set: dashSet, min: 20, max: 50},
	{rule: "square-token", prefix: "sq0csp-", set: dashSet, min: 40, max: 50},
	{rule: "square-token", prefix: "EAAA", set: dashSet, min: 56, max: 64, wordy: true},
	{rule: "facebook-token", prefix: "EAA", set: alnumSet, min: 80, max: 300, wordy: true},
	{rule: "braintree-token", prefix: "access_token$production$", set: dollarSet, min: 40, max: 60},
	{rule: "plaid-token", prefix: "access-production-", set: dashSet, min: 36, max: 36},
	{rule: "plaid-token", prefix: "access-sandbox-", set: dashSet, min: 36, max: 36},
	{rule: "flutterwave-key", prefix: "FLWSECK", set: dashSet, min: 20, max: 60},
	{rule: "shippo-token", prefix: "shippo_live_", set: hexSet, min: 40, max: 40},
	{rule: "easypost-key", prefix: "EZAK", set: alnumSet, min: 54, max: 54},
	{rule: "shopify-token", prefix: "shpat_", set: hexSet, min: 32, max: 40},
	{rule: "shopify-token", prefix: "shpca_", set: hexSet, min: 32, max: 40},
	{rule: "shopify-token", prefix: "shppa_", set: hexSet, min: 32, max: 40},
	{rule: "shopify-token", prefix: "shpss_", set: hexSet, min: 32, max: 40},

	{rule: "npm-token", prefix: "npm_", set: alnumSet, min: 36, max: 50},
	{rule: "pypi-token", prefix: "pypi-AgE", set: dashSet, min: 50, max: 400},
	{rule: "rubygems-key", prefix: "rubygems_", set: hexSet, min: 48, max: 48},
	{rule: "crates-token", prefix: "cio", set: alnumSet, min: 32, max: 32, wordy: true},
	{rule: "nuget-key", prefix: "oy2", set: alnumSet, min: 43, max: 43, wordy: true},
	{rule: "clojars-token", prefix: "CLOJARS_", set: alnumSet, min: 60, max: 60},
	{rule: "docker-token", prefix: "dckr_pat_", set: dashSet, min: 24, max: 40},
	{rule: "docker-token", prefix: "dckr_oat_", set: dashSet, min: 24, max: 50},
	{rule: "artifactory-key", prefix: "AKCp", set: alnumSet, min: 65, max: 75, wordy: true},
	{rule: "circleci-token", prefix: "CCIPAT_", set: wordSet, min: 40, max: 80},
	{rule: "circleci-token", prefix: "CCIPRJ_", set: wordSet, min: 40, max: 80},
	{rule: "buildkite-token", prefix: "bkua_", set: alnumSet, min: 40, max: 40},
	{rule: "sonar-token", prefix: "squ_", set: hexSet, min: 40, max: 40},
	{rule: "sonar-token", prefix: "sqp_", set: hexSet, min: 40, max: 40},
	{rule: "sonar-token", prefix: "sqa_", set: hexSet, min: 40, max: 40},
	{rule: "sourcegraph-token", prefix: "sgp_", set: wordSet, min: 40, max: 70},
	{rule: "linear-key", prefix: "lin_api_", set: alnumSet, min: 32, max: 48},
	{rule: "linear-key", prefix: "lin_oauth_", set: alnumSet, min: 32, max: 72},
	{rule: "notion-token", prefix: "ntn_", set: alnumSet, min: 40, max: 60},
	{rule: "notion-token", prefix: "secret_", set: alnumSet, min: 43, max: 43, wordy: true},
	{rule: "figma-token", prefix: "figd_", set: dashSet, min: 36, max: 60},
	{rule: "postman-key", prefix: "PMAK-", set: dashSet, min: 50, max: 64},
	{rule: "airtable-token", prefix: "pat", set: dotSet, min: 79, max: 79, wordy: true, check: airtableToken},
	{rule: "hubspot-token", prefix: "pat-na1-", set: dashSet, min: 36, max: 36},
	{rule: "hubspot-token", prefix: "pat-eu1-", set: dashSet, min: 36, max: 36},
	{rule: "contentful-token", prefix: "CFPAT-", set: dashSet, min: 40, max: 50},
	{rule: "typeform-token", prefix: "tfp_", set: dotSet, min: 40, max: 70},
	{rule: "readme-key", prefix: "rdme_", set: alnumSet, min: 60, max: 80},
	{rule: "prefect-key", prefix: "pnu_", set: alnumSet, min: 36, max: 36},
	{rule: "sentry-token", prefix: "sntrys_", set: base64Under, min: 40, max: 400},
	{rule: "sentry-token", prefix: "sntryu_", set: hexSet, min: 60, max: 70},
	{rule: "grafana-token", prefix: "glsa_", set: wordSet, min: 36, max: 48},
	{rule: "grafana-token", prefix: "glc_", set: base64Set, min: 32, max: 400, wordy: true},
	{rule: "newrelic-key", prefix: "NRAK-", set: alnumSet, min: 27, max: 27},
	{rule: "newrelic-key", prefix: "NRJS-", set: alnumSet, min: 19, max: 19},
	{rule: "newrelic-key", prefix: "NRII-", set: dashSet, min: 32, max: 32},
	{rule: "dynatrace-token", prefix: "dt0c01.", set: dotSet, min: 80, max: 96},
	{rule: "posthog-key", prefix: "phx_", set: alnumSet, min: 40, max: 60},
	{rule: "launchdarkly-key", prefix: "sdk-", set: dashSet, min: 36, max: 36, wordy: true},
	{rule: "adobe-secret", prefix: "p8e-", set: dashSet, min: 32, max: 40},
	{rule: "twitter-bearer", prefix: "AAAAAAAAAAAAAAAAAAAAA", set: anySet, min: 60, max: 120},
	{rule: "wakatime-key", prefix: "waka_", set: dashSet, min: 36, max: 36},
	{rule: "instagram-token", prefix: "IGQV", set: dashSet, min: 80, max: 300, wordy: true},
	{rule: "dropbox-token", prefix: "sl.", set: dashSet, min: 100, max: 1400, wordy: true},

	// Hashes of passwords, which allow guessing.
	{rule: "password-hash", prefix: "$2a$", set: cryptSet, min: 56, max: 56},
	{rule: "password-hash", prefix: "$2b$", set: cryptSet, min: 56, max: 56},
	{rule: "password-hash", prefix: "$2y$", set: cryptSet, min: 56, max: 56},
	{rule: "password-hash", prefix: "$argon2", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "$scrypt$", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "$pbkdf2", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "pbkdf2_sha", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "pbkdf2:sha", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "scrypt:32768:", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "bcrypt_sha256$", set: cryptSet, min: 40, max: 300},
	{rule: "password-hash", prefix: "$apr1$", set: cryptSet, min: 24, max: 40},
	{rule: "password-hash", prefix: "$1$", set: cryptSet, min: 24, max: 40},
	{rule: "password-hash", prefix: "$5$", set: cryptSet, min: 43, max: 90},
	{rule: "password-hash", prefix: "$6$", set: cryptSet, min: 86, max: 130},
	{rule: "password-hash", prefix: "$y$", set: cryptSet, min: 50, max: 130},
	{rule: "password-hash", prefix: "$7$", set: cryptSet, min: 50, max: 130},
	{rule: "password-hash", prefix: "$P$", set: cryptSet, min: 31, max: 31},
	{rule: "password-hash", prefix: "$S$", set: cryptSet, min: 52, max: 52},
	{rule: "password-hash", prefix: "{SSHA", set: hashSet, min: 30, max: 130},
	{rule: "password-hash", prefix: "SCRAM-SHA-256$", set: cryptSet, min: 90, max: 160},

	{rule: "wallet-key", prefix: "xprv", set: alnumSet, min: 100, max: 112},
	{rule: "wallet-key", prefix: "yprv", set: alnumSet, min: 100, max: 112},
	{rule: "wallet-key", prefix: "zprv", set: alnumSet, min: 100, max: 112},
	{rule: "wallet-key", prefix: "tprv", set: alnumSet, min: 100, max: 112},
	{rule: "wallet-key", prefix: "uprv", set: alnumSet, min: 100, max: 112},
	{rule: "wallet-key", prefix: "vprv", set: alnumSet, min: 100, max: 112},

	{rule: "jwt", prefix: "eyJ", set: dotSet, min: 40, check: jwt},
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
	start = alnumSet.back(text, start, 80)
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
	for i := range formats {
		f := &formats[i]
		if strings.HasPrefix(v, f.prefix) {
			if _, _, ok := f.at(v, 0); ok {
				return f.rule
			}
		}
	}
	return ""
}
