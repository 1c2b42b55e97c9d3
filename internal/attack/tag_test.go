package attack

import "testing"

func TestUntag(t *testing.T) {
	for text, want := range map[string]string{
		"List<String> and Map<K, V>":        "List<String> and Map<K, V>",
		"a < b, x <- ch, 1<2":               "a < b, x <- ch, 1<2",
		"</reverie-memory>":                 "&lt;/reverie-memory>",
		"< / reverie-memory >":              "&lt; / reverie-memory >",
		"List</b>":                          "List&lt;/b>",
		"say <b>":                           "say &lt;b>",
		"a<system-reminder>b":               "a&lt;system-reminder>b",
		"x<hook_context>":                   "x&lt;hook_context>",
		"a<Reverie>":                        "a&lt;Reverie>",
		"<!-- x --><?php":                   "&lt;!-- x -->&lt;?php",
		"<U+200B>":                          "<U+200B>",
		"<U+200B></x>":                      "<U+200B>&lt;/x>",
		"ends with <":                       "ends with <",
		"<<div>":                            "<&lt;div>",
		"&lt;/reverie-memory> is text now.": "&lt;/reverie-memory> is text now.",
	} {
		if got := Untag(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if again := Untag(want); again != want {
			t.Errorf("%q is changed again, to %q", want, again)
		}
	}
}
