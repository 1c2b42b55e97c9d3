package prompts

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// DecodeReflect reads the answer to Reflect, which must fit its schema to the letter.
func DecodeReflect(answer json.RawMessage) (ReflectAnswer, error) {
	return decode[ReflectAnswer]("reflect", answer)
}

// DecodeDream reads the answer to Dream, which must fit its schema to the letter.
func DecodeDream(answer json.RawMessage) (DreamAnswer, error) {
	return decode[DreamAnswer]("dream", answer)
}

// DecodeDistill reads the answer to Distill, which must fit its schema to the letter.
func DecodeDistill(answer json.RawMessage) (DistillAnswer, error) {
	return decode[DistillAnswer]("distill", answer)
}

// DecodeAudit reads the answer to Audit, which must fit its schema to the letter.
func DecodeAudit(answer json.RawMessage) (AuditAnswer, error) {
	return decode[AuditAnswer]("audit", answer)
}

// DecodeContradiction reads the answer to Contradiction, which must fit its schema to the letter.
func DecodeContradiction(answer json.RawMessage) (ContradictionAnswer, error) {
	return decode[ContradictionAnswer]("contradiction", answer)
}

// decode reads an answer to a prompt. Errors are of type Faults. An answer that repeats the example of the embedded
// prompt is none.
func decode[T any](name string, answer json.RawMessage) (T, error) {
	var out, none T
	if err := builtin()[name].answer.check(answer); err != nil {
		return none, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return none, Faults{err.Error()}
	}
	for _, s := range stringsOf(answer) {
		if builtin()[name].example[s] {
			return none, Faults{strconv.Quote(cut(s, 60)) + " is the example's; answer from the data, or say that there is nothing"}
		}
	}
	return out, nil
}

// minParroted is the shortest string by which an answer is known to repeat the example, in bytes. Small models do that
// when they find nothing. Shorter strings may be right by chance.
const minParroted = 24

// exampleOf is the longer strings of the example in a system part: a line that is a JSON object.
func exampleOf(system string) map[string]bool {
	found := map[string]bool{}
	for l := range strings.SplitSeq(system, "\n") {
		if !strings.HasPrefix(l, "{") {
			continue
		}
		for _, s := range stringsOf([]byte(l)) {
			if len(s) >= minParroted {
				found[s] = true
			}
		}
	}
	return found
}

// stringsOf is every string in a JSON text, keys too.
func stringsOf(text []byte) (all []string) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	for {
		t, err := in.Token()
		if err != nil {
			return all
		}
		if s, ok := t.(string); ok {
			all = append(all, s)
		}
	}
}
