package recall

import "testing"

func TestLiteral(t *testing.T) {
	for query, want := range map[string]bool{
		`"connection refused"`:                   true,
		`what about "connection refused" errors`: true,
		"'go vet'":                               true,
		"`go vet`":                               true,
		"“go vet”":                               true,
		"parseHeader":                            true,
		"parse_header()":                         true,
		"os.Exit":                                true,
		"record.Memory.Texts":                    true,
		"std::vector":                            true,
		"--no-verify":                            true,
		"-race":                                  true,
		"$GOFLAGS":                               true,
		"web/src/app.ts":                         true,
		"./cmd/...":                              true,
		".golangci.yml":                          true,
		`C:\Users\me`:                            true,
		"https://example.com/a":                  true,
		"E0308":                                  true,
		"error E0308":                            true,
		"how do I fix E0308?":                    true,
		"ECONNREFUSED 127.0.0.1:5433":            true,
		"SIGSEGV":                                true,
		"error 404":                              true,
		"0xdeadbeef":                             true,
		"3f9a2b1c":                               true,
		"NullPointerException":                   true,
		"go.mod go.sum":                          true,

		"":                                    false,
		"how to run the tests":                false,
		"why does parseHeader allocate":       false,
		"database":                            false,
		"test":                                false,
		"fix the tests":                       false,
		"don't squash the team's merges":      false,
		"API":                                 false,
		"and/or":                              false,
		"deploying on a friday":               false,
		"提交信息应该用英文吗":                          false,
		"what do we do about flaky tests e.g": false,
		"face":                                false,
	} {
		q, err := Parse(query)
		if err != nil || q.Literal != want {
			t.Errorf("%q: %v, want %v; %v", query, q.Literal, want, err)
		}
	}
}
