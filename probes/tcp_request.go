package probes

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

const (
	// smallestFrame has room for what tells one call from another.
	smallestFrame = 16
	// largestFrame is what the buffers of two sockets hold while it is echoed.
	largestFrame = 1 << 16
	// longestAnswer bounds what is kept of one that does not end.
	longestAnswer = 1 << 20
)

// tcpRequest is what is asked, and how an answer ends.
type tcpRequest struct {
	size  int
	send  string // a file; "" for a frame of our own
	until string
	bytes int // of bytes:N

	content []byte // of the file
}

const (
	untilEcho    = "echo"    // what was sent has come back
	untilNewline = "newline" // a line has ended
	untilBytes   = "bytes:"  // and how many
)

func bindTCPRequest(fs *flag.FlagSet) func() (*tcpRequest, error) {
	size := fs.Int("size", 64, "`bytes` of a request of our own, to an echo (tickmark serve --tcp)")
	send := fs.String("send", "", "the `file` to send as a request instead")
	until := fs.String("until", untilEcho, "what ends a response: `echo` of the request, newline or bytes:N")
	return func() (*tcpRequest, error) {
		r := &tcpRequest{size: *size, send: *send, until: *until}
		if r.size < smallestFrame || r.size > largestFrame {
			return nil, fmt.Errorf("size %d: want %d to %d", r.size, smallestFrame, largestFrame)
		}
		if n, ok := strings.CutPrefix(r.until, untilBytes); ok {
			var err error
			if r.bytes, err = strconv.Atoi(n); err != nil || r.bytes < 1 || r.bytes > longestAnswer {
				return nil, fmt.Errorf("until %q: want bytes:N with N from 1 to %d", r.until, longestAnswer)
			}
		} else if r.until != untilEcho && r.until != untilNewline {
			return nil, fmt.Errorf("until %q: want echo, newline or bytes:N", r.until)
		}
		if r.send == "" && r.until != untilEcho {
			return nil, fmt.Errorf("until %q: a request of our own is answered by an echo; say what to send", r.until)
		}
		return r, nil
	}
}

// load reads the file that is to be sent.
func (r *tcpRequest) load() (*tcpRequest, error) {
	if r.send == "" {
		return r, nil
	}
	content, err := os.ReadFile(r.send)
	most := longestAnswer
	if r.until == untilEcho {
		most = largestFrame
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("tcp: send: %w", err)
	case len(content) == 0 || len(content) > most:
		return nil, fmt.Errorf("tcp: send: %s has %d bytes: want 1 to %d", r.send, len(content), most)
	}
	loaded := *r
	loaded.content = content
	return &loaded, nil
}

// ends returns how long the answer is of which b has come, and false as long as more is
// needed. An echo that is none is an error.
func (r *tcpRequest) ends(b, request []byte) (n int, ok bool, err error) {
	switch r.until {
	case untilEcho:
		if m := min(len(b), len(request)); !bytes.Equal(b[:m], request[:m]) {
			return 0, false, errors.New("what came back is not what was sent")
		}
		n = len(request)
	case untilNewline:
		if n = bytes.IndexByte(b, '\n') + 1; n == 0 {
			n = longestAnswer + 1
		}
	default:
		n = r.bytes
	}
	if n > longestAnswer && len(b) >= longestAnswer {
		return 0, false, fmt.Errorf("no newline within %d bytes", longestAnswer)
	}
	return n, len(b) >= n, nil
}

// tcpRequester makes one request after another.
type tcpRequester struct {
	tcpLine
	request *tcpRequest
	frame   []byte
	calls   uint64
	buf     []byte
}

func newTCPRequester(remote netip.AddrPort, r *tcpRequest) *tcpRequester {
	t := &tcpRequester{tcpLine: tcpLine{remote: remote}, request: r, frame: r.content, buf: make([]byte, 4096)}
	if t.frame == nil {
		t.frame = make([]byte, r.size)
		for i := range t.frame {
			t.frame[i] = byte(rand.Uint32())
		}
	}
	return t
}

func (t *tcpRequester) call(ctx context.Context, c *called) {
	c.size = len(t.frame)
	if t.request.content == nil { // each frame is another
		t.calls++
		binary.BigEndian.PutUint64(t.frame, t.calls)
	}
	done, err := t.begin(ctx, nil)
	if err != nil {
		c.fail(err)
		return
	}
	defer done()
	err = t.exchange()
	c.answered = time.Now()
	t.end(c, err)
	if errors.Is(err, errUnbelievable) {
		c.outcome = datasets.Invalid
	}
}

// errUnbelievable is an answer that must not be believed.
var errUnbelievable = errors.New("not an answer")

// exchange sends the request and reads the response, which may come in pieces.
func (t *tcpRequester) exchange() error {
	if _, err := t.conn.Write(t.frame); err != nil {
		return err
	}
	got := 0
	for {
		if got == len(t.buf) {
			t.buf = append(t.buf, make([]byte, len(t.buf))...)
		}
		n, err := t.conn.Read(t.buf[got:])
		got += n
		_, ok, wrong := t.request.ends(t.buf[:got], t.frame)
		switch {
		case wrong != nil:
			return fmt.Errorf("%w: %w", errUnbelievable, wrong)
		case ok:
			return nil
		case err != nil:
			return err
		}
	}
}
