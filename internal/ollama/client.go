// Package ollama asks models that an Ollama server on this machine runs.
//
// Open names the server, without a call; Models says what it has, Server.Choose picks a model, Ask
// puts a question whose answer is JSON of a given schema, Embed makes vectors. A Client is
// read-only but for its connections and safe for concurrent use; a server mostly answers one
// question at a time, so asking several at once gains nothing.
//
// What it promises:
//   - Success is the whole answer. A stream that breaks off, a prompt that the server cut without a word, an answer that
//     ran into its limit and one that is no JSON are errors, told apart by the sentinels of this package. An error also
//     wraps the context's own when that has ended.
//   - Every call ends: at the context's end, or when the server has said nothing for the time given.
//   - Text stays on this machine. Another host, or a model that a local server only passes on to one, is refused
//     unless it was asked for; redirects and proxies are not followed; nothing is signed and no key of Ollama's is read.
//   - Errors hold no text of a question, and at most 200 bytes of what a server said.
//   - Nothing is pulled, created or deleted.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/envconfig"
)

const (
	dialLimit    = 300 * time.Millisecond // to connect
	modelsLimit  = 2 * time.Second        // all of Models
	showLimit    = 10 * time.Second       // one look at a model, by a server that may be busy with another
	maxReply     = 64 << 20               // bytes of one reply, whatever it is
	maxComplaint = 64 << 10               // bytes of a reply that is an error
)

// Options say where the server is.
type Options struct {
	Host   string // as OLLAMA_HOST has it; empty: what OLLAMA_HOST says, or else 127.0.0.1:11434
	Remote bool   // a host other than this machine is allowed
}

// Client talks to one server.
type Client struct {
	base *url.URL
	http *http.Client
	api  *api.Client

	mu    sync.Mutex
	shown map[string]Model // by full name: what the server said of it
}

// Open returns a client for the server that o names. It makes no call. The error wraps ErrRemote
// for a host that is not this machine, unless o allows it.
func Open(o Options) (*Client, error) {
	host, source := o.Host, "host"
	if host == "" {
		host, source = os.Getenv("OLLAMA_HOST"), "OLLAMA_HOST"
	}
	base, err := parseHost(host)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	switch name := base.Hostname(); {
	case name == "ollama.com" || strings.HasSuffix(name, ".ollama.com"):
		return nil, fmt.Errorf("%s: %w: %s is no server of one's own", source, ErrRemote, name)
	case !o.Remote && !loopback(name):
		return nil, fmt.Errorf("%s: %w: %s", source, ErrRemote, name)
	case envconfig.UseAuth():
		return nil, errors.New("OLLAMA_AUTH is set: requests are not signed here; unset it")
	}
	dialer := &net.Dialer{Timeout: dialLimit}
	if !o.Remote {
		dialer.Control = onlyLoopback
	}
	return through(base, &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		IdleConnTimeout:     30 * time.Second,
	}), nil
}

func through(base *url.URL, t http.RoundTripper) *Client {
	hc := &http.Client{
		Transport:     &careful{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	return &Client{base: base, http: hc, api: api.NewClient(base, hc), shown: map[string]Model{}}
}

// Host is the server's URL.
func (c *Client) Host() string { return c.base.String() }

// parseHost reads what may stand in OLLAMA_HOST: a host, a port, both, or a URL with http or https.
// Without a scheme the port is 11434, with one it is that of the scheme, as in Ollama's own
// programs. An address that stands for all addresses becomes this machine's.
func parseHost(s string) (*url.URL, error) {
	s = strings.TrimSpace(strings.Trim(strings.TrimSpace(s), `"'`))
	scheme, rest, hasScheme := strings.Cut(s, "://")
	port := "11434"
	switch {
	case !hasScheme:
		scheme, rest = "http", s
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return nil, fmt.Errorf("%.20q is neither http nor https", scheme)
	}
	rest, path, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(rest, "@?#") || strings.ContainsAny(path, "?#") {
		return nil, errors.New("more than a host, a port and a path") // what is there may be a password
	}
	host, p, err := net.SplitHostPort(rest)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(rest, "["), "]")
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return nil, fmt.Errorf("%.80q is no host and port", rest)
		}
	} else if p != "" {
		port = p
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("%.20q is no port", port)
	}
	if strings.ContainsAny(host, " \t\r\n\"'<>\\^`{|}%") {
		return nil, fmt.Errorf("%.80q is no host", host)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(strings.ToLower(host), port), Path: path}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// onlyLoopback refuses to connect elsewhere, wherever a name may lead.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
		return ErrRemote
	}
	return nil
}

var errRedirect = errors.New("the server redirects")

// careful bounds what a server says, and gives a complaint without words some: the API takes an
// error with an empty body for success.
type careful struct{ http.RoundTripper }

func (t *careful) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 400 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxReply), resp.Body}
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxComplaint))
	resp.Body.Close()
	if err != nil && len(body) == 0 {
		return nil, err
	}
	if strings.TrimSpace(string(body)) == "" {
		body = fmt.Appendf(nil, `{"error":%q}`, http.StatusText(resp.StatusCode))
	}
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp, nil
}

// look returns the server's description of an installed model. It asks once per model.
func (c *Client) look(ctx context.Context, name string) (Model, error) {
	name = fullName(name)
	c.mu.Lock()
	m, found := c.shown[name]
	c.mu.Unlock()
	if found {
		return m, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, showLimit, errSilent)
	defer cancel()
	m, err := c.show(limited, Model{Name: name})
	if err != nil {
		return Model{}, c.failed(ctx, limited, "look at model "+name, "", ErrUnavailable, err)
	}
	return m, nil
}
