package probes

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// unannounced holds back the exchanges of before the master's first Announce, which
// says what its time is ahead of UTC: without it they would be 37 s off those behind
// them. A master that announces nothing for long is taken as it is.
type unannounced struct {
	over  bool // there is something to go by, or no hope of it
	first datasets.Instant
	rows  []unannouncedRow
}

type unannouncedRow struct {
	row    datasets.Exchange
	master wire.PortID
}

const (
	// announceTimeout is after how many intervals an Announce is overdue: what ptp4l and
	// IEEE 1588's default profile begin with as announceReceiptTimeout.
	announceTimeout = 3
	// mostUnannounced are more rows than a master of that patience ought to make.
	mostUnannounced = 8192
)

// hold takes a row and reports whether it and those before it are to be recorded.
// announced is whether they can be completed, interval that of the Announces.
func (u *unannounced) hold(row *datasets.Exchange, master wire.PortID, announced bool, interval time.Duration) bool {
	if len(u.rows) == 0 {
		u.first = row.Due
	}
	u.rows = append(u.rows, unannouncedRow{*row, master})
	u.over = u.over || announced || row.Due.Sub(u.first) > announceTimeout*interval || len(u.rows) >= mostUnannounced
	return u.over
}

func (u *ptpUnicast) keep(row *datasets.Exchange, record func(*datasets.Exchange) error) error {
	if u.early.over || len(u.early.rows) == 0 && !told(row) {
		u.complete(row, u.master)
		return record(row)
	}
	interval := time.Duration(1) << u.sessions[0].interval * time.Second
	if !u.early.hold(row, u.master, u.announcedBy(u.master), interval) {
		return nil
	}
	return u.flush(record)
}

// told reports whether a master told its time, be that to be believed or not.
func told(row *datasets.Exchange) bool {
	return row.Outcome.Answered() || row.Outcome == datasets.Invalid
}

// flush records what is held back still, as far as it can be completed.
func (u *ptpUnicast) flush(record func(*datasets.Exchange) error) error {
	for i := range u.early.rows {
		held := &u.early.rows[i]
		u.complete(&held.row, held.master)
		if err := record(&held.row); err != nil {
			return err
		}
	}
	u.early.rows = nil
	return nil
}

// complete fills in what the exchange's master announced last.
func (u *ptpUnicast) complete(row *datasets.Exchange, master wire.PortID) {
	switch {
	case !told(row):
	case u.announcedBy(master):
		u.probe.announced(row, u.announce.Flags, &u.announce.Announcement)
	default:
		u.probe.announced(row, 0, nil)
	}
}

func (u *ptpUnicast) announcedBy(master wire.PortID) bool {
	return !u.announce.read.isZero() && u.announce.Source == master
}
