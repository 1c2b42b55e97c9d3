package judge

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const conversation = `{"speaker_a": "Ada", "session_1_date_time": "1:56 pm on 8 May, 2023",
	"session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "The kiln cracked."}, {"speaker": "Bo", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a red heron"}],
	"session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I moved to Oslo."}], "session_2_date_time": "soon",
	"session_3_date_time": "1:56 pm on 9 May, 2023", "events_session_1": {},
	"qa": [{"question": "Which bird?", "evidence": ["D1:02; D9:4"], "category": 4}, {"question": "Where and what?", "evidence": ["D2:1", "D1:1"], "category": 1},
		{"question": "Lost", "evidence": ["D"], "category": 5}]}`

// labels lists the queries of a set with their right documents, by text.
func labels(s Set) map[string][]string {
	out := map[string][]string{}
	for _, q := range s.Queries {
		for _, m := range s.Stores[q.Group] {
			if q.Rel[m.ID] > 0 {
				out[q.Class+": "+q.Text] = append(out[q.Class+": "+q.Text], m.Text)
			}
		}
	}
	return out
}

func TestLoCoMo(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "set.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("data/7.json")
	if err == nil {
		_, err = w.Write([]byte(conversation))
	}
	if err != nil || z.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "7.json"), []byte(conversation), 0o644); err != nil {
		t.Fatal(err)
	}
	first := "Ada: The kiln cracked.\nBo: Look. a red heron"
	for _, path := range []string{file, dir} {
		sets, err := ReadForm(LoCoMo, path)
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) != 2 || sets[0].Name != "locomo session" || sets[1].Name != "locomo turn" || sets[0].Memories() != 2 || sets[1].Memories() != 3 {
			t.Fatalf("%+v", sets)
		}
		if diff := cmp.Diff(map[string][]string{"single-hop: Which bird?": {first}, "multi-hop: Where and what?": {first, "Bo: I moved to Oslo."}}, labels(sets[0])); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string][]string{"single-hop: Which bird?": {"Bo: Look. a red heron"}, "multi-hop: Where and what?": {"Ada: The kiln cracked.", "Bo: I moved to Oslo."}}, labels(sets[1])); diff != "" {
			t.Error(diff)
		}
		if m := sets[1].Stores["7.json"]; m[0].Time != 1683554160 || m[2].Time != 0 {
			t.Errorf("times: %+v", m)
		}
	}
}

func TestLongMemEval(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	text := `[{"question_id": "q", "question_type": "temporal-reasoning", "question": "Which kiln?", "haystack_session_ids": ["a", "b", "b"],
		"haystack_dates": ["2023/05/22 (Mon) 09:00", "", ""], "answer_session_ids": ["a"],
		"haystack_sessions": [[{"role": "user", "content": "Hello"}, {"role": "user", "content": "The red kiln", "has_answer": true}], [{"role": "user", "content": "Rain"}], [{"role": "user", "content": "Rain"}]]},
		{"question_id": "q_abs", "question_type": "temporal-reasoning", "question": "Never told?", "haystack_session_ids": ["a"], "haystack_dates": [""], "answer_session_ids": ["a"], "haystack_sessions": [[]]}]`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sets, err := ReadForm(LongMemEval, file)
	if err != nil || len(sets) != 2 {
		t.Fatal(sets, err)
	}
	for i, want := range []string{"Hello\nThe red kiln", "The red kiln"} {
		if diff := cmp.Diff(map[string][]string{"temporal-reasoning: Which kiln?": {want}}, labels(sets[i])); diff != "" {
			t.Error(sets[i].Name, diff)
		}
	}
	if sets[0].Memories() != 3 || sets[1].Memories() != 4 || sets[0].Stores["q"][0].Time != 1684746000 {
		t.Errorf("%+v", sets)
	}
}

func TestDevMemBench(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sessions.json": `[{"sessionId": "S1", "metadata": {"date": "2025-01-15"}, "messages": [{"role": "user", "content": "Use Rust"}, {"role": "assistant", "content": "Fine"}]}]`,
		"questions.json": `[{"questionId": "Q1", "questionType": "tech-stack", "question": "Which language?", "haystackSessionIds": ["S1"]},
			{"questionId": "Q2", "questionType": "abstention", "question": "Which cloud?", "haystackSessionIds": []}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sets, err := ReadForm(DevMemBench, dir)
	if err != nil || len(sets) != 1 || sets[0].Name != "devmembench session" {
		t.Fatal(sets, err)
	}
	if diff := cmp.Diff(map[string][]string{"tech-stack: Which language?": {"Use Rust\nFine"}}, labels(sets[0])); diff != "" {
		t.Error(diff)
	}
}

func TestReadFormRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.json")
	if err := os.WriteFile(empty, []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ form, path, want string }{
		{"msmarco", dir, "not one of locomo"},
		{LongMemEval, empty, "no question names its evidence"},
		{LoCoMo, dir, "cannot unmarshal array"},
		{DevMemBench, dir, "sessions.json"},
	} {
		if _, err := ReadForm(test.form, test.path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.form, err, test.want)
		}
	}
}
