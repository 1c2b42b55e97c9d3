package judge

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The forms of published sets. Form "" is a folder with the two files of Read.
const (
	LoCoMo      = "locomo"      // the zip, or a folder, of its *.json: one conversation each
	LongMemEval = "longmemeval" // longmemeval_s.json: a haystack of sessions for each question
	DevMemBench = "devmembench" // the folder of sessions.json and questions.json
)

// ReadForm reads a published set. The answer has a set for each level at which the labels name the
// evidence: the turns of the conversations, their sessions, or both. A document is the text of one.
func ReadForm(form, path string) ([]Set, error) {
	read := map[string]func(string) (levels, error){LoCoMo: readLoCoMo, LongMemEval: readLongMemEval, DevMemBench: readDevMemBench}[form]
	if read == nil {
		if form != "" {
			return nil, fmt.Errorf("form %q: not one of %s, %s, %s", form, LoCoMo, LongMemEval, DevMemBench)
		}
		s, err := Read(path)
		return []Set{s}, err
	}
	l, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read %s as %s: %w", path, form, err)
	}
	var sets []Set
	for _, s := range []Set{l.sessions, l.turns} {
		if len(s.Labelled()) > 0 {
			sets = append(sets, s)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("read %s as %s: no question names its evidence", path, form)
	}
	return sets, nil
}

// levels holds a set of conversations twice.
type levels struct{ sessions, turns Set }

func newLevels(form string) levels {
	return levels{Set{Name: form + " session", Stores: map[string][]Memory{}}, Set{Name: form + " turn", Stores: map[string][]Memory{}}}
}

// document adds a text to a store, unless it is empty.
func (s *Set) document(group, id, text string, at int64) {
	if text = strings.TrimSpace(text); text != "" {
		s.Stores[group] = append(s.Stores[group], Memory{ID: id, Group: group, Text: text, Time: at})
	}
}

// question adds a question. Evidence that names no document of its store does not count, and a
// question without any other is left out: it is no test of finding something.
func (s *Set) question(group, id, text, class string, evidence []string) {
	q := Query{ID: id, Group: group, Text: text, Class: class, Rel: map[string]float64{}}
	for _, e := range evidence {
		if slices.ContainsFunc(s.Stores[group], func(m Memory) bool { return m.ID == e }) {
			q.Rel[e] = 1
		}
	}
	if len(q.Rel) > 0 && strings.TrimSpace(text) != "" {
		s.Queries = append(s.Queries, q)
	}
}

