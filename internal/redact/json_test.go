package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"nothing found", ` { "a" : [1.50, "x\u0041\/", null], "b":{} } `, ` { "a" : [1.50, "x\u0041\/", null], "b":{} } `},
		{"value of a name", `{"n":1.0,"password" : "hunter2" , "b":"\u00e9"}`, `{"n":1.0,"password" : "[redacted:assignment]" , "b":"\u00e9"}`},
		{"escapes around it stay", `{"t":"\u00e9\tpassword=hunter2\n\ud83d\ude00\/"}`, `{"t":"\u00e9\tpassword=[redacted:assignment]\n\ud83d\ude00\/"}`},
		{"value written in escapes", `{"t":"password=hunt\u0065r2 x"}`, `{"t":"password=[redacted:assignment] x"}`},
		{"every string of the document", `["hunter2","a",{"password":"hunter2"},"my hunter2!"]`, `["[redacted:assignment]","a",{"password":"[redacted:assignment]"},"my [redacted:assignment]!"]`},
		{"keys", `{"password=hunter2":1}`, `{"password=[redacted:assignment]":1}`},
		{"array of a name", `{"tokens":["aB3d·E5fG·7hI9jK","b"],"x":"aB3d·E5fG·7hI9jL"}`, `{"tokens":["[redacted:assignment]","b"],"x":"aB3d·E5fG·7hI9jL"}`},
		{"arguments", `["run","--password","hunter2","--n","1"]`, `["run","--password","[redacted:assignment]","--n","1"]`},
		{"name and value", `[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"N","value":"hunter3"}]`, `[{"name":"DB_PASSWORD","value":"[redacted:assignment]"},{"name":"N","value":"hunter3"}]`},
		{"header", `{"headers":{"Authorization":"Bearer aB3d·E5fG·7hI9jK1m"}}`, `{"headers":{"Authorization":"Bearer [redacted:credentials]"}}`},
		{"JSON in JSON", `{"out":"{\"password\":\"hunter2\"}"}`, `{"out":"{\"password\":\"[redacted:assignment]\"}"}`},
		{"numbers stay", `{"password":12345678,"token":null}`, `{"password":12345678,"token":null}`},
		{"usage is no secret", `{"usage":{"input_tokens":12},"id":"msg_011CWzQWRk82heojjQ5z8JTp"}`, `{"usage":{"input_tokens":12},"id":"msg_011CWzQWRk82heojjQ5z8JTp"}`},
		{"a string alone", `"password=hunter2"`, `"password=[redacted:assignment]"`},
	} {
		var s Scanner
		got, report, err := s.JSON([]byte(undotted(tt.doc)))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(undotted(tt.want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if want := strings.Count(tt.want, markerHead); report.Found != want {
			t.Errorf("%s: found %d, want %d", tt.name, report.Found, want)
		}
	}
}

func TestJSONNamesTheBadByte(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":1`:        "scan JSON document: byte 6: unexpected end of JSON input",
		`{"a":1} x`:     "scan JSON document: byte 9: invalid character 'x' after top-level value",
		`{"password":}`: "scan JSON document: byte 13: invalid character '}' looking for beginning of value",
	} {
		got, report, err := new(Scanner).JSON([]byte(doc))
		if err == nil || err.Error() != want || got.Len() != 0 || report.Found != 0 {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
}
