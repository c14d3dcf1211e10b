package datasets

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Stream is a trace being read, whatever file it comes from.
type Stream interface {
	// Header returns how the trace was made; it is complete after the last Next.
	Header() *Header
	// Next reads one row of the header's kind, and false at the end. An exchange
	// trace can be read as RTT rows too.
	Next(Row) bool
	// Err returns what ended the stream early, or nil.
	Err() error
	// Warnings returns, after the last Next, what a user must know of the file.
	Warnings() []string
}

// Format reads one kind of file.
type Format interface {
	// Recognise reports whether head, the first bytes of a file, is of this format.
	Recognise(head []byte) bool
	// Open reads what stands before the rows. The name is for errors.
	Open(name string, r io.Reader) (Stream, error)
}

// Formats lists what tickmark reads.
func Formats() spec.Table[Format] {
	return spec.Table[Format]{
		{Name: "native", Summary: "tickmark's own text trace, every version of it", Bind: bindNative},
		{Name: "parquet", Summary: "tickmark's own trace as Parquet", Bind: bindParquet},
		{Name: "chrony-measurements", Summary: "chronyd's measurements.log, raw or not: θ, delay and dispersion, a series a server", Bind: bindChronyMeasurements},
		{Name: "chrony-statistics", Summary: "chronyd's statistics.log: offset and rate of each source by its own regression", Bind: bindChronyStatistics},
		{Name: "chrony-tracking", Summary: "chronyd's tracking.log: what it claims of its clock", Bind: bindChronyTracking},
		{Name: "chrony-selection", Summary: "chronyd's selection.log: the limits that each source sets", Bind: bindChronySelection},
		{Name: "chrony-refclocks", Summary: "chronyd's refclocks.log: samples of each reference clock, and filtered ones", Bind: bindChronyRefclocks},
		{Name: "chronyc", Summary: "chronyc -c tracking, sources, sourcestats or ntpdata", Bind: bindChronyc},
		{Name: "ntpd-loopstats", Summary: "loopstats of ntpd and NTPsec: offset, frequency and jitter of the loop", Bind: bindLoopstats},
		{Name: "ntpd-peerstats", Summary: "peerstats of ntpd and NTPsec: θ, delay and dispersion, a series a server", Bind: bindPeerstats},
		{Name: "ntpd-rawstats", Summary: "rawstats of ntpd and NTPsec: the four stamps of each exchange", Bind: bindRawstats},
		{Name: "ntpq", Summary: "ntpq -p: what ntpd says of its servers", Bind: bindNTPQ},
		{Name: "timesyncd", Summary: "timedatectl timesync-status: what systemd-timesyncd says", Bind: bindTimesyncd},
		{Name: "ntppool", Summary: "scores of a server of the NTP pool, CSV, a series a monitor", Bind: bindNTPPool},
		{Name: "linuxptp", Summary: "ptp4l, phc2sys, ts2phc and sptp, plain, by syslog or journal: θ, a series a process and clock", Bind: bindLinuxptp},
		{Name: "journal-json", Summary: "the same from journalctl -o json", Bind: bindJournalJSON},
		{Name: "pmc", Summary: "pmc's GET CURRENT_DATA_SET and TIME_STATUS_NP: what ptp4l says", Bind: bindPMC},
		{Name: "hlog", Summary: "a log of HDR histograms (encoding V1 or V2), a series a tag", Bind: bindHlog},
		{Name: "hgrm", Summary: "percentiles of an HDR histogram as Java, wrk2 and others print them: text or CSV", Bind: bindHgrm},
		{Name: "wrk", Summary: "what wrk and wrk2 print: the spectrum, corrected and not apart, or the percentiles", Bind: bindWrk},
		{Name: "hey", Summary: "hey -o csv: each request that was answered", Bind: bindHey},
		{Name: "vegeta", Summary: "results of vegeta as CSV or JSON (vegeta encode turns its own form into them)", Bind: bindVegeta},
		{Name: "k6", Summary: "k6 --out json: its metrics of time, a series each", Bind: bindK6},
		{Name: "ghz", Summary: "ghz's JSON report: each gRPC call", Bind: bindGhz},
		{Name: "fortio", Summary: "fortio's JSON result, nighthawk's too: a histogram", Bind: bindFortio},
		{Name: "nighthawk", Summary: "nighthawk's own JSON: percentiles of each worker and statistic", Bind: bindNighthawk},
		{Name: "cyclictest", Summary: "cyclictest -h or -v, a series a thread", Bind: bindCyclictest},
		{Name: "oslat", Summary: "oslat's histogram, a series a core", Bind: bindOslat},
		{Name: "jepsen", Summary: "a Jepsen history, EDN: operations, a series a function", Bind: bindJepsen},
		{Name: "irtt", Summary: "irtt's JSON: each packet, and which way it was lost", Bind: bindIRTT},
		{Name: "flent", Summary: "flent's data file: its pings, a series each", Bind: bindFlent},
		{Name: "iperf3", Summary: "iperf3 -J: TCP's own round trip in each interval, UDP's jitter", Bind: bindIperf3},
		{Name: "atlas", Summary: "RIPE Atlas results of ping and NTP, a series a probe and target", Bind: bindAtlas},
		{Name: "mtr", Summary: "mtr --json: what each hop answered", Bind: bindMTR},
		{Name: "matrix", Summary: "a matrix of round-trip times, separated by tabs", Bind: bindMatrix},
		{Name: "matrix-json", Summary: "the same as JSON, from → to → value", Bind: bindMatrixJSON},
		{Name: "ping", Summary: "ping of iputils, BSD, macOS, busybox and Windows, a series a run", Bind: bindPing},
		{Name: "fping", Summary: "fping -c or -C, with -D or not, a series a target", Bind: bindFping},
		{Name: "traceroute", Summary: "traceroute: each probe, a series a hop and host", Bind: bindTraceroute},
		{Name: "prometheus", Summary: "classic histograms in Prometheus' text form, a series each", Bind: bindPrometheus},
		{Name: "fourstamps", Summary: "a CSV table of t1, t2, t3 and t4, seconds since 1970", Bind: bindFourStamps},
		{Name: "mbgsvcd", Summary: "mbgsvcd -f: a Meinberg card's time beside the host's", Bind: bindMbgsvcd},
		{Name: "phase", Summary: "phase or frequency data, a value a line: by its first comment, or as described", Bind: bindPhase},
		{Name: "pcap", Summary: "a capture, pcap or pcapng: the exchanges of NTP and PTP in it, a series a client and server", Bind: bindPcap},
		{Name: "gclog", Summary: "the pauses in a Java GC log, unified (JDK 9 and later) or older", Bind: bindGCLog},
		{Name: "csv", Summary: "latencies in a named column of a CSV file (never guessed: name it)", Bind: bindCSV},
	}
}

