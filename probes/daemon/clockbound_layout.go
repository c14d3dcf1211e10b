package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// The layout, from docs/PROTOCOL.md of aws/clock-bound. All numbers are in the order of
// the host. Both versions have the same up to the bound.
const (
	shmVersion    = 12
	shmGeneration = 14
	shmAsOf       = 16 // seconds, nanoseconds of CLOCK_MONOTONIC_COARSE
	shmVoidAfter  = 32
	shmBound      = 48
	shmRest       = 56 // version 1: drift, reserved, status; version 2: marker, drift, status, support
	shmLength1    = 72
	shmLength2    = 80
)

// The magic number is two words.
const (
	magic1 = 0x414D5A4E
	magic2 = 0x43420200
)

var errTooShort = errors.New("too short for the shared memory of clockbound")

// segment is one consistent reading of the shared memory.
type segment struct {
	version          uint16
	generation       uint16
	asOf, voidAfter  time.Duration // on CLOCK_MONOTONIC_COARSE
	bound            time.Duration
	drift            uint32 // ppb
	status           int32
	marker           uint64 // of the last disruption that was seen; version 2
	disruptionsKnown bool   // by a VM clock; version 2
}

// readSegment reads until nothing was written meanwhile: the generation is odd during a
// write, and different after one.
func readSegment(ctx context.Context, from io.ReaderAt) (*segment, error) {
	buf := make([]byte, shmLength2)
	for tries := 0; ctx.Err() == nil; tries++ {
		before, err := generation(from)
		if err != nil {
			return nil, err
		}
		n, err := from.ReadAt(buf, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !isClockBound(buf[:n]) {
			return nil, errors.New("not the shared memory of clockbound: another magic number")
		}
		after, err := generation(from)
		if err != nil {
			return nil, err
		}
		if before == after && before%2 == 0 && before != 0 {
			return parseSegment(buf[:n])
		}
		if tries > 100 { // far longer than a write takes
			time.Sleep(time.Millisecond)
		}
	}
	return nil, errors.New("its shared memory is never at rest: has clockbound died in the middle of a write?")
}

func generation(from io.ReaderAt) (uint16, error) {
	var b [2]byte
	if _, err := from.ReadAt(b[:], shmGeneration); err != nil {
		return 0, errTooShort
	}
	return binary.NativeEndian.Uint16(b[:]), nil
}

func isClockBound(b []byte) bool {
	return len(b) >= 8 && binary.NativeEndian.Uint32(b) == magic1 && binary.NativeEndian.Uint32(b[4:]) == magic2
}

// parseSegment reads the layout.
func parseSegment(b []byte) (*segment, error) {
	order := binary.NativeEndian
	if len(b) < shmLength1 {
		return nil, errTooShort
	}
	s := &segment{
		version: order.Uint16(b[shmVersion:]), generation: order.Uint16(b[shmGeneration:]),
		bound: time.Duration(order.Uint64(b[shmBound:])),
	}
	rest := b[shmRest:]
	switch {
	case s.version == 1:
		s.drift, s.status = order.Uint32(rest), int32(order.Uint32(rest[8:]))
	case s.version == 2 && len(b) >= shmLength2:
		s.marker, s.drift, s.status = order.Uint64(rest), order.Uint32(rest[8:]), int32(order.Uint32(rest[12:]))
		s.disruptionsKnown = rest[16] == 1
	default:
		return nil, fmt.Errorf("layout version %d in %d bytes: want 1 or 2", s.version, len(b))
	}
	return s, s.parseTimes(b)
}

func (s *segment) parseTimes(b []byte) error {
	var ok1, ok2 bool
	s.asOf, ok1 = timespec(b[shmAsOf:])
	s.voidAfter, ok2 = timespec(b[shmVoidAfter:])
	if !ok1 || !ok2 || s.bound < 0 || s.bound > longest {
		return errors.New("its shared memory holds times that cannot be")
	}
	return nil
}

func timespec(b []byte) (time.Duration, bool) {
	sec, nsec := int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))
	ok := sec >= 0 && sec < int64(longest/time.Second) && nsec >= 0 && nsec < 1e9
	return time.Duration(sec)*time.Second + time.Duration(nsec), ok
}
