// Package cgroup finds the control groups of a process and reads what they say of its
// processor time, in both versions of the kernel's interface.
//
// A caller brings the file system, as the paths below its root without the leading
// slash, so that a test can build any.
package cgroup

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Host is the file system that is read.
type Host struct {
	Text   func(path string) (text string, ok bool)
	Exists func(path string) bool
}

// Dirs returns the folders of the control groups that rule what a controller ("cpu",
// "freezer") gives a process ("self" or its number), its own first, up to the root of
// what is mounted here. In a container the path in /proc/PID/cgroup may be the host's,
// and only the root exists. Groups of version 2 have every controller.
func (h Host) Dirs(process, controller string) []string {
	text, _ := h.Text("proc/" + process + "/cgroup")
	var dirs []string
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, mount := range mounts(parts[0], parts[1], controller) {
			dirs = append(dirs, upwards("sys/fs/cgroup"+mount, parts[2])...)
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !h.Exists(dir) })
}

// mounts returns where below /sys/fs/cgroup the hierarchy may be mounted that a line of
// /proc/PID/cgroup names, and nothing if it has not the controller.
func mounts(id, controllers, controller string) []string {
	switch {
	case slices.Contains(strings.Split(controllers, ","), controller): // version 1
		return []string{"/" + controllers, "/" + controller}
	case id == "0" && controllers == "": // version 2, alone or beside version 1
		return []string{"", "/unified"}
	}
	return nil
}

// upwards returns the folders from a group's own up to where its hierarchy is mounted.
func upwards(mount, group string) []string {
	var dirs []string
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dirs = append(dirs, strings.TrimSuffix(mount+at, "/"))
		if at == "/" {
			return dirs
		}
	}
}

// WithoutRealTime reports whether the first of the folders that has a budget for
// real-time scheduling has none of it, as a new group of version 1 where the kernel has
// RT_GROUP_SCHED: SCHED_FIFO is then refused with EPERM, to root too.
func (h Host) WithoutRealTime(dirs []string) bool {
	for _, dir := range dirs {
		if budget, ok := h.Text(dir + "/cpu.rt_runtime_us"); ok {
			return strings.TrimSpace(budget) == "0"
		}
	}
	return false
}

// Throttling is what cpu.stat counts of a group with a quota.
type Throttling struct {
	Periods   int64         // that passed
	Throttled int64         // in which the group was stopped
	Stopped   time.Duration // in all, summed over the processors it was stopped on
}

// ParseThrottling reads cpu.stat of either version. It does not allocate.
func ParseThrottling(text []byte) (t Throttling) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		key, value, _ := bytes.Cut(line, []byte{' '})
		n, ok := parseCount(value)
		if !ok {
			continue
		}
		switch string(key) {
		case "nr_periods":
			t.Periods = n
		case "nr_throttled":
			t.Throttled = n
		case "throttled_usec": // version 2
			t.Stopped = Micros(n)
		case "throttled_time": // version 1, in ns
			t.Stopped = time.Duration(n)
		}
	}
	return t
}

// parseCount reads a whole number that is not negative, and does not allocate, as the
// compiler sees that strconv keeps nothing of a short text.
func parseCount(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil && n >= 0
}

// Micros returns n µs, or the longest duration if that is longer.
func Micros(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Microsecond)
	return time.Duration(min(n, most)) * time.Microsecond
}
