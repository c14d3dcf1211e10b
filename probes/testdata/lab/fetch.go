//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// packages is what qemu and the guest are made of. The guest's chronyd and linuxptp
// are those of the same release as its kernel.
func packages() []string {
	return strings.Fields("qemu-system-x86 linux-image-amd64 busybox-static dash ethtool linuxptp iproute2 chrony")
}

// stubs are packages that would only serve the installing of others; apt is told that
// they are there.
func stubs() []string {
	return strings.Fields(`adduser debconf ucf dpkg tar tzdata passwd perl perl-base kmod initramfs-tools linux-base
		systemd init-system-helpers iso-codes ca-certificates`)
}

// fetch downloads the packages and all that they need, down to the C library, into a
// folder of its own state, and returns the files.
func fetch(dir string) ([]string, error) {
	if runtime.GOARCH != "amd64" {
		return nil, unavailable{errors.New("needs amd64: the NIC is emulated in a machine of that kind")}
	}
	for _, tool := range []string{"apt-get", "dpkg-deb", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, unavailable{fmt.Errorf("needs %s: the packages are Debian's", tool)}
		}
	}
	release, mirror, err := debian()
	if err != nil {
		return nil, unavailable{err}
	}
	suites := [][]string{{release}}
	if release == "bookworm" { // its own qemu, 7.2, has no such NIC
		suites = [][]string{{release, release + "-backports"}, {"trixie"}}
	}
	var why []string
	for _, s := range suites {
		files, err := fetchFrom(dir, mirror, s)
		if err == nil {
			return files, nil
		}
		why = append(why, err.Error())
	}
	return nil, unavailable{errors.New(strings.Join(why, "; "))}
}

// debian returns the release of this machine and where apt has its packages from.
func debian() (release, mirror string, err error) {
	facts, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(facts)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			release = strings.Trim(v, `"`)
		}
	}
	list, err := exec.Command("apt-get", "indextargets", "--format", "$(CREATED_BY) $(RELEASE) $(COMPONENT) $(REPO_URI)").Output()
	if err != nil {
		return "", "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	for line := range strings.Lines(string(list)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "Packages" && f[1] == release && f[2] == "main" {
			return release, f[3], nil
		}
	}
	return "", "", fmt.Errorf("apt has no source of Debian %q", release)
}

func fetchFrom(dir, mirror string, suites []string) ([]string, error) {
	fmt.Fprintf(os.Stderr, "lab: fetching about 145 MB of packages from %s\n", strings.Join(suites, ", "))
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	for _, d := range []string{"state/lists/partial", "cache/archives/partial", "keys"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	if err := keys(filepath.Join(dir, "keys")); err != nil {
		return nil, err
	}
	var sources, status bytes.Buffer
	for _, s := range suites {
		fmt.Fprintf(&sources, "deb %s %s main\n", mirror, s)
	}
	for _, s := range stubs() {
		fmt.Fprintf(&status, "Package: %s\nStatus: install ok installed\nVersion: 9999\nArchitecture: all\nDescription: stub\n\n", s)
	}
	for name, b := range map[string]*bytes.Buffer{"sources.list": &sources, "state/status": &status} {
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return nil, err
		}
	}
	last := suites[len(suites)-1]
	for _, args := range [][]string{{"update"}, append([]string{"-y", "-t", last, "--download-only", "install"}, packages()...)} {
		if err := apt(dir, args...); err != nil {
			return nil, err
		}
	}
	return filepath.Glob(filepath.Join(dir, "cache/archives/*.deb"))
}

// keys gathers whose signatures count: Debian's, and those that apt here takes for any
// source. (A later Debian has its own only where its sources name it.)
func keys(into string) error {
	files, err := filepath.Glob("/etc/apt/trusted.gpg.d/*")
	if err != nil {
		return err
	}
	for _, f := range append(files, "/usr/share/keyrings/debian-archive-keyring.gpg") {
		b, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.WriteFile(filepath.Join(into, filepath.Base(f)), b, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// apt runs with the state of dir alone: it neither reads nor changes what is installed.
func apt(dir string, args ...string) error {
	options := []string{"-q"}
	for _, o := range []string{
		"Dir::Etc::sourcelist=" + dir + "/sources.list", "Dir::Etc::sourceparts=/dev/null", "Dir::Etc::preferences=/dev/null",
		"Dir::Etc::preferencesparts=/dev/null", "Dir::Etc::trustedparts=" + dir + "/keys", "Dir::State=" + dir + "/state", "Dir::State::status=" + dir + "/state/status",
		"Dir::Cache=" + dir + "/cache", "APT::Install-Recommends=false", "APT::Sandbox::User=root", "Acquire::Languages=none",
		"Acquire::Retries=2", "Debug::NoLocking=1", "APT::Update::Error-Mode=any",
	} {
		options = append(options, "-o", o)
	}
	out, err := exec.Command("apt-get", append(options, args...)...).CombinedOutput()
	if err == nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if why, ok := strings.CutPrefix(line, "E: "); ok { // the first is the cause
			return fmt.Errorf("apt-get %s: %s", args[0], strings.TrimSpace(why))
		}
	}
	return fmt.Errorf("apt-get %s: %w: %s", args[0], err, lastLines(out, 1))
}
