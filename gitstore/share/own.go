package share

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// follow notes an address as the only remote of the person's own memory, and returns the name of
// that. An empty address is the one noted before.
func follow(ctx context.Context, repo *git.Repo, address string) (name string, err error) {
	name = "origin"
	_, unknown := repo.Git(ctx, nil, "remote", "get-url", name)
	switch {
	case (address == "" || address == name) && unknown != nil:
		return "", exit.New(exit.BadUsage, errors.New("your own memory has no remote yet"), "give the address of a repository of your own: reverie sync --user ADDRESS")
	case address == "" || address == name:
	case !strings.ContainsAny(address, `/:\`):
		return "", exit.Usage("reverie sync --user git@example.com:ann/memory.git", "%q is no address of a repository", address)
	case unknown != nil:
		_, err = repo.Git(ctx, nil, "remote", "add", name, "--", address)
	default:
		_, err = repo.Git(ctx, nil, "remote", "set-url", name, "--", address)
	}
	return name, err
}
