package probes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// dnsOverUDP asks from a port of its own, which is another one after a query that was
// not answered: what comes late is not heard.
type dnsOverUDP struct {
	remote netip.AddrPort
	query  *dnsQuery
	conn   *net.UDPConn
	out    []byte
	in     [largestEDNS]byte
}

func (d *dnsOverUDP) call(ctx context.Context, c *called) {
	c.size = len(d.query.packed)
	if d.conn == nil {
		conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(d.remote))
		if err != nil {
			c.fail(err)
			return
		}
		d.conn = conn
	}
	until, _ := ctx.Deadline()
	conn := d.conn
	_ = conn.SetDeadline(until)
	done := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer done()
	answer, ignored, err := d.ask()
	c.answered = time.Now()
	c.cells = answer.appendCells(c.cells, ignored)
	if err == nil {
		answer.tell(c)
		return
	}
	d.drop()
	c.fail(err)
	if c.outcome == datasets.TimedOut && ignored > 0 {
		c.outcome, c.why = datasets.Invalid, fmt.Sprintf("%d datagrams came, none an answer to this question", ignored)
	}
}

// ask sends the query and waits for its answer. What is none is passed over: anybody can
// send it.
func (d *dnsOverUDP) ask() (answer *dnsAnswer, ignored int, err error) {
	id := uint16(rand.Uint32())
	d.out = append(d.out[:0], d.query.packed...)
	binary.BigEndian.PutUint16(d.out, id)
	if _, err := d.conn.Write(d.out); err != nil {
		return nil, 0, err
	}
	for {
		n, err := d.conn.Read(d.in[:])
		if err != nil {
			return nil, ignored, err
		}
		answer, err := d.query.judge(d.in[:n], id)
		if !errors.Is(err, errOtherQuestion) {
			return answer, ignored, err
		}
		ignored++
	}
}

func (d *dnsOverUDP) drop() {
	if d.conn != nil {
		d.conn.Close()
		d.conn = nil
	}
}

func (d *dnsOverUDP) close() error {
	if d.conn == nil {
		return nil
	}
	return d.conn.Close()
}

// dnsOverTCP asks on a connection, one query at a time. Every message has its length
// before it (RFC 1035, 4.2.2).
type dnsOverTCP struct {
	tcpLine
	query *dnsQuery
	out   []byte
	in    []byte
}

func (d *dnsOverTCP) call(ctx context.Context, c *called) {
	c.size = 2 + len(d.query.packed)
	done, err := d.begin(ctx, nil)
	if err != nil {
		c.fail(err)
		return
	}
	defer done()
	answer, err := d.ask()
	c.answered = time.Now()
	d.end(c, err)
	c.cells = answer.appendCells(append(c.cells, '\t'), 0)
	if err == nil {
		answer.tell(c)
	}
}

func (d *dnsOverTCP) ask() (*dnsAnswer, error) {
	id := uint16(rand.Uint32())
	d.out = binary.BigEndian.AppendUint16(d.out[:0], uint16(len(d.query.packed)))
	d.out = append(d.out, d.query.packed...)
	binary.BigEndian.PutUint16(d.out[2:], id)
	if _, err := d.conn.Write(d.out); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(d.conn, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	if cap(d.in) < n {
		d.in = make([]byte, n)
	}
	if _, err := io.ReadFull(d.conn, d.in[:n]); err != nil {
		return nil, err
	}
	return d.query.judge(d.in[:n], id)
}
