package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// Author identifies the maker of a commit, as far as git can tell. In a shallow clone the zero
// value is the unknown author of everything before the first commit.
type Author struct {
	Commit ID `json:"commit,omitempty"`
	// Email is that of the commit's author, in lower case. Anyone who can push can forge it.
	Email string `json:"email,omitempty"`
	// Key is the fingerprint of a good signature's key: SHA256:… or OpenPGP's hexadecimal digits.
	Key   string `json:"key,omitempty"`
	Owner string `json:"owner,omitempty"` // fingerprint of the OpenPGP key that Key is a part of
	Name  string `json:"name,omitempty"`  // owner of the ssh key by the user's allowed signers
	// Here reports that the ref's log, which no remote can write, records the commit's making in this
	// clone.
	Here bool `json:"here,omitempty"`
}

// Authors finds out who made the commits and files of a store.
type Authors struct {
	repo *git.Repo
	ref  string
}

// Authors returns the store's authors. It does no I/O.
func (s *Store) Authors() Authors { return Authors{s.repo, s.ref} }

// made is a commit with its author.
type made struct {
	id, tree ID
	parents  []ID
	by       Author
}

// madeFormat prints madeFields texts for each commit, separated by NUL, which none can contain. -z
// ends the last one.
const (
	madeFormat   = "%H%x00%T%x00%P%x00%ae%x00%at%x00%s"
	madeFields   = 6
	signedFormat = madeFormat + "%x00%G?%x00%GF%x00%GP%x00%GS"
	signedFields = madeFields + 4
)

// commits lists the commits reachable from to but not from not, which may be "", parents before
// children. It starts one git process; with verify git starts one more per signed commit.
func (a Authors) commits(ctx context.Context, to, not ID, verify bool) ([]made, error) {
	var options []string
	format, fields := madeFormat, madeFields
	if verify {
		var err error
		if options, err = a.repo.Config().VerifyOptions(ctx); err != nil {
			return nil, err
		}
		format, fields = signedFormat, signedFields
	}
	args := append(options, "log", "-z", "--topo-order", "--reverse", "--no-color", "--encoding=UTF-8", "--format="+format, string(to))
	if not != "" {
		args = append(args, "^"+string(not))
	}
	out, err := a.repo.Git(ctx, nil, append(args, "--")...)
	if err != nil && verify && ctx.Err() == nil { // git crashes on some signatures: then none counts
		return a.commits(ctx, to, not, false)
	}
	if err != nil {
		return nil, err
	}
	here := map[ID]logged{}
	for _, l := range a.madeHere() {
		here[l.new] = l
	}
	parts := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(out) == 0 {
		return nil, nil
	}
	if len(parts)%fields != 0 {
		return nil, fmt.Errorf("read git log: %d texts, not %d for each commit", len(parts), fields)
	}
	var list []made
	for ; len(parts) > 0; parts = parts[fields:] {
		text := func(i int) string { return string(parts[i]) }
		m := made{id: ID(text(0)), tree: ID(text(1)), by: Author{Commit: ID(text(0)), Email: strings.ToLower(text(3))}}
		for _, p := range strings.Fields(text(2)) {
			m.parents = append(m.parents, ID(p))
		}
		if !a.repo.ObjectFormat.IsID(text(0)) || !a.repo.ObjectFormat.IsID(text(1)) {
			return nil, fmt.Errorf("read git log: %q is no commit", text(0))
		}
		seconds, _ := strconv.ParseInt(text(4), 10, 64)
		m.by.Here = here[m.id].says(m.parents, m.by.Email, seconds, text(5))
		if verify && (text(6) == "G" || text(6) == "U") { // good; U: the key's owner is unknown
			m.by.Key, m.by.Owner = text(7), text(8)
			if text(6) == "G" && strings.HasPrefix(m.by.Key, "SHA256:") {
				m.by.Name = text(9)
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// Only reports whether trusted accepts the author of every commit reachable from tip but not from
// not, which may be "". In a shallow clone the answer is always false.
func (a Authors) Only(ctx context.Context, tip, not ID, verify bool, trusted func(Author) bool) (bool, error) {
	if a.repo.Shallow {
		return false, nil
	}
	list, err := a.commits(ctx, tip, not, verify)
	if err != nil && not != "" && ctx.Err() == nil { // git may have dropped it
		list, err = a.commits(ctx, tip, "", verify)
	}
	if err != nil {
		return false, err
	}
	root := ID(rootObjects(a.repo.ObjectFormat)[1].ID)
	return !slices.ContainsFunc(list, func(m made) bool { return m.id != root && !trusted(m.by) }), nil
}

// logged is a line of the ref's log.
type logged struct {
	old, new ID
	email    string
	seconds  int64
	subject  string
}

// lag bounds how much later than a commit's date the ref may move to it, since another git may hold
// the ref.
const lag = time.Minute

// says reports whether the log line records the making of this commit, rather than its arrival from
// elsewhere.
func (l logged) says(parents []ID, email string, seconds int64, subject string) bool {
	late := l.seconds - seconds
	return l.old != "" && len(parents) > 0 && parents[0] == l.old && l.email == email && l.subject == subject &&
		late >= 0 && late <= int64(lag/time.Second)
}

// madeHere returns the lines of the ref's log by which our commits moved the ref, oldest first.
// Lines that git has expired are missing.
func (a Authors) madeHere() []logged {
	text, _ := os.ReadFile(filepath.Join(a.repo.CommonDir, "logs", filepath.FromSlash(a.ref)))
	var here []logged
	for line := range strings.Lines(string(text)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		subject, ours := strings.CutPrefix(message, "reverie: ")
		ids := strings.SplitN(head, " ", 3)
		from, to := strings.LastIndexByte(head, '<'), strings.LastIndexByte(head, '>')
		if !ours || len(ids) < 3 || from < 0 || to < from || strings.HasPrefix(subject, "merge "+ids[1]) || strings.HasPrefix(subject, "adopt ") {
			continue
		}
		when, _, _ := strings.Cut(strings.TrimSpace(head[to+1:]), " ")
		seconds, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			continue
		}
		here = append(here, logged{ID(ids[0]), ID(ids[1]), strings.ToLower(head[from+1 : to]), seconds, subject})
	}
	return here
}

// LastMade returns the newest commit made in this clone that git still has, or "". It may have left
// the store's history.
func (a Authors) LastMade(ctx context.Context) ID {
	here := a.madeHere()
	if len(here) == 0 {
		return ""
	}
	id := here[len(here)-1].new
	if found, err := a.repo.History().Commits(ctx, string(id)); err != nil || found[0] == "" {
		return ""
	}
	return id
}

// Straight reports whether the commit to descends from the commit from in a single line. Each
// commit must be by an author whom trusted accepts, and there may be at most limit. It also returns
// their number. An empty from means the beginning. It starts no process, so it checks no signature.
func (a Authors) Straight(ctx context.Context, from, to ID, limit int, trusted func(Author) bool) (n int, ok bool) {
	objects := a.repo.Objects()
	defer objects.Close()
	begin := ID(rootObjects(a.repo.ObjectFormat)[1].ID)
	for at := to; at != from; n++ {
		if from == "" && at == begin {
			return n, true
		}
		o, err := objects.Read(ctx, string(at))
		if n == limit || err != nil {
			return n, false
		}
		c, err := parseCommit(o.Data)
		if err != nil || len(c.parents) != 1 || !trusted(Author{Commit: at, Email: strings.ToLower(c.email)}) {
			return n, false
		}
		at = c.parents[0]
	}
	return n, true
}
