package record

import "errors"

// Unreadable separates records that cannot be parsed, which hide no others, from all other errors.
func Unreadable(err error) (records []string, rest error) {
	var bad *FormatError
	var others []error
	for _, e := range Errors(err) {
		if errors.As(e, &bad) {
			records = append(records, e.Error())
		} else {
			others = append(others, e)
		}
	}
	return records, errors.Join(others...)
}

// Errors lists the errors that were joined.
func Errors(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, Errors(e)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
