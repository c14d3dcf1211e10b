package datasets_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// readGC reads a GC log, which must be recognised, and its pauses.
func readGC(t *testing.T, name, text string) (datasets.Stream, []datasets.Pause) {
	t.Helper()
	s, err := datasets.Open(name, strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rows []datasets.Pause
	for p := (datasets.Pause{}); s.Next(&p); {
		rows = append(rows, p)
	}
	return s, rows
}

// The lines are those of the JDK's own sources and of logs in bug reports, shortened.
func TestGCLog(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	row := func(at, length time.Duration, cause, extra string) datasets.Pause {
		return datasets.Pause{At: datasets.Instant(at), Length: length, Cause: cause, Extra: extra}
	}
	for name, c := range map[string]struct {
		log  string
		want []datasets.Pause
	}{
		"a collection and its stop are one pause (JDK 9 to 12)": {
			"[0.207s][info][gc,start     ] GC(0) Pause Young (G1 Evacuation Pause)\n" +
				"[0.207s][info][gc           ] GC(0) Pause Young (G1 Evacuation Pause) 14M->12M(128M) 7.033ms\n" +
				"[0.207s][info][safepoint    ] Total time for which application threads were stopped: 0.0072168 seconds, Stopping threads took: 0.0000337 seconds\n" +
				"[0.300s][info][safepoint    ] Total time for which application threads were stopped: 0.0001000 seconds, Stopping threads took: 0.0000200 seconds\n",
			[]datasets.Pause{
				row(207*ms-7216800, 7216800, "Pause Young (G1 Evacuation Pause)", "0\t33700"),
				row(300*ms-100*us, 100*us, "safepoint", "-\t20000"),
			},
		},
		"JDK 13 and later": {
			"[2024-05-01T10:00:01.000+0200][1.000s][info][gc] Using Parallel\n" +
				"[2024-05-01T10:00:01.100+0200][1.100s][info][gc] GC(3) Pause Young (Allocation Failure) 14M->12M(128M) 7.000ms\n" +
				"[2024-05-01T10:00:01.100+0200][1.100s][info][safepoint] Safepoint \"ParallelGCFailedAllocation\", Time since last: 11 ns, Reaching safepoint: 3900 ns, Cleanup: 100 ns, At safepoint: 7100000 ns, Total: 7104000 ns\n" +
				"[2024-05-01T10:00:01.200+0200][1.200s][info][safepoint] Safepoint \"Cleanup\", Time since last: 11 ns, Reaching safepoint: 3900 ns, At safepoint: 1000 ns, Total: 4900 ns\n",
			[]datasets.Pause{
				row(1100*ms-7104*us, 7104*us, "Pause Young (Allocation Failure)", "3\t3900"),
				row(1200*ms-4900, 4900, "safepoint Cleanup", "-\t3900"),
			},
		},
		"two collections in one stop": {
			"[1.100s][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 127M->127M(128M) 5.000ms\n" +
				"[1.200s][info][gc] GC(4) Pause Full (G1 Compaction Pause) 127M->12M(128M) 99.000ms\n" +
				"[1.200s][info][safepoint] Safepoint \"G1CollectForAllocation\", Time since last: 1 ns, Reaching safepoint: 2 ns, At safepoint: 106000000 ns, Total: 106000002 ns\n",
			[]datasets.Pause{row(1200*ms-106*ms-2, 106*ms+2, "Pause Young (Normal) (G1 Evacuation Pause) + Pause Full (G1 Compaction Pause)", "3\t2")},
		},
		"no safepoint lines, ZGC of two generations, nanoseconds": {
			"[1000000000ns][gc,phases] GC(1) Y: Pause Mark Start 0.010ms\n" +
				"[1005000000ns][gc,phases] GC(1) y: Pause Mark End (Major) 0.020ms\n" +
				"[2000000000ns][gc,phases] GC(1) O: Pause Relocate Start 0.030ms\n" +
				"[2000000001ns][gc       ] Allocation Stall (main) 0.706ms\n",
			[]datasets.Pause{
				row(1000*ms-10*us, 10*us, "Pause Mark Start", "1\t-"),
				row(1005*ms-20*us, 20*us, "Pause Mark End (Major)", "1\t-"),
				row(2000*ms-30*us, 30*us, "Pause Relocate Start", "1\t-"),
			},
		},
		"a time of day alone": {
			"[2024-05-01T10:00:01.000+0200] GC(0) Pause Full (System.gc()) 1M->0M(8M) 2.500ms\n[2024-05-01T10:00:02.000+0200] GC(1) Pause Full (System.gc()) 1M->0M(8M) 1.500ms\n",
			[]datasets.Pause{row(-2500*us, 2500*us, "Pause Full (System.gc())", "0\t-"), row(time.Second-1500*us, 1500*us, "Pause Full (System.gc())", "1\t-")},
		},
		"JDK 8, with stops": {
			"1.053: [GC (Allocation Failure) [PSYoungGen: 2K->1K(3K)] 2K->1K(9K), 0.0145000 secs] [Times: user=0.13 sys=0.00, real=0.01 secs] \n" +
				"1.068: Total time for which application threads were stopped: 0.0150000 seconds, Stopping threads took: 0.0000100 seconds\n" +
				"2.000: [Full GC (Ergonomics) [PSYoungGen: 2K->0K(3K)] [ParOldGen: 5K->4K(6K)] 7K->4K(9K), [Metaspace: 3K->3K(5K)], 1.5000000 secs] [Times: user=0.13 sys=0.00, real=1.50 secs] \n" +
				"3.501: Total time for which application threads were stopped: 1.5010000 seconds, Stopping threads took: 0.0000100 seconds\n" +
				"3.600: Total time for which application threads were stopped: 0.0001000 seconds\n",
			[]datasets.Pause{
				row(1053*ms, 15*ms, "GC (Allocation Failure)", "-\t10000"),
				row(2000*ms, 1501*ms, "Full GC (Ergonomics)", "-\t10000"),
				row(3600*ms-100*us, 100*us, "safepoint", "-\t-"),
			},
		},
		"JDK 8, a scavenge inside a remark, decimal comma, CR LF": {
			"2016-04-14T22:30:13.217+0200: 5,161: [GC (CMS Final Remark) [YG occupancy: 152796 K (245760 K)]2016-04-14T22:30:13.217+0200: 5,161: [GC (CMS Final Remark) 5,161: [ParNew: 2K->9K(5K), 0,0090205 secs] 6K->6K(6K), 0,0090755 secs] [Times: user=0,11 sys=0,00, real=0,01 secs] \r\n" +
				"5,170: [Rescan (parallel) , 0,0026815 secs]5,173: [weak refs processing, 0,0000261 secs][1 CMS-remark: 29170K(546176K)] 38896K(791936K), 0,0236219 secs] [Times: user=0,16 sys=0,00, real=0,02 secs] \r\n" +
				"2016-04-14T22:30:13.240+0200: 5,185: [CMS-concurrent-sweep-start]\r\n",
			[]datasets.Pause{row(5161*ms, 23621900, "GC (CMS Final Remark)", "-\t-")},
		},
		"concurrent phases are no pauses": {
			"1.0: [GC concurrent-root-region-scan-start]\n1.1: [GC concurrent-mark-end, 0.1 secs]\n1.2: [GC remark 1.2: [Finalize Marking, 0.0002 secs], 0.0060000 secs]\n1.3: [GC cleanup 30M->30M(60M), 0.0010000 secs]\n",
			[]datasets.Pause{row(1200*ms, 6*ms, "GC remark", "-\t-"), row(1300*ms, ms, "GC cleanup", "-\t-")},
		},
		"a second JVM goes on behind the first": {
			"[10.000s][gc] GC(0) Pause Young (Normal) 7.000ms\n[0.500s][gc] GC(0) Pause Young (Normal) 3.000ms\n",
			[]datasets.Pause{row(9993*ms, 7*ms, "Pause Young (Normal)", "0\t-"), row(10497*ms, 3*ms, "Pause Young (Normal)", "0\t-")},
		},
		"a second JVM, by the time of day": {
			"[2024-05-01T10:00:00.000+0200][10.000s][gc] GC(0) Pause Young (Normal) 7.000ms\n[2024-05-01T10:01:00.000+0200][0.500s][gc] GC(0) Pause Young (Normal) 3.000ms\n",
			[]datasets.Pause{row(9993*ms, 7*ms, "Pause Young (Normal)", "0\t-"), row(69997*ms, 3*ms, "Pause Young (Normal)", "0\t-")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := readGC(t, "gc.log", c.log)
			if diff := cmp.Diff(c.want, got); diff != "" || s.Err() != nil {
				t.Error(diff, s.Err())
			}
		})
	}
}

func TestGCLogTellsWhatIsMissing(t *testing.T) {
	stalls := "[1.0s][gc,phases] GC(1) Pause Mark Start 0.010ms\n[1.1s][gc] Allocation Stall (main) 0.706ms\n[1.2s][gc] Relocation Stall (x y) 29.092ms\n[0.1s][gc] x\n"
	s, rows := readGC(t, "gc.log", stalls)
	want := []string{
		"gc.log: the log has no safepoint lines: the way to a stop is not in its length, and stops for other reasons than collection are not told (log safepoint too, or -XX:+PrintGCApplicationStoppedTime)",
		"gc.log: 1 restart of the JVM in the log: what went on between is not known",
		"gc.log: 2 stalls held up single threads and are no pauses of the process, the longest 29.092ms",
	}
	if diff := cmp.Diff(want, s.Warnings()); diff != "" || len(rows) != 1 {
		t.Error(rows, diff)
	}
	for log, want := range map[string]string{
		"CommandLine flags: -XX:+PrintGC\n[GC (Allocation Failure)  512K->400K(1962K), 0.0007 secs]\n":              "gc.log:2: a pause, and no line up to here says when: log with uptimes (-Xlog:…:uptime, -XX:+PrintGCTimeStamps)",
		"1.0: [GC (System.gc()) 1.0: [ParNew: 2K->1K(3K), 0.0145 secs]\n1.1: [GC (System.gc()) 2K->1K(3K), x secs]": "gc.log:2: \"[GC (System.gc()) 2K->1K(3K), x secs]\": a collection without its length",
		"1.0: Total time for which application threads were stopped: x seconds\n":                                   "gc.log:1: \"x seconds\": want how many seconds the threads were stopped",
		"[1.0s][safepoint] Safepoint \"Cleanup\", Total: 1 s\n":                                                     "gc.log:1: \"Cleanup\\\", Total: 1 s\": want a safepoint's name and its total",
	} {
		if _, err := datasets.Open("gc.log", strings.NewReader(log), nil); err == nil || err.Error() != want {
			t.Errorf("%q: error %v\nwant %s", log, err, want)
		}
	}
}

// corpus returns the text of a file of real recordings, which are not in the repository.
func corpus(t *testing.T, path string) string {
	t.Helper()
	dir := os.Getenv("TICKMARK_CORPUS")
	if dir == "" {
		dir = "../../shared/corpus"
	}
	text, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Skipf("needs the corpus of recordings: set TICKMARK_CORPUS to its folder (%v)", err)
	}
	return string(text)
}

