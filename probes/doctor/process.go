package doctor

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// What goes unread of other users' processes.
const (
	openFiles       = "open files"
	hiddenProcesses = "hidden processes"
)

// process is a program that runs.
type process struct {
	pid    int
	parent int
	name   string   // as the kernel keeps it, cut at 15 characters
	full   string   // uncut, if the program's path shows it
	args   []string // after the program's path
}

func (p process) String() string { return p.full + " (pid " + strconv.Itoa(p.pid) + ")" }

// running returns the processes that can be seen. Those in containers are among them;
// from inside a container, those of its host are not.
func (v *Visit) running() []process {
	if v.seen {
		return v.processes
	}
	v.seen = true
	if v.exists("proc/self") && !v.exists("proc/1/stat") {
		v.unread[hiddenProcesses]++
	}
	for _, path := range v.glob("proc/[0-9]*") {
		pid, err := strconv.Atoi(base(path))
		if err != nil {
			continue
		}
		stat, ok := v.text(path + "/stat")
		p, runs := parseStat(pid, stat)
		if !ok || !runs { // it has ended, or is about to
			continue
		}
		if line, ok := v.text(path + "/cmdline"); ok {
			p.full, p.args = arguments(line, p.name)
		}
		v.processes = append(v.processes, p)
	}
	return v.processes
}

// parseStat reads "PID (NAME) STATE PARENT ..." of proc(5), where a name may hold
// anything, brackets too. It is false for a process that no longer runs.
func parseStat(pid int, stat string) (process, bool) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	words := strings.Fields(stat[end+1:])
	if len(words) < 2 || words[0] == "Z" || words[0] == "X" {
		return process{}, false
	}
	parent, err := strconv.Atoi(words[1])
	name := stat[open+1 : end]
	return process{pid: pid, parent: parent, name: name, full: name}, err == nil
}

// arguments splits /proc/PID/cmdline, where each ends with a zero byte, and completes
// the name of the program from its path.
func arguments(cmdline, name string) (full string, args []string) {
	all := strings.Split(strings.TrimRight(cmdline, "\x00"), "\x00")
	if program := base(all[0]); strings.HasPrefix(program, name) {
		return program, all[1:]
	}
	return name, all[1:]
}

// holders returns the processes that hold a file open.
func (v *Visit) holders(path string) []string {
	var names []string
	denied := 0
	for _, p := range v.running() {
		dir := "proc/" + strconv.Itoa(p.pid) + "/fd"
		open, err := fs.ReadDir(v.FS, dir)
		if errors.Is(err, fs.ErrPermission) {
			denied++
		}
		for _, fd := range open {
			if to, err := fs.ReadLink(v.FS, dir+"/"+fd.Name()); err == nil && to == path {
				names = append(names, p.String())
				break
			}
		}
	}
	if denied > 0 {
		v.unread[openFiles] = denied
	}
	return names
}

// options reads arguments as getopt(3) does: letters that take a value, by
// themselves or joined; --name=value and --name value, whose name is the key. An
// option given twice keeps both values, one without a value has "".
func options(args []string, takeValue string) map[string][]string {
	found := map[string][]string{}
	add := func(key, value string) { found[key] = append(found[key], value) }
	for i := 0; i < len(args); i++ {
		arg := args[i]
		next := func() string {
			if i+1 < len(args) {
				i++
				return args[i]
			}
			return ""
		}
		switch {
		case strings.HasPrefix(arg, "--"):
			name, value, joined := strings.Cut(arg[2:], "=")
			if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				value = next()
			}
			add(name, value)
		case strings.HasPrefix(arg, "-") && arg != "-":
			for j := 1; j < len(arg); j++ {
				letter := arg[j : j+1]
				if !strings.Contains(takeValue, letter) {
					add(letter, "")
					continue
				}
				value := arg[j+1:]
				if value == "" {
					value = next()
				}
				add(letter, value)
				break
			}
		}
	}
	return found
}
