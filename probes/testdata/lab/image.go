//go:build linux

package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

//go:embed rxstamps/main.go
var rxstamps []byte

//go:embed init.sh
var initScript []byte

//go:embed lib.sh
var library []byte

//go:embed build.go
var builder []byte // what makes an image is part of its name

// image is what a guest boots from, in the cache.
type image struct{ dir string }

func (i image) root(path string) string { return filepath.Join(i.dir, "root", path) }

const libraries = "usr/lib/x86_64-linux-gnu"

func (i image) loader() string { return i.root(libraries + "/ld-linux-x86-64.so.2") }

// prepare returns the image of what is embedded here, made anew if the cache has none.
func prepare(cache string) (image, error) {
	sum := sha256.Sum256(slices.Concat(rxstamps, initScript, builder, []byte(strings.Join(packages(), " "))))
	i := image{filepath.Join(cache, hex.EncodeToString(sum[:6]))}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return i, err
	}
	lock, err := os.Create(filepath.Join(cache, "lock"))
	if err != nil {
		return i, err
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return i, err
	}
	if err := forget(cache, i.dir); err != nil {
		return i, err
	}
	if _, err := os.Stat(i.dir); err == nil {
		return i, os.Chtimes(i.dir, time.Time{}, time.Now())
	}
	files, err := fetch(filepath.Join(cache, "apt"))
	if err != nil {
		return i, err
	}
	fmt.Fprintln(os.Stderr, "lab: unpacking")
	made := image{i.dir + ".new"}
	if err := errors.Join(os.RemoveAll(made.dir), made.make(files)); err != nil {
		return i, err
	}
	if err := os.RemoveAll(filepath.Join(cache, "apt")); err != nil {
		return i, err
	}
	return i, os.Rename(made.dir, i.dir)
}

// forget removes the images that nobody has used for a month, and nothing else: the cache
// may have been put into a folder that holds more.
func forget(cache, but string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	name := regexp.MustCompile(`^[0-9a-f]{12}$`)
	for _, e := range entries {
		path := filepath.Join(cache, e.Name())
		if !name.MatchString(e.Name()) || path == but {
			continue
		}
		_, notOurs := os.Stat(filepath.Join(path, "initrd.gz"))
		used, err := e.Info()
		if err == nil && notOurs == nil && time.Since(used.ModTime()) > 30*24*time.Hour {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
