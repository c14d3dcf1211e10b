package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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

//go:embed image.go
var source []byte // what makes an image is part of its name

// modules are what the guest's kernel is given, beside what these need. That act_csum
// needs crc32c_generic it finds out itself, when it loads.
var modules = strings.Fields("igb netfs 9p 9pnet_virtio act_pedit crc32c_generic act_csum cls_flower sch_ingress veth")

// programs are what the guest has beside busybox.
var programs = strings.Fields("ptp4l pmc phc_ctl hwstamp_ctl chronyd chronyc ethtool ip tc dash")

// image is what a guest boots from, in the cache.
type image struct{ dir string }

func (i image) root(path string) string { return filepath.Join(i.dir, "root", path) }

const libraries = "usr/lib/x86_64-linux-gnu"

func (i image) loader() string { return i.root(libraries + "/ld-linux-x86-64.so.2") }

// prepare returns the image of what is embedded here, made anew if the cache has none.
func prepare(cache string) (image, error) {
	sum := sha256.Sum256(slices.Concat(rxstamps, initScript, source, []byte(fmt.Sprint(packages))))
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

// forget removes the images that nobody has used for a month.
func forget(cache, but string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(cache, e.Name())
		used, err := e.Info()
		if err == nil && e.IsDir() && path != but && time.Since(used.ModTime()) > 30*24*time.Hour {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// make unpacks the packages and makes the guest's first file system of them.
func (i image) make(files []string) error {
	kernel := filepath.Join(i.dir, "kernel")
	for _, d := range []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64"} {
		if err := os.MkdirAll(i.root(d), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(d, i.root(filepath.Base(d))); err != nil {
			return err
		}
	}
	for _, f := range files {
		command := `dpkg-deb --fsys-tarfile "$0" | tar -x --keep-directory-symlink -C "$1"`
		into := i.root("")
		if strings.HasPrefix(filepath.Base(f), "linux-image-") {
			into = kernel
		}
		if err := os.MkdirAll(into, 0o755); err != nil {
			return err
		}
		if out, err := exec.Command("sh", "-c", command, f, into).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", filepath.Base(f), err, out)
		}
	}
	vmlinuz, err := filepath.Glob(kernel + "/boot/vmlinuz-*")
	if err != nil || len(vmlinuz) == 0 {
		return fmt.Errorf("there is no kernel in its package: %w", errors.Join(err, fs.ErrNotExist))
	}
	if err := os.Rename(vmlinuz[0], filepath.Join(i.dir, "vmlinuz")); err != nil {
		return err
	}
	if err := i.helper(); err != nil {
		return err
	}
	archive, err := i.initramfs(kernel)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(i.dir, "initrd.gz"), archive, 0o644); err != nil {
		return err
	}
	for _, d := range []string{kernel, i.root("usr/share/doc"), i.root("usr/share/man"), i.root("usr/share/locale"), i.root("var"), i.root("etc")} {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	return nil
}

// initramfs is busybox, the programs with their libraries, the modules in the order in
// which they load, and the init script.
func (i image) initramfs(kernel string) ([]byte, error) {
	a := &cpio{}
	for d := range strings.FieldsSeq("bin sbin usr usr/bin usr/sbin usr/lib " + libraries + " lib64 proc sys dev tmp run var var/lib etc lab mod") {
		a.folder(d)
	}
	a.link("lib", "usr/lib")
	a.link("var/run", "/run")
	a.link("usr/sbin/sh", "/bin/dash")
	a.text("etc/passwd", "root:x:0:0:root:/:/bin/sh\n")
	a.text("etc/group", "root:x:0:\n")
	a.add("init", 0o100755, initScript)
	busybox := i.root("usr/bin/busybox")
	a.copy("bin/busybox", busybox)
	list, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("busybox: %w", err)
	}
	for applet := range strings.FieldsSeq(string(list)) {
		if applet != "sh" && !slices.Contains(programs, applet) && applet != "busybox" {
			a.link("bin/"+applet, "busybox")
		}
	}
	a.link("bin/sh", "dash")
	if err := i.addPrograms(a); err != nil {
		return nil, err
	}
	if err := i.addModules(a, kernel); err != nil {
		return nil, err
	}
	return a.gzipped()
}

func (i image) addPrograms(a *cpio) error {
	needed := map[string]bool{}
	for _, p := range programs {
		path := i.root("usr/bin/" + p)
		if _, err := os.Stat(path); err != nil {
			path = i.root("usr/sbin/" + p)
		}
		a.copy("bin/"+p, path)
		out, err := exec.Command(i.loader(), "--library-path", i.root(libraries), "--list", path).Output()
		if err != nil {
			return fmt.Errorf("libraries of %s: %w", p, err)
		}
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) > 2 && f[1] == "=>" {
				needed[f[2]] = true
			}
		}
	}
	for path := range needed {
		a.copy(libraries+"/"+filepath.Base(path), path)
	}
	a.copy("lib64/ld-linux-x86-64.so.2", i.loader())
	return a.err
}

