package gitstore

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Commit is the message of a commit: what changed, why, and facts for programs.
type Commit struct {
	Subject  string
	Body     string
	Trailers []Trailer

	// Scanner redacts more than the built-in patterns, such as the values of .env files. It may be
	// nil.
	Scanner *redact.Scanner
}

// Trailer is one line of facts at the end of a message, as Reverie-Op: learn.
type Trailer struct{ Key, Value string }

// text returns the message as stored. Secrets are redacted everywhere. No line break can enter a
// subject or a trailer, and no control character any part.
func (c Commit) text() string {
	subject := cmp.Or(c.scan(oneLine(c.Subject)), "update")
	text := subject + "\n"
	if body := c.scan(strings.TrimSpace(visible(c.Body, "\n\t"))); body != "" {
		text += "\n" + body + "\n"
	}
	gap := "\n"
	for _, t := range c.Trailers {
		if value := c.scan(oneLine(t.Value)); value != "" {
			text += gap + trailerKey(t.Key) + ": " + value + "\n"
			gap = ""
		}
	}
	return text
}

func (c Commit) scan(text string) string {
	redacted, _ := c.Scanner.Text(text)
	return redacted.String()
}

func trailerKey(key string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '-'
	}, key)
}

// oneLine joins the words of a text and makes control characters visible.
func oneLine(s string) string { return visible(strings.Join(strings.Fields(s), " "), "") }

// visible writes control characters, and those that change the direction of text, as their code,
// except those in keep and joiners between characters that join.
func visible(s, keep string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd")
	var b strings.Builder
	runes := []rune(s)
	for i, c := range runes {
		if unseen.Control(c) && !strings.ContainsRune(keep, c) && !unseen.Joins(runes, i) {
			fmt.Fprintf(&b, "\\u{%02x}", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// commit holds the parts of a commit object that we read.
type commit struct {
	tree    ID
	parents []ID
	email   string // the author's, as git log's %ae
	message string
}

// parseCommit decodes a commit object and skips unknown headers.
func parseCommit(data []byte) (commit, error) {
	var c commit
	head, message, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "tree" && c.tree == "":
			c.tree = ID(value)
		case key == "parent":
			c.parents = append(c.parents, ID(value))
		case key == "author" && c.email == "":
			_, rest, _ := strings.Cut(value, "<")
			c.email, _, _ = strings.Cut(rest, ">")
		}
	}
	c.message = message
	if c.tree == "" {
		return c, errors.New("commit has no tree")
	}
	return c, nil
}

// authored returns the date of a commit by its author's clock, or zero if its line cannot be
// parsed.
func authored(data []byte) time.Time {
	head, _, _ := strings.Cut(string(data), "\n\n")
	_, line, _ := strings.Cut("\n"+head, "\nauthor ")
	line, _, _ = strings.Cut(line, "\n")
	stamp, _, _ := strings.Cut(strings.TrimSpace(line[strings.LastIndexByte(line, '>')+1:]), " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
