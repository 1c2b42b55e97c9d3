package git_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// save saves n different but similar blobs, so that git packs them as deltas.
func save(t *testing.T, repo *git.Repo, n int) []git.Object {
	t.Helper()
	var objs []git.Object
	for i := range n {
		text := strings.Repeat("a line that all of them have, and again\n", 20) + fmt.Sprintf("number %d\n", i)
		objs = append(objs, repo.ObjectFormat.NewObject(git.Blob, []byte(text)))
	}
	db := repo.Objects()
	defer db.Close()
	if err := db.Save(t.Context(), objs); err != nil {
		t.Fatal(err)
	}
	if err := db.Release(); err != nil {
		t.Fatal(err)
	}
	return objs
}

// readBoth reads objects one by one and all at once.
func readBoth(t *testing.T, repo *git.Repo, objs []git.Object) {
	t.Helper()
	db := repo.Objects()
	defer db.Close()
	var ids []string
	for _, o := range objs {
		got, err := db.Read(t.Context(), o.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o, got); diff != "" {
			t.Fatal(diff)
		}
		ids = append(ids, o.ID)
	}
	seen := map[int]bool{}
	err := db.ReadAll(t.Context(), ids, func(i int, o git.Object) error {
		if seen[i] || cmp.Diff(objs[i], o) != "" {
			t.Errorf("object %d is not as it was, or came twice", i)
		}
		seen[i] = true
		return nil
	})
	if err != nil || len(seen) != len(objs) {
		t.Errorf("%d of %d objects: %v", len(seen), len(objs), err)
	}
}

func TestObjectsRoundTripThroughGit(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, format := range []string{"sha1", "sha256"} {
		for _, n := range []int{3, git.PackFrom + 1} {
			t.Run(fmt.Sprintf("%s, %d", format, n), func(t *testing.T) {
				r, repo, _, _ := fixture(t, "--object-format="+format)
				objs := save(t, repo, n)
				for _, o := range objs[:3] {
					if got := r.Run("cat-file", "-p", o.ID) + "\n"; got != string(o.Data) {
						t.Fatalf("git reads %q", got)
					}
				}
				packs, _ := filepath.Glob(filepath.Join(repo.CommonDir, "objects", "pack", "*.pack"))
				if (len(packs) == 1) != (n > git.PackFrom) {
					t.Errorf("%d packs for %d objects", len(packs), n)
				}
				if keeps, _ := filepath.Glob(filepath.Join(repo.CommonDir, "objects", "pack", "*.keep")); keeps != nil {
					t.Errorf("left behind: %v", keeps)
				}
				readBoth(t, repo, objs)
				list := ""
				for _, o := range objs {
					list += o.ID + " name\n"
				}
				r.Write("list", list)
				packDeltas(t, r, repo, list)
				readBoth(t, repo, objs)
				r.Run("fsck", "--strict", "--no-dangling")
			})
		}
	}
}

