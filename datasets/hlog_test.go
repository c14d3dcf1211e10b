package datasets_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// writeHlog has the library write a log of two intervals and a tagged one.
func writeHlog(tb testing.TB) []byte {
	tb.Helper()
	line := func(values ...int64) string {
		h := hdrhistogram.New(1, int64(time.Hour), 3)
		for _, v := range values {
			if err := h.RecordValue(v); err != nil {
				tb.Fatal(err)
			}
		}
		b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			tb.Fatal(err)
		}
		return string(b)
	}
	return fmt.Appendf(nil, "#[Histogram log format version 1.3]\n#[StartTime: 1700000000.250 (seconds since epoch), whenever]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"+
		"0.500,1.000,0.002,%s\nTag=B,0.500,1.000,5.000,%s\n1.500,1.000,0.001,%s\n",
		line(1000, 1000, 2000), line(5_000_000), line(1000))
}

func bins(rows []datasets.Row) (bins []string) {
	for _, r := range rows {
		b := r.(*datasets.Bin)
		high := "∞"
		if h, ok := b.High.Value(); ok {
			high = h.String()
		}
		bins = append(bins, fmt.Sprintf("%v %v..%s %d", time.Duration(b.At), b.Low, high, b.Count))
	}
	return bins
}

func TestHlog(t *testing.T) {
	all, err := importAll("log", writeHlog(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0s 1µs..1µs 2", "0s 2µs..2µs 1", "1s 1µs..1µs 1"}
	got := bins(all.rows[""])
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(all.rows["B"]) != 1 {
		t.Error(all.series)
	}
	if epoch, _ := all.headers[""].Epoch(); !epoch.Equal(time.Unix(1700000000, 750e6)) {
		t.Error(epoch)
	}
}

// quantileOfBins is what HdrHistogram means by a value at a percentile: the upper edge of
// the bin where it lies.
func quantileOfBins(rows []datasets.Row, q float64) (low, value, lowest, most time.Duration, total int64) {
	counts, lows := map[time.Duration]int64{}, map[time.Duration]time.Duration{}
	for _, r := range rows {
		b := r.(*datasets.Bin)
		high, _ := b.High.Value()
		counts[high] += b.Count
		lows[high] = b.Low
		total += b.Count
		most = max(most, high)
	}
	below := int64(0)
	for _, high := range slices.Sorted(maps.Keys(counts)) {
		below += counts[high]
		if value == 0 && float64(below) >= q*float64(total)-1e-6 {
			value = high
		}
	}
	return lows[value], value, lows[most], most, total
}

// Intervals, totals, p99.9 and maxima are those of the Java library's tests, by MANIFEST.tsv.
func TestCorpusHDR(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	for path, want := range map[string]struct {
		intervals  int
		total      int64
		p999, most time.Duration
		start      float64
	}{
		"hdr/jHiccup-2.0.6.logV1.hlog":  {88, 65964, 1829765119, 1888485375, 1438867590.285},
		"hdr/jHiccup-2.0.7S.logV2.hlog": {62, 48761, 1745879039, 1796210687, 1441812279.474},
		"hdr/ycsb.logV1.hlog":           {602, 300056, 1214463, 1546239, 1438613579.295},
	} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			rows := all.rows[""]
			intervals := map[datasets.Instant]bool{}
			for _, r := range rows {
				intervals[r.(*datasets.Bin).At] = true
			}
			low, p999, lowest, most, total := quantileOfBins(rows, 0.999)
			if len(intervals) != want.intervals || total != want.total {
				t.Errorf("%d intervals, total %d; want %+v; %v", len(intervals), total, want, all.warnings)
			}
			// The Java tests add the histograms, of two digits in jHiccup's logs, up in one of
			// three: what they read is the lower edge of our bin, on that one's finer grid.
			if p999 < want.p999 || low > want.p999 || most < want.most || lowest > want.most {
				t.Errorf("p99.9 in [%d, %d], max in [%d, %d]; want %+v", low, p999, lowest, most, want)
			}
		})
	}
	t.Run("hdr/tagged-Log.logV2.hlog", func(t *testing.T) {
		all := corpusFile(t, "hdr/tagged-Log.logV2.hlog")
		sum := func(name string) []string {
			rows := slices.Clone(all.rows[name])
			slices.SortStableFunc(rows, func(a, b datasets.Row) int {
				return cmp.Compare(a.(*datasets.Bin).Low, b.(*datasets.Bin).Low)
			})
			return bins(rows)
		}
		if _, _, _, _, total := quantileOfBins(slices.Concat(all.rows[""], all.rows["A"]), 0.5); total != 32290 || !slices.Equal(sum(""), sum("A")) {
			t.Error(total, len(all.rows["A"]))
		}
	})
	for _, name := range []string{"test_tagged_invalid_histogram.txt", "test_tagged_invalid_tag_key.txt", "test_tagged_invalid_timestamp.txt"} {
		t.Run("hdr/bad/"+name, func(t *testing.T) {
			for _, format := range []string{"", "hlog"} {
				var given datasets.Format
				if format != "" {
					given, _, _ = datasets.Formats().Parse("format", format)
				}
				all, err := importAll(name, []byte(corpus(t, "hdr/bad/"+name)), given)
				if err == nil {
					t.Errorf("no error, and %v", all.rows)
				} else {
					oneLine(t, err)
				}
			}
		})
	}
	for path, want := range map[string]struct {
		total int64
		most  time.Duration
	}{
		"hdr/hgrm/example1.txt": {475109, 9428991 * time.Microsecond},
		"hdr/hgrm/Sample_10kBy1k_3sf_TicksPerHour_asMs_10percPerHalfDistance.hgrm": {10, 901 * time.Microsecond},
		"hdr/hgrm/Sample_10kBy1k_3sf_TicksPerHour_asMs_10percPerHalfDistance.csv":  {10, 901 * time.Microsecond},
		"hdr/hgrm/example2.txt": {-1, 0},
	} {
		t.Run(path, func(t *testing.T) {
			if want.total < 0 { // by its own footer, which a warning would contradict
				for _, w := range corpusFile(t, path).warnings {
					if strings.Contains(w, "footer") {
						t.Error(w)
					}
				}
				return
			}
			if _, _, _, most, total := quantileOfBins(corpusFile(t, path).rows[""], 0.5); total != want.total || most != want.most {
				t.Error(total, most)
			}
		})
	}
	for path, series := range map[string][]string{"wrk/wrk2-basic.txt": {""}, "wrk/wrk2-U-both.txt": {"", "uncorrected"}} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			if diff := gocmp.Diff(series, all.series); diff != "" {
				t.Error(diff)
			}
			for _, name := range series {
				if _, _, _, _, total := quantileOfBins(all.rows[name], 0.5); total != 39500 {
					t.Error(name, total, all.warnings)
				}
			}
		})
	}
}

func FuzzHlog(f *testing.F) {
	f.Add(writeHlog(f))
	fuzzFormat(f, "hlog")
}
func FuzzHgrm(f *testing.F)   { fuzzFormat(f, "hgrm") }
func FuzzWrk(f *testing.F)    { fuzzFormat(f, "wrk") }
func FuzzHey(f *testing.F)    { fuzzFormat(f, "hey") }
func FuzzVegeta(f *testing.F) { fuzzFormat(f, "vegeta") }
