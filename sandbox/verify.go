package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// inspected is an engine's report on a container.
type inspected struct {
	ID    string `json:"Id"`
	Name  string
	State struct {
		Status     string
		Running    bool
		OOMKilled  bool
		ExitCode   int
		Error      string
		StartedAt  time.Time
		FinishedAt time.Time
	}
	EffectiveCaps []string // Podman's
	HostConfig    struct {
		NetworkMode, IpcMode, PidMode, UTSMode string
		Privileged, ReadonlyRootfs             bool
		CapAdd, CapDrop, SecurityOpt           []string
		Memory, MemorySwap, NanoCpus           int64
		PidsLimit                              *int64
		Devices, DeviceRequests                []json.RawMessage
		Tmpfs                                  map[string]string
	}
	Mounts []struct {
		Type, Source, Destination string
		RW                        bool
	}
	Config struct {
		User   string
		Labels map[string]string
	}
}

func (e *Engine) inspect(ctx context.Context, id string) (inspected, error) {
	out, err := e.ask(ctx, orderTime, "container", "inspect", id)
	if err != nil {
		return inspected{}, err
	}
	var list []inspected
	if err := json.Unmarshal(out, &list); err != nil {
		return inspected{}, fmt.Errorf("%s inspect: %w", e.Name, err)
	}
	if len(list) != 1 {
		return inspected{}, fmt.Errorf("%s inspect: %d containers for one id", e.Name, len(list))
	}
	return list[0], nil
}

// verify compares a container with the request. An image can ask for volumes, a configuration can
// add mounts, and an engine can ignore an unknown option.
func (e *Engine) verify(c container, made inspected) error {
	h, l := made.HostConfig, c.spec.Limits
	var wrong []string
	must := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	must(h.NetworkMode == "none", "it has a network: "+h.NetworkMode)
	must(!h.Privileged, "it is privileged")
	must(h.ReadonlyRootfs, "its root can be written")
	must(len(h.CapAdd) == 0 && (slices.Contains(h.CapDrop, "ALL") || e.Name == "podman" && len(made.EffectiveCaps) == 0), "it has capabilities")
	must(slices.ContainsFunc(h.SecurityOpt, func(o string) bool {
		return strings.HasPrefix(o, "no-new-privileges") && !strings.HasSuffix(o, "false")
	}), "it can get new privileges")
	must(!slices.ContainsFunc(h.SecurityOpt, func(o string) bool { return strings.Contains(o, "unconfined") }), "it is unconfined")
	must(c.filter == "" || slices.Contains(h.SecurityOpt, "seccomp="+c.filter), "its filter of system calls is another")
	must(h.PidMode != "host" && h.IpcMode != "host" && h.UTSMode != "host", "it shares processes, memory or the name of the host")
	must(len(h.Devices) == 0 && len(h.DeviceRequests) == 0, "it has devices")
	must(made.Config.User == c.user, "its user is "+made.Config.User)
	must(h.Memory == l.Memory && (h.MemorySwap == l.Memory || h.MemorySwap == -1 && e.facts.rootless), "its memory is not limited")
	must(h.PidsLimit != nil && *h.PidsLimit == int64(l.Processes), "its processes are not limited")
	must(h.NanoCpus > 0, "its processors are not limited")
	for path := range h.Tmpfs {
		must(path == "/tmp", "it has a folder that was not asked for: "+path)
	}
	found := 0
	for _, m := range made.Mounts {
		i := slices.IndexFunc(c.binds, func(b bind) bool {
			return m.Type == "bind" && b.to == m.Destination && b.from == m.Source && b.write == m.RW
		})
		if i < 0 {
			must(m.Type == "tmpfs" && m.Destination == "/tmp", fmt.Sprintf("it has a %s that was not asked for: %s", m.Type, m.Destination))
			continue
		}
		found++
	}
	must(found == len(c.binds), "a folder is missing in it")
	if len(wrong) > 0 {
		return fmt.Errorf("%w: the container was not made as it was asked for: %s", ErrWeak, strings.Join(wrong, ", "))
	}
	return nil
}
