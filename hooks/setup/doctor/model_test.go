package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/ollama"
)

func TestNamesOfModels(t *testing.T) {
	var s ollama.Server
	if got := namesOf(s); got != "0 models: none" {
		t.Error(got)
	}
	for i := range 23 {
		s.Models = append(s.Models, ollama.Model{Name: fmt.Sprintf("m%02d", 22-i)})
	}
	s.More = true
	if got := namesOf(s); !strings.HasPrefix(got, "more than 23 models: m00, m01, ") || !strings.HasSuffix(got, ", m19 and 3 more") {
		t.Error(got)
	}
}
