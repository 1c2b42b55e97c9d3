package gitstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
)

// actVariable makes the test binary do one thing as a process of its own instead of running tests.
const actVariable = "REVERIE_TEST_ACT"

var acts = map[string]func(args []string) error{
	// hook NAME writes one file to the store of the directory it is started in.
	"hook": func(args []string) error {
		return appendFiles(".", "hooks/"+args[0], 1)
	},
	// append DIR PREFIX COUNT writes files one by one and says each path when it is safe.
	"append": func(args []string) error {
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return appendFiles(args[0], args[1], n)
	},
	// find DIR only looks for the repository.
	"find": func(args []string) error {
		_, err := git.Find(context.Background(), args[0])
		return err
	},
}

func appendFiles(dir, prefix string, n int) error {
	ctx := context.Background()
	repo, err := git.Find(ctx, dir)
	if err != nil {
		return err
	}
	s := gitstore.Open(repo, branch)
	for i := range n {
		path := fmt.Sprintf("%s-%d.md", prefix, i)
		_, err := s.Update(ctx, gitstore.Commit{Subject: "append: " + path}, func(tx *gitstore.Tx) error {
			return tx.Write(path, text("the body of "+path+"\n"))
		})
		if err != nil {
			return err
		}
		fmt.Println(path)
		if i%10 == 9 {
			if _, err := s.Tidy(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	if act := os.Getenv(actVariable); act != "" {
		if err := acts[act](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command is this test binary as a process that does one of acts.
func command(act string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), actVariable+"="+act, "GORACE=atexit_sleep_ms=0")
	return cmd
}
