// Package report writes tables of results: as text for people, JSON and CSV for
// programs, Markdown for documents, and it judges a gate over them.
//
// A [Document] holds what a command found, in base units and with every cell it has.
// What is shown of it is decided here: one SI prefix a column, digits an interval
// has earned, x, x_lo and x_hi under one heading. JSON and CSV carry the numbers
// as they are.
package report
