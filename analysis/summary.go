package analysis

import (
	"fmt"

	"github.com/tickmark/tickmark/datasets"
)

// Level is the confidence of every interval that a user did not ask otherwise for.
const Level = 0.95

// Summary is what a user wants to know first of a trace. What its kind does not
// have is nil.
type Summary struct {
	Name     string
	Header   *datasets.Header
	Trips    *TripSummary // rtt and exchange traces
	Path     *Path        // rtt traces with stamps of both ends
	Offsets  *Offsets     // exchange traces
	Slopes   []Slope      // exchange traces: the rate of θ by each method
	Pauses   *Pauses
	Clocks   *Clocks
	Claims   *Claims
	Points   *Points  // series traces
	Binned   *Binned  // histogram traces
	Entries  *Entries // matrix traces
	Warnings []string // all there are, those of the file first
	file     []string // those of the file alone
}

// TripSummary is the outcomes and latencies of a trace, in seconds.
type TripSummary struct {
	Counts
	Latencies *Latencies
	Quantiles []Interval // of SummaryQuantiles
}

// SummaryQuantiles are the quantiles of every summary.
func SummaryQuantiles() []float64 { return []float64{0.5, 0.9, 0.99, 0.999} }

// Summarise reads a trace to its end. The name is used in warnings.
func Summarise(name string, rows datasets.Stream) (*Summary, error) {
	s := &Summary{Name: name, Header: rows.Header()}
	read, ok := map[datasets.Kind]func(datasets.Stream) (finish func()){
		datasets.RTT:        s.readTrips,
		datasets.Exchanges:  s.readExchanges,
		datasets.Pauses:     s.readPauses,
		datasets.Clocks:     s.readClocks,
		datasets.Claims:     s.readClaims,
		datasets.SeriesKind: s.readPoints,
		datasets.Histograms: s.readBins,
		datasets.Matrices:   s.readEntries,
	}[s.Header.Kind()]
	if !ok {
		return nil, fmt.Errorf("%s: kind %q: there is no summary of it", name, s.Header.Kind())
	}
	finish := read(rows)
	if err := rows.Err(); err != nil {
		return nil, err
	}
	s.file = rows.Warnings()
	s.Warnings = append(s.Warnings, s.file...)
	finish()
	return s, nil
}

// readTrips takes all rows; what only the end of the header tells waits for finish.
func (s *Summary) readTrips(rows datasets.Stream) (finish func()) {
	trips := newTrips(s.Header)
	path := NewPathSummary(s.Header)
	var sample datasets.Sample
	for rows.Next(&sample) {
		trips.Add(&sample)
		trips.Latencies.Add(&sample)
		if path != nil {
			path.Add(&sample)
		}
	}
	return func() {
		s.setTrips(trips)
		if unfit, ok := s.Header.Value(datasets.KeyUnfit); ok {
			s.Warnings = append(s.Warnings, s.Name+": unfit: "+unfit)
		}
		if path == nil {
			return
		}
		if s.Path = path.Summary(Level); s.Path != nil {
			s.Warnings = append(s.Warnings, s.Path.Warnings...)
		}
	}
}

func (s *Summary) readExchanges(rows datasets.Stream) (finish func()) {
	trips := newTrips(s.Header)
	offsets := NewOffsetSummary(s.Header)
	var rate RateSummary
	var e datasets.Exchange
	for rows.Next(&e) {
		trips.Add(&e.Sample)
		trips.Latencies.Add(&e.Sample)
		offsets.Add(&e)
		rate.Add(&e)
	}
	return func() {
		s.setTrips(trips)
		o := offsets.Summary(Level)
		s.Offsets = &o
		s.Slopes = rate.Slopes(Level)
		s.Warnings = append(s.Warnings, o.Warnings...)
	}
}

func (s *Summary) readPauses(rows datasets.Stream) (finish func()) {
	var sum PauseSummary
	var p datasets.Pause
	for rows.Next(&p) {
		sum.Add(&p)
	}
	return func() {
		sum.Observed = told(s.Header, datasets.KeyObserved)
		p := sum.Summary(Level)
		s.Pauses = &p
		if lost, ok := s.Header.Value(datasets.KeyLost); ok {
			s.Warnings = append(s.Warnings, s.Name+": "+lost)
		}
		s.Warnings = append(s.Warnings, p.Warnings...)
	}
}

func (s *Summary) readClocks(rows datasets.Stream) (finish func()) {
	var sum ClockSummary
	var c datasets.ClockReading
	for rows.Next(&c) {
		sum.Add(&c)
	}
	return func() {
		c := sum.Summary(Level)
		s.Clocks = &c
		s.Warnings = append(s.Warnings, c.Warnings...)
	}
}

func (s *Summary) readClaims(rows datasets.Stream) (finish func()) {
	var sum ClaimSummary
	var c datasets.Claim
	for rows.Next(&c) {
		sum.Add(&c)
	}
	return func() {
		c := sum.Summary()
		s.Claims = &c
		if lost, ok := s.Header.Value(datasets.KeyLost); ok {
			s.Warnings = append(s.Warnings, s.Name+": "+lost)
		}
		s.Warnings = append(s.Warnings, c.Warnings...)
	}
}

func (s *Summary) readPoints(rows datasets.Stream) (finish func()) {
	var sum PointSummary
	var p datasets.Point
	for rows.Next(&p) {
		sum.Add(&p)
	}
	return func() {
		p := sum.Summary(Level)
		s.Points = &p
		s.Warnings = append(s.Warnings, p.Warnings...)
	}
}

func (s *Summary) readBins(rows datasets.Stream) (finish func()) {
	var sum BinSummary
	var b datasets.Bin
	for rows.Next(&b) {
		sum.Add(&b)
	}
	return func() {
		b := sum.Summary(Level)
		s.Binned = &b
		s.Warnings = append(s.Warnings, b.Warnings...)
	}
}

func (s *Summary) readEntries(rows datasets.Stream) (finish func()) {
	var sum EntrySummary
	var e datasets.Entry
	for rows.Next(&e) {
		sum.Add(&e)
	}
	return func() {
		e := sum.Summary()
		s.Entries = &e
		s.Warnings = append(s.Warnings, e.Warnings...)
	}
}

func newTrips(h *datasets.Header) *TripSummary {
	return &TripSummary{Latencies: &Latencies{Listen: told(h, datasets.KeyListen)}}
}

func (s *Summary) setTrips(t *TripSummary) {
	for _, q := range SummaryQuantiles() {
		i := t.Latencies.Quantile(q, Level)
		t.Quantiles = append(t.Quantiles, i)
		s.Warnings = append(s.Warnings, i.Warnings...)
	}
	s.Trips = t
}
