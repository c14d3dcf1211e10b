package probes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/echo"
)

const (
	testSession = 77
	testListen  = 1000 * time.Millisecond
)

// ms is an instant of a story, in milliseconds.
func ms(n float64) datasets.Instant { return datasets.Instant(n * float64(time.Millisecond)) }

func reply(seq uint64) []byte {
	p := echo.Packet{Session: testSession, Seq: seq, Reply: true, ServerReceived: 5, ServerSent: 12, ServerQueued: 3}
	return p.Append(nil)
}

// story is an inflight with what it handed over, in words.
type story struct {
	*inflight
	told []string
}

func newStory() *story {
	return &story{inflight: newInflight(testSession, echo.Size, 10*time.Millisecond, testListen)}
}

// send begins and sends an attempt.
func (s *story) send(due, sent float64) {
	s.leave(s.begin(ms(due)), ms(sent))
}

func (s *story) tell(seq int64, a attempt) {
	line := fmt.Sprintf("%d %s", seq, a.outcome)
	if a.outcome.Answered() {
		line += fmt.Sprintf(" after %v", a.answered.Sub(a.due))
	}
	if a.copies > 1 {
		line += fmt.Sprintf(" x%d", a.copies)
	}
	s.told = append(s.told, line)
}

// quiet says that the socket was seen empty at an instant, and hands over.
func (s *story) quiet(at float64) {
	s.drain(ms(at))
	s.handOver(1000, s.tell)
}

func check(t *testing.T, s *story, lines string, want strays) {
	t.Helper()
	if diff := cmp.Diff(strings.Fields(lines), strings.Fields(strings.Join(s.told, " | "))); diff != "" {
		t.Errorf("handed over (-want +got):\n%s", diff)
	}
	if s.strays != want {
		t.Errorf("strays %+v, want %+v", s.strays, want)
	}
}