// The numbers of stops and collections are counted with grep; those of the first file
// stand in GCViewer's own test of it (13 collections, 14 stops).
func TestGCLogOfTheCorpus(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	const stopped = `stopped: ([0-9.,]+) seconds`
	for _, c := range []struct {
		file    string
		rows    int
		lengths string // what tells the lengths, for a reading by other means
		unit    time.Duration
		cause   string // how most of their causes begin
		caused  int
	}{
		{"sample-ujl-g1-gc-all,safepoint,os+cpu.txt", 14, stopped, time.Second, "Pause ", 13},
		{"Sample-ujl-shenandoah-jdk11.txt", 4, `GC\(0\) Pause .* ([0-9.]+)ms`, time.Millisecond, "Pause ", 4},
		{"sample-ujl-zgc-gc-other.txt", 3, `GC\(25\) Pause .* ([0-9.]+)ms`, time.Millisecond, "Pause ", 3},
		{"SampleSun1_7_0G1-ApplicationStopped.txt", 55, `(?m)(?:stopped: |^, )([0-9.,]+) sec`, time.Second, "GC pause (G1 Evacuation Pause) (young)", 1},
		{"SampleSun1_7_0G1_DateStamp_Detailed-mixedLine2.txt", 2, `, ([0-9.]+) secs\]\n`, time.Second, "GC pause (young)", 2},
		// A line that ends a record: sizes and seconds, then the times; of remarks the second such line.
		{"SampleSun1_8_0Series-Part1.txt", 74, `(?m)^(?:201[^\[]*\[(?:Full )?GC \((?:Alloc|CMS Init)|[0-9.]+: \[Rescan).*, ([0-9.]+) secs\] \[Times`, time.Second, "GC (", 74},
		{"SampleSun1_8_0Series-Part2.txt", 93, `(?m)^201[^\[]*\[GC \(Alloc.*, ([0-9.]+) secs\] \[Times`, time.Second, "GC (Allocation Failure)", 93},
	} {
		t.Run(c.file, func(t *testing.T) {
			text := corpus(t, "gc-log/"+c.file)
			s, rows := readGC(t, c.file, text)
			var sum, want time.Duration
			caused := 0
			for _, p := range rows {
				sum += p.Length
				if strings.HasPrefix(p.Cause, c.cause) {
					caused++
				}
			}
			for _, match := range regexp.MustCompile(c.lengths).FindAllStringSubmatch(text, -1) {
				x, err := strconv.ParseFloat(strings.Replace(match[1], ",", ".", 1), 64)
				if err != nil {
					t.Fatal(err)
				}
				want += time.Duration(x * float64(c.unit))
			}
			if len(rows) != c.rows || caused != c.caused || (sum-want).Abs() > time.Duration(len(rows)) || s.Err() != nil {
				t.Errorf("%d pauses of %v, %d for %s; want %d of %v, %d; error %v", len(rows), sum, caused, c.cause, c.rows, want, c.caused, s.Err())
			}
			for i, p := range rows {
				if i > 0 && p.At < rows[i-1].At.Add(rows[i-1].Length-3*time.Millisecond) {
					t.Errorf("pause %d at %d begins before the one before it ends", i, p.At)
				}
			}
		})
	}
}

