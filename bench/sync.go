package main

import (
	"fmt"
	"path/filepath"
)

// sync measures a sync that publishes one new memory of a large store, beside one git fetch and one
// git push of the same branch, equally durable.
func (b *bench) sync(dir string) {
	remote := filepath.Join(b.dir, "remote.git")
	b.once(b.dir, nil, "git", "init", "-q", "--bare", remote)
	b.once(dir, nil, "git", "remote", "add", "origin", "file://"+filepath.ToSlash(remote))
	b.once(dir, nil, "git", "push", "-q", "origin", "HEAD:refs/heads/main")
	b.once(dir, nil, b.bin, "-q", "sync", "--yes", "--timeout=10m")
	const branch = "refs/heads/reverie/memory"
	var ours, plain sample
	remember := func(i int, who string) {
		b.once(dir, nil, b.bin, "-q", "remember", fmt.Sprintf("A fact about sync%d as %s sees it", i, who))
	}
	for i := range b.rounds {
		remember(i, "reverie")
		ours = append(ours, b.once(dir, nil, b.bin, "-q", "sync").Cost)
		remember(i, "git")
		fetch := b.once(dir, nil, "git", "-c", "core.fsync=all", "fetch", "-q", "--no-tags", "--refmap=", "origin", "+"+branch+":refs/bench/seen")
		push := b.once(dir, nil, "git", "-c", "core.fsync=all", "push", "-q", "origin", branch)
		plain = append(plain, fetch.Plus(push.Cost))
		b.once(dir, nil, b.bin, "-q", "sync")
	}
	b.ratio("sync of one new memory, wall, against git fetch + git push", ours.median().wall, plain.median().wall, 1.5)
}