func TestInflightStories(t *testing.T) {
	for name, tt := range map[string]struct {
		tell   func(s *story)
		want   string
		strays strays
	}{
		"answered, and held back for duplicates": {
			func(s *story) {
				s.send(0, 1)
				s.arrive(reply(0), reading{at: ms(5)})
				s.quiet(104)
				s.tell(-1, attempt{})
				s.quiet(105)
			},
			"-1 replied after 0s | 0 replied after 5ms",
			strays{},
		},
		"a duplicate in its row, another too late for it": {
			func(s *story) {
				s.send(0, 0)
				s.arrive(reply(0), reading{at: ms(5)})
				s.arrive(reply(0), reading{at: ms(50)})
				s.quiet(200)
				s.arrive(reply(0), reading{at: ms(300)})
			},
			"0 replied after 5ms x2",
			strays{duplicates: 1},
		},
		"a lost one keeps those behind it in order": {
			func(s *story) {
				s.send(0, 0)
				s.send(10, 10)
				s.arrive(reply(1), reading{at: ms(12)})
				s.quiet(1000)
				s.quiet(1001)
				s.tell(-1, attempt{})
				s.quiet(1001.1)
			},
			"-1 replied after 0s | 0 timed-out | 1 replied after 2ms",
			strays{},
		},
		"overtaken": {
			func(s *story) {
				s.send(0, 0)
				s.send(10, 10)
				s.arrive(reply(1), reading{at: ms(12)})
				s.arrive(reply(0), reading{at: ms(13)})
				s.quiet(500)
			},
			"0 replied after 13ms | 1 replied after 2ms",
			strays{},
		},
		// The listening ends at due + listen, that instant included.
		"at the last moment": {
			func(s *story) {
				s.send(0, 0)
				s.arrive(reply(0), reading{at: ms(1000)})
				s.quiet(1100)
			},
			"0 replied after 1s",
			strays{},
		},
		"after the last moment": {
			func(s *story) {
				s.send(0, 0)
				s.arrive(reply(0), reading{at: ms(1000.5)})
				s.quiet(1002)
				s.arrive(reply(0), reading{at: ms(1100)})
			},
			"0 timed-out",
			strays{late: 2},
		},
		// We were stopped from 1 ms to 5 s. The kernel had the answer at 3 ms.
		"a pause of ours is not a loss": {
			func(s *story) {
				s.send(0, 0)
				s.arrive(reply(0), reading{at: ms(5000), waited: 4997 * time.Millisecond})
				s.quiet(5100)
			},
			"0 replied after 5s",
			strays{},
		},
		"what was not looked for is not given up": {
			func(s *story) {
				s.send(0, 0)
				s.send(4000, 4000)
				s.arrive(reply(1), reading{at: ms(5000), waited: 999.5e6})
				s.handOver(1000, s.tell)
				s.tell(-1, attempt{})
				s.quiet(5200)
			},
			"0 timed-out | -1 replied after 0s | 1 replied after 1s",
			strays{},
		},
		// Both answers lay unread for four seconds; the first one read says nothing of
		// what lies behind it.
		"an unread answer is not a loss": {
			func(s *story) {
				s.send(0, 0)
				s.send(10, 10)
				s.arrive(reply(1), reading{at: ms(5000), waited: 4000 * time.Millisecond})
				s.handOver(1000, s.tell)
				s.arrive(reply(0), reading{at: ms(5000), waited: 4000 * time.Millisecond})
				s.quiet(5100)
			},
			"0 replied after 5s | 1 replied after 4.99s",
			strays{},
		},
		"too late for its row, whenever it arrived": {
			func(s *story) {
				s.send(0, 0)
				s.quiet(1002)
				s.arrive(reply(0), reading{at: ms(1100), waited: 200 * time.Millisecond})
			},
			"0 timed-out",
			strays{late: 1},
		},
		"what was seen once stays seen": {
			func(s *story) {
				s.send(0, 0)
				s.arrive(reply(0), reading{at: ms(5)})
				s.drain(ms(105))
				s.arrive(nil, reading{at: ms(106), waited: 50 * time.Millisecond})
				s.handOver(1000, s.tell)
			},
			"0 replied after 5ms",
			strays{junk: 1},
		},
		"doubt does not spoil a good answer": {
			func(s *story) {
				s.send(0, 0)
				forged := echo.Packet{Session: testSession + 1, Seq: 0, Reply: true}
				s.arrive(forged.Append(nil), reading{at: ms(1)})
				s.arrive(reply(0), reading{at: ms(2)})
				s.quiet(200)
			},
			"0 replied after 2ms",
			strays{doubtful: 1},
		},
		"nothing but doubt": {
			func(s *story) {
				for range 3 {
					s.send(0, 0)
				}
				forged := echo.Packet{Session: testSession + 1, Seq: 0, Reply: true}
				s.arrive(forged.Append(nil), reading{at: ms(1)})
				reflected := echo.Packet{Session: testSession, Seq: 1}
				s.arrive(reflected.Append(nil), reading{at: ms(1)})
				s.arrive(append(reply(2), 0), reading{at: ms(1)})
				s.quiet(1002)
			},
			"0 invalid | 1 invalid | 2 invalid",
			strays{doubtful: 3},
		},
		"junk": {
			func(s *story) {
				s.send(0, 0)
				s.arrive([]byte("hello"), reading{at: ms(1)})
				s.arrive(nil, reading{at: ms(1)})
				s.arrive(reply(1), reading{at: ms(1)})     // not sent yet
				s.arrive(reply(1<<63), reading{at: ms(1)}) // no number of ours
				s.quiet(1002)
			},
			"0 timed-out",
			strays{junk: 4},
		},
		"refused, the longest waiting first": {
			func(s *story) {
				s.send(0, 0)
				s.send(10, 10)
				s.arrive(reply(0), reading{at: ms(11)})
				s.refuse(s.next)
				s.refuse(s.next)
				s.quiet(111)
			},
			"0 replied after 11ms | 1 refused",
			strays{refusals: 1},
		},
		"a refusal of what was sent before": {
			func(s *story) {
				s.send(0, 0)
				seq := s.begin(ms(10))
				s.refuse(seq)
				s.refuse(seq)
				s.leave(seq, ms(10))
				s.arrive(reply(1), reading{at: ms(11)})
				s.quiet(111)
			},
			"0 refused | 1 replied after 1ms",
			strays{refusals: 1},
		},
		"an answer after all": {
			func(s *story) {
				s.send(0, 0)
				s.send(0, 0)
				s.refuse(s.next)
				s.refuse(s.next)
				s.arrive(reply(1), reading{at: ms(3)})
				s.quiet(200)
			},
			"0 refused | 1 replied after 3ms",
			strays{},
		},
		"lost here": {
			func(s *story) {
				s.lose(s.begin(ms(0)), ms(1))
				s.quiet(2)
			},
			"0 lost-local",
			strays{},
		},
		// The reply may be read before the sender notes that it sent.
		"answered before it was noted": {
			func(s *story) {
				seq := s.begin(ms(0))
				s.arrive(reply(0), reading{at: ms(1)})
				s.quiet(500)
				s.tell(-1, attempt{})
				s.leave(seq, ms(.5))
				s.quiet(500)
			},
			"-1 replied after 0s | 0 replied after 1ms",
			strays{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory()
			tt.tell(s)
			check(t, s, tt.want, tt.strays)
			open := int32(0)
			for seq := s.head; seq < s.next; seq++ {
				if !s.at(seq).settled {
					open++
				}
			}
			if s.waiting != open {
				t.Errorf("%d waiting, want %d", s.waiting, open)
			}
		})
	}
}

