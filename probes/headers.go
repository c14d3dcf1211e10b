package probes

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// readHeaders reads a file of them; none if none is named.
func readHeaders(file string) (http.Header, error) {
	if file == "" {
		return http.Header{}, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("headers: %w", err)
	}
	h, err := parseHeaders(string(b))
	if err != nil {
		return nil, fmt.Errorf("headers: %s:%w", file, err)
	}
	return h, nil
}

// parseHeaders reads lines of Name: value; those that are empty or begin with # say
// nothing. Errors name a line and show nothing of it: it may be secret.
func parseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("%d: want Name: value", n)
		case ofTheConnection(name):
			return nil, fmt.Errorf("%d: %s is not for the user to say", n, http.CanonicalHeaderKey(name))
		}
		h.Add(name, value)
	}
	return h, nil
}

// ofTheConnection reports whether a header tells how a message is sent, which is up to
// the version of HTTP (RFC 9110 §7.6.1).
func ofTheConnection(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Connection", "Content-Length", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}
