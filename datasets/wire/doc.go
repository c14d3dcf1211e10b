// Package wire reads NTP and PTP as they are on the wire: packets, captures of them,
// and the exchanges that packets make.
//
// A measurement of two clocks is four stamps of one exchange. From a capture to them
// it takes four steps, each of which can be had alone:
//
//  1. [OpenCapture] reads pcap or pcapng and hands out one [Packet] after the other:
//     UDP datagrams and PTP in Ethernet, with the time the capture stamped. A time that
//     can be none is absent, not guessed, and a capture that is cut off gives what is
//     whole and then the byte where it is not.
//  2. [DecodeNTP] and [DecodePTP] read a payload, without allocation if there are stamps
//     in it. They do not panic, and what they refuse has no stamps.
//  3. [NTPPairs] and [PTPPairs] put together what belongs together, however the network
//     lost, copied and misordered it, and emit an exchange as soon as it is whole. What
//     lacks its other half, or could have two, is not emitted but counted. No stamp is
//     ever made up: T1 and T4 are the capture's, T2 and T3 the server's.
//  4. What they mean is not decided here. T1 and T4 are the client's if the capture was
//     made there, and otherwise off by the way to it. T2 and T3 are in the server's
//     timescale, which in PTP mostly is TAI. Corrections are sums of what the network
//     says, to be taken off T2−T1 and T4−T3.
//
// The times of the wire are of three kinds. An [NTPTime] has no era, and is the one that
// lies nearest to a time one knows ([NTPTime.UnixNanos]), in 2036 too. A [PTPTime]
// counts the seconds of its own timescale from 1970. A [Correction] counts 2⁻¹⁶ ns.
// All become nanoseconds since 1970 here, and stamps of a clock in package datasets.
//
// [STAMP] is written too, by both its ends: no library has the format.
//
// The package is at the bottom of the house: it knows no files, no sockets and no
// clock, and of the library that defines the formats (facebook/time) only ntp.go and
// ptp.go know. canary_test.go tells what of it must be guarded against.
package wire
