package gitstore

import (
	"bytes"
	"context"
	"fmt"
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
	here := map[ID]git.Logged{}
	for _, l := range a.madeHere(ctx) {
		here[ID(l.New)] = l
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
		m.by.Here = records(here[m.id], m.parents, m.by.Email, seconds, text(5))
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

// lag bounds how much later than a commit's date the ref may move to it, since another git may hold
// the ref.
const lag = time.Minute

// records reports whether a log line records the making of this commit, rather than its arrival
// from elsewhere.
func records(l git.Logged, parents []ID, email string, seconds int64, subject string) bool {
	late := l.Seconds - seconds
	return l.Old != "" && len(parents) > 0 && string(parents[0]) == l.Old && l.Email == email && l.Message == "reverie: "+subject &&
		late >= 0 && late <= int64(lag/time.Second)
}

// madeHere returns the lines of the ref's log by which our commits moved the ref, oldest first.
// Lines that git has expired are missing.
func (a Authors) madeHere(ctx context.Context) git.Log {
	log, _ := a.repo.Refs().Log(ctx, a.ref) // an unreadable one tells nothing
	return slices.DeleteFunc(log, func(l git.Logged) bool {
		subject, made := strings.CutPrefix(l.Message, "reverie: ")
		return !made || l.New == "" || l.Seconds == 0 || strings.HasPrefix(subject, "merge "+l.New) || strings.HasPrefix(subject, "adopt ")
	})
}

// LastMade returns the newest commit made in this clone that git still has, or "". It may have left
// the store's history.
func (a Authors) LastMade(ctx context.Context) ID {
	here := a.madeHere(ctx)
	if len(here) == 0 {
		return ""
	}
	id := here[len(here)-1].New
	if found, err := a.repo.History().Commits(ctx, id); err != nil || found[0] == "" {
		return ""
	}
	return ID(id)
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
