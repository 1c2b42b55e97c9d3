package claim

import "testing"

func TestWhatNobodyTypesIsNoClaim(t *testing.T) {
	for _, text := range []string{
		"Minor: The cache in store.go:112 must always be flushed before the handle is closed.",
		"readAll never closes its file (io/read.go:40-52) — callers of load_all must do it themselves.",
		"✓ Always compiled 14 modules",
		"a1b2c3d4 Always sort the keys of the manifest",
		"Line 214 must never be reached, and still it always is.",
		"The decoder of v2 → v3 must always keep unknown fields.",
	} {
		proposesNothing(t, text)
	}
	for _, text := range []string{
		"Never push to main, CI deploys from it.",
		"From now on always format with `gofumpt`, never with `gofmt`.",
		"В API всегда snake_case, даты — в RFC 3339, без зоны не принимаем.",
		"セーブの項目を増やすときは必ずversionも上げる → SaveMigratorに1段足す",
	} {
		for _, s := range Split(text) {
			if s.machine() {
				t.Errorf("%s: taken for a program's", s.text)
			}
		}
	}
}
