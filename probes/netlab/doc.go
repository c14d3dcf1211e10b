// Package netlab is a laboratory for tests: two network namespaces joined by a
// virtual cable, real servers in one and the code under test in the other.
//
// It needs Linux, root and the commands it names; where one is missing, a test is
// skipped with a line that says which.
package netlab
