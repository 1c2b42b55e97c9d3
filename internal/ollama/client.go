// Package ollama asks models on an Ollama server of this machine.
//
// Open names the server without calling it; Models lists its models, and Server.Choose picks one.
// Ask asks a question whose answer is JSON of a given schema; Embed makes vectors. A Client is safe
// for concurrent use, but concurrent questions gain nothing: a server mostly answers one at a time.
//
// Promises:
//   - Success means the whole answer. An interrupted stream, a truncated prompt, an answer beyond its
//     limit and invalid JSON are errors with their own sentinels. An error also wraps the context's
//     own when that has ended.
//   - Every call ends: at the context's end, or after the given time of silence.
//   - Text stays on this machine. Another host, or a model that the server passes on to one, is
//     refused unless requested. Redirects and proxies are not followed, nothing is signed, and no
//     key of Ollama's is read.
//   - Errors hold no text of a question, and at most 200 bytes of a server's text.
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
	dialLimit   = 300 * time.Millisecond // to connect
	modelsLimit = 2 * time.Second        // all of Models
	// to inspect a model, on a server that may be busy with another
	showLimit    = 10 * time.Second
	maxReply     = 64 << 20 // bytes of one reply of any kind
	maxComplaint = 64 << 10 // bytes of an error reply
)

// Options select the server.
type Options struct {
	Host   string // in the form of OLLAMA_HOST; empty: OLLAMA_HOST, or else 127.0.0.1:11434
	Remote bool   // a host other than this machine is allowed
}

// Client talks to one server.
type Client struct {
	base *url.URL
	http *http.Client
	api  *api.Client

	mu    sync.Mutex
	shown map[string]Model // by full name: the server's description
}

// Open returns a client for the server that o names. It makes no call. The error wraps ErrRemote
// for a host on another machine, unless o allows it.
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

// Host returns the server's URL.
func (c *Client) Host() string { return c.base.String() }

// parseHost parses a value of OLLAMA_HOST: a host, a port, both, or a URL with http or https.
// Without a scheme the port is 11434, otherwise the scheme's, as in Ollama's own programs. A
// wildcard address becomes this machine's.
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
		return nil, errors.New("more than a host, a port and a path") // the rest may be a password
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

// onlyLoopback refuses to connect to another machine, whatever a name resolves to.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
		return ErrRemote
	}
	return nil
}

var errRedirect = errors.New("the server redirects")

// careful bounds a server's replies, and adds text to an empty error: the API takes an error with
// an empty body for success.
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