// addModules adds each after those it depends on. A module that the kernel has built in
// is none.
func (i image) addModules(a *cpio, kernel string) error {
	var order []string
	depends := regexp.MustCompile(`\x00depends=([^\x00]*)`)
	var add func(name string) error
	add = func(name string) error {
		if slices.Contains(order, name) {
			return nil
		}
		path := ""
		err := filepath.WalkDir(kernel, func(p string, _ fs.DirEntry, err error) error {
			base, _, _ := strings.Cut(filepath.Base(p), ".")
			if strings.ReplaceAll(base, "-", "_") == name && strings.Contains(p, ".ko") {
				path = p
			}
			return err
		})
		if err != nil || path == "" {
			return err
		}
		body, err := i.unpacked(path)
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		if m := depends.FindSubmatch(body); m != nil {
			for _, d := range strings.FieldsFunc(string(m[1]), func(r rune) bool { return r == ',' }) {
				if err := add(strings.ReplaceAll(d, "-", "_")); err != nil {
					return err
				}
			}
		}
		order = append(order, name)
		a.add("mod/"+name+".ko", 0o100644, body)
		return nil
	}
	for _, m := range modules {
		if err := add(m); err != nil {
			return err
		}
	}
	if !slices.Contains(order, "igb") {
		return unavailable{errors.New("the kernel package has no module igb")}
	}
	a.text("mod/order", strings.Join(order, "\n")+"\n")
	return a.err
}

func (i image) unpacked(path string) ([]byte, error) {
	switch filepath.Ext(path) {
	case ".xz":
		return exec.Command(i.root("usr/bin/busybox"), "xzcat", path).Output()
	case ".zst":
		return exec.Command("zstd", "-dcq", path).Output()
	}
	return os.ReadFile(path)
}

// helper builds rxstamps, static. It is handed to the guest with the script: what is in
// the first file system may still be open for writing when it is to be run.
func (i image) helper() error {
	source := filepath.Join(i.dir, "rxstamps.go")
	if err := os.WriteFile(source, rxstamps, 0o644); err != nil {
		return err
	}
	built := filepath.Join(i.dir, "rxstamps")
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, source)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build rxstamps: %w: %s", err, out)
	}
	return nil
}

// cpio is an archive of the form that the kernel unpacks ("newc", cpio(5)).
type cpio struct {
	b      bytes.Buffer
	number int
	err    error
}

func (c *cpio) add(name string, mode int, body []byte) {
	c.number++
	fmt.Fprintf(&c.b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		c.number, mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name)+1, 0, name)
	c.pad()
	c.b.Write(body)
	c.pad()
}

func (c *cpio) pad() {
	for c.b.Len()%4 != 0 {
		c.b.WriteByte(0)
	}
}

func (c *cpio) folder(name string)     { c.add(name, 0o040755, nil) }
func (c *cpio) link(name, to string)   { c.add(name, 0o120777, []byte(to)) }
func (c *cpio) text(name, body string) { c.add(name, 0o100644, []byte(body)) }

func (c *cpio) copy(name, path string) {
	body, err := os.ReadFile(path)
	if err != nil {
		c.err = errors.Join(c.err, err)
		return
	}
	c.add(name, 0o100755, body)
}

func (c *cpio) gzipped() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.add("TRAILER!!!", 0, nil)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(c.b.Bytes()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil { // which writes the end
		return nil, err
	}
	return out.Bytes(), nil
}
