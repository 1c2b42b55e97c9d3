package recall

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Filter selects memories by their properties, not their text. One value of each list must match;
// an empty list or Since matches everything.
type Filter struct {
	Kinds []record.Kind
	Paths []string // files, folders or globs, with slashes, below the top of the repository
	Tags  []string
	By    []string // a client, human, import/<tool>, or <client>/<session> and its beginnings
	Since string   // 2026-11-01, 2026-11, 3d, 2w, 6m, 1y, today or yesterday; see Filter.After
}

// Values are the properties that a Filter checks.
type Values struct {
	Kind  record.Kind
	Paths []string // globs
	Tags  []string
	By    string    // as in record.Source
	Time  time.Time // zero: not known
}

// ValuesOf returns the properties of a memory.
func ValuesOf(m record.Memory) Values {
	return Values{Kind: m.Kind, Paths: m.Paths, Tags: m.Tags, By: m.Source.By, Time: m.Source.Time}
}

// Match reports whether a query's filters accept a memory at a time.
func (q Query) Match(v Values, now time.Time) bool {
	f, no := q.Filter, q.Without
	some := func(values []string, match func(string) bool) bool {
		return len(values) == 0 || slices.ContainsFunc(values, match)
	}
	switch {
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, v.Kind), slices.Contains(no.Kinds, v.Kind),
		!some(f.Paths, v.under), slices.ContainsFunc(no.Paths, v.under),
		!some(f.Tags, v.tagged), slices.ContainsFunc(no.Tags, v.tagged),
		!some(f.By, v.by), slices.ContainsFunc(no.By, v.by):
		return false
	case f.Since != "" && (v.Time.IsZero() || v.Time.Before(f.After(now))):
		return false
	}
	return no.Since == "" || v.Time.Before(no.After(now))
}

