package door

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/prompts"
)

// Folder returns one of the user's own folders, creating it if needed, and never a symbolic link,
// as git.State.Sub does.
type Folder func() (string, error)

// maxAnswer bounds a stored answer, in bytes.
const maxAnswer = 1 << 20

// Remember stores each answer in a file of the folder, named for everything that it depends on. It
// returns a stored answer for the same question, so that interrupted work continues. Files are
// 0600. An unreadable file is ignored.
func Remember(m *prompts.Model, in Folder) *prompts.Model {
	if in == nil {
		return m
	}
	return wrap(m, func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		dir, err := in()
		if err != nil {
			return prompts.Answer{}, fmt.Errorf("look for an answer: %w", err)
		}
		path := filepath.Join(dir, name(m, r))
		if data, err := file.Read(path, maxAnswer); err == nil {
			var a answer
			if json.Unmarshal(data, &a) == nil && len(a.Text) > 0 {
				now := time.Now()
				os.Chtimes(path, now, now)
				return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said, Took: a.Took, Cached: true}, ctx.Err()
			}
		}
		a, err := m.Ask(ctx, r)
		if err != nil {
			return a, err
		}
		data, err := json.Marshal(answer{a.Text, a.Asked, a.Said, a.Took})
		if err == nil {
			_, err = in() // a purge may have removed it meanwhile
		}
		if err == nil {
			err = file.Replace(path, data, 0o600, false)
		}
		if err != nil {
			return a, fmt.Errorf("keep answer: %w", err)
		}
		return a, nil
	})
}

// answer is a stored answer. The text need not be JSON: the model would repeat its mistake.
type answer struct {
	Text        []byte
	Asked, Said int
	Took        time.Duration
}

// name returns the file name of the answer to a question: equal for equal questions to the same
// model.
func name(m *prompts.Model, r prompts.Rendered) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	enc.Encode([]any{m.Name, m.Digest, m.Context, r.Name, r.System, r.User, string(r.Schema), r.Longest})
	return hex.EncodeToString(h.Sum(nil))[:32] + ".json"
}

// answers matches the names that name returns.
var answers = pattern.New(`^[0-9a-f]{32}\.json$`)

// Expire removes answers not used since a time, and the leftovers of a killed process.
func Expire(dir string, before time.Time) error {
	_, err := file.Expire(dir, before, answers.MatchString, file.Temp)
	return err
}

// Forget removes every stored answer. It removes a symbolic link, not its target.
func Forget(dir string) error { return os.RemoveAll(dir) }
