package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// raw calls the engine directly, bypassing the tested code.
func raw(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(realName(), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", realName(), strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// started runs a script that prints "ready" and waits for the end of its standard input. It returns
// the running container.
func started(t *testing.T, e *Engine, s Spec, script string) (id string, finish func() Result) {
	t.Helper()
	ready := make(chan struct{})
	s.Stdout = &signalling{on: "ready", then: func() {
		select {
		case <-ready:
		default:
			close(ready)
		}
	}}
	in, more, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Loop = t.Name()
	type end struct {
		Result
		error
	}
	ended := make(chan end, 1)
	go func() {
		r, err := e.Run(t.Context(), s, []string{"sh", "-c", script + "\necho ready; cat >/dev/null"}, in)
		ended <- end{r, err}
	}()
	select {
	case <-ready:
	case r := <-ended:
		t.Fatalf("it ended before it was ready: %v, %d\n%s", r.error, r.Exit, r.Stderr)
	}
	for range 100 { // the engine lists a container a moment after it runs
		if id = strings.TrimSpace(raw(t, "ps", "--quiet", "--no-trunc", "--filter", "label=reverie.loop="+t.Name())); id != "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return id, func() Result {
		more.Close()
		r := <-ended
		if r.error != nil {
			t.Error(r.error)
		}
		return r.Result
	}
}

// TestEngineInspect examines a running container from outside, through the engine and the host's
// kernel.
func TestEngineInspect(t *testing.T) {
	e := realEngine(t)
	dir := place(t)
	id, finish := started(t, e, Spec{Image: realImage, Workspace: dir, Limits: Limits{Memory: 100 << 20, Processes: 40, CPUs: 1.5}}, "true")
	defer finish()
	var list []map[string]any
	if err := json.Unmarshal([]byte(raw(t, "inspect", id)), &list); err != nil {
		t.Fatal(err)
	}
	fields, pids := map[string]any{"NetworkMode": "none", "ReadonlyRootfs": true, "Privileged": false, "PidsLimit": 40.0, "Memory": float64(100 << 20), "MemorySwap": float64(100 << 20),
		"NanoCpus": 1.5e9, "Devices": []any{}, "CapAdd": nil, "CapDrop": []any{"ALL"}, "SecurityOpt": []any{"no-new-privileges"}, "IpcMode": "private", "PidMode": "", "CgroupnsMode": "private", "Binds": nil}, []string{"top", id, "-eo", "pid"}
	if e.Name == "podman" { // it uses other names, or none
		for _, field := range []string{"CapDrop", "SecurityOpt", "IpcMode", "CgroupnsMode", "Binds"} {
			delete(fields, field)
		}
		fields["CapAdd"], fields["PidMode"], pids = []any{}, "private", []string{"top", id, "hpid"}
	}
	got := map[string]any{}
	for field := range fields {
		got[field] = list[0]["HostConfig"].(map[string]any)[field]
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	uid, gid, _ := ownerOfFile(info)
	user := fmt.Sprintf("%d:%d", uid, gid)
	if u := list[0]["Config"].(map[string]any)["User"]; u != user {
		t.Errorf("user %v, want %s", u, user)
	}
	// The container's processes as the host sees them.
	seen := 0
	for line := range strings.Lines(raw(t, pids...)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, want := range []string{"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "CapInh:\t0000000000000000", "CapAmb:\t0000000000000000",
			"NoNewPrivs:\t1", "Seccomp:\t2", fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d", uid, uid, uid, uid), fmt.Sprintf("Gid:\t%d\t%d\t%d\t%d", gid, gid, gid, gid)} {
			if !strings.Contains(string(status), want+"\n") {
				t.Errorf("process %d is without %q:\n%s", pid, want, status)
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d processes seen", seen)
	}
}

// TestEngineEscapes tries to escape. Each script prints "escaped" on success. Marked scripts
// succeed in a plain Docker container with the same workspace, which proves that they work.
func TestEngineEscapes(t *testing.T) {
	e := realEngine(t)
	t.Setenv("SECRET_OF_THE_HOST", "s3cret")
	dir := place(t)
	tells := map[string]bool{"write to the root": true, "make a device": true, "raw sockets": true, "set up a network": true, "another user": true, "the git directory": true}
	outside := filepath.Join(filepath.Dir(dir), "outside")
	tr := tree{t, dir}
	tr.file(".git/config", "[core]\n")
	tr.file("sub/.git", "gitdir: /elsewhere\n")
	tr.must(os.WriteFile(outside, []byte("plain"), 0o666))
	tr.must(os.Chmod(outside, 0o666))
	if os.Getuid() == 0 {
		tr.must(filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error { return errors.Join(err, os.Lchown(p, 1234, 2345)) }))
	}
	for name, script := range map[string]string{
		"write to the root":         `for d in / /etc /bin /usr /var /root /home /run /sbin /lib /opt /srv /mnt; do (echo x >$d/x) && echo escaped $d; done`,
		"write beside the place":    `(echo x >` + outside + `) && cat ` + outside + ` && [ "$(df -P ` + outside + ` | tail -1 | cut -d' ' -f1)" != tmpfs ] && echo escaped`,
		"change the kernel":         `for f in /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory /sys/kernel/uevent_helper; do (echo x >$f) && echo escaped $f; done`,
		"change its limits":         `for f in $(find /sys/fs/cgroup -name 'memory*limit*' -o -name pids.max -o -name release_agent -o -name cgroup.procs -o -name memory.max); do (echo 1 >$f) && echo escaped $f; done`,
		"mount":                     `mkdir -p /tmp/m; mount -t tmpfs x /tmp/m && echo escaped; mount --bind / /tmp/m && echo escaped; mount -t proc x /tmp/m && echo escaped; mount -o remount,rw / && echo escaped; umount .git && echo escaped; umount /tmp && echo escaped`,
		"another namespace":         `unshare -U true && echo escaped; unshare -m true && echo escaped; unshare -r true && echo escaped; nsenter -t 1 -m true && echo escaped; chroot / true && echo escaped`,
		"make a device":             `mknod /tmp/d b 254 0 && echo escaped; mknod d b 254 0 && echo escaped; mknod /tmp/c c 1 1 && echo escaped`,
		"raw sockets":               `traceroute -I -m 1 -w 1 127.0.0.1 && echo escaped; arping -c 1 -w 1 -I eth0 1.1.1.1 && echo escaped`,
		"set up a network":          `ip link add x type dummy && echo escaped; ip addr add 10.9.9.9/24 dev lo && echo escaped; [ "$(ls /sys/class/net)" = lo ] || echo escaped`,
		"names":                     `nslookup example.com && echo escaped; nslookup example.com 1.1.1.1 && echo escaped`,
		"reach anybody":             `for a in 169.254.169.254:80 1.1.1.1:443 172.17.0.1:22 127.0.0.1:3128; do nc -w 2 ${a%:*} ${a#*:} </dev/null && echo escaped $a; done`,
		"the engine's socket":       `find / -xdev \( -name docker.sock -o -name podman.sock -o -name containerd.sock \) 2>/dev/null | grep . && echo escaped; nc local:/var/run/docker.sock </dev/null && echo escaped`,
		"the host's environment":    `env | grep -E 's3cret|SECRET|DOCKER_HOST|REVERIE' && echo escaped; tr '\0' '\n' </proc/1/environ | grep -E 's3cret|DOCKER_HOST' && echo escaped`,
		"other processes":           `[ "$(ls /proc | grep -c '^[0-9]')" -lt 8 ] || echo escaped; kill -9 1; kill -0 1 || echo escaped; ls /proc/1/root/` + dir + `/../outside && [ -s /proc/1/root` + outside + ` ] && echo escaped`,
		"another user":              `su -c true && echo escaped; cp /bin/busybox /tmp/b; chown 0:0 /tmp/b && echo escaped; chmod u+s /tmp/b; /tmp/b id -u | grep -qx 0 && [ "$(id -u)" != 0 ] && echo escaped; setpriv --reuid 0 true && echo escaped`,
		"the git directory":         `cat .git/config && echo escaped; (echo x >.git/config) && echo escaped; mv .git g && echo escaped; rm -rf .git && echo escaped; rmdir .git && echo escaped; (echo x >sub/.git) && echo escaped; [ -s sub/.git ] && echo escaped; rm -f sub/.git && echo escaped; ln -sf /x sub/.git && echo escaped`,
		"a link out of the place":   `ln -s ` + filepath.Dir(dir) + ` up; ls up/outside && [ -s up/outside ] && echo escaped; rm up; ls ../outside && [ -s ../outside ] && echo escaped`,
		"other memory of the host":  `for f in /dev/mem /dev/kmem /dev/port /dev/vda /dev/sda /dev/kmsg /proc/kcore; do (dd if=$f of=/dev/null bs=1 count=1) && echo escaped $f; done; dmesg | grep . && echo escaped`,
		"keys of the kernel's ring": `(cat /proc/keys | grep .) && echo escaped`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := e.Run(t.Context(), Spec{Image: realImage, Workspace: dir, Limits: Limits{Time: 30 * time.Second}}, []string{"sh", "-c", script + "; true"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Ended != Exited || strings.Contains(string(r.Stdout), "escaped") {
				t.Errorf("%s\n%s\n%s", r.Ended, r.Stdout, r.Stderr)
			}
			if !tells[name] {
				return
			}
			lax := place(t)
			if err := os.CopyFS(lax, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if out := raw(t, "run", "--rm", "--network", "none", "--ulimit", "nofile=1000:1000", "--ulimit", "nproc=1000:1000", "--cap-add", "NET_ADMIN", "--volume", lax+":"+dir, "--workdir", dir, realImage, "sh", "-c", script+"; true"); !strings.Contains(out, "escaped") {
				t.Errorf("the script does not tell: %s", out)
			}
		})
	}
	for path, want := range map[string]string{outside: "plain", filepath.Join(dir, ".git/config"): "[core]\n", filepath.Join(dir, "sub/.git"): "gitdir: /elsewhere\n"} {
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s holds %q now, %v", path, got, err)
		}
	}
}

// TestEngineHoldsBombs runs a command that forks without end.
func TestEngineHoldsBombs(t *testing.T) {
	e := realEngine(t)
	r := sh(t, e, Spec{Image: realImage, Workspace: place(t), Limits: Limits{Processes: 30}}, `i=0; while [ $i -lt 200 ]; do sleep 4242 & i=$((i+1)); done; true`)
	if !strings.Contains(string(r.Stderr), "can't fork") {
		t.Errorf("200 processes where 30 may be: %s %d\n%s", r.Ended, r.Exit, r.Stderr)
	}
	r = sh(t, e, Spec{Image: realImage, Workspace: place(t), Limits: Limits{Processes: 100, Time: 3 * time.Second, Grace: -1}}, `b() { b | b & }; while :; do b; done`)
	if r.Ended != TimedOut && r.Exit == 0 {
		t.Errorf("a fork bomb ended well: %s %d", r.Ended, r.Exit)
	}
	gone(t, "sleep\x004242")
}

// gone waits until no process of this machine has a text in its arguments.
func gone(t *testing.T, text string) {
	t.Helper()
	for range 50 {
		found := false
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range all {
			if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(text)) && !strings.HasPrefix(f, fmt.Sprintf("/proc/%d/", os.Getpid())) {
				found = true
			}
		}
		if !found {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("a process with %q is left", text)
}

// TestEngineAsksBeforeItKills: a command that ends on request may finish its output.
func TestEngineAsksBeforeItKills(t *testing.T) {
	e := realEngine(t)
	r := sh(t, e, Spec{Image: realImage, Workspace: place(t), Limits: Limits{Time: time.Second, Grace: 20 * time.Second}}, `trap 'echo last; exit 5' TERM; while :; do sleep 0.1; done`)
	if r.Ended != TimedOut || r.Exit != 5 || string(r.Stdout) != "last\n" {
		t.Errorf("%s %d %q", r.Ended, r.Exit, r.Stdout)
	}
}

// TestEngineRefusesVolumes: an image can ask for a volume without a disk limit.
func TestEngineRefusesVolumes(t *testing.T) {
	e := realEngine(t)
	const tag = "reverie-test-volume"
	if _, err := e.Build(t.Context(), Recipe{Tag: tag, Base: realImage, Dockerfile: []byte("ARG BASE\nFROM ${BASE}\nVOLUME /data\n")}); err != nil {
		t.Fatal(err)
	}
	defer raw(t, "rmi", "--force", tag)
	_, err := e.Run(t.Context(), Spec{Image: tag, Workspace: place(t)}, []string{"true"}, nil)
	if !errors.Is(err, ErrWeak) || !strings.Contains(err.Error(), "/data") {
		t.Error(err)
	}
	if left := raw(t, "volume", "ls", "--quiet"); left != "" {
		t.Errorf("volumes are left: %s", left)
	}
}

func TestEngineBuildsFromARootFileSystem(t *testing.T) {
	e := realEngine(t)
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("there is no busybox to make an image of")
	}
	dir := t.TempDir()
	text, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	tr := tree{t, dir}
	tr.file("bin/busybox", string(text))
	tr.must(os.Chmod(filepath.Join(dir, "bin/busybox"), 0o4755))
	tr.link("busybox", "bin/sh")
	tr.link("/bin/busybox", "bin/id")
	tr.must(os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
	const tag = "reverie-test-rootfs"
	id, err := e.Build(t.Context(), Recipe{Tag: tag, Rootfs: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer raw(t, "rmi", "--force", tag)
	r := sh(t, e, Spec{Image: id, Workspace: place(t)}, "id -u; busybox stat -c '%a %u' /bin/busybox /tmp; echo x >/tmp/x")
	user, _, _ := strings.Cut(rawUser(t), ":")
	if want := user + "\n755 0\n1777 0\n"; string(r.Stdout) != want || r.Exit != 0 || r.Image != id {
		t.Errorf("%q, want %q; %d %s, %s", r.Stdout, want, r.Exit, r.Stderr, r.Image)
	}
	if _, err := e.Build(t.Context(), Recipe{Tag: tag, Rootfs: filepath.Join(dir, "bin/busybox")}); err == nil {
		t.Error("a program is no archive")
	}
}

func rawUser(t *testing.T) string {
	t.Helper()
	if os.Getuid() == 0 {
		return "1234:2345"
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
}

// TestEngineNetwork: a program inside reaches only allowed services, through this program and a
// proxy of the host.
func TestEngineNetwork(t *testing.T) {
	e := realEngine(t)
	reverie := builtReverie(t)
	server := echo(t)
	e.proxy = namesOf(map[string]string{"open.example.com": "1.1.1.1", "metadata.example.com": "169.254.169.254"}, server)
	spec := Spec{Image: realImage, Workspace: place(t), Network: []string{"open.example.com:443", "metadata.example.com:80", "169.254.169.254:80"}, Forward: []string{reverie, "sandbox", "forward"}}
	ask := func(target string) string {
		return `({ printf 'CONNECT ` + target + ` HTTP/1.1\r\n\r\nhello\n'; sleep 1; } | nc 127.0.0.1 3128 | tr -d '\r' | grep -E '^HTTP|HELLO' >/tmp/` + target + `) & `
	}
	r := sh(t, e, spec, `echo $HTTPS_PROXY; `+ask("open.example.com:443")+ask("open.example.com:22")+ask("metadata.example.com:80")+ask("169.254.169.254:80")+
		`wait; cd /tmp; cat open.example.com:443 open.example.com:22 metadata.example.com:80 169.254.169.254:80; nc -w 1 1.1.1.1 443 </dev/null || echo no way; ls /sys/class/net; cat >/dev/null; exit 9`)
	want := "http://127.0.0.1:3128\nHTTP/1.1 200 Connection established\nHELLO\nHTTP/1.1 403 Forbidden\nHTTP/1.1 403 Forbidden\nHTTP/1.1 403 Forbidden\nno way\nlo\n"
	if diff := cmp.Diff(want, string(r.Stdout)); diff != "" || r.Exit != 9 {
		t.Errorf("exit %d (-want +got):\n%s%s", r.Exit, diff, r.Stderr)
	}
	if len(r.Denied) != 3 {
		t.Errorf("refused: %q", r.Denied)
	}
	// This program passes on signals and the exit code.
	spec.Limits = Limits{Time: 2 * time.Second, Grace: 20 * time.Second}
	if r = sh(t, e, spec, `trap 'echo last; exit 5' TERM; while :; do sleep 0.1; done`); r.Ended != TimedOut || r.Exit != 5 || string(r.Stdout) != "last\n" {
		t.Errorf("%s %d %q %s", r.Ended, r.Exit, r.Stdout, r.Stderr)
	}
	if r = sh(t, e, spec, `kill -9 $$`); r.Exit != 137 {
		t.Errorf("exit %d after a signal", r.Exit)
	}
}

// TestEngineSwapsWhileCollecting has a command replace files with links while the host collects
// them.
func TestEngineSwapsWhileCollecting(t *testing.T) {
	e := realEngine(t)
	dir := place(t)
	secret := filepath.Join(filepath.Dir(dir), "secret")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	followed, err := os.Stat(secret)
	if err != nil {
		t.Fatal(err)
	}
	_, finish := started(t, e, Spec{Image: realImage, Workspace: dir}, `mkdir d; echo plain >d/secret; echo plain >f; (while :; do
		mv d d.away; ln -s .. d; rm f; ln -s `+secret+` f; rm d; mv d.away d; rm f; echo plain >f; done) &`)
	taken, refused := 0, map[string]int{}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		files, no, err := Collect(t.Context(), dir, Collecting{})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		for _, f := range files {
			if taken++; !f.Info.Mode().IsRegular() || os.SameFile(f.Info, followed) {
				t.Errorf("%s was followed", f.Path)
			}
		}
		for _, r := range no {
			refused[r.Why]++
		}
	}
	finish()
	t.Log(taken, "files taken, refused:", refused)
	if taken == 0 || len(refused) == 0 {
		t.Error("nothing was taken, or nothing swapped")
	}
}
