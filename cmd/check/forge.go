package check

import (
	"github.com/reverie-memory/reverie/hooks/setup/ci"
	"github.com/reverie-memory/reverie/internal/finding"
)

// checkCIFile looks whether a file that decides what runs for a pull request is one that is known
// here. Even then a person should see which branch it guards and what it installs.
func (c *checker) checkCIFile(f changedFile) {
	own := c.Version
	if f.new == nil {
		c.add("ci-file", finding.Error, f.path, 0, "", "the file is taken away that decides what runs for a pull request")
		return
	}
	branch, version, ok := ci.Written(f.path, f.new)
	before, pinned, had := ci.Written(f.path, f.old)
	if !ok || had && before != branch {
		c.add("ci-file", finding.Error, f.path, 0, "", "this file decides what runs for a pull request, and it is not what 'reverie init --ci' writes")
		return
	}
	switch {
	case had && pinned != "latest" && version == "latest":
		c.add("ci-file", finding.Error, f.path, 0, "", "pull requests were checked by version %s, and would be by whichever is the latest", pinned)
		return
	case had && ci.Older(version, pinned):
		c.add("ci-file", finding.Error, f.path, 0, "", "pull requests were checked by version %s, and would be by %s, which is older", pinned, version)
		return
	case ci.Older(version, own):
		c.add("ci-file", finding.Error, f.path, 0, "", "pull requests would be checked by version %s, which is older than this one, %s", version, own)
		return
	case had && pinned == "latest" && version != "latest":
		c.add("ci-file", finding.Warning, f.path, 0, "", "pull requests were checked by the latest version, and would be by %s: look whether that goes back", version)
		return
	}
	c.add("ci-file", finding.Note, f.path, 0, "", "'reverie init --ci' writes this file: pull requests against %s are checked by version %s", branch, version)
}