// unixTime returns 0 for a time in another layout.
func unixTime(layout, text string) int64 {
	t, err := time.Parse(layout, text)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// readLoCoMo reads conversations whose questions name turns as "D3:11". A picture counts with its
// caption.
func readLoCoMo(path string) (levels, error) {
	files, err := jsonFiles(path)
	if err != nil {
		return levels{}, err
	}
	l := newLevels(LoCoMo)
	classes := []string{"", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"}
	session := regexp.MustCompile(`^session_(\d+)$`)
	turn := regexp.MustCompile(`D(\d+):0*(\d+)`)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(files[name], &fields); err != nil {
			return l, fmt.Errorf("%s: %w", name, err)
		}
		var numbers []int
		for key := range fields {
			if m := session.FindStringSubmatch(key); m != nil {
				n, _ := strconv.Atoi(m[1])
				numbers = append(numbers, n)
			}
		}
		slices.Sort(numbers)
		for _, n := range numbers {
			key := fmt.Sprint("session_", n)
			var turns []struct {
				Speaker, Text string
				ID            string `json:"dia_id"`
				Caption       string `json:"blip_caption"`
			}
			if err := json.Unmarshal(fields[key], &turns); err != nil {
				return l, fmt.Errorf("%s: %s: %w", name, key, err)
			}
			var date string
			_ = json.Unmarshal(fields[key+"_date_time"], &date) // without a date the time is unknown
			at := unixTime("3:04 pm on 2 January, 2006", date)
			var whole []string
			for _, t := range turns {
				text := strings.TrimSpace(t.Speaker + ": " + t.Text + " " + t.Caption)
				l.turns.document(name, t.ID, text, at)
				whole = append(whole, text)
			}
			l.sessions.document(name, fmt.Sprint("D", n), strings.Join(whole, "\n"), at)
		}
		var questions []struct {
			Question string
			Evidence []string
			Category int
		}
		if err := json.Unmarshal(fields["qa"], &questions); err != nil {
			return l, fmt.Errorf("%s: qa: %w", name, err)
		}
		for i, q := range questions {
			if q.Category < 1 || q.Category >= len(classes) {
				return l, fmt.Errorf("%s: qa: question %d: category %d is unknown", name, i+1, q.Category)
			}
			var turns, sessions []string
			for _, m := range turn.FindAllStringSubmatch(strings.Join(q.Evidence, " "), -1) {
				turns, sessions = append(turns, "D"+m[1]+":"+m[2]), append(sessions, "D"+m[1])
			}
			id := fmt.Sprintf("%s#%d", name, i+1)
			l.turns.question(name, id, q.Question, classes[q.Category], turns)
			l.sessions.question(name, id, q.Question, classes[q.Category], sessions)
		}
	}
	return l, nil
}

// jsonFiles returns the *.json files of a folder or a zip file by their base names.
func jsonFiles(place string) (map[string][]byte, error) {
	top, zipped := os.DirFS(place), false
	if info, err := os.Stat(place); err == nil && !info.IsDir() {
		z, err := zip.OpenReader(place)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		top, zipped = z, true
	}
	files := map[string][]byte{}
	err := fs.WalkDir(top, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && name != "." && !zipped {
			return fs.SkipDir
		}
		if err == nil && path.Ext(name) == ".json" {
			files[path.Base(name)], err = fs.ReadFile(top, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no *.json files", place)
	}
	return files, err
}

// chatTurn is a message of a session of LongMemEval or DevMemBench.
type chatTurn struct {
	Role, Content string
	HasAnswer     bool `json:"has_answer"`
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	return err
}

// readLongMemEval reads questions with a history each. Questions to abstain from have no evidence
// and are left out, as in the published retrieval figures.
func readLongMemEval(path string) (levels, error) {
	var all []struct {
		ID       string       `json:"question_id"`
		Class    string       `json:"question_type"`
		Text     string       `json:"question"`
		IDs      []string     `json:"haystack_session_ids"`
		Dates    []string     `json:"haystack_dates"`
		Sessions [][]chatTurn `json:"haystack_sessions"`
		Evidence []string     `json:"answer_session_ids"`
	}
	if err := readJSON(path, &all); err != nil {
		return levels{}, err
	}
	l := newLevels(LongMemEval)
	for _, q := range all {
		if len(q.IDs) != len(q.Sessions) || len(q.Dates) != len(q.Sessions) {
			return l, fmt.Errorf("question %s: %d sessions, %d ids, %d dates", q.ID, len(q.Sessions), len(q.IDs), len(q.Dates))
		}
		if strings.HasSuffix(q.ID, "_abs") {
			continue
		}
		var right []string
		for i, turns := range q.Sessions {
			at := unixTime("2006/01/02 (Mon) 15:04", q.Dates[i])
			id := fmt.Sprintf("%d/%s", i, q.IDs[i]) // a filler may occur twice
			if slices.Contains(q.Evidence, q.IDs[i]) {
				right = append(right, id)
			}
			var whole, answers []string
			for n, t := range turns {
				turn := fmt.Sprintf("%s/%d", id, n)
				l.turns.document(q.ID, turn, t.Content, at)
				whole = append(whole, t.Content)
				if t.HasAnswer {
					answers = append(answers, turn)
				}
			}
			l.sessions.document(q.ID, id, strings.Join(whole, "\n"), at)
			right = append(right, answers...)
		}
		l.turns.question(q.ID, q.ID, q.Text, q.Class, right)
		l.sessions.question(q.ID, q.ID, q.Text, q.Class, right)
	}
	return l, nil
}

// readDevMemBench reads sessions that all questions share. Labels name sessions only.
func readDevMemBench(path string) (levels, error) {
	var sessions []struct {
		ID       string `json:"sessionId"`
		Metadata struct{ Date string }
		Messages []chatTurn
	}
	var questions []struct {
		ID       string   `json:"questionId"`
		Class    string   `json:"questionType"`
		Text     string   `json:"question"`
		Evidence []string `json:"haystackSessionIds"`
	}
	if err := readJSON(filepath.Join(path, "sessions.json"), &sessions); err != nil {
		return levels{}, err
	}
	if err := readJSON(filepath.Join(path, "questions.json"), &questions); err != nil {
		return levels{}, err
	}
	l := newLevels(DevMemBench)
	for _, s := range sessions {
		var whole []string
		for _, t := range s.Messages {
			whole = append(whole, t.Content)
		}
		l.sessions.document("", s.ID, strings.Join(whole, "\n"), unixTime(time.DateOnly, s.Metadata.Date))
	}
	for _, q := range questions {
		if q.Class != "abstention" {
			l.sessions.question("", q.ID, q.Text, q.Class, q.Evidence)
		}
	}
	return l, nil
}
