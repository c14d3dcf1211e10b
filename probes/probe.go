package probes

import (
	"context"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Probe measures one thing over and over and records every attempt.
type Probe interface {
	// Kind returns what its rows are.
	Kind() datasets.Kind
	// TakesTarget reports whether it measures something that has an address; the
	// others measure this host.
	TakesTarget() bool
	// Run measures target as the plan says and hands everything to rec: the header,
	// each row as soon as its outcome and that of those before it is known, and at the
	// end what only the end can tell. It returns when the plan is fulfilled or ctx is
	// done, in both cases with the recording ended. What the network does is a row; an
	// error is what we could not do (resolve, bind, record).
	Run(ctx context.Context, target string, plan Plan, rec Recorder) error
}

// Probes lists what can be measured.
func Probes() spec.Table[Probe] {
	return spec.Table[Probe]{
		{Name: "ntp", Summary: "offset and round trip to an NTP server, raw stamps kept", Bind: bindNTP},
		{Name: "ptp", Summary: "offset and round trip to a PTP master, by unicast, SPTP or listening", Bind: bindPTP},
		{Name: "phc", Summary: "a NIC's clock against the system clock or another, read only", Bind: bindPHC},
		{Name: "udp", Summary: "round trip to tickmark's UDP echo, on an open-loop schedule", Bind: bindUDP},
		{Name: "stamp", Summary: "round trip to a STAMP reflector (RFC 8762), of a router or our own, and which way loses", Bind: bindTwoWay},
		{Name: "tcp", Summary: "connecting to a TCP port, or a request and its response", Bind: bindTCP},
		{Name: "icmp", Summary: "round trip of ICMP echoes (ping), on an open-loop schedule", Bind: bindICMP},
		{Name: "http", Summary: "an HTTP request and its answer, with the phases it goes through", Bind: bindHTTP},
		{Name: "tls", Summary: "connecting and shaking hands by TLS, in full or resumed", Bind: bindTLS},
		{Name: "grpc", Summary: "a gRPC health check, or a unary method by its name", Bind: bindGRPC},
		{Name: "redis", Summary: "a PING to a Redis or Valkey server, on a connection that is kept", Bind: bindRedis},
		{Name: "postgres", Summary: "a query to a PostgreSQL server, or connecting to it", Bind: bindPostgres},
		{Name: "exec", Summary: "how long a command takes, for everything else", Bind: bindExec},
		{Name: "dns", Summary: "a query to a DNS server and its answer, over UDP or TCP", Bind: bindDNS},
		{Name: "daemon", Summary: "what the time daemons of this host claim of its clock", Bind: bindDaemon},
		{Name: "sim", Summary: "made-up round trips whose truth is known and in the header, by a seed", Bind: bindSim},
		{Name: "pause", Summary: "how long this process, each CPU, another process, a JVM or a VM was not run", Bind: bindPause},
		{Name: "timer", Summary: "how late each way to wait wakes on this host", Bind: bindTimer},
		{Name: "clock", Summary: "this host's four clocks read together: steps, slew, suspend", Bind: bindClock},
	}
}

// Plan says how often and how long to measure. A zero Plan leaves every choice to
// the probe.
type Plan struct {
	Count    int64                            // attempts; 0 is no limit
	Interval time.Duration                    // between due times; 0 is the probe's own
	Duration time.Duration                    // of the schedule; 0 is no limit
	Deadline datasets.Optional[time.Duration] // from due; absent is none
	Listen   datasets.Optional[time.Duration] // from due; absent is the probe's own
	Owned    bool                             // the user owns the server: no public-server rate limit
	Flow     Flow                             // which of several side by side this is
	// AllowNICConfig lets a probe that needs hardware stamps switch them on at the NIC,
	// and makes it restore what it found. Without it no setting of a NIC is changed.
	AllowNICConfig bool
	Facts          []datasets.Field // header fields the caller knows, such as self-bias
}

// Flow is one of several recordings of one target that run side by side, each from a
// source port of its own, because routers choose among equal paths by the ports. They
// share the schedule: each makes every Of-th attempt. The zero Flow is a recording alone.
type Flow struct{ Number, Of int } // Number counts from 1

// Recorder takes what a probe measures. Its methods are called by one goroutine at
// a time, and an error from one of them ends the probe.
type Recorder interface {
	// Begin takes the header, once, before the first row.
	Begin(h *datasets.Header) error
	// Record takes a row, which it must not keep.
	Record(row datasets.Row) error
	// End takes what only the end can tell. Nothing follows it.
	End(trailer ...datasets.Field) error
}

// Holder is a recorder that is quicker with several rows than with each of them.
type Holder interface {
	// Hold lets rows wait until Release.
	Hold()
	Release() error
}
