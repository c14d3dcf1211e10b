// Package plots draws what was measured: figures as data, then as SVG or PNG.
//
// A [Figure] reads traces as streams and returns a [Chart], which is plain data:
// a title that states the finding, two axes with units, layers of numbers, and
// words for those who cannot see it. [Chart.WriteSVG], [Chart.WritePNG] and
// [Chart.InlineSVG] draw it, [Chart.WriteCSV] writes the numbers that are drawn.
//
// A trace of any length is brought down to the columns a screen has before
// anything is drawn, in one pass and in constant memory: for each column the
// least, the greatest and the median value, so that one slow call in ten million
// is still seen.
//
// Numbers are in base units (seconds, shares of one, counts); an axis chooses one
// SI prefix for all its ticks.
package plots
