package doctor

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/probes/nic"
)

// Host is all that a doctor looks at. Its functions only read.
type Host struct {
	FS         fs.FS  // the root of the file system, for /proc, /sys, /etc, /dev
	Executable string // path of this program, for the line that gives it rights

	Inspect    func(iface string) (nic.Abilities, error)
	NICConfig  func(iface string) (nic.Config, error)
	Discipline func() (Discipline, error)
	// Suspended returns how long the host slept since it booted: CLOCK_BOOTTIME less
	// CLOCK_MONOTONIC.
	Suspended func() (time.Duration, error)
	// SelfTest returns in a sentence what the last self-test on this host found, and
	// false if there was none. Nil leaves the subject out.
	SelfTest func() (found string, known bool, err error)
}

// Visit is one examination of a host. It remembers what it was not allowed to read.
type Visit struct {
	*Host
	unread    map[string]int
	processes []process // of the whole host, once they were read
	seen      bool
	stamps    []stamper
	untold    bool // there is an interface whose driver does not say what it stamps
}

// text returns a file's contents, and false if it is not there or not readable.
func (v *Visit) text(path string) (string, bool) {
	b, err := fs.ReadFile(v.FS, path)
	if errors.Is(err, fs.ErrPermission) {
		v.unread["/"+path]++
	}
	return string(b), err == nil
}

// line returns the first line of a file, without the spaces around it.
func (v *Visit) line(path string) (string, bool) {
	text, ok := v.text(path)
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first), ok
}

// number returns a file that holds one whole number.
func (v *Visit) number(path string) (int64, bool) {
	text, ok := v.line(path)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func (v *Visit) exists(path string) bool {
	_, err := fs.Stat(v.FS, path)
	return err == nil
}

// glob returns the paths that match, in order: cpu2 before cpu10.
func (v *Visit) glob(pattern string) []string {
	paths, err := fs.Glob(v.FS, pattern)
	if err != nil {
		return nil
	}
	slices.SortFunc(paths, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return paths
}

// each returns the different contents of the files that match, sorted.
func (v *Visit) each(pattern string) []string {
	found := map[string]bool{}
	for _, path := range v.glob(pattern) {
		if text, ok := v.line(path); ok && text != "" {
			found[text] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// unreadSentences says what rights were missing for.
func (v *Visit) unreadSentences() []string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(v.unread)) {
		switch n := v.unread[what]; what {
		case openFiles:
			all = append(all, "could not look at the open files of "+unit.Count(int64(n))+" processes of other users: who holds a hardware clock open is told in part only; root can see it")
		case hiddenProcesses:
			all = append(all, "the processes of other users are hidden (/proc is mounted with hidepid): a second time daemon would go unseen; root can see it")
		default:
			all = append(all, what+" could not be read by this user: what depends on it is left out")
		}
	}
	return all
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
