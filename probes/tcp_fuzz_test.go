package probes

import (
	"bytes"
	"testing"
)

// An answer ends where the rule says, whatever it is cut into: what has ended does not
// begin again with more bytes, and a part of it has not ended.
func FuzzTCPAnswerEnds(f *testing.F) {
	f.Add([]byte("abc"), []byte("abc"), uint8(0))
	f.Add([]byte("abd"), []byte("abc"), uint8(0))
	f.Add([]byte("ok\nmore"), []byte("x"), uint8(1))
	f.Add([]byte("okok"), []byte("x"), uint8(2))
	f.Fuzz(func(t *testing.T, answer, request []byte, rule uint8) {
		if len(request) == 0 {
			return
		}
		r := &tcpRequest{until: untilEcho}
		want := len(request)
		switch rule % 3 {
		case 1:
			r.until = untilNewline
			want = bytes.IndexByte(answer, '\n') + 1
		case 2:
			r.until, r.bytes = "bytes:5", 5
			want = 5
		}
		n, ok, err := r.ends(answer, request)
		same := bytes.Equal(answer[:min(len(answer), len(request))], request[:min(len(answer), len(request))])
		if (err != nil) != (rule%3 == 0 && !same) {
			t.Fatalf("%q to %q: %v", answer, request, err)
		}
		if ended := err == nil && want > 0 && len(answer) >= want; ok != ended || ok && n != want {
			t.Fatalf("%q to %q: %d, %v, want %d", answer, request, n, ok, want)
		}
		if !ok {
			return
		}
		if m, ok, _ := r.ends(answer[:n], request); m != n || !ok {
			t.Fatalf("%q alone: %d, %v", answer[:n], m, ok)
		}
		if _, ok, _ := r.ends(answer[:n-1], request); ok {
			t.Fatalf("%q ends before it does", answer[:n])
		}
	})
}
