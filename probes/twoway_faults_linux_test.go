package probes

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
	"github.com/tickmark/tickmark/probes/serve"
)

// told is a number of the trailer.
func (t *tape) told(tb testing.TB, key string) int64 {
	tb.Helper()
	n, err := strconv.ParseInt(t.trailer.Text(key), 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v; trailer %v", key, err, t.trailer)
	}
	return n
}

func stampFaultsIn(t *testing.T, n netlab.Namespace, faults ...string) *serve.Server {
	t.Helper()
	cfg := serve.Config{STAMP: serve.STAMP{Addr: n.Addr.String() + ":862"}, Seed: 1}
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	var s *serve.Server
	if err := n.Do(func() (err error) { s, err = serve.Start(cfg); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// 2000 packets a second of which 1 % are lost before the reflector has them, 1 % of the
// answers come twice, and one in five is overtaken: each row says what became of its own,
// and the trailer that all was lost on the way there.
func TestLabSTAMPLossDuplicatesAndReordering(t *testing.T) {
	lab := netlab.New(t)
	s := stampFaultsIn(t, lab.Server, "loss:share=1%", "duplicate:share=1%", "reorder:share=20%")
	rec := stampIn(t, lab.Client, "stamp", lab.Server.Addr.String(), Plan{Interval: 500 * time.Microsecond, Count: 4000, Listen: datasets.Some(500 * time.Millisecond)})
	var copies int64
	numbers := map[string]bool{}
	for i, row := range rec.samples {
		copies += int64(row.Copies)
		number := strings.Split(row.Extra, "\t")[6]
		if row.Seq != int64(i) || numbers[number] && number != "-" {
			t.Fatalf("row %d: %+v", i, row)
		}
		numbers[number] = true
	}
	stats := s.Stats().STAMP
	lost := int64(rec.outcomesOf()[datasets.TimedOut])
	t.Logf("%d rows, %d lost, %d copies; the reflector lost %d and sent %d; trailer %v", len(rec.samples), lost, copies, stats.Lost, stats.Sent, rec.trailer)
	if len(rec.samples) != 4000 || lost != stats.Lost || copies != stats.Sent || stats.Lost == 0 || copies <= 4000-lost {
		t.Error("the rows are not what the reflector did")
	}
	// What is lost after the last answer nobody can tell; here that is few or none.
	if forward, undecided := rec.told(t, "lost-forward"), rec.told(t, "lost-undecided"); forward+undecided != lost || undecided > 5 || rec.told(t, "lost-backward") != 0 || rec.trailer.Text("reflector") != stateful {
		t.Errorf("%d of %d lost on the way there, %d undecided; trailer %v", forward, lost, undecided, rec.trailer)
	}
}

// The kernel's own loss, both ways. Where there is no netem the test above and the one
// below stand alone.
func TestLabSTAMPNetem(t *testing.T) {
	lab := netlab.New(t)
	stampFaultsIn(t, lab.Server)
	tc(t, lab.Client, "netem loss 1% delay 1ms 500us duplicate 1%")
	tc(t, lab.Server, "netem loss 2% delay 1ms 500us duplicate 1%")
	rec := stampIn(t, lab.Client, "stamp", lab.Server.Addr.String(), Plan{Interval: time.Millisecond, Count: 5000, Listen: datasets.Some(500 * time.Millisecond)})
	lost := int64(rec.outcomesOf()[datasets.TimedOut])
	forward, backward := rec.told(t, "lost-forward"), rec.told(t, "lost-backward")
	// 5000 at 1 % are 50 ± 7, and at 2 % some 99 ± 10: five deviations, and some for copies
	// that were lost too.
	if forward < 15 || forward > 85 || backward < 50 || backward > 155 || forward+backward+rec.told(t, "lost-undecided") < lost {
		t.Errorf("%d lost, %d on the way there, %d back; trailer %v", lost, forward, backward, rec.trailer)
	}
}

// lossyPath forwards UDP between a client and a server, and loses or copies by number.
type lossyPath struct {
	front, rear *net.UDPConn
	client      netip.AddrPort
	mu          sync.Mutex
	lost        [2]int64 // there, back
}

func newLossyPath(t *testing.T, to netip.AddrPort) *lossyPath {
	t.Helper()
	front, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	rear, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	p := &lossyPath{front: front, rear: rear}
	var ways sync.WaitGroup
	ways.Go(func() {
		p.carry(0, front, 50, 90, func(b []byte, from netip.AddrPort) {
			p.mu.Lock()
			p.client = from
			p.mu.Unlock()
			_, _ = rear.Write(b)
		})
	})
	ways.Go(func() {
		p.carry(1, rear, 30, 70, func(b []byte, _ netip.AddrPort) {
			p.mu.Lock()
			defer p.mu.Unlock()
			_, _ = front.WriteToUDPAddrPort(b, p.client)
		})
	})
	t.Cleanup(func() { front.Close(); rear.Close(); ways.Wait() })
	return p
}

// carry loses every lose-th packet of one way, and copies every double-th.
func (p *lossyPath) carry(way int, from *net.UDPConn, lose, double int, pass func([]byte, netip.AddrPort)) {
	buf := make([]byte, 2000)
	for n := 1; ; n++ {
		size, sender, err := from.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if n%lose == 0 {
			p.mu.Lock()
			p.lost[way]++
			p.mu.Unlock()
			continue
		}
		pass(buf[:size], sender)
		if n%double == 0 {
			pass(buf[:size], sender)
		}
	}
}

// Of a path that loses and copies both ways a stateful reflector tells which way lost.
func TestSTAMPTellsWhichWayLost(t *testing.T) {
	s, err := serve.Start(serve.Config{STAMP: serve.STAMP{Addr: "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	path := newLossyPath(t, s.STAMPAddr())
	p, _, err := Probes().Parse("probe", "stamp")
	if err != nil {
		t.Fatal(err)
	}
	rec := &tape{}
	// The last few come through: what is lost after the last answer is undecided.
	plan := Plan{Interval: 500 * time.Microsecond, Count: 2010, Listen: datasets.Some(time.Second)}
	if err := p.Run(t.Context(), path.front.LocalAddr().String(), plan, rec); err != nil {
		t.Fatal(err)
	}
	path.mu.Lock()
	defer path.mu.Unlock()
	forward, backward, undecided := rec.told(t, "lost-forward"), rec.told(t, "lost-backward"), rec.told(t, "lost-undecided")
	t.Logf("lost %v; %d there, %d back, %d undecided", path.lost, forward, backward, undecided)
	// A copy of an answer that is lost is no loss of ours, though it looks like one.
	if forward+undecided < path.lost[0]-3 || forward > path.lost[0] || backward < path.lost[1]-3 || backward > path.lost[1]+3 || undecided > 3 {
		t.Errorf("the path lost %v; trailer %v", path.lost, rec.trailer)
	}
}
