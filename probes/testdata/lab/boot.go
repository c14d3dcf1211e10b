//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// longest is how long a guest may take.
const longest = 8 * time.Minute

// boot runs the script in a guest and returns its exit code.
func (i image) boot(script string, files []string, out string) (code int, err error) {
	dir, err := os.MkdirTemp("", "tickmark-lab")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	share := filepath.Join(dir, "lab")
	if out == "" {
		out = filepath.Join(dir, "out")
	}
	if err := fill(share, script, append(files, filepath.Join(i.dir, "rxstamps"))); err != nil {
		return 1, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, end := context.WithTimeout(ctx, longest)
	defer end()
	log := filepath.Join(dir, "kernel.log")
	c := i.qemu(ctx, share, log)
	var talk bytes.Buffer // it warns of NICs that lead nowhere but to each other
	c.Stdout, c.Stderr = os.Stdout, &talk
	ran := c.Run()
	left := filepath.Join(share, "out")
	if err := errors.Join(os.MkdirAll(out, 0o755), os.CopyFS(filepath.Join(out, time.Now().Format("150405")), os.DirFS(left))); err != nil {
		return 1, err
	}
	result, err := os.ReadFile(filepath.Join(share, "result"))
	if err != nil {
		tail, _ := os.ReadFile(log)
		return 1, fmt.Errorf("the guest ended without a result (%w); the end of its log, and of qemu's:\n%s\n%s", errors.Join(err, ran, ctx.Err()), lastLines(tail, 15), lastLines(talk.Bytes(), 5))
	}
	return strconv.Atoi(strings.TrimSpace(string(result)))
}

// fill makes the folder that the guest sees as /lab.
func fill(share, script string, files []string) error {
	for _, d := range []string{"bin", "out"} {
		if err := os.MkdirAll(filepath.Join(share, d), 0o755); err != nil {
			return err
		}
	}
	body, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	for name, b := range map[string][]byte{"script.sh": body, "lib.sh": library} {
		if err := os.WriteFile(filepath.Join(share, name), b, 0o644); err != nil {
			return err
		}
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(share, "bin", filepath.Base(f)), b, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// qemu is the emulated computer, run with the libraries it came with. An instruction
// takes 2 ns of its time, idle time is skipped, and its clock begins at the same moment
// always.
func (i image) qemu(ctx context.Context, share, log string) *exec.Cmd {
	args := []string{
		"-n", "10", i.loader(), "--library-path", i.root(libraries), i.root("usr/bin/qemu-system-x86_64"),
		"-L", i.root("usr/share/qemu"), "-L", i.root("usr/share/seabios"), "-L", i.root("usr/lib/ipxe/qemu"),
		"-machine", "q35", "-cpu", "max", "-smp", "1", "-m", "384", "-accel", "tcg,thread=single",
		"-icount", "shift=1,sleep=off,align=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1",
		"-display", "none", "-nodefaults", "-no-reboot", "-no-user-config", "-serial", "file:" + log,
		"-chardev", "stdio,id=console,signal=off", "-device", "virtio-serial-pci", "-device", "virtconsole,chardev=console",
		"-kernel", filepath.Join(i.dir, "vmlinuz"), "-initrd", filepath.Join(i.dir, "initrd.gz"),
		// rxstamps reaches into the registers of the NICs.
		"-append", "console=ttyS0 quiet panic=-1 iomem=relaxed",
		"-fsdev", "local,id=lab,path=" + share + ",security_model=none", "-device", "virtio-9p-pci,fsdev=lab,mount_tag=lab",
		"-netdev", "hubport,id=left,hubid=0", "-netdev", "hubport,id=right,hubid=0",
	}
	for n, side := range []string{"left", "right"} {
		args = append(args, "-device", fmt.Sprintf("pcie-root-port,id=slot%d,chassis=%d,slot=%d", n, n+1, n+1),
			"-device", fmt.Sprintf("igb,bus=slot%d,netdev=%s,mac=52:54:00:00:00:%02x", n, side, n+1))
	}
	c := exec.CommandContext(ctx, "nice", args...)
	c.Env = append(os.Environ(), "QEMU_MODULE_DIR="+i.root(libraries+"/qemu"))
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.WaitDelay = 5 * time.Second
	return c
}

func lastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
