package serve_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/probes/serve"
)

// Bytes come back as they were sent, on both IPs, from several connections at once; an
// end of sending is answered by an end; and Close ends the connections that are open.
func TestTCPEcho(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		s, err := serve.Start(serve.Config{TCP: addr})
		if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
			t.Logf("this host has no %s", addr)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if s.UDPAddr().IsValid() || s.NTPAddr().IsValid() {
			t.Error("more is served than was asked for")
		}
		var conns []net.Conn
		for range 3 {
			conn, err := net.DialTimeout("tcp", s.TCPAddr().String(), 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			conns = append(conns, conn)
		}
		for i, conn := range conns {
			want := bytes.Repeat([]byte{byte(i), 0, '\n', 0xff}, 10_000)
			go func() { _, _ = conn.Write(want) }()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("connection %d: %v", i, err)
			}
		}
		if err := conns[0].(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(conns[0]); err != nil || len(rest) > 0 {
			t.Errorf("after the end: %q, %v", rest, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n, err := conns[1].Read(make([]byte, 1)); err == nil || n > 0 {
			t.Error("a connection outlived its server")
		}
		if got, want := s.Stats().TCP, (serve.TCPCounts{Connections: 3, Bytes: 120_000}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
