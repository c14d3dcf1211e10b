package probes

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/tickmark/tickmark/datasets/wire"
)

// nonces are random numbers, fetched from the system many at a time.
type nonces struct {
	pool [512]byte
	left []byte
}

func (n *nonces) next() wire.NTPTime {
	for {
		if len(n.left) < 8 {
			_, _ = rand.Read(n.pool[:]) // never fails: the program would have ended
			n.left = n.pool[:]
		}
		v := wire.NTPTime(binary.NativeEndian.Uint64(n.left))
		n.left = n.left[8:]
		if !v.IsZero() {
			return v
		}
	}
}
