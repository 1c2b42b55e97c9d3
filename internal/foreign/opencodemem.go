package foreign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
)

const (
	usualServer  = "http://127.0.0.1:4747"
	serverWait   = 8 * time.Second // for all of an answer
	maxAnswer    = 16 << 20        // bytes of one answer
	serverPage   = 100             // items asked for at once
	maxPages     = 1000
	maxToken     = 64 << 10 // bytes of the file with the token
	serverHeader = "x-opencode-mem-token"
)

// errElsewhere reports an address on another machine.
var errElsewhere = errors.New("is not this machine, and that was not allowed")

// serverName returns one spelling of a server's address: loopback has several names.
func serverName(at *url.URL) string {
	host := strings.ToLower(at.Hostname())
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		host = "127.0.0.1"
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	return at.Scheme + "://" + net.JoinHostPort(host, port) + strings.TrimSuffix(at.Path, "/")
}

// readOpenCodeMem asks opencode-mem's server for its memories, page by page, but not for its
// prompts. A project's memory names its folder or its repository's address; a memory with neither
// is about the user.
func readOpenCodeMem(ctx context.Context, q Query, f *Found) error {
	f.Place = cmp.Or(q.Place, usualServer)
	base, err := url.Parse(f.Place)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return fmt.Errorf("%q is not an address such as %s", f.Place, usualServer)
	}
	f.Store = serverName(base)
	f.Usual = f.Store == usualServer
	token := q.Token
	if token == "" && !q.Remote { // it belongs to this machine's server alone
		data, err := file.ReadLinked(filepath.Join(q.Home, ".opencode-mem", ".auth-token"), maxToken)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		token = strings.TrimSpace(string(data))
	}
	client := newClient(q.Remote)
	defer client.CloseIdleConnections()
	seen := map[string]bool{}
	var read budget
	for page := 1; page <= maxPages; page++ {
		at := *base
		at.Path = strings.TrimSuffix(base.Path, "/") + "/api/memories"
		at.RawQuery = fmt.Sprintf("page=%d&pageSize=%d&includePrompts=false", page, serverPage)
		answer, err := ask(ctx, client, at.String(), token, &read)
		if err != nil {
			return err
		}
		fresh := 0
		for _, i := range answer.Items {
			if i.ID != "" && !seen[i.ID] {
				seen[i.ID] = true
				fresh++
				q.take(i, f)
			}
		}
		if page >= answer.TotalPages {
			return nil
		}
		if fresh == 0 {
			return fmt.Errorf("page %d of %d has nothing new: %w", page, answer.TotalPages, ErrFormat)
		}
	}
	return fmt.Errorf("has more than %d pages: %w", maxPages, ErrFormat)
}

// serverItem is an item of opencode-mem, without its author's e-mail address.
type serverItem struct {
	Type, ID, Content, MemoryType string
	Tags                          []string
	CreatedAt                     json.RawMessage
	ProjectPath, GitRepoURL       string
}

// take adds a memory of this repository or of the user.
func (q Query) take(i serverItem, f *Found) {
	isOurs := i.ProjectPath != "" && q.holds(i.ProjectPath)
	for _, remote := range q.Remotes {
		isOurs = isOurs || i.GitRepoURL != "" && sameAddress(remote, i.GitRepoURL)
	}
	isUsers := i.ProjectPath == "" && i.GitRepoURL == ""
	switch {
	case i.Type != "" && i.Type != "memory":
		f.Left++
	case !isOurs && !isUsers:
		f.Others++
	default:
		var text string
		var number float64
		created := time.Time{}
		if json.Unmarshal(i.CreatedAt, &text) == nil {
			created = moment(text)
		} else if json.Unmarshal(i.CreatedAt, &number) == nil {
			created = milliseconds(number)
		}
		f.add(Item{Key: i.ID, Text: i.Content, Kind: i.MemoryType, Tags: i.Tags, Created: created, User: isUsers})
	}
}

// sameAddress compares addresses of repositories by host and path, because a repository has
// several.
func sameAddress(a, b string) bool {
	short := func(s string) string {
		s = strings.ToLower(strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(s), "/"), ".git"))
		if _, rest, ok := strings.Cut(s, "://"); ok {
			s = rest
		} else {
			s = strings.Replace(s, ":", "/", 1)
		}
		if host, path, ok := strings.Cut(s, "/"); ok {
			s = host[strings.LastIndexByte(host, '@')+1:] + "/" + strings.TrimLeft(path, "/")
		}
		return s
	}
	return short(a) == short(b)
}

type serverPageOf struct {
	Items      []serverItem
	TotalPages int
}

func ask(ctx context.Context, client *http.Client, address, token string, read *budget) (serverPageOf, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return serverPageOf{}, err
	}
	if token != "" {
		req.Header.Set(serverHeader, token)
	}
	res, err := client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return serverPageOf{}, fmt.Errorf("%s: %w: nothing listens", address, ErrNone)
	} else if err != nil {
		return serverPageOf{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil {
		err = read.spend(len(data))
	}
	var answer struct {
		Success bool
		Error   string
		Data    *serverPageOf
	}
	switch {
	case err != nil:
		return serverPageOf{}, err
	case len(data) > maxAnswer:
		return serverPageOf{}, fmt.Errorf("%s answers with more than %d MiB: %w", address, maxAnswer>>20, ErrFormat)
	case res.StatusCode == http.StatusUnauthorized:
		return serverPageOf{}, fmt.Errorf("%s wants another token", address)
	case res.StatusCode != http.StatusOK:
		return serverPageOf{}, fmt.Errorf("%s answers %s", address, res.Status)
	case json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &answer) != nil || answer.Success && answer.Data == nil:
		return serverPageOf{}, fmt.Errorf("the answer of %s %w", address, ErrFormat)
	case !answer.Success:
		return serverPageOf{}, fmt.Errorf("%s answers that it failed: %.200q", address, answer.Error)
	}
	return *answer.Data, nil
}

// newClient returns a client without a proxy that follows no redirection. Without remote it
// connects only to this machine, whatever a name resolves to.
func newClient(remote bool) *http.Client {
	dialer := &net.Dialer{Timeout: serverWait}
	if !remote {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return err
			}
			if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
				return fmt.Errorf("%s %w", host, errElsewhere)
			}
			return nil
		}
	}
	return &http.Client{
		Timeout:       serverWait,
		Transport:     &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
