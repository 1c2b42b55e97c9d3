package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// sync measures a sync that publishes one new memory of a large store, beside one git fetch and one
// git push of the same branch, equally durable.
func (b *bench) sync(dir string) error {
	remote := filepath.Join(b.dir, "remote.git")
	if err := sh("", "git", "init", "-q", "--bare", remote); err != nil {
		return err
	}
	if err := sh(dir, "git", "remote", "add", "origin", "file://"+filepath.ToSlash(remote)); err != nil {
		return err
	}
	if err := sh(dir, "git", "push", "-q", "origin", "HEAD:refs/heads/main"); err != nil {
		return err
	}
	once(dir, nil, b.bin, "-q", "sync", "--yes", "--timeout=10m")
	const branch = "refs/heads/reverie/memory"
	var ours, plain []time.Duration
	remember := func(i int, who string) {
		once(dir, nil, b.bin, "-q", "remember", fmt.Sprintf("A fact about sync%d as %s sees it", i, who))
	}
	for i := range b.rounds {
		remember(i, "reverie")
		ours = append(ours, once(dir, nil, b.bin, "-q", "sync").wall.Duration)
		remember(i, "git")
		fetch := once(dir, nil, "git", "-c", "core.fsync=all", "fetch", "-q", "--no-tags", "--refmap=", "origin", "+"+branch+":refs/bench/seen")
		push := once(dir, nil, "git", "-c", "core.fsync=all", "push", "-q", "origin", branch)
		plain = append(plain, fetch.wall.Duration+push.wall.Duration)
		once(dir, nil, b.bin, "-q", "sync")
	}
	b.ratio("sync of one new memory, wall, against git fetch + git push", median(ours), median(plain), 1.5)
	return nil
}
