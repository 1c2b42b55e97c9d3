package recall

import (
	"slices"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// A rule names a tool, and a question often its job: "Use pnpm" answers "how do I install a
// library". So a query word for a job also finds the tools that do it.

// toolShare is the weight of a tool relative to the word for its job:
// docs/decisions/0056-tools-answer-for-jobs.md has the figures.
const toolShare = 0.7

// jobs has a job of developers' tools per line: words for it, the languages if it is bound to some,
// and the tools.
const jobs = `
dependency package library install        | javascript js node typescript | npm pnpm yarn bun
dependency package library install        | python                        | pip poetry uv pipenv conda pdm
dependency package library crate          | rust                          | cargo
dependency package library gem            | ruby rails                    | bundler
dependency package library                | php                           | composer
dependency package library build          | java kotlin jvm               | gradle maven mvn
dependency package library                | swift                         | cocoapods carthage
dependency package library                | csharp dotnet                 | nuget
dependency package library                | elixir                        | hex
dependency package library                | haskell                       | cabal stack
dependency package library                | dart flutter                  | pub
dependency upgrade bump                   |                               | renovate dependabot
interpreter runtime toolchain             |                               | nvm pyenv asdf mise volta rbenv
format formatter style                    | javascript js typescript css  | prettier biome dprint
format formatter style                    | python                        | black ruff yapf autopep8
format formatter style                    | go golang                     | gofmt gofumpt goimports fmt
format formatter style                    | rust                          | rustfmt fmt
lint linter                               | javascript js typescript      | eslint biome oxlint
lint linter                               | python                        | ruff flake8 pylint
lint linter                               | go golang                     | staticcheck vet golangci
lint linter                               | rust                          | clippy
lint linter                               | shell bash                    | shellcheck
type typing                               | python                        | mypy pyright
test                                      | javascript js typescript      | jest vitest mocha
test                                      | python                        | pytest unittest tox
browser e2e                               |                               | playwright cypress selenium puppeteer
mock stub fake                            |                               | wiremock msw nock testcontainers localstack
load benchmark stress                     |                               | k6 locust jmeter hyperfine
database db sql                           |                               | postgres postgresql mysql mariadb sqlite mongodb dynamodb
schema migration                          |                               | alembic flyway liquibase prisma knex
orm                                       |                               | sqlalchemy prisma hibernate gorm sequelize drizzle
cache                                     |                               | redis memcached valkey
queue message broker                      |                               | kafka rabbitmq nats sqs pubsub celery sidekiq
schedule periodic recurring               |                               | cron cronjob airflow celery
storage bucket upload                     |                               | s3 minio gcs
search                                    |                               | elasticsearch opensearch algolia meilisearch solr
error exception crash                     |                               | sentry rollbar bugsnag
metric dashboard monitor latency          |                               | grafana prometheus datadog newrelic
log logging                               |                               | kibana fluentd splunk slog winston
trace tracing span                        |                               | opentelemetry otel jaeger zipkin
alert incident outage oncall              |                               | pagerduty opsgenie
infrastructure provision cloud            |                               | terraform tofu pulumi ansible cloudformation
container                                 |                               | docker podman buildah
cluster deploy deployment orchestration   |                               | kubernetes k8s helm argocd nomad
pipeline ci                               |                               | jenkins circleci gitlab buildkite
proxy balancer gateway                    |                               | nginx haproxy envoy traefik caddy
secret password credential                |                               | vault sops doppler keychain 1password
flag toggle rollout experiment            |                               | launchdarkly unleash flagsmith growthbook
email mail                                |                               | mailhog mailpit sendgrid postmark ses mailgun
payment billing invoice subscription      |                               | stripe adyen braintree
login auth authentication identity sso    |                               | oauth oidc saml keycloak auth0 okta cognito jwt
translation locale localization           |                               | i18n crowdin lokalise transifex weblate
documentation docs api                    |                               | openapi swagger redoc sphinx mkdocs docusaurus
css styling                               |                               | tailwind bootstrap sass storybook
rpc codegen                               |                               | protoc protobuf grpc buf
analytics tracking                        |                               | posthog mixpanel amplitude
release changelog                         |                               | goreleaser changesets
`

// job is a line of jobs, words and languages as stems.
type job struct{ words, languages, tools []string }

var (
	parse  sync.Once
	parsed []job
)

func allJobs() []job {
	parse.Do(func() { parsed = parseJobs() })
	return parsed
}

func parseJobs() (all []job) {
	var a terms.Analyzer
	stems := func(words []string) []string {
		for i, w := range words {
			words[i] = a.Stem(w)
		}
		return words
	}
	for line := range strings.Lines(strings.TrimSpace(jobs)) {
		columns := strings.Split(line, "|")
		all = append(all, job{stems(strings.Fields(columns[0])), stems(strings.Fields(columns[1])), strings.Fields(columns[2])})
	}
	return all
}

// toolsFor returns the tools for the job that each word of a query names, given its words as stems
// and as written. A job bound to a language counts unless the query names another language, or a
// tool of any. A job whose tool the query names does not count.
func toolsFor(stems, written []string) (of [][]string) {
	of = make([][]string, len(stems))
	has := func(all, some []string) bool {
		return slices.ContainsFunc(some, func(w string) bool { return slices.Contains(all, w) })
	}
	bound := func(j job) bool { return len(j.languages) > 0 }
	speaks := slices.ContainsFunc(allJobs(), func(j job) bool { return bound(j) && (has(written, j.tools) || has(stems, j.languages)) })
	for _, j := range allJobs() {
		if !has(stems, j.words) || has(written, j.tools) || bound(j) && speaks && !has(stems, j.languages) {
			continue
		}
		for i, stem := range stems {
			if slices.Contains(j.words, stem) || slices.Contains(j.languages, stem) {
				of[i] = append(of[i], j.tools...)
			}
		}
	}
	return of
}
