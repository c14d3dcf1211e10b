package doctor

import (
	"fmt"
	"strings"

	"github.com/tickmark/tickmark/analysis/unit"
)

// containers returns the signs that this is one, and nil if there is none or all
// processes of the kernel can be seen.
func (v *Visit) containers() []string {
	if name, ok := v.line("proc/2/comm"); ok && name == "kthreadd" {
		return nil
	}
	var signs []string
	for _, file := range []string{".dockerenv", "run/.containerenv", "run/systemd/container"} {
		if v.exists(file) {
			signs = append(signs, "/"+file)
		}
	}
	groups, _ := v.text("proc/self/cgroup")
	for _, word := range []string{"docker", "kubepods", "containerd", "lxc", "libpod"} {
		if strings.Contains(groups, word) {
			signs = append(signs, word+" in /proc/self/cgroup")
			break
		}
	}
	return signs
}

// checkContainer looks at whether this is a container, and at its share of the
// processors.
func checkContainer(v *Visit) []Finding {
	findings := []Finding{v.quotaFinding()}
	if signs := v.containers(); signs != nil {
		findings = append(findings, Finding{
			"container", Note, "this is one (" + list(signs) + ")",
			"the clock, its daemon and the NIC are the host's: what steers the clock cannot be seen from in here, and a virtual cable lies between this process and the network",
			"measure clocks on the host, or give the container its network: `--network host`",
		})
	}
	return findings
}

func (v *Visit) quotaFinding() Finding {
	const subject = "cpu quota"
	q, ok := v.tightestQuota()
	if !ok {
		return Finding{Subject: subject, State: OK, What: "none"}
	}
	f := Finding{
		subject, Note, fmt.Sprintf("%s of processor time in every %s, as of %s", seconds(q.time), seconds(q.period), processors(q.cpus())),
		"when it is spent, all threads stop until the period ends: a pause of up to " + seconds(q.period) + " that looks like a slow network or a slow peer",
		"measure without it, or with a larger one (`docker run --cpus`, limits.cpu in Kubernetes)",
	}
	if q.throttled > 0 {
		f.State = Warning
		f.What += fmt.Sprintf("; it was spent in %s of %s periods, %s of standing still in all",
			unit.Count(q.throttled), unit.Count(max(q.periods, q.throttled)), seconds(q.stopped))
	}
	return f
}

func processors(n float64) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%.3g processors", n)
}