func TestInflightKnowsItsOwnShare(t *testing.T) {
	s := newStory()
	s.send(0, 2)
	s.send(0, 2)
	s.arrive(reply(0), reading{at: ms(10), waited: 3 * time.Millisecond})
	// The wall clock stepped by an hour while this packet waited, and the server has
	// no kernel stamps.
	unqueued := echo.Packet{Session: testSession, Seq: 1, Reply: true, ServerReceived: 9, ServerSent: 8}
	s.arrive(unqueued.Append(nil), reading{at: ms(10), waited: time.Hour})
	s.drain(ms(200))
	var got []attempt
	s.handOver(10, func(_ int64, a attempt) { got = append(got, a) })
	if len(got) != 2 {
		t.Fatalf("%d rows, want 2", len(got))
	}
	// The first two milliseconds of both are ours too: they were sent late.
	if got[0].stall != 5*time.Millisecond || got[0].server != 7 || got[0].queued != 3 {
		t.Errorf("stall %v, server %v, queued %v; want 5ms, 7ns, 3ns", got[0].stall, got[0].server, got[0].queued)
	}
	if got[1].stall != 10*time.Millisecond {
		t.Errorf("a stall of %v inside a latency of 10ms", got[1].stall)
	}
	if got[1].server != -1 || got[1].queued != -1 {
		t.Errorf("server %v, queued %v of a server that cannot have known; want -1ns", got[1].server, got[1].queued)
	}
	if got[0].inflight != 1 || got[1].inflight != 2 {
		t.Errorf("inflight %d and %d, want 1 and 2", got[0].inflight, got[1].inflight)
	}
}

func TestInflightIsBounded(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); size > 64 {
		t.Errorf("an attempt takes %d bytes, want 64", size)
	}
	if got := len(newInflight(1, 96, 1, time.Hour).ring); got != mostInflight {
		t.Errorf("a ring of %d attempts, want at most %d", got, mostInflight)
	}
	// 1 s of listening and 100 ms of grace are 220 attempts at 5 ms; twice that is 440.
	if got := len(newInflight(1, 96, 5*time.Millisecond, time.Second).ring); got != 512 {
		t.Errorf("a ring of %d attempts, want 512", got)
	}
	// 60 ms and 100 ms are 160 attempts at 1 ms: without the grace 256 would do.
	if got := len(newInflight(1, 96, time.Millisecond, 60*time.Millisecond).ring); got != 512 {
		t.Errorf("a ring of %d attempts, want 512", got)
	}
	f := newInflight(1, 96, time.Hour, time.Second)
	for !f.full() {
		f.begin(0)
	}
	if f.next != fewestInflight {
		t.Fatalf("full after %d attempts, want %d", f.next, fewestInflight)
	}
	f.lose(0, 0)
	f.handOver(10, func(int64, attempt) {})
	if f.full() {
		t.Error("full although one was handed over")
	}
}

