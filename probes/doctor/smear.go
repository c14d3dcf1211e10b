package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// smearers returns how known servers spread a leap second, by the name a
// configuration has for them: Google's own and Amazon's over 24 h around it
// (developers.google.com/time/smear, docs.aws.amazon.com: Amazon Time Sync), Meta's
// over some 17 h after it (engineering.fb.com: It's time to leave the leap second in
// the past).
func smearers() map[string]string {
	by := map[string]string{
		"169.254.169.123": "24 h", "fd00:ec2::123": "24 h", "time.aws.com": "24 h",
		"metadata.google.internal": "24 h", "time.google.com": "24 h", "time.facebook.com": "17 h",
	}
	for n := 1; n <= 5; n++ {
		if n <= 4 {
			by[fmt.Sprintf("time%d.google.com", n)] = "24 h"
		}
		by[fmt.Sprintf("time%d.facebook.com", n)] = "17 h"
	}
	return by
}

// sources is what a daemon's configuration asks for time.
type sources struct {
	daemon  string // its process name
	files   []string
	servers []string
}

// checkSmear looks for sources that will disagree at a leap second.
func checkSmear(v *Visit) []Finding {
	const subject = "leap smear"
	var findings []Finding
	configured := 0
	for _, s := range v.configured() {
		kinds := map[string][]string{}
		for _, server := range s.servers {
			kind := smearers()[strings.ToLower(strings.TrimSuffix(server, "."))]
			if kind == "" {
				kind = "not"
			}
			kinds[kind] = append(kinds[kind], server)
		}
		configured += len(s.servers)
		if len(kinds) < 2 {
			continue
		}
		f := Finding{
			subject, Warning, fmt.Sprintf("%s mixes sources that spread a leap second differently: %s", list(s.files), smearWords(kinds)),
			"around a leap second they differ by up to half a second or more for hours, and the daemon follows now one, now the other; between leap seconds they agree",
			"keep sources of one kind",
		}
		if !slices.ContainsFunc(v.running(), func(p process) bool { return p.name == s.daemon }) {
			f.State, f.What = Note, f.What+" (that daemon is not running here)"
		}
		findings = append(findings, f)
	}
	if findings == nil && configured > 0 {
		return []Finding{{Subject: subject, State: OK, What: "the configured sources treat leap seconds alike, as far as their names tell"}}
	}
	return findings
}

func smearWords(kinds map[string][]string) string {
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		how := "smears over " + kind
		if kind == "not" {
			how = "is not known to smear"
		}
		words = append(words, fmt.Sprintf("%s %s", list(kinds[kind]), how))
	}
	return strings.Join(words, "; ")
}

// configured returns the sources of each daemon that has a configuration here.
func (v *Visit) configured() []sources {
	var all []sources
	add := func(daemon string, read func(text string) []string, patterns ...string) {
		s := sources{daemon: daemon}
		for _, pattern := range patterns {
			for _, path := range v.glob(pattern) {
				text, _ := v.text(path)
				if servers := read(text); servers != nil {
					s.files, s.servers = append(s.files, "/"+path), append(s.servers, servers...)
				}
			}
		}
		if s.servers != nil {
			all = append(all, s)
		}
	}
	add("chronyd", serverLines, v.chronyFiles()...)
	add("ntpd", serverLines, "etc/ntp.conf", "etc/ntpsec/ntp.conf", "etc/ntpsec/ntp.d/*.conf")
	add("systemd-timesyn", timesyncdServers, "etc/systemd/timesyncd.conf", "etc/systemd/timesyncd.conf.d/*.conf")
	return all
}

// chronyFiles returns patterns of the files with chronyd's sources: the one a running
// chronyd was given or the usual ones, and the folders where distributions put more.
func (v *Visit) chronyFiles() []string {
	usual := []string{"etc/chrony.conf", "etc/chrony/chrony.conf"}
	for _, p := range v.running() {
		if given := options(p.args, "fuFPlLt")["f"]; p.name == "chronyd" && given != nil {
			return []string{strings.TrimPrefix(given[0], "/")}
		}
	}
	return append(usual, "etc/chrony.d/*.conf", "etc/chrony/conf.d/*.conf", "etc/chrony/sources.d/*.sources", "run/chrony-dhcp/*.sources")
}

// serverLines reads chrony.conf(5) and ntp.conf(5).
func serverLines(text string) []string {
	var servers []string
	for words := range lines(text) {
		switch strings.ToLower(words[0]) {
		case "server", "pool", "peer":
			for _, w := range words[1:] {
				if !strings.HasPrefix(w, "-") { // -4 and -6 of ntp.conf
					servers = append(servers, w)
					break
				}
			}
		}
	}
	return servers
}

// timesyncdServers reads timesyncd.conf(5): NTP=a b. FallbackNTP counts only if NTP
// is empty.
func timesyncdServers(text string) []string {
	var servers, fallback []string
	for words := range lines(text) {
		key, value, ok := strings.Cut(strings.Join(words, " "), "=")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "NTP":
			servers = append(servers, strings.Fields(value)...)
		case "FallbackNTP":
			fallback = append(fallback, strings.Fields(value)...)
		}
	}
	if servers == nil {
		return fallback
	}
	return servers
}
