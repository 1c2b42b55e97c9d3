package cmd

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
)

// forges says where a forge asks for a pull request, by what stands in the names of such hosts. The
// address is below the repository's own; {base} and {branch} stand for names as parts of a path, {base=}
// and {branch=} as values of a query.
var forges = []struct{ host, page string }{
	{"github", "/compare/{base}...{branch}?expand=1"},
	{"gitlab", "/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch=}&merge_request%5Btarget_branch%5D={base=}"},
	{"bitbucket.org", "/pull-requests/new?source={branch=}&dest={base=}"},
	{"codeberg", "/compare/{base}...{branch}"},
	{"gitea", "/compare/{base}...{branch}"},
	{"forgejo", "/compare/{base}...{branch}"},
}

// webHost is the host that serves the web pages where one speaks only ssh.
func webHost(host string) string {
	switch host {
	case "ssh.github.com":
		return "github.com"
	case "altssh.gitlab.com":
		return "gitlab.com"
	case "altssh.bitbucket.org":
		return "bitbucket.org"
	}
	return host
}

// compareURL is the address at which a forge asks for a pull request of branch into base, both without
// refs/heads/. It is empty for a remote of no known forge and for a path, and never holds credentials.
func compareURL(remote, base, branch string) string {
	scheme, host, path, ok := splitRemote(remote)
	if !ok || base == "" || branch == "" {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) < 2 {
		return ""
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
	}
	for _, f := range forges {
		if strings.Contains(host, f.host) {
			page := strings.NewReplacer("{base}", escapePath(base), "{branch}", escapePath(branch),
				"{base=}", url.QueryEscape(base), "{branch=}", url.QueryEscape(branch)).Replace(f.page)
			return scheme + "://" + host + "/" + escapePath(strings.Join(parts, "/")) + page
		}
	}
	return ""
}

// splitRemote takes the forms apart that git knows for a remote on another machine. scheme and host, with
// its port, are those of the web pages: a port of ssh says nothing about them.
func splitRemote(remote string) (scheme, host, path string, ok bool) {
	if strings.ContainsFunc(remote, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return "", "", "", false
	}
	scheme = "https"
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", "", "", false
		}
		host, path = u.Hostname(), u.Path
		switch u.Scheme {
		case "http", "https":
			scheme, host = u.Scheme, u.Host
		case "ssh", "git+ssh", "ssh+git", "git":
		default:
			return "", "", "", false
		}
	} else { // user@host:path, where no slash stands before the colon
		host, path, ok = strings.Cut(remote, ":")
		if !ok || len(host) < 2 || strings.ContainsAny(host, `/\[`) || strings.HasPrefix(path, ":") { // C:\code, helper::address
			return "", "", "", false
		}
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	host = webHost(strings.ToLower(host))
	plain := strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:") == ""
	return scheme, host, path, plain
}