type native struct{}

func bindNative(*flag.FlagSet) func() (Format, error) {
	return func() (Format, error) { return native{}, nil }
}

func (native) Recognise(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

func (native) Open(name string, r io.Reader) (Stream, error) {
	tr, err := NewReader(name, r)
	if err != nil {
		return nil, err
	}
	return tr, nil
}

// headSize is how much of a file a format sees before it recognises it.
const headSize = 8 << 10

// Open reads a trace from r, which may be compressed with gzip or zstd. The format
// is recognised by content unless given; name is for errors.
func Open(name string, r io.Reader, given Format) (Stream, error) {
	if f, ok := r.(RandomFile); ok && isParquet(f) {
		return OpenParquet(name, f, f.Size())
	}
	plain, err := Decompress(name, r)
	if err != nil {
		return nil, err
	}
	buffered, err := plainText(plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(head) == 0 {
		return nil, nothing(name, err)
	}
	if given != nil {
		return given.Open(name, buffered)
	}
	f, err := recognise(name, head)
	if err != nil {
		return nil, err
	}
	return f.Open(name, buffered)
}

// nothing says why there is not one byte of a file.
func nothing(name string, err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return cutOff(name)
	}
	return fmt.Errorf("%s: empty: there is no trace in it", name)
}

// OpenSeries is Open for one series of a file that may hold several.
func OpenSeries(name, series string, r io.Reader, given Format) (Stream, error) {
	s, err := Open(name, r, given)
	if err != nil {
		return nil, err
	}
	f, several := s.(*Foreign)
	if !several {
		return nil, fmt.Errorf("%s: has rows of one series, which has no name: leave #%s out", name, series)
	}
	return f, f.Choose(series)
}

func recognise(name string, head []byte) (Format, error) {
	formats := Formats()
	for _, known := range formats.Names() {
		f, _, err := formats.Parse("format", known)
		if err == nil && f.Recognise(head) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s: begins with %s, which no format that tickmark reads does (tickmark list formats; --format forces one)",
		name, clip(head[:min(len(head), 16)]))
}