// FuzzGCLog holds the reader to this: whatever a log says, its pauses can be written as
// a trace and read again, and a log that is read line by line says the same.
func FuzzGCLog(f *testing.F) {
	f.Add("[0.207s][info][gc] GC(0) Pause Young (G1) 14M->12M(128M) 7.033ms\n[0.207s][info][safepoint] Total time for which application threads were stopped: 0.0072168 seconds, Stopping threads took: 0.0000337 seconds\n")
	f.Add("1.053: [GC (Allocation Failure) 1.053: [ParNew: 2K->1K(3K), 0.0145305 secs] 2K->1K(9K), 0.0146984 secs] [Times: user=0.13 sys=0.00, real=0.01 secs]\n")
	f.Add("[1ns][safepoint] Safepoint \"x\", Reaching safepoint: 1 ns, Total: 9223372036854775807 ns\n[0.1s] GC(1) Pause \x01\xff 1ms\n")
	f.Fuzz(func(t *testing.T, text string) {
		format, _, err := datasets.Formats().Parse("format", "gclog")
		if err != nil {
			t.Fatal(err)
		}
		s, err := format.Open("fuzz", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var rows []datasets.Row
		for p := (datasets.Pause{}); s.Next(&p); {
			row := p
			rows = append(rows, &row)
		}
		if s.Err() != nil {
			return
		}
		h, again, err := readAll(write(t, s.Header(), rows...))
		if err != nil || h.Text("source") == "" {
			t.Fatal(err, h)
		}
		if diff := cmp.Diff(rows, again, exact...); diff != "" {
			t.Fatal(diff)
		}
		var log datasets.GCLog
		for line := range bytes.Lines([]byte(text)) {
			if len(line) > 60_000 {
				return
			}
			_ = log.Line(line)
		}
		log.Flush()
		for _, want := range rows {
			if p, ok := log.Next(); !ok || p != *want.(*datasets.Pause) {
				t.Fatalf("line by line: %v, want %v", p, want)
			}
		}
		if p, ok := log.Next(); ok {
			t.Fatalf("line by line: %v beside", p)
		}
	})
}

// FuzzGCLogSaysWhatWasWritten writes pauses in each dialect and wants them back.
func FuzzGCLogSaysWhatWasWritten(f *testing.F) {
	f.Add(uint32(207), uint32(7033), uint16(500), uint32(12))
	f.Add(uint32(0), uint32(0), uint16(0), uint32(0))
	f.Fuzz(func(t *testing.T, beginMs, lengthUs uint32, gapMs uint16, reachingUs uint32) {
		reachingUs = min(reachingUs, lengthUs)
		begin, length := time.Duration(beginMs)*time.Millisecond, time.Duration(lengthUs)*time.Microsecond
		gap := time.Duration(gapMs)*time.Millisecond + 200*time.Millisecond
		reaching := time.Duration(reachingUs) * time.Microsecond
		for dialect, line := range map[string]func(at time.Duration) string{
			"unified": func(at time.Duration) string {
				return fmt.Sprintf("[%dns][info][gc] GC(7) Pause Full (x) 1M->1M(2M) %d.%03dms\n", int64(at+length), lengthUs/1000, lengthUs%1000)
			},
			"with stops": func(at time.Duration) string {
				return fmt.Sprintf("[%dns][info][gc] GC(7) Pause Full (x) 1M->1M(2M) %d.%03dms\n", int64(at+length), (lengthUs-reachingUs)/1000, (lengthUs-reachingUs)%1000) +
					fmt.Sprintf("[%dns][safepoint] Safepoint \"x\", Time since last: 1 ns, Reaching safepoint: %d ns, Total: %d ns\n", int64(at+length), int64(reaching), int64(length))
			},
			"older": func(at time.Duration) string {
				return fmt.Sprintf("%d.%03d: [GC (x) 1.0: [y, 0.1 secs]\nz\n, %d.%06d secs]\n", at/time.Second, at%time.Second/time.Millisecond, lengthUs/1e6, lengthUs%1e6)
			},
		} {
			var want []datasets.Pause
			text := ""
			at := begin
			for range 3 {
				text += line(at)
				p := datasets.Pause{At: datasets.Instant(at), Length: length, Cause: "Pause Full (x)", Extra: "7\t-"}
				switch dialect {
				case "older":
					p.At, p.Cause, p.Extra = p.At-p.At%1e6, "GC (x)", "-\t-"
				case "with stops":
					p.Extra = fmt.Sprintf("7\t%d", int64(reaching))
				}
				want = append(want, p)
				at += length + gap
			}
			s, got := readGC(t, "gc.log", text)
			if diff := cmp.Diff(want, got); diff != "" || s.Err() != nil {
				t.Errorf("%s: %s\n%s%v", dialect, text, diff, s.Err())
			}
		}
	})
}
