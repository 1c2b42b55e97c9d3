package transfer

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Clean redacts secrets in a memory built from a line, both in its texts and in the words of its
// path. Words derived from the text are derived again from the clean one. So are words given by the
// line, if the scanner finds a secret in them or they contain one of the text in path form.
func Clean(m record.Memory, book *record.Book, scanner *redact.Scanner) (record.Memory, redact.Report) {
	clean, found := book.Clean(m)
	if m.ID == "" || m.Ref != "" { // Plan gives it both
		return clean, found
	}
	made := record.New(record.Memory{Text: m.Text}).Slug
	inWords := inSlug(m, scanner)
	if m.Slug == made || inWords.Found > 0 {
		clean.Slug = record.New(record.Memory{Text: clean.Text}).Slug
	}
	if found.Found == 0 {
		found = inWords // it was in the path alone
	}
	return clean, found
}

// inSlug reports the secrets in the words of a memory's path.
func inSlug(m record.Memory, scanner *redact.Scanner) redact.Report {
	for _, s := range []string{m.Slug, strings.ToUpper(m.Slug), strings.ReplaceAll(m.Slug, "-", "_")} {
		if _, found := scanner.Text(s); found.Found > 0 {
			return found
		}
	}
	for _, t := range m.Texts() {
		text := t.Text + "\n" + t.Body
		for _, secret := range scanner.Values(text) {
			if record.SlugTells(m.Path(), secret) {
				_, found := scanner.Text(text)
				return found
			}
		}
	}
	return redact.Report{}
}
