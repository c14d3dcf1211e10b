// Package unit writes quantities for people and reads them back.
//
// Inside tickmark a number is in base units: seconds, ratios, counts. At the edge
// it gets one SI prefix for a whole column or axis ([Choose]), the digits it has
// earned ([Format]), and ticks a reader can divide by ([Ticks], [LogTicks]).
// What a user types comes back the same way ([Parse]).
package unit
