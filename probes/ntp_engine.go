package probes

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ntpEngine makes queries of one server from one port, one after another.
type ntpEngine interface {
	// means says how it measures.
	means() ntpMeans
	// ask makes one query and waits for its answer, not beyond until. The answer is
	// valid until the next one.
	ask(ctx context.Context, q ntpQuery, until time.Time) *ntpAnswer
	// trailer says how well it went.
	trailer() []datasets.Field
	close() error
}

// ntpQuery is what an interleaved query says of the exchange before it; in basic mode
// both are zero.
type ntpQuery struct {
	origin  wire.NTPTime // when the server received the last request that it answered
	receive wire.NTPTime // what an interleaved reply is to have as its origin
}

// ntpMeans is what a header says of an engine.
type ntpMeans struct {
	engine string
	remote netip.AddrPort
	local  netip.AddrPort
	t1, t4 datasets.Source
	clock  string // that T1 and T4 are read from
	facts  []datasets.Field
}

func (m ntpMeans) stamps() string { return fmt.Sprintf("t1=%s t4=%s", m.t1, m.t4) }

// newEngine returns the engine that the options ask for. The precise one is the
// choice where the kernel stamps packets.
func (p ntpProbe) newEngine(ctx context.Context, target string, remote netip.AddrPort, plan Plan, timeout time.Duration) (ntpEngine, error) {
	if p.engine != "precise" && (p.engine == "portable" || !preciseByDefault) {
		return p.openPortable(ctx, remote)
	}
	if !p.nts {
		return openPreciseNTP(ctx, p, remote, plan)
	}
	host, _, err := splitTarget(target, uint16(p.port))
	if err != nil {
		return nil, err
	}
	session, remote, err := openNTS(ctx, p, host, remote, timeout)
	if err != nil {
		return nil, err
	}
	n, err := openPreciseNTP(ctx, p, remote, plan)
	if err != nil {
		return nil, err
	}
	n.nts = session
	n.settled.facts = append(n.settled.facts, datasets.Field{Key: "nts", Value: session.String()})
	return n, nil
}

func (p ntpProbe) openPortable(ctx context.Context, remote netip.AddrPort) (ntpEngine, error) {
	if err := p.portableCan(); err != nil {
		return nil, err
	}
	path, err := openNTPPath(ctx, remote)
	if err != nil {
		return nil, err
	}
	return &ntpPortable{path: path, version: p.version, user: p.stamps == "user"}, nil
}

// portableCan says what was asked for that the portable engine has not.
func (p ntpProbe) portableCan() error {
	var lacks []string
	if p.interleaved() {
		lacks = append(lacks, "mode=interleaved")
	}
	if p.nts {
		lacks = append(lacks, "nts=true")
	}
	if p.stamps == "kernel" || p.stamps == "hardware" {
		lacks = append(lacks, "stamps="+p.stamps)
	}
	if len(lacks) > 0 {
		return fmt.Errorf("the portable engine has no %s (the precise one, on Linux, has): %w", strings.Join(lacks, ", "), errors.ErrUnsupported)
	}
	return nil
}
