package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// policy lets a page load its own style, script and data, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'"

const (
	maxForm  = 256 << 10 // bytes of a posted form
	maxReply = 30 * time.Second
)

// door decides which requests the pages answer. Any web page in the user's browser, and any program
// on the machine, can reach the port.
type door struct {
	host   string // the only accepted Host: another name may be rebound to this address
	ticket string // opens the door once, because other users can read a browser's arguments
	used   atomic.Bool
	place  string // folder of all pages; the cookie goes to no other, so to no other server
	secret string // of the cookie
	form   string // that every posted form repeats
}

func newDoor(host string) *door {
	return &door{host: host, ticket: rand.Text(), place: "/" + rand.Text() + "/", secret: rand.Text(), form: rand.Text()}
}

// cookie is the cookie's name. Browsers send a cookie to every port of a host.
const cookie = "reverie"

func (d *door) origin() string { return "http://" + d.host }

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// known reports whether a request carries the cookie.
func (d *door) known(r *http.Request) bool {
	c, err := r.Cookie(cookie)
	return err == nil && same(c.Value, d.secret)
}

// before runs next for requests that may pass.
func (d *door) before(next http.Handler) http.Handler {
	next = http.StripPrefix(d.place[:len(d.place)-1], next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms would send no Origin
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		origin := r.Header.Get("Origin")
		switch {
		case r.Host != d.host:
			http.Error(w, "this address is not the page's", http.StatusForbidden)
		case origin != "" && origin != d.origin():
			http.Error(w, "another page sent this request", http.StatusForbidden)
		case r.Method == http.MethodGet && r.URL.Path == "/enter":
			d.enter(w, r)
		case !strings.HasPrefix(r.URL.Path, d.place), !d.known(r):
			http.Error(w, "open the link that 'reverie web' printed", http.StatusForbidden)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			answer(next, w, r)
		case r.Method != http.MethodPost:
			http.Error(w, "only GET, HEAD and POST", http.StatusMethodNotAllowed)
		case origin == "":
			http.Error(w, "the request names no origin", http.StatusForbidden)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if r.ParseForm() != nil || !same(r.PostForm.Get("form"), d.form) {
				http.Error(w, "the form is too old; open the page again", http.StatusForbidden)
				return
			}
			answer(next, w, r)
		}
	})
}

// answer bounds the time of an answer.
func answer(next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, done := context.WithTimeout(r.Context(), maxReply)
	defer done()
	next.ServeHTTP(w, r.WithContext(ctx))
}

// enter takes the ticket of the link and gives the cookie.
func (d *door) enter(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("ticket"), d.ticket) || !d.used.CompareAndSwap(false, true) {
		http.Error(w, "this link is wrong or was used before; go on in the page that it opened, or run 'reverie web' again", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: d.secret, Path: d.place, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	to := d.place
	if id := r.URL.Query().Get("memory"); id != "" {
		to += "memory/" + url.PathEscape(id)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// errNoDisplay means that a browser could show no window.
var errNoDisplay = errors.New("there is no display")

// browse opens the user's browser. The started program may be the browser itself, so after ten
// seconds it is left alone.
func browse(url string) error {
	line := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		line[0] = "open"
	case "windows":
		line = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errNoDisplay
		}
	}
	cmd := exec.Command(line[0], line[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		return nil
	}
}

// lookEvery is the time between two looks at the parent.
const lookEvery = 2 * time.Second

// withParent returns a context that ends when this process has another parent: that which it had
// ended, such as the shell of a closed terminal.
func withParent(ctx context.Context, parent int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}