func (v Values) tagged(tag string) bool {
	return slices.ContainsFunc(v.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

func (v Values) by(who string) bool {
	rest, ok := strings.CutPrefix(v.By, who)
	return ok && (rest == "" || rest[0] == '/' || strings.Contains(who, "/"))
}

func (v Values) under(place string) bool {
	return slices.ContainsFunc(v.Paths, func(glob string) bool { return About(glob, place) })
}

// empty reports whether f accepts everything.
func (f Filter) empty() bool {
	return len(f.Kinds)+len(f.Paths)+len(f.Tags)+len(f.By) == 0 && f.Since == ""
}

// After returns the start of Since, in the zone of now, or zero if Since is empty.
func (f Filter) After(now time.Time) time.Time {
	at, _ := since(f.Since, now)
	return at
}

func since(value string, now time.Time) (time.Time, bool) {
	year, month, day := now.Date()
	midnight := func(back int) time.Time { return time.Date(year, month, day-back, 0, 0, 0, 0, now.Location()) }
	switch value {
	case "today":
		return midnight(0), true
	case "yesterday":
		return midnight(1), true
	}
	for _, layout := range []string{"2006-01-02", "2006-01"} {
		if at, err := time.ParseInLocation(layout, value, now.Location()); err == nil {
			return at, true
		}
	}
	if value == "" {
		return time.Time{}, false
	}
	unit := value[len(value)-1]
	// The limit is 4,095, far beyond any repository.
	n, err := strconv.ParseUint(value[:len(value)-1], 10, 12)
	if err != nil {
		return time.Time{}, false
	}
	switch back := -int(n); unit {
	case 'd':
		return now.AddDate(0, 0, back), true
	case 'w':
		return now.AddDate(0, 0, 7*back), true
	case 'm':
		return now.AddDate(0, back, 0), true
	case 'y':
		return now.AddDate(back, 0, 0), true
	}
	return time.Time{}, false
}

// Unmet returns the filters of Perhaps whose key has no value in any memory that the query asks
// for.
func (x *Index) Unmet(q Query, now time.Time) (out []string) {
	for _, of := range []struct {
		key string
		Filter
	}{{"path:", Filter{Paths: q.Paths}}, {"tag:", Filter{Tags: q.Tags}}, {"by:", Filter{By: q.By}}} {
		asked := slices.DeleteFunc(slices.Clone(q.Perhaps), func(raw string) bool { return !strings.HasPrefix(raw, of.key) })
		if len(asked) > 0 && len(x.Newest(1, x.Keep(Query{Filter: of.Filter}, now))) == 0 {
			out = append(out, asked...)
		}
	}
	return out
}

// isKey reports whether a filter has this name.
func isKey(key string) bool {
	switch key {
	case "kind", "path", "tag", "by", "since", "at":
		return true
	}
	return false
}

// filter adds a filter to the query.
func (q *Query) filter(w word, at Where) error {
	f, name := &q.Filter, w.key+":"
	if w.not {
		f, name = &q.Without, "-"+name
	}
	wrong := func(takes string) error { return fmt.Errorf("%s%q: it takes %s", name, w.text, takes) }
	switch w.key {
	case "kind":
		kind := record.Kind(strings.ToLower(w.text))
		if !kind.Valid() {
			var names []string
			for _, k := range record.Kinds {
				names = append(names, string(k))
			}
			return wrong("one of " + strings.Join(names, ", "))
		}
		f.Kinds = append(f.Kinds, kind)
	case "path":
		place := strings.ReplaceAll(withoutPositions(w.text), `\`, "/")
		if first, _, _ := strings.Cut(place, "/"); first != "." && first != ".." {
			place = strings.TrimPrefix(path.Clean("/"+place), "/")
		} else if below, ok := at.Path(place); ok {
			place = below
		} else {
			return fmt.Errorf("%s%q: it lies outside of the repository", name, w.text)
		}
		if place == "" {
			return wrong("a file, a folder or a glob below the top of the repository")
		}
		f.Paths = append(f.Paths, place)
	case "tag":
		f.Tags = append(f.Tags, w.text)
	case "by":
		f.By = append(f.By, strings.TrimSuffix(w.text, "/"))
	case "since":
		switch _, ok := since(w.text, time.Unix(0, 0)); {
		case !ok:
			return wrong("a day (2026-11-01), a month (2026-11), an age (3d, 2w, 6m, 1y), today or yesterday")
		case f.Since != "":
			return fmt.Errorf("%s%q: it is given twice", name, w.text)
		}
		f.Since = w.text
	case "at":
		switch {
		case w.not:
			return fmt.Errorf("-at:%q: at: has no opposite; it takes one git revision", w.text)
		case strings.HasPrefix(w.text, "-"):
			return wrong("a git revision: a commit, a tag, a branch, ~3")
		case q.At != "":
			return fmt.Errorf("at:%q: it is given twice", w.text)
		}
		q.At = w.text
	}
	return nil
}

// Keep returns a test for documents in force at a time that pass the filters of a query; nil
// accepts all.
func (x *Index) Keep(q Query, now time.Time) func(Ref) bool {
	filtered := !q.Filter.empty() || !q.Without.empty()
	labels := make([][]string, len(x.segments)) // per segment, loaded on demand
	expiring := make([]bool, len(x.segments))
	some := filtered
	for k, s := range x.segments {
		_, expiring[k] = s.Label(mayExpire)
		some = some || expiring[k]
	}
	if !some {
		return nil
	}
	var ids []uint32
	return func(at Ref) bool {
		s := x.segments[at.Segment]
		if expiring[at.Segment] {
			if e := s.Expires(at.Doc); e != 0 && now.Unix() >= e {
				return false
			}
		}
		if !filtered {
			return true
		}
		if labels[at.Segment] == nil {
			labels[at.Segment] = []string{}
			for id := range s.LabelCount() {
				labels[at.Segment] = append(labels[at.Segment], s.LabelText(uint32(id)))
			}
		}
		v := Values{Kind: kindOf(s.Kind(at.Doc))}
		if t := s.Time(at.Doc); t != 0 {
			v.Time = time.Unix(t, 0)
		}
		ids = s.Labels(at.Doc, ids[:0])
		for _, id := range ids {
			if int(id) >= len(labels[at.Segment]) {
				return false // they were spoilt, and Err says so
			}
			label := labels[at.Segment][id]
			if path, ok := strings.CutPrefix(label, labelPath); ok {
				v.Paths = append(v.Paths, path)
			} else if tag, ok := strings.CutPrefix(label, labelTag); ok {
				v.Tags = append(v.Tags, tag)
			} else if by, ok := strings.CutPrefix(label, labelBy); ok {
				v.By = by
			}
		}
		return q.Match(v, now)
	}
}
