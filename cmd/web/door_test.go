package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The door lets through only requests with the right host, origin, cookie and form, and answers
// everything with the headers that keep other pages out.
func TestDoor(t *testing.T) {
	const host = "127.0.0.1:4321"
	d := newDoor(host)
	passed := 0
	h := d.before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { passed++ }))
	ours := &http.Cookie{Name: cookie, Value: d.secret}
	for name, c := range map[string]struct {
		method, host, origin, form string
		cookie                     *http.Cookie
		code                       int
	}{
		"get":                    {"GET", host, "", "", ours, 200},
		"head":                   {"HEAD", host, "", "", ours, 200},
		"get of our own script":  {"GET", host, "http://" + host, "", ours, 200},
		"no cookie":              {"GET", host, "", "", nil, 403},
		"wrong cookie":           {"GET", host, "", "", &http.Cookie{Name: cookie, Value: d.form}, 403},
		"rebound name":           {"GET", "evil.example:4321", "", "", ours, 403},
		"localhost":              {"GET", "localhost:4321", "", "", ours, 403},
		"another port":           {"GET", "127.0.0.1:4322", "", "", ours, 403},
		"another page reads":     {"GET", host, "http://127.0.0.1:9999", "", ours, 403},
		"post":                   {"POST", host, "http://" + host, d.form, ours, 200},
		"post without form":      {"POST", host, "http://" + host, "", ours, 403},
		"post with the cookie's": {"POST", host, "http://" + host, d.secret, ours, 403},
		"post without origin":    {"POST", host, "", d.form, ours, 403},
		"post of a file":         {"POST", host, "null", d.form, ours, 403},
		"post of another page":   {"POST", host, "https://evil.example", d.form, ours, 403},
		"post without cookie":    {"POST", host, "http://" + host, d.form, nil, 403},
		"put":                    {"PUT", host, "http://" + host, d.form, ours, 405},
	} {
		r := httptest.NewRequest(c.method, d.place, strings.NewReader(url.Values{"form": {c.form}}.Encode()))
		r.Host = c.host
		if c.method != "GET" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.cookie != nil {
			r.AddCookie(c.cookie)
		}
		before, w := passed, httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.code || passed-before != map[bool]int{true: 1}[c.code == 200] {
			t.Errorf("%s: code %d, passed %d times", name, w.Code, passed-before)
		}
		csp := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", name, w.Header())
		}
	}
	for _, path := range []string{"/", "/inbox", "/x" + d.place, d.place[:len(d.place)-1]} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = host
		r.AddCookie(ours)
		w, before := httptest.NewRecorder(), passed
		if h.ServeHTTP(w, r); w.Code != 403 || passed != before {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	long := httptest.NewRequest("POST", d.place, strings.NewReader("form="+d.form+"&text="+strings.Repeat("x", maxForm)))
	long.Host = host
	long.Header = http.Header{"Origin": {"http://" + host}, "Content-Type": {"application/x-www-form-urlencoded"}}
	long.AddCookie(ours)
	w, before := httptest.NewRecorder(), passed
	if h.ServeHTTP(w, long); w.Code != 403 || passed != before {
		t.Errorf("a form of %d bytes: %d", maxForm, w.Code)
	}
}

// The link opens the door once, for a cookie that scripts and other sites cannot use.
func TestTicketWorksOnce(t *testing.T) {
	d := newDoor("127.0.0.1:4321")
	enter := func(method, ticket string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/enter?ticket="+ticket, nil)
		r.Host = d.host
		w := httptest.NewRecorder()
		d.before(http.NotFoundHandler()).ServeHTTP(w, r)
		return w
	}
	if w := enter("GET", "guess"); w.Code != 403 {
		t.Errorf("a guess: %d", w.Code)
	}
	if w := enter("HEAD", d.ticket); w.Code != 403 {
		t.Errorf("a preview of the link: %d", w.Code)
	}
	first := enter("GET", d.ticket)
	cookies := first.Result().Cookies()
	if first.Code != 303 || first.Header().Get("Location") != d.place || len(cookies) != 1 {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	c := cookies[0]
	if c.Path != d.place || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == d.ticket || len(c.Value) < 26 {
		t.Errorf("cookie %v", c)
	}
	if w := enter("GET", d.ticket); w.Code != 403 || len(w.Result().Cookies()) != 0 {
		t.Errorf("again: %d", w.Code)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"<p>a\n\tb é 👨‍👩‍👧</p>":      "<p>a\n\tb é 👨‍👩‍👧</p>",
		"<p>a\u202eb\u200bc</p>":     "<p>a&lt;U+202E&gt;b&lt;U+200B&gt;c</p>",
		"<p>\x1b[31mred\x00\xff</p>": "<p>^[[31mred^@&lt;U+FFFD&gt;</p>",
	} {
		if got := string(visible([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
