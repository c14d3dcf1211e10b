//go:build !linux

package probes

// preciseByDefault is false: here the precise engine has the user's stamps alone,
// where the portable one may know of the system's own.
const preciseByDefault = false
