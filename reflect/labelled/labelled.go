// Package labelled reads sessions labelled with the knowledge worth keeping from them. It judges
// findings by precision, the share of findings that is right, and recall, the share of wanted
// knowledge that was found.
//
// Begin with Read. reflect/testdata/labelled/README.md describes the form of a folder and the
// meaning of its labels. The package writes nothing and is safe for concurrent use.
package labelled

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Index is the name of the file of labels in a folder: JSONL, one line per transcript.
const Index = "labels.jsonl"

// maxLine bounds a line of EachLine, in bytes.
const maxLine = 16 << 20

// Label describes the lessons of a transcript.
type Label struct {
	Session string        `json:"session"` // name of the transcript's file
	Want    []Expectation `json:"want"`    // must be found
	Allow   []Expectation `json:"allow"`   // may be found

	dir string
}

// Expectation is a statement that may be found.
type Expectation struct {
	Kind  record.Kind `json:"kind"`
	How   record.How  `json:"how"`   // said or seen
	Class string      `json:"class"` // kind of detector that should find it
	// patterns (RE2, case-insensitive), all of which its text must match
	About  []string `json:"about"`
	Accept string   `json:"accept"` // the statement as a colleague would write it

	about []*regexp.Regexp
}

// Read reads the labels of a folder, in their order. An error names the file and the line.
func Read(dir string) ([]Label, error) {
	name := filepath.Join(dir, Index)
	var out []Label
	err := EachLine(name, func(l Label) error {
		if err := l.prepare(); err != nil {
			return err
		}
		if slices.ContainsFunc(out, func(other Label) bool { return other.Session == l.Session }) {
			return fmt.Errorf("session: %q has a line already", l.Session)
		}
		l.dir = dir
		out = append(out, l)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no labels", name)
	}
	return out, err
}

// EachLine passes on the values of a file of JSON lines, skipping empty ones. An error names the
// file and the line.
func EachLine[T any](name string, do func(T) error) error {
	f, err := open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" {
			continue
		}
		var v T
		err := json.Unmarshal([]byte(line), &v)
		if err == nil {
			err = do(v)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	err = lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)
	}
	if err != nil {
		err = fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return err
}

// prepare checks a label and compiles its patterns.
func (l *Label) prepare() error {
	if !filepath.IsLocal(l.Session) {
		return fmt.Errorf("session: %q is not a file of the folder", l.Session)
	}
	for list, all := range map[string][]Expectation{"want": l.Want, "allow": l.Allow} {
		for i := range all {
			if len(all[i].About) == 0 {
				return fmt.Errorf("%s[%d].about: a statement without patterns would be any", list, i)
			}
			for _, about := range all[i].About {
				re, err := regexp.Compile("(?i)" + about)
				if err != nil {
					return fmt.Errorf("%s[%d].about: %w", list, i, err)
				}
				all[i].about = append(all[i].about, re)
			}
		}
	}
	return nil
}

// Matches reports whether every pattern matches a candidate's statement, body and paths.
func (e Expectation) Matches(c record.Candidate) bool {
	text := c.Text + "\n" + c.Body + "\n" + strings.Join(c.Paths, "\n")
	for _, re := range e.about {
		if !re.MatchString(text) {
			return false
		}
	}
	return true
}

// A Session is one session of a transcript, with its original events.
type Session struct {
	transcript.Session
	Events []transcript.Event
}

// Sessions reads the transcript. An error names it.
func (l Label) Sessions(ctx context.Context) ([]Session, error) {
	name := filepath.Join(l.dir, l.Session)
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Session
	err = transcript.Whole(ctx, f, transcript.Auto, func(s transcript.Session, events []transcript.Event) error {
		out = append(out, Session{s, events})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// open opens a regular file.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", name, at.Err)
	}
	return f, err
}

// A Verdict compares the findings in a transcript with its label. Weak candidates are in none of
// its lists, because they are not proposals yet. Candidates and expectations match many to many.
type Verdict struct {
	Right   []record.Candidate // wanted
	Allowed []record.Candidate
	Wrong   []record.Candidate // neither
	Found   []Expectation      // wanted
	Missed  []Expectation      // wanted
}

// Judge compares the findings in all sessions of the transcript with the label.
func (l Label) Judge(candidates []record.Candidate) Verdict {
	var v Verdict
	found := make([]bool, len(l.Want))
	for _, c := range candidates {
		if c.Weak {
			continue
		}
		hit := false
		for i, e := range l.Want {
			if e.Matches(c) {
				hit, found[i] = true, true
			}
		}
		switch {
		case hit:
			v.Right = append(v.Right, c)
		case slices.ContainsFunc(l.Allow, func(e Expectation) bool { return e.Matches(c) }):
			v.Allowed = append(v.Allowed, c)
		default:
			v.Wrong = append(v.Wrong, c)
		}
	}
	for i, e := range l.Want {
		if found[i] {
			v.Found = append(v.Found, e)
		} else {
			v.Missed = append(v.Missed, e)
		}
	}
	return v
}

// A Score counts the matches of candidates and expectations.
type Score struct {
	Right, Allowed, Wrong int // candidates
	Found, Missed         int // expectations

	Classes   map[string]Share // expectations found, by their class
	Detectors map[string]Share // right candidates among those right or wrong, by detector
	AtOnce    Share            // right ones among those that a policy may accept after one session
	Waiting   Share            // right ones of the others
}

// A Share is N of Of.
type Share struct{ N, Of int }

func (s Share) and(hit bool) Share {
	if hit {
		s.N++
	}
	s.Of++
	return s
}

// Interval returns the share's 95 % confidence interval by Wilson's score (JASA 22, 1927), from 0
// to 1. An empty share gives 0 to 1.
func (s Share) Interval() (low, high float64) {
	if s.Of == 0 {
		return 0, 1
	}
	const z = 1.96
	n, p := float64(s.Of), float64(s.N)/float64(s.Of)
	centre := p + z*z/(2*n)
	spread := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (centre-spread)/(1+z*z/n)), min(1, (centre+spread)/(1+z*z/n))
}

// Add counts a verdict.
func (s *Score) Add(v Verdict) {
	s.Right += len(v.Right)
	s.Allowed += len(v.Allowed)
	s.Wrong += len(v.Wrong)
	s.Found += len(v.Found)
	s.Missed += len(v.Missed)
	if s.Classes == nil {
		s.Classes, s.Detectors = map[string]Share{}, map[string]Share{}
	}
	for _, e := range v.Found {
		s.Classes[e.Class] = s.Classes[e.Class].and(true)
	}
	for _, e := range v.Missed {
		s.Classes[e.Class] = s.Classes[e.Class].and(false)
	}
	count := func(list []record.Candidate, right bool) {
		for _, c := range list {
			s.Detectors[c.Detector] = s.Detectors[c.Detector].and(right)
			if c.How == record.Said && !record.Doubtful(c.Evidence) {
				s.AtOnce = s.AtOnce.and(right)
			} else {
				s.Waiting = s.Waiting.and(right)
			}
		}
	}
	count(v.Right, true)
	count(v.Wrong, false)
}

// Precision returns the share of right candidates among the right and wrong ones, from 0 to 1. It
// is 1 without candidates.
func (s Score) Precision() float64 { return ratio(s.Right, s.Right+s.Wrong) }

// Recall returns the share of wanted statements that were found, from 0 to 1. It is 1 if none was
// wanted.
func (s Score) Recall() float64 { return ratio(s.Found, s.Found+s.Missed) }

func ratio(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}
