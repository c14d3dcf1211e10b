package probes

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// httpProbe measures how long an HTTP request and its answer take, read to its end.
//
// Calls in flight together have a connection each, in HTTP/2 too, so that no call waits
// for the bytes of another; what is kept from call to call is that of the call before.
// Nothing is done that was not asked for: no redirect is followed, no request sent twice,
// no compression accepted, no proxy taken from the environment.
type httpProbe struct {
	callProbe
	reach         reach
	method        string
	version       string
	keep          bool   // connections
	body, headers string // files; "" for none
	status        string // expected: 200, 2xx or any
}

const (
	httpPort                        = 80
	versionAuto, version1, version2 = "auto", "1.1", "2"
	anyStatus                       = "any"
)

func bindHTTP(fs *flag.FlagSet) func() (Probe, error) {
	calls, reach := bindCalls(fs), bindReach(fs)
	p := httpProbe{}
	fs.StringVar(&p.method, "method", http.MethodGet, "the `method` of a request")
	fs.StringVar(&p.version, "version", versionAuto, "of HTTP: `1.1`, 2 or auto, which is 2 where TLS can agree on it")
	fs.BoolVar(&p.keep, "keepalive", true, "keep the connection from call to call: `true` or false")
	fs.StringVar(&p.body, "body", "", "the `file` to send")
	fs.StringVar(&p.headers, "headers", "", "the `file` with more header lines (Name: value), secret ones too")
	fs.StringVar(&p.status, "status", anyStatus, "the `code` or class (200, 2xx) without which an answer is invalid, or any")
	return func() (Probe, error) {
		var err error
		if p.callProbe, err = calls(); err != nil {
			return nil, err
		}
		if p.reach, err = reach(); err != nil {
			return nil, err
		}
		p.protocol, p.interval = "http", 100*time.Millisecond
		p.columns = append(stageColumns(stageBody+1), "body_bytes", "reused", "protocol")
		return p, p.check()
	}
}

func (p httpProbe) check() error {
	if _, err := http.NewRequest(p.method, "/", nil); err != nil || p.method == "" || p.method == http.MethodConnect {
		return fmt.Errorf("method %q: want one such as GET or POST", p.method)
	}
	switch p.version {
	case versionAuto, version1, version2:
	default:
		return fmt.Errorf("version %q: want 1.1, 2 or auto", p.version)
	}
	if p.status != anyStatus && !regexp.MustCompile(`^[1-5](\d\d|xx)$`).MatchString(p.status) {
		return fmt.Errorf("status %q: want one such as 200, a class such as 2xx, or any", p.status)
	}
	return nil
}

// Kind returns RTT.
func (httpProbe) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is a URL of http or https.
func (httpProbe) TakesTarget() bool { return true }

// Run calls as the plan's schedule says, every 100 ms by default, and listens 2 s.
func (p httpProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	u, err := httpURL(target)
	if err != nil {
		return err
	}
	request, body, err := p.request(u)
	if err != nil {
		return err
	}
	usual := uint16(httpPort)
	if u.Scheme == "https" {
		usual = httpsPort
	}
	e, err := p.reach.endpoint(ctx, hostPort(u.Hostname(), u.Port(), usual), usual)
	if err != nil {
		return err
	}
	if u.Scheme == "https" {
		if err := e.secure(p.reach.trust, p.protocols()...); err != nil {
			return err
		}
	}
	p.open = func() (caller, error) { return newHTTPCaller(p, e, request, body), nil }
	return p.run(ctx, target, e.address(), plan, rec)
}

// protocols are those that TLS is to agree on, the best one first.
func (p httpProbe) protocols() []string {
	switch p.version {
	case version1:
		return []string{"http/1.1"}
	case version2:
		return []string{protocolH2}
	}
	return []string{protocolH2, "http/1.1"}
}

// request is what every call sends, and its body.
func (p httpProbe) request(u *url.URL) (*http.Request, []byte, error) {
	r, err := http.NewRequest(p.method, u.String(), nil)
	if err != nil {
		return nil, nil, &spec.UsageError{Msg: "target: not a URL that can be asked for"}
	}
	if r.Header, err = readHeaders(p.headers); err != nil {
		return nil, nil, err
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "tickmark")
	}
	switch host := r.Header.Get("Host"); {
	case host != "":
		r.Host = host
		r.Header.Del("Host")
	case p.reach.trust.name != "" && u.Port() != "":
		r.Host = net.JoinHostPort(p.reach.trust.name, u.Port())
	case p.reach.trust.name != "":
		r.Host = p.reach.trust.name
	}
	r.Close = !p.keep
	if p.body == "" {
		return r, nil, nil
	}
	body, err := os.ReadFile(p.body)
	if err != nil {
		return nil, nil, fmt.Errorf("http: body: %w", err)
	}
	r.ContentLength = int64(len(body))
	return r, body, nil
}

// httpURL reads a target. What it holds stands in headers, so it must hold no password.
func httpURL(target string) (*url.URL, error) {
	u, err := url.Parse(target)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		quoted := strconv.Quote(target)
		if strings.Contains(target, "@") { // a password may stand before it
			quoted = "with an @"
		}
		return nil, &spec.UsageError{Msg: "target " + quoted + ": want a URL such as http://192.0.2.1:8080/path or https://example.org/"}
	case u.User != nil:
		return nil, &spec.UsageError{Msg: "target " + strconv.Quote(u.Redacted()) + ": whom to be belongs into a file of headers (Authorization: …), where no trace shows it"}
	}
	return u, nil
}

// hostPort puts together what a URL holds apart.
func hostPort(host, port string, usual uint16) string {
	if port == "" {
		port = strconv.Itoa(int(usual))
	}
	return net.JoinHostPort(host, port)
}

// statusWanted says what is wrong with a status, or "".
func statusWanted(want string, got int) string {
	text := strconv.Itoa(got)
	if want == anyStatus || text == want || len(text) == len(want) && want[1:] == "xx" && text[0] == want[0] {
		return ""
	}
	return "status " + text + ": want " + want
}

// bodyOf is a body to send.
func bodyOf(b []byte) io.ReadCloser {
	if len(b) == 0 {
		return http.NoBody
	}
	return io.NopCloser(bytes.NewReader(b))
}
