package record

import "errors"

var (
	// ErrNoMemory means that no memory or operation has the given id.
	ErrNoMemory = errors.New("there is no such id")
	// ErrAmbiguous means that several ids begin with the given prefix.
	ErrAmbiguous = errors.New("several ids begin like that")
	// ErrChanged means that a memory has changed since an operation was proposed for it.
	ErrChanged = errors.New("the memory has changed since this was proposed")
	// ErrTaken means that a memory with another text has the same id.
	ErrTaken = errors.New("another memory has this id")
	// ErrRetired means that a retired memory would return unasked.
	ErrRetired = errors.New("it was retired")
	// ErrDecided means that an operation is no longer pending.
	ErrDecided = errors.New("it was decided meanwhile")

	// errMoved means that plain git moved a ref between our read and our write.
	errMoved = errors.New("the ref was moved")
)

// ErrPurged means that a history, or data to be written, holds purged content.
var ErrPurged = errors.New("holds what was purged")

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
