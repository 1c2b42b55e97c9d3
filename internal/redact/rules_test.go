package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// members returns the letters and digits of a set: what providers' tokens are mostly made of.
func (n setName) members() string {
	var b strings.Builder
	for c := range byte(0x80) {
		if sets[n].has(c) && sets[alnumSet].has(c) && !(n == hexSet && kind[c] == kUpper) {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func TestEveryFormatIsFoundWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for _, f := range formats() {
		if f.check != nil {
			continue // those have more than one part: see the corpus
		}
		for _, n := range []int{f.min, max(f.min, f.max)} {
			body := draw(r, f.set.members(), n-1) + "7"
			for _, around := range []string{"§", `"§"`, "(§)", "see §, please", `\n§\n`, "\x1b[32m§\x1b[0m", "k=§&x=1", "§.\n", "%3D§ "} {
				text := strings.Replace(around, "§", f.prefix+body, 1)
				got, report := new(Scanner).Text(text)
				if strings.Contains(got.String(), body) || report.Found == 0 {
					t.Errorf("%s, prefix %s, %d bytes: left in %q", f.rule, f.prefix, n, around)
				}
			}
		}
	}
}

func TestFormatsWantWhatTheirProvidersGive(t *testing.T) {
	for _, text := range []string{
		"gh" + "p_" + strings.Repeat("x", 36), "AK" + "IA" + strings.Repeat("X", 16), "AKIAthisisnotakeyid1", "hf_transfer_enable_progress_bars_always",
		"sk-learn-contrib-project-template-2024", "xoxb-your-token-here", "key-value-store-2024", "npm_config_registry_mirror_of_the_company_1",
		"secret_name_of_the_cluster_2", "SG.something", "pat-na1-", "eyJ.not.a.token", "eyJh·bGci·OiJI·UzI1·NiJ9", "description:AAAA is a rating",
	} {
		if got, report := new(Scanner).Text(undotted(text)); report.Found != 0 {
			t.Errorf("%s became %s", text, got)
		}
	}
}
