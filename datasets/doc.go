// Package datasets holds what was measured: samples, the traces they stand in,
// and the files they come from and go to.
//
// A [Row] is one line of a trace: a [Sample] (a round trip), an [Exchange] (a
// round trip with the four stamps of NTP or PTP), a [Pause], a [ClockReading], a
// [Claim] of a time daemon.
// A trace is a [Header] and the rows of one kind. [NewWriter] records one as
// native text, a line a row, and [Open] reads it back as a stream: a recording
// that was cut off is read up to its last whole line.
//
// Time stands here in three forms that do not mix: an [Instant] is a point on the
// trace's own monotonic clock, a time.Duration is an interval, and a [Stamp] is
// a reading of a wall clock, which only [Exchange] may subtract from another.
package datasets
