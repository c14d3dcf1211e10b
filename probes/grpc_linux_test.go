package probes_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/netlab"
)

// waiter is a service whose one method waits as long as it is asked to and answers how
// long that was; a negative time is an error.
var waiter = grpc.ServiceDesc{
	ServiceName: "tick.test.Waiter",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Wait",
		Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var d durationpb.Duration
			if err := decode(&d); err != nil {
				return nil, err
			}
			if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization")) > 0 && md.Get("authorization")[0] != "Bearer open-sesame" {
				return nil, status.Error(codes.Unauthenticated, "open barley")
			}
			if d.AsDuration() < 0 {
				return nil, status.Error(codes.Unavailable, "not today")
			}
			select {
			case <-time.After(d.AsDuration()):
			case <-ctx.Done():
			}
			return &d, nil
		},
	}},
}

// serveGRPC serves health and the waiter by grpc-go until the test ends, or stop is called.
func serveGRPC(t *testing.T, at string, options ...grpc.ServerOption) (address string, h *health.Server, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	h = health.NewServer()
	healthpb.RegisterHealthServer(s, h)
	s.RegisterService(&waiter, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(listener)
	}()
	stop = func() {
		s.Stop()
		<-ended
	}
	t.Cleanup(stop)
	return listener.Addr().String(), h, stop
}

// waitFor is the file with a request to wait.
func waitFor(t *testing.T, d time.Duration) string {
	t.Helper()
	b, err := proto.Marshal(durationpb.New(d))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "request")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const waitMethod = "grpc:method=/tick.test.Waiter/Wait,body="

func TestGRPCHealth(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		address, h, _ := serveGRPC(t, at)
		h.SetServingStatus("shop", healthpb.HealthCheckResponse_NOT_SERVING)
		for _, tt := range []struct {
			spec    string
			status  codes.Code
			serving string
		}{
			{"grpc", codes.OK, "SERVING"},
			{"grpc:service=shop", codes.OK, "NOT_SERVING"},
			{"grpc:service=zoo", codes.NotFound, "-"}, // as grpc.health.v1 has it
			{"grpc:method=/tick.test.Waiter/Sleep", codes.Unimplemented, "-"},
			{"grpc:method=/tick.test.Waiter/Wait", codes.OK, "-"}, // for no time at all
		} {
			const count = 20
			tr := measure[datasets.Sample](t, tt.spec, address, every(20*time.Millisecond, count))
			wantSamples(t, tr, count)
			fresh := wantStages(t, tr, false)
			for i, s := range tr.rows {
				got, ok := s.Status.Value()
				if s.Outcome != datasets.Replied || !ok || codes.Code(got) != tt.status || cell(t, tr, i, "serving") != tt.serving ||
					(cell(t, tr, i, "why") == "-") != (tt.status == codes.OK) {
					t.Errorf("%s at %s: %s, status %d: %s", tt.spec, address, s.Outcome, got, s.Extra)
				}
			}
			if fresh > count/2 {
				t.Errorf("%s: %d connections for %d calls", tt.spec, fresh, count)
			}
		}
	}
}

// What the server waits is found in the wait, and what nobody listens for is not waited for.
func TestGRPCMethodDelays(t *testing.T) {
	address, _, _ := serveGRPC(t, loopback)
	const delay = 120 * time.Millisecond
	tr := measure[datasets.Sample](t, waitMethod+waitFor(t, delay), address, every(40*time.Millisecond, 15))
	if got := outcomes(tr); got != "15 replied" {
		t.Fatalf("%s: %s", got, tr.rows[0].Extra)
	}
	wantStages(t, tr, false)
	for i, s := range tr.rows {
		if s.Elapsed < delay {
			t.Errorf("row %d: %v", i, s.Elapsed)
		}
	}
	wait := median(t, tr, "wait_ns")
	t.Logf("told to wait %v: wait p50 %v", delay, wait)
	if wait < delay*9/10 || wait > 2*delay {
		t.Errorf("told to wait %v: wait p50 %v", delay, wait)
	}
	tr = measure[datasets.Sample](t, waitMethod+waitFor(t, time.Hour), address, listening(probes.Plan{Count: 4, Interval: 20 * time.Millisecond}, time.Second))
	if got := outcomes(tr); got != "4 timed-out" {
		t.Errorf("%s: %s", got, tr.rows[0].Extra)
	}
}

// UNAVAILABLE is an answer if the server gives it, and none if nobody does.
func TestGRPCUnavailable(t *testing.T) {
	address, _, stop := serveGRPC(t, loopback)
	spec := waitMethod + waitFor(t, -time.Second)
	tr := measure[datasets.Sample](t, spec, address, every(20*time.Millisecond, 5))
	for i, s := range tr.rows {
		if got, _ := s.Status.Value(); s.Outcome != datasets.Replied || codes.Code(got) != codes.Unavailable || cell(t, tr, i, "why") != "not today" {
			t.Errorf("%s, status %d: %s", s.Outcome, got, s.Extra)
		}
	}
	stop()
	tr = measure[datasets.Sample](t, spec, address, every(20*time.Millisecond, 5))
	for i, s := range tr.rows {
		if _, ok := s.Status.Value(); s.Outcome != datasets.Refused || ok || !strings.Contains(cell(t, tr, i, "why"), "refused") {
			t.Errorf("%s: %s", s.Outcome, s.Extra)
		}
	}
}

