package probes

import (
	"bytes"
	"strings"
	"testing"
)

// RESP, as https://redis.io/docs/latest/develop/reference/protocol-spec describes it.
func TestRESP(t *testing.T) {
	if got, want := string(respCommand("AUTH", "née", "")), "*3\r\n$4\r\nAUTH\r\n$4\r\nnée\r\n$0\r\n\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for in, want := range map[string]string{
		"+PONG\r\n":               "+PONG",
		"-LOADING is loading\r\n": "-LOADING is loading",
		"":                        "more",
		"+PONG\r":                 "more",
		"$4\r\nPONG\r\n":          "wrong",
		"HTTP/1.1 400":            "wrong",
		"+PONG\r\n+PONG\r\n":      "wrong",
		"+PONG\r\n\x00":           "wrong",
	} {
		line, ok, err := respLine([]byte(in))
		got := string(line)
		switch {
		case err != nil:
			got = "wrong"
		case !ok:
			got = "more"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// What is taken for an answer is the whole of what came, and one line.
func FuzzRESP(f *testing.F) {
	for _, s := range []string{"+PONG\r\n", "-ERR x\r\n", "+\r\r\n", "+a\nb\r\n", "*1\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		line, ok, err := respLine(b)
		if ok && (err != nil || !bytes.Equal(append(bytes.Clone(line), "\r\n"...), b) || strings.Contains(string(line), "\r\n") || line[0] != '+' && line[0] != '-') {
			t.Fatalf("%q: %q, %v", b, line, err)
		}
		if again, ok2, _ := respLine(b); ok2 != ok || !bytes.Equal(again, line) {
			t.Fatalf("%q: not the same twice", b)
		}
	})
}