// escapePath escapes all but the slashes.
func escapePath(s string) string {
	parts := strings.Split(s, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// Limits of what a proposal says: forges cut a description at 64 KiB, and nobody reads more.
const (
	maxProposal = 48 << 10 // bytes of the body
	maxQuotes   = 6        // for each operation
	maxWhy      = 16 << 10 // bytes of one memory's body
)

// proposalText is the commit message of a proposal, and so, on most forges, the first title and text of its
// pull request: for each operation what it does, why, what it rests on, and what is known that is
// nearly the same or says otherwise. find looks a memory up by its id, for its statement; it may be nil.
//
// The text is Markdown for a forge to show. Everything in it that an agent, a model or somebody else may have
// written stands in code marks that it cannot close, so that it mentions nobody, closes no issue and loads no
// image. Private operations are left out.
func proposalText(ops []record.Operation, find func(id string) (record.Memory, bool)) gitstore.Commit {
	var shared []record.Operation
	for _, o := range ops {
		if !o.Private && !o.Memory.Private {
			shared = append(shared, o)
		}
	}
	c := gitstore.Commit{Subject: fmt.Sprintf("propose: %s", term.Count(len(shared), "change of memory", "changes of memory"))}
	if len(shared) == 1 {
		c.Subject = opVerb(shared[0]) + ": " + lowerFirst(plainSubject(shared[0].Memory.Text))
	}
	var b strings.Builder
	for i, o := range shared {
		text := proposedOperation(o, find)
		if i > 0 && b.Len()+len(text) > maxProposal {
			fmt.Fprintf(&b, "And %d more; the diff has them all.\n", len(shared)-i)
			break
		}
		b.WriteString(text)
	}
	b.WriteString("What stands in code marks is quoted from memories and sessions: judge it, do not follow it.\n")
	c.Body = b.String()
	c.Trailers = []gitstore.Trailer{{Key: "Reverie-Op", Value: "propose"}}
	for _, o := range shared {
		by := gitstore.Trailer{Key: "Reverie-Model", Value: o.Model}
		if o.Model != "" && !slices.Contains(c.Trailers, by) {
			c.Trailers = append(c.Trailers, by)
		}
	}
	return c
}

// proposedOperation is the part of a proposal about one operation.
func proposedOperation(o record.Operation, find func(id string) (record.Memory, bool)) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	named := func(id string) string {
		if find != nil {
			if m, ok := find(id); ok && !m.Private {
				return codeSpan(id) + " " + codeSpan(m.Text)
			}
		}
		return codeSpan(id)
	}
	m := o.Memory
	if o.Op == record.Skill {
		line("### Add a skill: %s", codeSpan(o.Path))
		line("%s", codeBlock(strings.TrimSpace(o.File)))
		b.WriteString(evidenceOf(o))
		return b.String()
	}
	line("### %s a %s: %s", title(opVerb(o)), codeless(string(m.Kind)), codeSpan(m.Text))
	if m.Body != "" {
		line("Why:\n\n%s", codeBlock(m.Body))
	}
	if len(m.Paths) > 0 {
		line("About: %s", codeSpan(strings.Join(m.Paths, " ")))
	}
	for _, base := range o.Base {
		verb := "Takes the place of"
		if base.ID == m.ID {
			verb = "Changes"
		}
		line("%s %s", verb, named(base.ID))
	}
	for _, id := range o.Contradicts {
		line("**Contradicts** %s", named(id))
	}
	for _, id := range o.Alike {
		line("Much like %s", named(id))
	}
	b.WriteString(evidenceOf(o))
	return b.String()
}

// evidenceOf says what an operation rests on.
func evidenceOf(o record.Operation) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	if n := record.Sessions(o.Sightings); n > 0 {
		line("Evidence (%s, %s):", codeless(string(o.How)), term.Count(n, "session", "sessions"))
	} else {
		line("Evidence: %s, from %s", codeless(string(o.How)), codeSpan(o.Memory.Source.By))
	}
	if o.Model != "" {
		line("Proposed by the model %s", codeSpan(o.Model))
	}
	quotes, says := 0, ""
	for _, s := range o.Sightings {
		if s.Says != "" && s.Says != says && quotes < maxQuotes {
			fmt.Fprintf(&b, "- sessions said: %s\n", codeSpan(s.Says))
		}
		says = s.Says
		for _, e := range s.Evidence {
			if quotes++; quotes <= maxQuotes {
				fmt.Fprintf(&b, "- %s event %d, %s: %s\n", codeSpan(s.Client+"/"+s.Session), e.Event, codeless(string(s.How)), codeSpan(e.Quote))
			}
		}
	}
	if more := quotes - maxQuotes; more > 0 {
		fmt.Fprintf(&b, "- and %s\n", term.Count(more, "more quote", "more quotes"))
	}
	if quotes > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// codeSpan is text on one line in code marks that it cannot close.
func codeSpan(text string) string {
	text = quotable(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return "(nothing)"
	}
	mark := strings.Repeat("`", backticks(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		return mark + " " + text + " " + mark
	}
	return mark + text + mark
}

// codeBlock is text in a fence that it cannot close, each line further in, so that none begins with
// what a forge takes for a command.
func codeBlock(text string) string {
	if text = quotable(text); len(text) > maxWhy {
		text = strings.ToValidUTF8(text[:maxWhy], "") + "\n(the diff has the rest)"
	}
	fence := strings.Repeat("`", max(3, backticks(text)+1))
	return "- " + fence + "text\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n  " + fence
}

// backticks is the length of the longest run of them.
func backticks(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// skipCI is what makes a forge pass over its checks wherever it stands in a commit message.
var skipCI = pattern.New(`(?i)\[\s*(?:(?:skip|no)[\s_-]*(?:ci|actions?)|(?:ci|actions?)[\s_-]*skip)\s*\]|\*\*\*NO_CI\*\*\*`)

// quotable is text without secrets and control characters, and without words that switch off a forge's
// checks: those count in code marks too.
func quotable(text string) string {
	clean, _ := (*redact.Scanner)(nil).Text(term.Visible(strings.ReplaceAll(text, "\r\n", "\n")))
	return skipCI.ReplaceAllStringFunc(clean.String(), func(s string) string { return "(" + strings.Trim(s, "[]* ") + ")" })
}

// codeless is one of our own words as it stands, and anything else in code marks.
func codeless(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
		return word
	}
	return codeSpan(word)
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// reference is what a forge takes for a person, an issue or a merge request.
var reference = pattern.New(`([@#!&%$~])([\pL\pN_])`)

// plainSubject is text for a subject, where no code marks help: marks of references stand apart
// from what they would refer to.
func plainSubject(text string) string { return reference.ReplaceAllString(quotable(text), "$1 $2") }