func TestGRPCRecovers(t *testing.T) {
	address, _, stop := serveGRPC(t, loopback)
	recovers(t, "grpc", address, func() { stop() }, func() { _, _, stop = serveGRPC(t, address) })
}

// A server that has its clients connect anew every now and then fails no call by it.
func TestGRPCServerWantsNewConnections(t *testing.T) {
	address, _, _ := serveGRPC(t, loopback, grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 100 * time.Millisecond}))
	tr := measure[datasets.Sample](t, "grpc", address, every(10*time.Millisecond, 100))
	fresh := wantStages(t, tr, false)
	t.Logf("%s on %d connections", outcomes(tr), fresh)
	if got := outcomes(tr); got != "100 replied" || fresh < 3 {
		for i, s := range tr.rows {
			if s.Outcome != datasets.Replied {
				t.Log(s.Outcome, s.Extra, i)
			}
		}
		t.Errorf("%s on %d connections", got, fresh)
	}
}

func TestGRPCTLSAndMetadata(t *testing.T) {
	cert, key := netlab.SelfSigned(t, netip.MustParseAddr("127.0.0.1"))
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	address, _, _ := serveGRPC(t, loopback, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	headers := filepath.Join(t.TempDir(), "headers")
	for secret, code := range map[string]codes.Code{"Bearer open-sesame": codes.OK, "Bearer sesame": codes.Unauthenticated} {
		if err := os.WriteFile(headers, []byte("Authorization: "+secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		rec := &recording{}
		err := parse(t, waitMethod+waitFor(t, time.Millisecond)+",tls,ca="+cert+",headers="+headers).Run(t.Context(), address, every(20*time.Millisecond, 5), rec)
		if err != nil {
			t.Fatal(err)
		}
		tr := read[datasets.Sample](t, rec)
		wantStages(t, tr, true)
		for _, s := range tr.rows {
			if got, _ := s.Status.Value(); s.Outcome != datasets.Replied || codes.Code(got) != code {
				t.Errorf("%s, status %d: %s", s.Outcome, got, s.Extra)
			}
		}
		if bytes.Contains(rec.file.Bytes(), []byte("sesame")) {
			t.Errorf("the trace shows what is secret: %s", rec.file.Bytes())
		}
	}
	for spec, want := range map[string]string{"grpc:tls": "authority", "grpc:tls,name=elsewhere.test,ca=" + cert: "elsewhere.test"} {
		tr := measure[datasets.Sample](t, spec, address, every(20*time.Millisecond, 3))
		for i, s := range tr.rows {
			if s.Outcome != datasets.Invalid || !strings.Contains(cell(t, tr, i, "why"), want) {
				t.Errorf("%s: %s: %s", spec, s.Outcome, s.Extra)
			}
		}
	}
}

// What is HTTP/2 and not gRPC is no answer, whichever code the library makes of it.
func TestGRPCHostile(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"a page":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"502":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"no health":   withTrailer("\x00\x00\x00\x00\x02\x08\xff", "0"), // a number that does not end
		"no message":  withTrailer("", "0"),
		"two of them": withTrailer("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "0"),
		"no status":   withTrailer("\x00\x00\x00\x00\x00", ""),
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(handler)
			s.EnableHTTP2 = true
			s.StartTLS()
			t.Cleanup(s.Close)
			tr := measure[datasets.Sample](t, "grpc:tls,insecure", s.Listener.Addr().String(), every(20*time.Millisecond, 3))
			for i, s := range tr.rows {
				if why := cell(t, tr, i, "why"); s.Outcome != datasets.Invalid || why == "-" {
					t.Errorf("%s: %s", s.Outcome, s.Extra)
				}
			}
		})
	}
	at := handling(t, func(conn net.Conn) {
		_, _ = conn.Write([]byte("220 mail.test ESMTP, and no HTTP\r\n"))
		time.Sleep(time.Second)
	})
	tr := measure[datasets.Sample](t, "grpc", at, every(20*time.Millisecond, 3))
	for _, s := range tr.rows {
		if s.Outcome != datasets.Invalid {
			t.Errorf("%s: %s", s.Outcome, s.Extra)
		}
	}
}

// withTrailer answers as a server of gRPC does, but for what it says.
func withTrailer(body, status string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc+proto")
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write([]byte(body))
		if status != "" {
			w.Header().Set("Grpc-Status", status)
		}
	}
}
