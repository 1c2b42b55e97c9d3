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

// The values in a project's .env files are secrets that no pattern knows. They must never get
// into the memory.

// envBounds bound what is read of .env files: a repository may bring as many and as long ones as it
// likes.
type envBounds struct {
	perFile, all int64 // bytes
	values       int
}

var (
	quickly   = envBounds{64 << 10, 256 << 10, 500}  // what each command and hook can afford
	patiently = envBounds{1 << 20, 16 << 20, 10_000} // what the worker can
)

// envValues are the values of .env files, whatever links lead to them.
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
		b.all += in.N // what it did not have
		r.Close()
	}
	return values
}

// HookSecrets are the values of the .env files as a hook can afford to know them.
func HookSecrets(ctx context.Context, repo *git.Repo) []string {
	return envValues(dotenv.Find(ctx, repo, dotenv.Quick), quickly)
}

// someSecrets are those as every command can.
func someSecrets(ctx context.Context, repo *git.Repo) []string {
	return envValues(dotenv.Find(ctx, repo, dotenv.Usual), quickly)
}

// AllSecrets are those of every .env file, in folders of all depths.
func (c *Clone) AllSecrets(ctx context.Context) []string {
	return envValues(dotenv.Find(ctx, c.Repo, dotenv.Patient), patiently)
}
