package clone

import (
	"context"
	"io"
	"os"

	"github.com/reverie-memory/reverie/internal/dotenv"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// The values in a project's .env files are secrets without a pattern. They must never get into the
// memory.

// envBounds bound the bytes and values read of .env files, because a repository may bring many long
// ones.
type envBounds struct {
	perFile, all int64 // bytes
	values       int
}

var (
	quickly   = envBounds{64 << 10, 256 << 10, 500}  // what each command and hook can afford
	patiently = envBounds{1 << 20, 16 << 20, 10_000} // what the worker can
)

// envValues returns the values of .env files, following links.
func envValues(files []dotenv.File, b envBounds) []string {
	var values []string
	for _, f := range files {
		if b.all <= 0 || len(values) >= b.values {
			break
		}
		info, err := os.Stat(f.Path) // before it is opened, which may wait for a device
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		r, err := file.Open(f.Path, os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		in := &io.LimitedReader{R: r, N: min(b.perFile, b.all)}
		b.all -= in.N
		values = append(values, redact.EnvValues(f.Path, in, b.values-len(values), !f.Tracked)...)
		b.all += in.N // the unused part of the budget
		r.Close()
	}
	return values
}

// HookSecrets returns the values of the .env files within a hook's effort.
func HookSecrets(ctx context.Context, repo *git.Repo) []string {
	return envValues(dotenv.Find(ctx, repo, dotenv.Quick), quickly)
}

// someSecrets returns the values within a command's effort.
func someSecrets(ctx context.Context, repo *git.Repo) []string {
	return envValues(dotenv.Find(ctx, repo, dotenv.Usual), quickly)
}

// AllSecrets returns the values of every .env file, in folders of all depths.
func (c *Clone) AllSecrets(ctx context.Context) []string {
	return envValues(dotenv.Find(ctx, c.Repo, dotenv.Patient), patiently)
}
