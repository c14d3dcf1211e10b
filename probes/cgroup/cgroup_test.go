package cgroup_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tickmark/tickmark/probes/cgroup"
)

// host has files, and the folders on the way to them.
func host(files map[string]string) cgroup.Host {
	return cgroup.Host{
		Text: func(path string) (string, bool) {
			text, ok := files[path]
			return text, ok
		},
		Exists: func(path string) bool {
			for file := range files {
				if file == path || len(file) > len(path) && file[:len(path)+1] == path+"/" {
					return true
				}
			}
			return false
		},
	}
}

func TestDirs(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"version 2": {
			map[string]string{"proc/7/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "", "sys/fs/cgroup/cpu.stat": ""},
			[]string{"sys/fs/cgroup/a/b", "sys/fs/cgroup/a", "sys/fs/cgroup"},
		},
		"version 1, controllers mounted together": {
			map[string]string{"proc/7/cgroup": "4:cpu,cpuacct:/x\n", "sys/fs/cgroup/cpu,cpuacct/x/tasks": ""},
			[]string{"sys/fs/cgroup/cpu,cpuacct/x", "sys/fs/cgroup/cpu,cpuacct"},
		},
		"both": {
			map[string]string{"proc/7/cgroup": "1:cpu:/x\n6:freezer:/\n0::/y\n", "sys/fs/cgroup/cpu/x/tasks": "", "sys/fs/cgroup/unified/y/cgroup.events": ""},
			[]string{"sys/fs/cgroup/cpu/x", "sys/fs/cgroup/cpu", "sys/fs/cgroup", "sys/fs/cgroup/unified/y", "sys/fs/cgroup/unified"},
		},
		"in a container, with the host's path": {
			map[string]string{"proc/7/cgroup": "0::/docker/x\n", "sys/fs/cgroup/cpu.max": ""},
			[]string{"sys/fs/cgroup"},
		},
		"garbage": {map[string]string{"proc/7/cgroup": "cpu\n:\n\n"}, nil},
		"gone":    {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := host(c.files).Dirs("7", "cpu")
			var unique []string
			for _, dir := range got {
				if !slices.Contains(unique, dir) {
					unique = append(unique, dir)
				}
			}
			if !slices.Equal(unique, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWithoutRealTime(t *testing.T) {
	h := host(map[string]string{"a/cpu.rt_runtime_us": "0\n", "b/cpu.rt_runtime_us": "950000\n"})
	for _, c := range []struct {
		dirs []string
		want bool
	}{{[]string{"none", "a", "b"}, true}, {[]string{"b", "a"}, false}, {nil, false}} {
		if got := h.WithoutRealTime(c.dirs); got != c.want {
			t.Errorf("%q: got %t", c.dirs, got)
		}
	}
}

func TestParseThrottling(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want cgroup.Throttling
	}{
		"version 1": {"nr_periods 10\nnr_throttled 4\nthrottled_time 160000001\n", cgroup.Throttling{Periods: 10, Throttled: 4, Stopped: 160*time.Millisecond + 1}},
		"version 2": {"usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 160000\nnr_bursts 0\n", cgroup.Throttling{Periods: 10, Throttled: 4, Stopped: 160 * time.Millisecond}},
		"no quota":  {"usage_usec 5\n", cgroup.Throttling{}},
		"garbage":   {"nr_periods\nnr_throttled x\nthrottled_usec -1\n", cgroup.Throttling{}},
		"beyond":    {"throttled_usec 9223372036854775807\n", cgroup.Throttling{Stopped: (1<<63 - 1) / 1000 * 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(c.text)
			if got := cgroup.ParseThrottling(text); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if allocs := testing.AllocsPerRun(10, func() { cgroup.ParseThrottling(text) }); allocs > 0 && name != "garbage" {
				t.Errorf("%v allocations", allocs)
			}
		})
	}
}
