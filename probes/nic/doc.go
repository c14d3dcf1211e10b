// Package nic tells what a network interface can stamp, and which interface a packet
// leaves by.
//
// A time stamp is as good as the place where it is taken. The program's own stamp
// comes after the scheduler, the kernel's after the interrupt, and the one of the
// network hardware when the packet is on the wire: tens of microseconds, about one,
// and some nanoseconds. Which of them can be had depends on three things:
//
//  1. The driver must say when a packet leaves; arrivals the kernel stamps for any.
//     [Inspect] reads that, and needs no rights.
//  2. Hardware that stamps has a clock of its own, a PHC (/dev/ptpN), and a filter for
//     what it stamps: many stamp PTP packets only, and then NTP stays with the kernel.
//  3. Hardware stamps are switched on per interface and for everybody. [ReadConfig]
//     shows how they stand; only [Configure] changes it.
package nic
