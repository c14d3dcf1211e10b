package daemon

import (
	"fmt"
	"strconv"

	ptp "github.com/facebook/time/ptp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

// The facts have the names that pmc prints, in lower case with underscores.

func (s *ptpState) addOwn(c *datasets.Claim) {
	d, n := s.own, s.current
	addFacts(c, []datasets.Field{
		{Key: "two_step_flag", Value: bit(d.SoTSC, 1)},
		{Key: "slave_only", Value: bit(d.SoTSC, 2)},
		{Key: "number_ports", Value: integer(d.NumberPorts)},
		{Key: "priority1", Value: integer(d.Priority1)},
		{Key: "clock_class", Value: integer(d.ClockQuality.ClockClass)},
		{Key: "clock_accuracy", Value: hexadecimal(d.ClockQuality.ClockAccuracy)},
		{Key: "offset_scaled_log_variance", Value: hexadecimal(d.ClockQuality.OffsetScaledLogVariance)},
		{Key: "priority2", Value: integer(d.Priority2)},
		{Key: "clock_identity", Value: d.ClockIdentity.String()},
		{Key: "domain_number", Value: integer(d.DomainNumber)},
		{Key: "steps_removed", Value: integer(n.StepsRemoved)},
		{Key: "offset_from_master", Value: nanoseconds(n.OffsetFromMaster)},
		{Key: "mean_path_delay", Value: nanoseconds(n.MeanPathDelay)},
	})
}

func (s *ptpState) addParent(c *datasets.Claim) {
	p := s.parent
	addFacts(c, []datasets.Field{
		{Key: "parent_port_identity", Value: p.ParentPortIdentity.String()},
		{Key: "parent_stats", Value: bit(p.PS, 1)},
		{Key: "observed_parent_offset_scaled_log_variance", Value: hexadecimal(p.ObservedParentOffsetScaledLogVariance)},
		{Key: "observed_parent_clock_phase_change_rate", Value: hexadecimal(p.ObservedParentClockPhaseChangeRate)},
		{Key: "grandmaster_priority1", Value: integer(p.GrandmasterPriority1)},
		{Key: "gm_clock_class", Value: integer(p.GrandmasterClockQuality.ClockClass)},
		{Key: "gm_clock_accuracy", Value: hexadecimal(p.GrandmasterClockQuality.ClockAccuracy)},
		{Key: "gm_offset_scaled_log_variance", Value: hexadecimal(p.GrandmasterClockQuality.OffsetScaledLogVariance)},
		{Key: "grandmaster_priority2", Value: integer(p.GrandmasterPriority2)},
		{Key: "grandmaster_identity", Value: p.GrandmasterIdentity.String()},
	})
}

func (s *ptpState) addScale(c *datasets.Claim) {
	t := s.scale
	addFacts(c, []datasets.Field{
		{Key: "current_utc_offset", Value: integer(t.CurrentUTCOffset)},
		{Key: "leap61", Value: bit(t.Flags, flagLeap61)},
		{Key: "leap59", Value: bit(t.Flags, flagLeap59)},
		{Key: "current_utc_offset_valid", Value: bit(t.Flags, flagUTCValid)},
		{Key: "ptp_timescale", Value: bit(t.Flags, flagPTPTimescale)},
		{Key: "time_traceable", Value: bit(t.Flags, flagTimeTraceable)},
		{Key: "frequency_traceable", Value: bit(t.Flags, flagFrequencyTraceable)},
		{Key: "time_source", Value: hexadecimal(t.TimeSource)},
	})
}

func (s *ptpState) addStatus(c *datasets.Claim) {
	t := s.status
	addFacts(c, []datasets.Field{
		{Key: "master_offset", Value: integer(t.MasterOffsetNS)},
		{Key: "ingress_time", Value: integer(t.IngressTimeNS)},
		{Key: "cumulative_scaled_rate_offset", Value: integer(t.CumulativeScaledRateOffset)},
		{Key: "scaled_last_gm_phase_change", Value: integer(t.ScaledLastGmPhaseChange)},
		{Key: "gm_time_base_indicator", Value: integer(t.GMTimeBaseIndicator)},
		{Key: "last_gm_phase_change", Value: fmt.Sprintf("0x%04x'%016x.%04x",
			t.LastGmPhaseChange.NanosecondsMSB, t.LastGmPhaseChange.NanosecondsLSB, t.LastGmPhaseChange.FractionalNanoseconds)},
		{Key: "gm_present", Value: strconv.FormatBool(t.GMPresent != 0)},
		{Key: "gm_identity", Value: t.GMIdentity.String()},
	})
}

func addPort(c *datasets.Claim, p *portDataSet) {
	addFacts(c, []datasets.Field{
		{Key: "port_identity", Value: p.PortIdentity.String()},
		{Key: "port_state", Value: portState(p.PortState)},
		{Key: "log_min_delay_req_interval", Value: integer(p.LogMinDelayReqInterval)},
		{Key: "peer_mean_path_delay", Value: nanoseconds(p.PeerMeanPathDelay)},
		{Key: "log_announce_interval", Value: integer(p.LogAnnounceInterval)},
		{Key: "announce_receipt_timeout", Value: integer(p.AnnounceReceiptTimeout)},
		{Key: "log_sync_interval", Value: integer(p.LogSyncInterval)},
		{Key: "delay_mechanism", Value: integer(p.DelayMechanism)},
		{Key: "log_min_pdelay_req_interval", Value: integer(p.LogMinPdelayReqInterval)},
		{Key: "version_number", Value: integer(p.VersionNumber & 0xf)},
	})
}

func portState(s ptp.PortState) string {
	if name := s.String(); name != "" {
		return name
	}
	return integer(s)
}

// addCounts writes down how many messages of each kind came and went.
func addCounts(c *datasets.Claim, s *ptp.PortStats) {
	for _, way := range []struct {
		name string
		n    *[16]uint64
	}{{"rx_", &s.RXMsgType}, {"tx_", &s.TXMsgType}} {
		for _, kind := range []struct {
			name string
			of   ptp.MessageType
		}{
			{"sync", ptp.MessageSync},
			{"delay_req", ptp.MessageDelayReq},
			{"pdelay_req", ptp.MessagePDelayReq},
			{"pdelay_resp", ptp.MessagePDelayResp},
			{"follow_up", ptp.MessageFollowUp},
			{"delay_resp", ptp.MessageDelayResp},
			{"pdelay_resp_follow_up", ptp.MessagePDelayRespFollowUp},
			{"announce", ptp.MessageAnnounce},
			{"signaling", ptp.MessageSignaling},
			{"management", ptp.MessageManagement},
		} {
			c.AddFact(way.name+kind.name, strconv.FormatUint(way.n[kind.of], 10))
		}
	}
}

func addProperties(c *datasets.Claim, p *ptp.PortPropertiesNPTLV) {
	names := []string{"SOFTWARE", "HARDWARE", "LEGACY_HW", "ONESTEP", "P2P1STEP"}
	stamping := integer(p.Timestamping)
	if int(p.Timestamping) < len(names) {
		stamping = names[p.Timestamping]
	}
	c.AddFact("timestamping", stamping)
	c.AddFact("interface", string(p.Interface))
}

func bit(flags, mask uint8) string {
	if flags&mask != 0 {
		return "1"
	}
	return "0"
}

func hexadecimal[T ~uint8 | ~uint16 | ~uint32](n T) string { return fmt.Sprintf("%#x", n) }

func nanoseconds(t ptp.TimeInterval) string {
	return strconv.FormatFloat(t.Nanoseconds(), 'f', -1, 64)
}
