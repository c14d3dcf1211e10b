package doctor

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cpuGroups returns the folders of the control groups that limit the processor time
// of this process, its own first, up to the root of what is mounted here. In a
// container the path in /proc/self/cgroup may be the host's, and only the root exists.
func (v *Visit) cpuGroups() []string {
	text, _ := v.text("proc/self/cgroup")
	var dirs []string
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers := strings.Split(parts[1], ",")
		switch {
		case slices.Contains(controllers, "cpu"): // version 1
			for _, mount := range []string{parts[1], "cpu"} {
				dirs = append(dirs, upwards("sys/fs/cgroup/"+mount, parts[2])...)
			}
		case parts[0] == "0" && parts[1] == "": // version 2
			dirs = append(dirs, upwards("sys/fs/cgroup", parts[2])...)
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !v.exists(dir) })
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

// quota is a limit of processor time: so much of every period.
type quota struct {
	time, period time.Duration
	periods      int64 // that were counted
	throttled    int64 // in which the group was stopped
	stopped      time.Duration
}

// cpus returns how many processors the quota amounts to.
func (q quota) cpus() float64 { return q.time.Seconds() / q.period.Seconds() }

// tightestQuota returns the smallest quota on the way up, and false if there is none.
func (v *Visit) tightestQuota() (quota, bool) {
	var tightest quota
	found := false
	for _, dir := range v.cpuGroups() {
		if q, ok := v.quota(dir); ok && (!found || q.cpus() < tightest.cpus()) {
			tightest, found = q, true
		}
	}
	return tightest, found
}

func (v *Visit) quota(dir string) (quota, bool) {
	limit, period, ok := v.cpuMax(dir)
	if !ok || limit <= 0 || period <= 0 {
		return quota{}, false
	}
	q := quota{time: limit, period: period}
	text, _ := v.text(dir + "/cpu.stat")
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) != 2 {
			continue
		}
		n, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch words[0] {
		case "nr_periods":
			q.periods = n
		case "nr_throttled":
			q.throttled = n
		case "throttled_usec": // version 2
			q.stopped = micros(n)
		case "throttled_time": // version 1, in ns
			q.stopped = time.Duration(n)
		}
	}
	return q, true
}

// cpuMax reads "LIMIT PERIOD" in µs from version 2's cpu.max, where LIMIT may be
// "max", or version 1's two files, where −1 is no limit.
func (v *Visit) cpuMax(dir string) (limit, period time.Duration, ok bool) {
	if line, found := v.line(dir + "/cpu.max"); found {
		words := strings.Fields(line)
		if len(words) != 2 {
			return 0, 0, false
		}
		n, err := strconv.ParseInt(words[0], 10, 64)
		every, err2 := strconv.ParseInt(words[1], 10, 64)
		return micros(n), micros(every), err == nil && err2 == nil
	}
	n, found := v.number(dir + "/cpu.cfs_quota_us")
	every, found2 := v.number(dir + "/cpu.cfs_period_us")
	return micros(n), micros(every), found && found2 && n > 0
}

// micros returns n µs, or the longest duration if that is longer.
func micros(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Microsecond)
	return time.Duration(min(n, most)) * time.Microsecond
}
