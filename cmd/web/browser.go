package web

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// errNoDisplay means that a browser could show no window.
var errNoDisplay = errors.New("there is no display")

// browse opens the user's browser. The started program may be the browser itself, so after ten
// seconds it is left alone.
func browse(url string) error {
	line := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		line[0] = "open"
	case "windows":
		line = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errNoDisplay
		}
	}
	cmd := exec.Command(line[0], line[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		return nil
	}
}

// lookEvery is the time between two looks at the parent.
const lookEvery = 2 * time.Second

// withParent returns a context that ends when this process has another parent: that which it had
// ended, such as the shell of a closed terminal.
func withParent(ctx context.Context, parent int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}
