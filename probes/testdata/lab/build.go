//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// modules are what the guest's kernel is given, beside what these need. That act_csum
// needs crc32c_generic it finds out itself, when it loads.
func modules() []string {
	return strings.Fields("igb netfs 9p 9pnet_virtio act_pedit crc32c_generic act_csum cls_flower sch_ingress veth")
}

// programs are what the guest has beside busybox.
func programs() []string {
	return strings.Fields("ptp4l pmc phc_ctl hwstamp_ctl chronyd chronyc ethtool ip tc dash")
}

// make unpacks the packages and makes the guest's first file system of them.
func (i image) make(files []string) error {
	kernel := filepath.Join(i.dir, "kernel")
	if err := i.unpack(files, kernel); err != nil {
		return err
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

// unpack lays out the packages below root, and that of the kernel in a folder of its own.
func (i image) unpack(files []string, kernel string) error {
	for _, d := range []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64"} {
		err := os.MkdirAll(i.root(d), 0o755)
		if err := errors.Join(err, os.Symlink(d, i.root(filepath.Base(d)))); err != nil {
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
		if applet != "sh" && !slices.Contains(programs(), applet) && applet != "busybox" {
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
	for _, p := range programs() {
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

// addModules adds each after those it depends on.
func (i image) addModules(a *cpio, kernel string) error {
	var order []string
	for _, m := range modules() {
		if err := i.addModule(a, kernel, m, &order); err != nil {
			return err
		}
	}
	if !slices.Contains(order, "igb") {
		return unavailable{errors.New("the kernel package has no module igb")}
	}
	a.text("mod/order", strings.Join(order, "\n")+"\n")
	return a.err
}

// addModule adds one, unless it stands in the order already or the kernel has it built in.
func (i image) addModule(a *cpio, kernel, name string, order *[]string) error {
	if slices.Contains(*order, name) {
		return nil
	}
	path, err := find(kernel, name)
	if err != nil || path == "" {
		return err
	}
	body, err := i.unpacked(path)
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	if m := regexp.MustCompile(`\x00depends=([^\x00]*)`).FindSubmatch(body); m != nil {
		for _, d := range strings.FieldsFunc(string(m[1]), func(r rune) bool { return r == ',' }) {
			if err := i.addModule(a, kernel, strings.ReplaceAll(d, "-", "_"), order); err != nil {
				return err
			}
		}
	}
	*order = append(*order, name)
	a.add("mod/"+name+".ko", 0o100644, body)
	return nil
}

// find returns the file of a module, "" if there is none.
func find(kernel, name string) (path string, err error) {
	err = filepath.WalkDir(kernel, func(p string, _ fs.DirEntry, err error) error {
		base, ending, _ := strings.Cut(filepath.Base(p), ".")
		if strings.ReplaceAll(base, "-", "_") == name && strings.HasPrefix(ending, "ko") {
			path = p
		}
		return err
	})
	return path, err
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
