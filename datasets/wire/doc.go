// Package wire reads time protocols as they are on the wire: NTP and PTP packets,
// and captures of them.
package wire
