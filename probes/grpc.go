package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tickmark/tickmark/datasets"
)

// grpcProbe measures how long a unary call of gRPC takes: a health check, or a method by
// its name with a request as it goes over the wire. Its status is gRPC's code.
//
// Calls in flight together have a connection each, as those of httpProbe.
type grpcProbe struct {
	callProbe
	reach         reach
	service       string // of the health check
	method        string // "" for the health check
	body, headers string // files; "" for none
	tls           bool
}

const healthCheck = "/grpc.health.v1.Health/Check"

func bindGRPC(fs *flag.FlagSet) func() (Probe, error) {
	calls, reach := bindCalls(fs), bindReach(fs)
	p := grpcProbe{}
	fs.StringVar(&p.service, "service", "", "the `service` whose health is asked for, if not that of the whole server")
	fs.StringVar(&p.method, "method", "", "the unary `/package.Service/Method` to call instead of the health check")
	fs.StringVar(&p.body, "body", "", "the `file` with the method's request, a message as it is encoded; without one it is empty")
	fs.StringVar(&p.headers, "headers", "", "the `file` with metadata (name: value), secret ones too")
	fs.BoolVar(&p.tls, "tls", false, "speak TLS: `true` or false")
	return func() (Probe, error) {
		var err error
		if p.callProbe, err = calls(); err != nil {
			return nil, err
		}
		if p.reach, err = reach(); err != nil {
			return nil, err
		}
		p.protocol, p.interval = "grpc", 100*time.Millisecond
		p.columns = append(stageColumns(stageBody+1), "reused", "serving")
		return p, p.check()
	}
}

func (p grpcProbe) check() error {
	switch {
	case !utf8.ValidString(p.service):
		return fmt.Errorf("service %q: want UTF-8", p.service)
	case p.method != "" && !regexp.MustCompile(`^/[\w.]+/\w+$`).MatchString(p.method):
		return fmt.Errorf("method %q: want /package.Service/Method", p.method)
	case p.method != "" && p.service != "":
		return fmt.Errorf("service %q: is for the health check, and method is another", p.service)
	case p.method == "" && p.body != "":
		return fmt.Errorf("body %q: the health check has its own; want a method, too", p.body)
	case !p.tls && (p.reach.trust.ca != "" || p.reach.trust.insecure):
		return errors.New("ca and insecure are for tls=true")
	}
	return nil
}

// Kind returns RTT.
func (grpcProbe) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host or host:port, the port 443 if not said.
func (grpcProbe) TakesTarget() bool { return true }

// Run calls as the plan's schedule says, every 100 ms by default, and listens 2 s.
func (p grpcProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	request := healthRequest(p.service)
	if p.method != "" {
		request = nil
	}
	if p.body != "" {
		var err error
		if request, err = os.ReadFile(p.body); err != nil {
			return fmt.Errorf("grpc: body: %w", err)
		}
	}
	headers, err := readHeaders(p.headers)
	if err != nil {
		return err
	}
	e, err := p.reach.endpoint(ctx, target, httpsPort)
	if err != nil {
		return err
	}
	if p.tls {
		if err := e.secure(p.reach.trust, protocolH2); err != nil {
			return err
		}
	}
	p.open = func() (caller, error) {
		return &grpcCaller{endpoint: e, probe: &p, request: request, metadata: pairs(headers)}, nil
	}
	return p.run(ctx, target, e.address(), plan, rec)
}

// authority is what the server is called in requests.
func (p *grpcProbe) authority(e *endpoint) string {
	if p.reach.trust.name != "" {
		return p.reach.trust.name
	}
	return e.target
}

// pairs are names and values in turn.
func pairs(h http.Header) (all []string) {
	for name, values := range h {
		for _, v := range values {
			all = append(all, strings.ToLower(name), v)
		}
	}
	return all
}
