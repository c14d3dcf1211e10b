// Package page writes the report of a run as one HTML file that needs nothing else:
// no network, no script, no font, no second file. It is read on paper and on a
// screen 360 px wide, in light and in dark.
//
// What stands in it is in the order of a reader's questions: what was found
// ([Report].Verdict), what to do (Changes), why that may be believed (Sections: a
// sentence, figures, tables, details folded), and how it was measured (Facts,
// Warnings).
package page
