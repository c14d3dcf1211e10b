// Package spec reads what a user asks for by name: `jacobson:k=4,min=200ms`.
//
// A kind of thing (all estimators, all probes) is a [Table]; an entry names one,
// says in a line what it is, and declares its options on a standard flag set.
// From that one line follow the parser, the help, the nearest name for a typing
// mistake, and the canonical form that every result carries.
//
//	spec       = name [ ":" option { "," option } ]
//	option     = key "=" value | key            a bare key means true
//	value      = anything without a comma, or a Go string in double quotes
package spec