// packDeltas puts objects into one pack, with deltas, and removes their loose files.
func packDeltas(t *testing.T, r *testrepo.Repo, repo *git.Repo, list string) {
	t.Helper()
	dir := filepath.Join(repo.CommonDir, "objects", "pack")
	old, _ := filepath.Glob(filepath.Join(dir, "pack-*"))
	name, err := repo.Git(t.Context(), strings.NewReader(list), "pack-objects", "-q", "--no-reuse-delta", filepath.Join(dir, "pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if strings.Contains(path, strings.TrimSpace(string(name))) {
			continue // a pack's name depends on its content: it was replaced
		}
		os.Chmod(path, 0o644)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	r.Run("prune-packed")
	indexes, _ := filepath.Glob(filepath.Join(dir, "*.idx"))
	if out := r.Run("verify-pack", "-v", indexes[0]); !strings.Contains(out, "chain length = 1") {
		t.Fatalf("the pack has no deltas:\n%s", out)
	}
}

// go-git, a check that shares no code with us, reads our objects.
func TestGoGitReadsOurObjects(t *testing.T) {
	_, repo, _, _ := fixture(t)
	for _, n := range []int{3, git.PackFrom + 1} {
		for _, o := range save(t, repo, n) {
			storage := filesystem.NewStorage(osfs.New(repo.CommonDir), cache.NewObjectLRUDefault())
			got, err := storage.EncodedObject(plumbing.BlobObject, plumbing.NewHash(o.ID))
			if err != nil || got.Size() != int64(len(o.Data)) {
				t.Fatalf("%d objects: %v", n, err)
			}
		}
	}
}

func TestObjectIsFoundAfterRepackBesideOpenHandle(t *testing.T) {
	r, repo, one, _ := fixture(t)
	r.Run("repack", "-adq")
	objs := save(t, repo, 3)
	db := repo.Objects()
	defer db.Close()
	if _, err := db.Read(t.Context(), one); err != nil { // lists the packs
		t.Fatal(err)
	}
	var list string
	for _, o := range objs {
		list += o.ID + " name\n"
	}
	packDeltas(t, r, repo, list+one+"\n")
	for _, o := range objs {
		if _, err := db.Read(t.Context(), o.ID); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	for _, packed := range []bool{false, true} {
		r, repo, _, _ := fixture(t)
		objs := save(t, repo, 3)
		path := filepath.Join(repo.CommonDir, "objects", objs[1].ID[:2], objs[1].ID[2:])
		if packed {
			packDeltas(t, r, repo, objs[0].ID+" n\n"+objs[1].ID+" n\n"+objs[2].ID+" n\n")
			packs, _ := filepath.Glob(filepath.Join(repo.CommonDir, "objects", "pack", "*.pack"))
			path = packs[0]
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o644)
		noticed := 0
		for i := 12; i < len(whole); i += 1 + len(whole)/20 {
			broken := bytes.Clone(whole)
			broken[i] ^= 0x10
			if err := os.WriteFile(path, broken, 0o644); err != nil {
				t.Fatal(err)
			}
			db := repo.Objects()
			for _, o := range objs {
				got, err := db.Read(t.Context(), o.ID)
				switch {
				case err == nil && !bytes.Equal(got.Data, o.Data):
					t.Fatalf("packed=%t, byte %d: read other bytes without a word", packed, i)
				case errors.Is(err, git.ErrCorrupt):
					noticed++
				case err != nil:
					t.Fatalf("packed=%t, byte %d: %v, want ErrCorrupt", packed, i, err)
				}
			}
			db.Close()
		}
		if noticed < 10 {
			t.Errorf("packed=%t: only %d reads noticed", packed, noticed)
		}
	}
}

func TestMissingObject(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		_, repo, one, _ := fixture(t, "--object-format="+format)
		db := repo.Objects()
		absent := repo.ObjectFormat.NewObject(git.Blob, []byte("nobody saved this"))
		if _, err := db.Read(t.Context(), absent.ID); !errors.Is(err, git.ErrNoObject) {
			t.Errorf("%s: %v, want ErrNoObject", format, err)
		}
		if _, err := db.Read(t.Context(), one); err != nil {
			t.Errorf("%s: after a miss: %v", format, err)
		}
		for _, id := range []string{"", "x", "--batch", one[1:], strings.ToUpper(one)} {
			if _, err := db.Read(t.Context(), id); err == nil {
				t.Errorf("%s: %q was read", format, id)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A complaint of git about another thing, here an alternate, does not turn a plain miss into
// damage.
func TestMissIsNoDamageBesideOtherComplaints(t *testing.T) {
	_, repo, one, _ := fixture(t, "--object-format=sha256")
	objects := filepath.Join(repo.CommonDir, "objects")
	if err := os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(filepath.ToSlash(filepath.Join(t.TempDir(), "corrupt", "objects"))+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	db := repo.Objects()
	defer db.Close()
	absent := repo.ObjectFormat.NewObject(git.Blob, []byte("nobody saved this"))
	if _, err := db.Read(t.Context(), absent.ID); !errors.Is(err, git.ErrNoObject) || errors.Is(err, git.ErrCorrupt) {
		t.Errorf("missing: %v, want ErrNoObject", err)
	}
	path := filepath.Join(objects, one[:2], one[2:])
	os.Chmod(path, 0o644)
	if err := os.WriteFile(path, []byte("no zlib at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Read(t.Context(), one); !errors.Is(err, git.ErrCorrupt) {
		t.Errorf("damaged: %v, want ErrCorrupt", err)
	}
}

func TestCorruptLooseObjectIsWrittenAnew(t *testing.T) {
	r, repo, _, _ := fixture(t)
	o := save(t, repo, 1)[0]
	path := filepath.Join(repo.CommonDir, "objects", o.ID[:2], o.ID[2:])
	os.Chmod(path, 0o644)
	if err := os.Truncate(path, 0); err != nil { // as a power cut leaves it
		t.Fatal(err)
	}
	save(t, repo, 1)
	if got := r.Run("cat-file", "-t", o.ID); got != "blob" {
		t.Error(got)
	}
}

func TestSharedRepositoryGetsItsModes(t *testing.T) {
	r, repo, _, _ := fixture(t, "--shared=group")
	ours := save(t, repo, 1)[0].ID
	r.Write("f", "by git\n")
	theirs := r.Run("hash-object", "-w", "f")
	mode := func(path string) os.FileMode {
		info, err := os.Stat(filepath.Join(repo.CommonDir, "objects", path))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	for _, cut := range []int{2, 40} {
		path := func(id string) string { return strings.TrimSuffix(filepath.Join(id[:2], id[2:cut]), "/") }
		if got, want := mode(path(ours)), mode(path(theirs)); got != want {
			t.Errorf("%s: mode %v, git's is %v", path(ours), got, want)
		}
	}
}

func TestPartialCloneFetchesAllThatIsMissingAtOnce(t *testing.T) {
	origin, _, _, _ := fixture(t)
	origin.Run("config", "uploadpack.allowFilter", "true")
	for i := range 20 {
		origin.Write(fmt.Sprintf("f%d", i), fmt.Sprintf("file %d\n", i))
	}
	origin.Commit("files")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Run("clone", "-q", "--bare", "--filter=blob:none", "file://"+filepath.ToSlash(origin.Dir), dir)
	clone, err := git.Find(t.Context(), dir)
	if err != nil || !clone.Partial {
		t.Fatalf("partial=%t, %v", clone.Partial, err)
	}
	ids := strings.Fields(origin.Run("ls-tree", "--object-only", "HEAD"))
	packs := func() int {
		paths, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
		return len(paths)
	}
	before, n := packs(), 0
	db := clone.Objects()
	defer db.Close()
	if err := db.ReadAll(t.Context(), ids, func(int, git.Object) error { n++; return nil }); err != nil || n != len(ids) {
		t.Fatalf("%d of %d: %v", n, len(ids), err)
	}
	if got := packs(); got > before+1 {
		t.Errorf("%d fetches, want one", got-before)
	}
}
