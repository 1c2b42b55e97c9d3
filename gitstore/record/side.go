package record

import (
	"cmp"
	"strings"
)

// Side is a side branch of the code to which a memory is limited until its commits land on the
// default branch. Its text form, the memory's Branch, is the name, followed by three ids of 16 hex
// digits if there were commits. Single spaces separate them.
type Side struct {
	Name  string
	Tip   string // the branch's commit when the memory was learned
	Base  string // the commit it has in common with the default branch
	Patch string // git's stable patch id of the changes between the two; empty if no file changed
}

// sideDigits is the number of digits of each id in a Side.
const sideDigits = 16

func (s Side) String() string {
	if s.Tip == "" || s.Base == "" {
		return s.Name
	}
	words := []string{s.Name}
	for _, id := range []string{s.Tip, s.Base, s.Patch} {
		id = cmp.Or(id, "-")
		words = append(words, id[:min(sideDigits, len(id))])
	}
	return strings.Join(words, " ")
}

// Label names the branch for people, with the commit that has to land.
func (s Side) Label() string {
	if s.Tip == "" {
		return s.Name
	}
	return s.Name + ", until " + s.Tip[:min(10, len(s.Tip))] + " lands"
}

// ParseSide parses a memory's Branch. Any other text, from a person, is a name.
func ParseSide(text string) Side {
	f := strings.Fields(text)
	if len(f) == 0 {
		return Side{}
	}
	s := Side{Name: f[0]}
	if len(f) != 4 || !isAbbreviated(f[1]) || !isAbbreviated(f[2]) || f[3] != "-" && !isAbbreviated(f[3]) {
		return s
	}
	s.Tip, s.Base = f[1], f[2]
	if f[3] != "-" {
		s.Patch = f[3]
	}
	return s
}

// isAbbreviated reports whether id can be the beginning of an object id.
func isAbbreviated(id string) bool {
	return len(id) >= 7 && len(id) <= 64 && strings.Trim(id, "0123456789abcdef") == ""
}
