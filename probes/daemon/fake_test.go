package daemon

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// behaviour answers one request with datagrams, in order. A fake daemon has one.
type behaviour func(request []byte) [][]byte

// fake is a daemon of the test's own, until the test ends.
type fake struct {
	place   string
	mu      sync.Mutex
	act     behaviour
	senders map[string]bool // whom it was asked by
}

func (f *fake) become(act behaviour) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.act = act
}

func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.senders)
}

func fakeUDP(t *testing.T, act behaviour) *fake {
	t.Helper()
	f, _ := fakeAt(t, "127.0.0.1:0", act)
	return f
}

func fakeUnix(t *testing.T, path string, act behaviour) *fake {
	t.Helper()
	f, _ := fakeAt(t, path, act)
	return f
}

// fakeAt is a fake at a place, until gone is called.
func fakeAt(t *testing.T, place string, act behaviour) (f *fake, gone func()) {
	t.Helper()
	network := "udp"
	if strings.HasPrefix(place, "/") {
		network = "unixgram"
	}
	conn, err := net.ListenPacket(network, place)
	check(t, err)
	f = &fake{place: conn.LocalAddr().String(), act: act, senders: map[string]bool{}}
	var done sync.WaitGroup
	done.Go(func() { f.serve(conn) })
	gone = sync.OnceFunc(func() {
		_ = conn.Close()
		_ = os.Remove(place)
		done.Wait()
	})
	t.Cleanup(gone)
	return f, gone
}

// socketFolder is a short one: the path of a socket has a limit.
func socketFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "tm") //nolint:usetesting // the path of TempDir is too long for a socket in it
	check(t, err)
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(folder, "tickmark-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("sockets are left behind: %v (%v)", left, err)
		}
		_ = os.RemoveAll(folder)
	})
	return folder
}

func (f *fake) serve(conn net.PacketConn) {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := conn.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || from == nil {
			continue // a refusal of what was sent before
		}
		f.mu.Lock()
		f.senders[from.String()] = true
		act := f.act
		f.mu.Unlock()
		for _, reply := range act(append([]byte(nil), buf[:n]...)) {
			_, _ = conn.WriteTo(reply, from) // who asked may be gone
		}
	}
}

// silent never answers.
func silent([]byte) [][]byte { return nil }

// honest answers with what answer returns.
func honest(answer func(request []byte) []byte) behaviour {
	return func(request []byte) [][]byte {
		if reply := answer(request); reply != nil {
			return [][]byte{reply}
		}
		return nil
	}
}
