package probes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ptpListener makes rows of what passes between others: masters, and slaves that ask
// them. It sends nothing. T1 and T4 are of where it listens, so that θ is of the clock
// there if that is the slave's host, and off by the way to it otherwise.
type ptpListener struct {
	probe  ptpProbe
	source datasets.Source // of T1 and T4
	epoch  time.Time
	most   int64 // rows; 0 is no limit
	record func(*datasets.Exchange) error

	pairs    wire.PTPPairs
	now      int64 // time of the message at hand
	row      datasets.Exchange
	made     int64
	failed   error // of the recorder
	broken   int64 // no message of PTP
	domains  int64 // of other domains
	far      int64 // a century off
	last     wire.PTPExchange
	identity string
}

// packets is where the listener hears.
type packets interface {
	// began is the instant zero.
	began() time.Time
	// next returns the next packet, and false at the end.
	next(p *wire.Packet) bool
	// err is why it ended, and nil if it was to.
	err() error
	facts() []datasets.Field
	trailer() []datasets.Field
	close() error
}

// listen records the exchanges that pass, as many or as long as the plan says.
func (p ptpProbe) listen(ctx context.Context, target string, plan Plan, rec Recorder) (err error) {
	from, err := p.openPackets(ctx, target, plan)
	if err != nil {
		return fmt.Errorf("ptp: %w", err)
	}
	defer func() { err = errors.Join(err, from.close()) }()
	l := &ptpListener{
		probe: p, source: sourceOf(p.stamps), epoch: from.began(), most: plan.Count,
		record: func(row *datasets.Exchange) error { return rec.Record(row) },
	}
	l.pairs.Emit = l.take
	h := newHeader(datasets.Exchanges, target, "", l.epoch, plan)
	setFacts(h, append(from.facts(), datasets.Field{Key: "mode", Value: "listen"}, datasets.Field{
		Key: datasets.KeyStamps, Value: fmt.Sprintf("t1=%s t2,t3=%s t4=%s", l.source, sourceOf(p.server), l.source),
	})...)
	h.Extra = []string{"kind", "server", "client"}
	if err := rec.Begin(h); err != nil {
		return err
	}
	var c wire.Packet
	for !l.full() && from.next(&c) && !l.over(&c, plan) {
		l.hear(&c)
	}
	l.pairs.Close()
	if l.failed != nil {
		return l.failed
	}
	return errors.Join(from.err(), rec.End(append(from.trailer(), l.trailer()...)...))
}

// over reports whether the plan ends before this packet.
func (l *ptpListener) over(c *wire.Packet, plan Plan) bool {
	return plan.Duration > 0 && c.Stamped && time.Unix(0, c.UnixNanos).Sub(l.epoch) >= plan.Duration
}

func (l *ptpListener) full() bool { return l.failed != nil || l.most > 0 && l.made >= l.most }

func (l *ptpListener) hear(c *wire.Packet) {
	if c.Transport == wire.OverUDP && !ptpPort(c.Src.Port()) && !ptpPort(c.Dst.Port()) {
		return
	}
	m, err := wire.DecodePTP(c.Payload)
	switch {
	case err != nil:
		l.broken++
	case int(m.Domain) != l.probe.domain:
		l.domains++
	default:
		l.now = c.UnixNanos
		l.pairs.Add(c, &m)
	}
}

func ptpPort(n uint16) bool { return n == wire.PTPEventPort || n == wire.PTPGeneralPort }

// take makes an exchange a row, if it has the path's both ways.
func (l *ptpListener) take(x *wire.PTPExchange) {
	if x.Kind != wire.EndToEnd && x.Kind != wire.Simple || l.full() {
		return
	}
	const century = 36525 * 24 * time.Hour
	sent := time.Unix(0, x.T1.UnixNanos).Sub(l.epoch)
	if sent.Abs() > century {
		l.far++
		return
	}
	l.row = datasets.Exchange{}
	row := &l.row
	row.Seq, row.Call, row.Attempt, row.Inflight, row.Copies = l.made, l.made, 1, 1, 1
	row.Due, row.Sent = datasets.Instant(sent), datasets.Instant(sent)
	row.Elapsed = max(0, time.Unix(0, l.now).Sub(time.Unix(0, x.T1.UnixNanos)))
	row.T1, row.T4 = passed(x.T1, datasets.Local, l.source), passed(x.T4, datasets.Local, l.source)
	server := sourceOf(l.probe.server)
	row.T2, row.T3 = passed(x.T2, datasets.Remote, server), passed(x.T3, datasets.Remote, server)
	corrected(row, x.CorrectionOut, x.CorrectionBack)
	l.tell(row, x)
	l.probe.judge(row)
	l.made++
	l.failed = l.record(row)
}

// tell fills in who took part.
func (l *ptpListener) tell(row *datasets.Exchange, x *wire.PTPExchange) {
	var a *wire.Announcement
	if x.Announced {
		a = &x.Announcement
	}
	l.probe.announced(row, x.AnnounceFlags, a)
	if l.identity == "" || x.Server != l.last.Server || x.Client != l.last.Client || x.Kind != l.last.Kind {
		l.identity = strings.Join([]string{x.Kind.String(), x.Server.String(), x.Client.String()}, "\t")
	}
	l.last, row.Extra = *x, l.identity
}

func passed(s wire.Stamp, clock datasets.ClockID, source datasets.Source) datasets.Stamp {
	if !s.Set {
		return datasets.Stamp{}
	}
	return datasets.NewStamp(s.UnixNanos, clock, source)
}

// trailer says what was heard and why some of it is not in a row; what did not happen
// is left out.
func (l *ptpListener) trailer() []datasets.Field {
	n := l.pairs.Counts()
	fields := []datasets.Field{count("messages", int64(n.Messages))}
	for _, c := range []struct {
		key string
		n   int
	}{
		{"broken", int(l.broken)},
		{"other-domains", int(l.domains)},
		{"out-of-time", int(l.far)},
		{"one-way", n.OneWay},
		{"peer-to-peer", n.PeerToPeer},
		{"unstamped", n.Unstamped},
		{"repeated", n.Repeated},
		{"ambiguous", n.Ambiguous},
		{"unset", n.Unset},
		{"sync-without-follow-up", n.SyncWithoutFollowUp},
		{"follow-up-without-sync", n.FollowUpWithoutSync},
		{"delay-req-without-resp", n.DelayReqWithoutResp + n.SimpleReqWithoutResp},
		{"delay-resp-without-req", n.DelayRespWithoutReq},
		{"delay-without-sync", n.DelayWithoutSync},
	} {
		if c.n > 0 {
			fields = append(fields, count(c.key, int64(c.n)))
		}
	}
	if l.last.Announced {
		fields = append(fields, announcedFields(l.last.AnnounceFlags, &l.last.Announcement)...)
	}
	return fields
}