func TestInflightForgets(t *testing.T) {
	s := newStory()
	for !s.full() {
		s.send(0, 0)
	}
	s.quiet(2000)
	s.told = nil
	s.send(3000, 3000)
	s.arrive(reply(0), reading{at: ms(3001)}) // its place is taken by the last one sent
	s.arrive(reply(1), reading{at: ms(3001)}) // still remembered
	forged := echo.Packet{Session: testSession + 1, Seq: 0, Reply: true}
	s.arrive(forged.Append(nil), reading{at: ms(3001)}) // says nothing of the last one sent
	s.quiet(4002)
	check(t, s, fmt.Sprintf("%d timed-out", len(s.ring)), strays{late: 3})
}

func TestHandOverKeepsToItsLimit(t *testing.T) {
	s := newStory()
	for range 3 {
		s.lose(s.begin(0), 0)
	}
	s.handOver(2, s.tell)
	check(t, s, "0 lost-local | 1 lost-local", strays{})
}

func TestAbandonTellsWhatIsKnown(t *testing.T) {
	s := newStory()
	for range 4 {
		s.send(0, 0)
	}
	s.begin(0)
	s.arrive(reply(1), reading{at: ms(2)})
	s.arrive(reply(3), reading{at: ms(3)})
	s.refuse(1)
	if open := s.abandon(s.tell); open != 2 {
		t.Errorf("%d unfinished, want 2", open)
	}
	check(t, s, "0 refused | 1 replied after 2ms | 3 replied after 3ms", strays{})
}

// Whatever happens in whatever order: every attempt is handed over once and in
// order, every packet is in a row or a stray, and nothing answered is given up.
func FuzzInflight(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint16(500))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		r := rand.New(rand.NewPCG(seed, 0))
		in := newInflight(testSession, echo.Size, 10*time.Millisecond, testListen)
		var now datasets.Instant
		var packets, inRows, handed int64
		good := map[int64]bool{}
		yield := func(seq int64, a attempt) {
			if seq != handed {
				t.Fatalf("attempt %d was handed over, want %d", seq, handed)
			}
			if good[seq] != a.outcome.Answered() {
				t.Fatalf("attempt %d is %s, a good answer in time: %v", seq, a.outcome, good[seq])
			}
			handed++
			inRows += int64(a.copies)
		}
		for range steps % 2000 {
			now = now.Add(time.Duration(r.IntN(20)) * time.Millisecond)
			switch r.IntN(5) {
			case 0, 1:
				if !in.full() {
					in.leave(in.begin(now), now)
				}
			case 2, 3:
				if in.next == 0 {
					continue
				}
				seq := max(0, in.next-1-int64(r.ExpFloat64()*50))
				packets++
				if seq >= in.head && now.Sub(in.at(seq).due) <= testListen {
					good[seq] = true
				}
				in.arrive(reply(uint64(seq)), reading{at: now})
			default:
				in.drain(now)
				in.handOver(r.IntN(20), yield)
			}
		}
		in.drain(now.Add(time.Hour))
		in.handOver(1<<20, yield)
		if handed != in.next || in.waiting != 0 {
			t.Fatalf("%d of %d attempts were handed over, %d are waiting", handed, in.next, in.waiting)
		}
		if s := in.strays; inRows+s.duplicates+s.late != packets || s.junk+s.doubtful+s.refusals != 0 {
			t.Fatalf("%d packets came, %d are in rows, strays %+v", packets, inRows, s)
		}
	})
}

func BenchmarkInflight(b *testing.B) {
	in := newInflight(testSession, echo.Size, 10*time.Millisecond, testListen)
	packet := echo.Packet{Session: testSession, Reply: true, ServerReceived: 1, ServerSent: 2}
	buf := packet.Append(nil)
	b.ReportAllocs()
	for now := datasets.Instant(0); b.Loop(); now = now.Add(10 * time.Millisecond) {
		seq := in.begin(now)
		in.leave(seq, now)
		packet.Seq = uint64(seq)
		packet.Append(buf[:0])
		in.arrive(buf, reading{at: now.Add(time.Millisecond)})
		in.handOver(10, func(int64, attempt) {})
	}
}
