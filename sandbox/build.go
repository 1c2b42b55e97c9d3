package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// dockerfile is the default of Build. Its argument BASE names the image that it starts from.
//
//go:embed Dockerfile
var dockerfile []byte

// Recipe describes the sources of an image.
type Recipe struct {
	Tag        string // the image's name
	Dockerfile []byte // nil: ours
	Base       string // its argument BASE, if not ""
	// Rootfs replaces the Dockerfile: a folder or a tar archive with a root file system. No registry
	// is used.
	Rootfs   string
	Progress io.Writer // receives the engine's output, or nil
}

// buildTime bounds the making of an image.
const buildTime = time.Hour

// Build makes an image and returns its id. A Dockerfile sees no file of the host. The engine itself
// performs its downloads, outside of any sandbox.
func (e *Engine) Build(ctx context.Context, r Recipe) (id string, err error) {
	if r.Tag == "" || strings.HasPrefix(r.Tag, "-") {
		return "", fmt.Errorf("%w: %q is no name for an image", ErrBadSpec, r.Tag)
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	if r.Rootfs != "" {
		err = e.importRootfs(ctx, r)
	} else {
		err = e.buildDockerfile(ctx, r)
	}
	if err != nil {
		return "", fmt.Errorf("build %s: %w", r.Tag, err)
	}
	return e.Image(ctx, r.Tag)
}

func (e *Engine) buildDockerfile(ctx context.Context, r Recipe) error {
	text := r.Dockerfile
	if text == nil {
		text = dockerfile
	}
	args := []string{"build", "--tag", r.Tag}
	if r.Base != "" {
		args = append(args, "--build-arg", "BASE="+r.Base)
	}
	return e.tell(e.client(ctx, nil, append(args, "-")...), bytes.NewReader(text), r.Progress)
}

// importRootfs makes an image with one layer.
func (e *Engine) importRootfs(ctx context.Context, r Recipe) error {
	info, err := os.Stat(r.Rootfs)
	if err != nil {
		return err
	}
	change := "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	client := e.client(ctx, nil, "import", "--change", change, "-", r.Tag)
	if !info.IsDir() {
		file, err := os.Open(r.Rootfs)
		if err != nil {
			return err
		}
		defer file.Close()
		return e.tell(client, file, r.Progress)
	}
	archive, to := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := packRootfs(ctx, r.Rootfs, to)
		to.CloseWithError(err)
		packed <- err
	}()
	err = e.tell(client, archive, r.Progress)
	archive.CloseWithError(errors.New("nobody reads it"))
	if perr := <-packed; perr != nil && ctx.Err() == nil {
		return errors.Join(perr, err)
	}
	return err
}

// tell runs a client with input.
func (e *Engine) tell(client *exec.Cmd, in io.Reader, progress io.Writer) error {
	var said bytes.Buffer
	last := &lastOf{to: &said, most: 4 << 10}
	client.Stdin, client.Stdout, client.Stderr = in, last, last
	if progress != nil {
		client.Stdout = io.MultiWriter(last, progress)
		client.Stderr = client.Stdout
	}
	if err := client.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return &clientError{e.Name, strings.Join(lines[max(0, len(lines)-3):], "; "), err}
	}
	return nil
}

// lastOf keeps the end of its input.
type lastOf struct {
	to   *bytes.Buffer
	most int
}

func (l *lastOf) Write(p []byte) (int, error) {
	l.to.Write(p)
	if over := l.to.Len() - l.most; over > 0 {
		l.to.Next(over)
	}
	return len(p), nil
}

// packRootfs writes a folder as an archive owned by root. It drops devices, sockets, pipes, and the
// bits that give a program another user's rights, since a sandbox supports none. /tmp is writable
// for all.
func packRootfs(ctx context.Context, dir string, to io.Writer) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	out := tar.NewWriter(to)
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil {
			return err
		}
		link := ""
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0:
			if link, err = root.Readlink(path); err != nil {
				return err
			}
		case !mode.IsDir() && !mode.IsRegular():
			return nil
		}
		head := &tar.Header{Name: path, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Linkname: filepath.ToSlash(link), Format: tar.FormatPAX}
		switch {
		case link != "":
			head.Typeflag = tar.TypeSymlink
		case info.IsDir():
			head.Typeflag = tar.TypeDir
			head.Name += "/"
			if path == "tmp" {
				head.Mode = 0o1777
			}
		default:
			head.Typeflag, head.Size = tar.TypeReg, info.Size()
		}
		if err := out.WriteHeader(head); err != nil || head.Typeflag != tar.TypeReg {
			return err
		}
		file, err := root.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.CopyN(out, file, info.Size())
		return err
	})
	return errors.Join(err, out.Close())
}
