package finding

import "testing"

// TestAnnotationsAreOneCommandEach: the runner of GitHub Actions obeys every line that begins with
// two colons.
func TestAnnotationsAreOneCommandEach(t *testing.T) {
	f := Finding{Rule: "secret", Level: Note, Path: "a\n::error::b,c:d%", Message: "x\n::add-mask::y\r\n"}
	want := "::notice file=a%0A%3A%3Aerror%3A%3Ab%2Cc%3Ad%25,line=1,title=reverie secret::x%0A::add-mask::y%0D%0A"
	if got := f.Annotation(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
