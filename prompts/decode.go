package prompts

import "encoding/json"

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

// decode reads an answer to a prompt. Errors are of type Faults.
func decode[T any](name string, answer json.RawMessage) (T, error) {
	var out, none T
	if err := builtin()[name].answer.check(answer); err != nil {
		return none, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return none, Faults{err.Error()}
	}
	return out, nil
}
