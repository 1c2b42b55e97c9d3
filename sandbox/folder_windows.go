package sandbox

import "io/fs"

func ownedByUs(fs.FileInfo) bool { return true }

func ownerOfFile(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
