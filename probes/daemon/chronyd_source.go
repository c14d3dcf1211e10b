package daemon

import (
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/facebook/time/ntp/chrony"

	"github.com/tickmark/tickmark/datasets"
)

// chronySource is what chronyd says of one of its sources; of the last two it speaks
// only over its unix socket.
type chronySource struct {
	data      *chrony.SourceData
	stats     *chrony.SourceStats
	selection *chrony.SelectData
	packets   *chrony.NTPData2
}

// moved reports whether the list of sources changed between the answers.
func (s *chronySource) moved() bool {
	a, b := s.data.IPAddr, s.stats.IPAddr
	return s.data.Mode != chrony.SourceModeRef && *a != *b
}

// name is the source's address, or the reference id of a clock.
func (s *chronySource) name() string {
	if s.data.Mode == chrony.SourceModeRef {
		return chrony.RefidToString(binary.BigEndian.Uint32(s.data.IPAddr.IP[:]))
	}
	return s.data.IPAddr.String()
}

// status puts chronyd's word for the source's state, the one that chronyc shows by a
// sign, into ours.
func (s *chronySource) status() datasets.ClaimStatus {
	switch s.data.State {
	case chrony.SourceStateSync, chrony.SourceStateCandidate: // chronyc: * and +, combined
		return datasets.Selected
	case chrony.SourceStateOutlier: // -, not combined
		return datasets.Candidate
	case chrony.SourceStateFalseTicker: // x
		return datasets.Falseticker
	default: // ~ too variable, or ? not selectable
		if s.data.Reachability == 0 {
			return datasets.Unreachable
		}
		return datasets.Rejected
	}
}

// never is what chronyd gives as the age of a source that has not answered.
const never = 1<<32 - 1

// fill writes the claim. sources and sourcestats are positive for a clock that is fast,
// and count from chronyd's own idea of the time; what that is ahead of the system clock
// by stands in its tracking. The bound is the margin that "sources" prints behind the
// last sample (its root distance) around the offset.
func (s *chronySource) fill(c *datasets.Claim, t *chrony.Tracking) {
	if s.stats.NSamples > 0 {
		c.Stratum = datasets.Some(int(s.data.Stratum))
		c.Skew = ppm(s.stats.SkewPPM)
		c.Offset = seconds(t.CurrentCorrection - s.stats.EstimatedOffset)
		c.Bound = sum(c.Offset, span(s.data.LatestMeasErr))
	}
	if s.data.SinceSample != never {
		c.Age = datasets.Some(time.Duration(s.data.SinceSample) * time.Second)
	}
	s.addSource(c)
	s.addStats(c)
	if s.selection != nil {
		s.addSelection(c)
	}
	if s.packets != nil {
		s.addPackets(c)
	}
}

func (s *chronySource) addSource(c *datasets.Claim) {
	c.AddFact("state", s.data.State.String())
	c.AddFact("mode", s.data.Mode.String())
	c.AddFact("poll", integer(s.data.Poll))
	c.AddFact("reach", strconv.FormatUint(uint64(s.data.Reachability), 8))
	c.AddFact("orig_latest_meas", single(s.data.OrigLatestMeas))
	c.AddFact("latest_meas", single(s.data.LatestMeas))
	c.AddFact("latest_meas_err", single(s.data.LatestMeasErr))
}

func (s *chronySource) addStats(c *datasets.Claim) {
	c.AddFact("samples", integer(s.stats.NSamples))
	c.AddFact("runs", integer(s.stats.NRuns))
	c.AddFact("span_s", integer(s.stats.SpanSeconds))
	c.AddFact("standard_deviation", single(s.stats.StandardDeviation))
	c.AddFact("resid_freq_ppm", single(s.stats.ResidFreqPPM))
	c.AddFact("est_offset", single(s.stats.EstimatedOffset))
	c.AddFact("est_offset_err", single(s.stats.EstimatedOffsetErr))
}

func (s *chronySource) addSelection(c *datasets.Claim) {
	c.AddFact("select_state", string(rune(s.selection.StateChar)))
	c.AddFact("authentication", integer(s.selection.Authentication))
	c.AddFact("configured_options", integer(s.selection.ConfOptions))
	c.AddFact("effective_options", integer(s.selection.EFFOptions))
	c.AddFact("last_sample_ago_s", integer(s.selection.LastSampleAgo))
	c.AddFact("score", single(s.selection.Score))
	c.AddFact("lo_limit", single(s.selection.LoLimit))
	c.AddFact("hi_limit", single(s.selection.HiLimit))
	if s.selection.Leap != 3 { // which it also writes of a source that it has not heard
		c.Leap = datasets.Some(int(s.selection.Leap))
	}
}

// addPackets writes down the last packet. Its offset alone of all that chronyd gives of
// a source has the sign of RFC 5905.
func (s *chronySource) addPackets(c *datasets.Claim) {
	p := s.packets
	if p.TotalValidCount > 0 {
		c.Reference = chrony.RefidToString(p.RefID)
		c.RootDelay, c.RootDispersion = seconds(p.RootDelay), span(p.RootDispersion)
	}
	for _, f := range []datasets.Field{
		{Key: "remote_port", Value: integer(p.RemotePort)},
		{Key: "local_address", Value: ipText(p.LocalAddr)},
		{Key: "packet_leap", Value: integer(p.Leap)},
		{Key: "packet_version", Value: integer(p.Version)},
		{Key: "packet_mode", Value: integer(p.Mode)},
		{Key: "packet_stratum", Value: integer(p.Stratum)},
		{Key: "packet_poll", Value: integer(p.Poll)},
		{Key: "packet_precision", Value: integer(p.Precision)},
		{Key: "packet_ref_time", Value: unixSeconds(p.RefTime)},
		{Key: "packet_offset", Value: single(p.Offset)},
		{Key: "peer_delay", Value: single(p.PeerDelay)},
		{Key: "peer_dispersion", Value: single(p.PeerDispersion)},
		{Key: "response_time", Value: single(p.ResponseTime)},
		{Key: "jitter_asymmetry", Value: single(p.JitterAsymmetry)},
		{Key: "ntp_tests", Value: fmt.Sprintf("%010b", p.Flags&chrony.NTPFlagsTests)},
		{Key: "interleaved", Value: strconv.FormatBool(p.Flags&chrony.NTPFlagInterleaved != 0)},
		{Key: "authenticated", Value: strconv.FormatBool(p.Flags&chrony.NTPFlagAuthenticated != 0)},
		{Key: "tx_timestamping", Value: stamper(p.TXTssChar)},
		{Key: "rx_timestamping", Value: stamper(p.RXTssChar)},
		{Key: "total_tx", Value: integer(p.TotalTXCount)},
		{Key: "total_rx", Value: integer(p.TotalRXCount)},
		{Key: "total_valid_rx", Value: integer(p.TotalValidCount)},
	} {
		c.AddFact(f.Key, f.Value)
	}
}

// stamper names who took a time stamp.
func stamper(letter uint8) string {
	switch letter {
	case 'D':
		return "daemon"
	case 'K':
		return "kernel"
	case 'H':
		return "hardware"
	}
	return "none"
}

func ipText(ip net.IP) string {
	if ip == nil {
		return ""
	}
	return ip.String()
}
