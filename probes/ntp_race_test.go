//go:build race

package probes

const raceDetector = true
