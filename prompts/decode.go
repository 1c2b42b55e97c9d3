package prompts

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// DecodeReflect reads the answer to Reflect, dropping candidates that violate its schema.
func DecodeReflect(answer json.RawMessage) (ReflectAnswer, error) {
	a, dropped, err := decodeItems[ReflectAnswer]("reflect", answer)
	a.Dropped = dropped
	return a, err
}

// DecodeDream reads the answer to Dream, dropping operations that violate its schema.
func DecodeDream(answer json.RawMessage) (DreamAnswer, error) {
	a, dropped, err := decodeItems[DreamAnswer]("dream", answer)
	a.Dropped = dropped
	return a, err
}

// DecodeDistill reads the answer to Distill, dropping steps and tools that violate its schema.
func DecodeDistill(answer json.RawMessage) (DistillAnswer, error) {
	a, dropped, err := decodeItems[DistillAnswer]("distill", answer)
	a.Dropped = dropped
	return a, err
}

// DecodeAudit reads the answer to Audit, which must fit its schema exactly.
func DecodeAudit(answer json.RawMessage) (AuditAnswer, error) {
	return decode[AuditAnswer]("audit", answer)
}

// DecodeContradiction reads the answer to Contradiction, which must fit its schema exactly.
func DecodeContradiction(answer json.RawMessage) (ContradictionAnswer, error) {
	return decode[ContradictionAnswer]("contradiction", answer)
}

// decode reads an answer to a prompt. Errors are of type Faults. An answer that repeats the example
// of the embedded prompt is an error.
func decode[T any](name string, answer json.RawMessage) (T, error) {
	var out, none T
	if err := builtin()[name].answer.check(answer); err != nil {
		return none, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return none, Faults{err.Error()}
	}
	if fault := builtin()[name].parroted(answer); fault != "" {
		return none, Faults{fault}
	}
	return out, nil
}

// decodeItems is decode for an answer with lists of independent items. It drops invalid items, and
// returns them with their faults; the rest fits the schema exactly. It fails like decode if the
// answer is wrong outside its items, has too many of them, or has a list without a valid item.
func decodeItems[T any](name string, answer json.RawMessage) (out T, dropped []Dropped, err error) {
	if out, err = decode[T](name, answer); err == nil {
		return out, nil, nil
	}
	rest, dropped := builtin()[name].sift(answer)
	if len(dropped) == 0 {
		return out, nil, err
	}
	left, errLeft := decode[T](name, rest)
	if errLeft != nil {
		return out, nil, err
	}
	return left, dropped, nil
}

// sift removes invalid items from the lists of an answer, and returns them. It finds
// nothing if the answer has other faults, or if a list would lose all of its items.
func (p *prompt) sift(answer json.RawMessage) (rest json.RawMessage, dropped []Dropped) {
	if p.answer.frame().check(answer) != nil {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return nil, nil
	}
	for _, name := range p.answer.Required {
		list := p.answer.Properties[name]
		if list.Type != "array" {
			continue
		}
		var items, fit []json.RawMessage
		if json.Unmarshal(fields[name], &items) != nil {
			return nil, nil
		}
		for i, item := range items {
			at := name + "[" + strconv.Itoa(i) + "]"
			fault := list.Items.faults(item, at).Error()
			if said := p.parroted(item); fault == "" && said != "" {
				fault = at + ": " + said
			}
			if fault != "" {
				dropped = append(dropped, Dropped{i, item, fault})
				continue
			}
			fit = append(fit, item)
		}
		if len(items) > 0 && len(fit) == 0 {
			return nil, nil
		}
		var err error
		if fields[name], err = json.Marshal(append([]json.RawMessage{}, fit...)); err != nil {
			return nil, nil
		}
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, nil
	}
	return rest, dropped
}

// parroted returns a string of the example that occurs in an answer, or "".
func (p *prompt) parroted(answer json.RawMessage) string {
	for _, s := range stringsOf(answer) {
		if p.example[s] {
			return strconv.Quote(cut(s, 60)) + " is the example's; answer from the data, or say that there is nothing"
		}
	}
	return ""
}

// minParroted is the minimum length, in bytes, of a string that shows a copied example. Small
// models copy it when they find nothing. Shorter strings may be right by chance.
const minParroted = 24

// exampleOf returns the longer strings of the example in a system part, a line that is a JSON
// object.
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

// stringsOf returns every string in a JSON text, including keys.
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
