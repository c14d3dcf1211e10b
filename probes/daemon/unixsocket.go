package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// longestPath of a unix socket is what fits into sun_path with its final zero (108
// bytes on Linux, 104 on the BSDs).
const longestPath = 103

// dialUnix returns a dialler to the datagram socket at path. A daemon sends its answer
// to the path that the question came from, so the question needs a socket with one: it
// is made beside the daemon's, which is where the daemon can reach it, or else among
// temporary files, and goes when the connection is closed.
func dialUnix(path string) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) {
		conn, err := dialFrom(filepath.Dir(path), path)
		if errors.Is(err, fs.ErrPermission) {
			if other, err := dialFrom(os.TempDir(), path); err == nil {
				return other, nil
			}
		}
		return conn, err
	}
}

func dialFrom(folder, path string) (net.Conn, error) {
	own := filepath.Join(folder, "tickmark-"+rand.Text()[:10])
	if _, err := os.Stat(path); err != nil { // before leaving a socket in a strange folder
		return nil, err
	}
	if n := max(len(own), len(path)); n > longestPath {
		return nil, fmt.Errorf("its path is %d bytes too long for a socket", n-longestPath)
	}
	conn, err := net.DialUnix("unixgram", &net.UnixAddr{Name: own, Net: "unixgram"}, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		_ = os.Remove(own) // bound, but not connected
		return nil, err
	}
	c := &ownSocket{conn, own}
	if err := os.Chmod(own, 0o666); err != nil { // the daemon may be another user
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ownSocket removes its path when it is closed.
type ownSocket struct {
	net.Conn
	path string
}

func (s *ownSocket) Close() error {
	err := s.Conn.Close()
	if removed := os.Remove(s.path); !errors.Is(removed, fs.ErrNotExist) { // the daemon may have cleared its folder
		err = errors.Join(err, removed)
	}
	return err
}
