// Package analysis turns rows of a trace into numbers that carry their
// uncertainty: an [Interval] has its limits, the number of samples behind it, the
// method, and a warning where the data cannot tell.
//
// Everything here is fed row by row ([Latencies], [Counts], [PauseSummary],
// [OffsetSummary], [ClockSummary]) and asked at the end. Numbers are in base units:
// seconds, ratios, counts. What too few samples cannot support is absent, and the
// warning says how many it takes.
package analysis
