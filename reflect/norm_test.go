package reflect

import "testing"

func TestNormsSaidInPassing(t *testing.T) {
	for said, want := range map[string]string{
		"one more thing, we must never log card numbers, not even in debug, that's a PCI thing.": "We must never log card numbers, not even in debug (PCI).",
		"oh right. staging deploys from the release branch, not main. so nothing to do":          "Staging deploys from the release branch, not main.",
		"we cant move the toolchain, the yocto image has 1.74. ok put it back":                   "We can't move the toolchain, the yocto image has 1.74.",
		"named exports everywhere, like the rest of the repo":                                    "Named exports everywhere, like the rest of the repo.",
		"timeouts go in config/timeouts.yaml, not in the callers":                                "Timeouts go in config/timeouts.yaml, not in the callers.",
		"dates in filenames are yyyymmdd without dashes, the ingest job globs on it":             "Dates in filenames are yyyymmdd without dashes, the ingest job globs on it.",
		"For anything under packages/sdk: no breaking changes without a major.":                  "For anything under packages/sdk: no breaking changes without a major.",
		"ok but do it with sqlc, we don't write scan code by hand in this repo":                  "Use sqlc, we don't write scan code by hand.",
	} {
		wants(t, script{user(said)}, want)
	}
}

func TestClaimsThatAreNoNorms(t *testing.T) {
	for _, said := range []string{
		"the save button must never be enabled while a required field is empty",
		"we are building the full return flow and the runtime config",
		"things have moved quite a bit since the PR was raised",
		"the tests on main are failing since the upgrade to node 20",
		"let's not do the refactor because i have a demo in 20 minutes",
		"we should make it more complete (just add, no need to remove the old things)",
		"use the API in this repo to fetch data",
		"before you finish run the tests and update the changelog",
		"no no no, not the prod bucket!!",
	} {
		wants(t, script{user(said)})
	}
}
