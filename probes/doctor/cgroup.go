package doctor

import (
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/probes/cgroup"
)

// cpuGroups returns the folders of the control groups that limit the processor time
// of this process, its own first.
func (v *Visit) cpuGroups() []string { return v.groups().Dirs("self", "cpu") }

func (v *Visit) groups() cgroup.Host { return cgroup.Host{Text: v.text, Exists: v.exists} }

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
	text, _ := v.text(dir + "/cpu.stat")
	t := cgroup.ParseThrottling([]byte(text))
	return quota{time: limit, period: period, periods: t.Periods, throttled: t.Throttled, stopped: t.Stopped}, true
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
		return cgroup.Micros(n), cgroup.Micros(every), err == nil && err2 == nil
	}
	n, found := v.number(dir + "/cpu.cfs_quota_us")
	every, found2 := v.number(dir + "/cpu.cfs_period_us")
	return cgroup.Micros(n), cgroup.Micros(every), found && found2 && n > 0
}
