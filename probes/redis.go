package probes

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// redis measures how long a server of the Redis protocol (RESP) takes to answer a PING
// on a connection that is kept.
type redis struct {
	callProbe
	user, password string // the password is a file
}

const redisPort = 6379

func bindRedis(fs *flag.FlagSet) func() (Probe, error) {
	calls := bindCalls(fs)
	user := fs.String("user", "", "the `user` to authenticate as, from Redis 6 on")
	password := fs.String("password", "", "the `file` with the password; without one it is what REDISCLI_AUTH says, if anything")
	return func() (Probe, error) {
		c, err := calls()
		c.protocol, c.columns = "redis", lineColumns()
		return redis{c, *user, *password}, err
	}
}

// Kind returns RTT.
func (redis) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host or host:port, the port 6379 if not said.
func (redis) TakesTarget() bool { return true }

// Run pings as the plan's schedule says, every 10 ms by default, and listens 2 s.
func (p redis) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	remote, err := remoteOf(ctx, target, redisPort, "ip", 0)
	if err != nil {
		return err
	}
	password, err := secret("redis", p.password, "REDISCLI_AUTH")
	if err != nil {
		return err
	}
	var auth []byte
	switch {
	case password != "" && p.user != "":
		auth = respCommand("AUTH", p.user, password)
	case password != "":
		auth = respCommand("AUTH", password)
	}
	p.open = func() (caller, error) { return &redisPinger{tcpLine: tcpLine{remote: remote}, auth: auth}, nil }
	return p.run(ctx, target, remote.String(), plan, rec)
}

// redisPinger pings on a connection of its own.
type redisPinger struct {
	tcpLine
	auth []byte // the command, nil if there is none
	buf  [4096]byte
}

// redisError is an answer that is an error: -LOADING, -NOAUTH.
type redisError string

func (e redisError) Error() string { return string(e) }

func (r *redisPinger) call(ctx context.Context, c *called) {
	ping := respCommand("PING")
	c.size = len(ping)
	done, err := r.begin(ctx, r.authenticate)
	if err == nil {
		defer done()
		err = r.ask(r.conn, ping, "PONG")
	}
	c.answered = time.Now()
	if no, ok := errors.AsType[redisError](err); ok {
		c.why, err = no.Error(), nil // and the connection stays good
	}
	r.end(c, err)
}

func (r *redisPinger) authenticate(conn *net.TCPConn) error {
	if r.auth == nil {
		return nil
	}
	return r.ask(conn, r.auth, "OK")
}

// ask sends a command and reads its answer, which must be what is wanted or an error.
func (r *redisPinger) ask(conn *net.TCPConn, command []byte, want string) error {
	if _, err := conn.Write(command); err != nil {
		return err
	}
	for got := 0; ; {
		n, err := conn.Read(r.buf[got:])
		got += n
		answer, ok, wrong := respLine(r.buf[:got])
		switch {
		case wrong != nil:
			return wrong
		case ok && answer[0] == '-':
			return redisError(answer[1:])
		case ok && string(answer) != "+"+want:
			return fmt.Errorf("answer %q: want +%s", answer, want)
		case ok:
			return nil
		case err != nil:
			return err
		case got == len(r.buf):
			return fmt.Errorf("answer %.20q…: too long", r.buf[:got])
		}
	}
}

// respCommand is a command as clients send it: an array of bulk strings.
func respCommand(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// respLine returns a simple string or an error with its first byte, and false if its end
// has not come. Nothing may stand behind it: one question has one answer.
func respLine(b []byte) (line []byte, ok bool, err error) {
	if len(b) > 0 && b[0] != '+' && b[0] != '-' {
		return nil, false, fmt.Errorf("answer %.20q: want a simple string or an error", b)
	}
	end := bytes.Index(b, []byte("\r\n"))
	switch {
	case end < 0:
		return nil, false, nil
	case end+2 < len(b):
		return nil, false, fmt.Errorf("%.20q stands behind the answer", b[end+2:])
	}
	return b[:end], true, nil
}
