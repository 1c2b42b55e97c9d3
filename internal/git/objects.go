package git

import (
	"context"
	"strings"
)

// Objects is the object database of a repository during one operation. A longer-lived handle would
// miss repacks by other processes, so open one per operation and Close it.
type Objects interface {
	// Read returns one object and checks its bytes against its id. Errors wrap ErrNoObject or
	// ErrCorrupt.
	Read(ctx context.Context, id string) (Object, error)
	// ReadAll reads many objects and calls fn with the position of each in ids, in the cheapest order,
	// never concurrently. It ends at the first error.
	ReadAll(ctx context.Context, ids []string, fn func(i int, o Object) error) error
	// Save writes objects and returns when they are durable. More than PackFrom become one pack, which
	// git keeps out of every repack until Release.
	Save(ctx context.Context, objs []Object) error
	// Release declares the saved objects reachable from a ref, or abandoned.
	Release() error
	// Close ends the operation.
	Close() error
}

// PackFrom is the number of objects beyond which Save makes a pack instead of loose objects.
const PackFrom = 100

// Objects opens the object database. It costs nothing until the first read. It reads the common
// formats (sha1, pack index version 2) itself; real git serves the rest.
func (r *Repo) Objects() Objects { return r.ObjectsUpTo(Sizes{}) }

// ObjectsUpTo is Objects with size limits. Reading a larger object fails before it is unpacked,
// with an error that wraps ErrTooLarge.
func (r *Repo) ObjectsUpTo(s Sizes) Objects {
	if r.ObjectFormat != "sha1" {
		return &gitObjects{repo: r, sizes: s}
	}
	return &fileObjects{repo: r, sizes: s}
}

// Have returns the objects that the repository has, without fetching any.
func (r *Repo) Have(ctx context.Context, ids []string) ([]string, error) {
	var have []string
	if len(ids) == 0 {
		return nil, nil
	}
	cmd := r.Command(ctx, "cat-file", "--batch-check=%(objectname)")
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, err := run(cmd)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if id := strings.TrimSuffix(line, "\n"); r.ObjectFormat.IsID(id) {
			have = append(have, id)
		}
	}
	return have, nil
}
