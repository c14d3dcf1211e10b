package probes

// preciseByDefault is true where the kernel stamps departures and arrivals.
const preciseByDefault = true
