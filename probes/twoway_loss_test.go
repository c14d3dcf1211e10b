package probes

import (
	"math/rand/v2"
	"testing"
)

// Each reply is of a test, and has a number of the reflector's.
func TestLosses(t *testing.T) {
	for _, c := range []struct {
		name                  string
		replies               [][2]uint32
		there, back, restarts int64
	}{
		{"nothing", nil, 0, 0, 0},
		{"all", [][2]uint32{{0, 0}, {1, 1}, {2, 2}}, 0, 0, 0},
		{"the first on its way there", [][2]uint32{{1, 0}, {2, 1}}, 1, 0, 0},
		{"the first on its way back", [][2]uint32{{1, 1}, {2, 2}}, 0, 1, 0},
		{"one each way", [][2]uint32{{0, 0}, {2, 1}, {4, 3}}, 1, 1, 0},
		{"overtaken there", [][2]uint32{{1, 0}, {0, 1}, {2, 2}}, 0, 0, 0},
		{"overtaken back", [][2]uint32{{0, 0}, {2, 2}, {1, 1}}, 0, 0, 0},
		{"copied there", [][2]uint32{{0, 0}, {0, 1}, {1, 2}}, 0, 0, 0},
		{"copied back", [][2]uint32{{0, 0}, {0, 0}, {1, 1}}, 0, 0, 0},
		{"copied there, and one of them lost back", [][2]uint32{{0, 0}, {1, 2}}, 0, 1, 0},
		{"begun anew after 3", [][2]uint32{{0, 0}, {1, 1}, {3, 2}, {5, 0}, {7, 1}, {8, 3}}, 1, 1, 1},
		{"begun anew long after", [][2]uint32{{0, 0}, {999, 999}, {1001, 0}, {1002, 1}}, 0, 998, 1},
	} {
		l := losses{seen: make([]seenNumber, 256)}
		answered := map[uint32]bool{}
		for _, r := range c.replies {
			l.answered(r[0], r[1], !answered[r[0]])
			answered[r[0]] = true
		}
		if there, back := l.sums(); there != c.there || back != c.back || l.restarts != c.restarts {
			t.Errorf("%s: %d there, %d back, %d restarts; want %d, %d, %d", c.name, there, back, l.restarts, c.there, c.back, c.restarts)
		}
	}
}

// A path that loses, copies and misorders both ways at random: what is said is what it did.
func TestLossesOfARandomPath(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		l := losses{seen: make([]seenNumber, 256)}
		answered := map[uint32]bool{}
		var there, back, number, last int64
		var waiting [][2]uint32
		tell := func(r [2]uint32) {
			l.answered(r[0], r[1], !answered[r[0]])
			answered[r[0]] = true
		}
		for test := range uint32(3000) {
			// The last one is answered, so that nothing is undecided.
			if test < 2999 && rng.IntN(20) == 0 {
				there++
				continue
			}
			r := [2]uint32{test, uint32(number)}
			number++
			switch {
			case test < 2999 && rng.IntN(20) == 0:
				back++
				continue
			case rng.IntN(10) == 0:
				waiting = append(waiting, r)
				continue
			case rng.IntN(10) == 0: // a copy of the request, answered by itself
				tell(r)
				r[1] = uint32(number)
				number++
			case rng.IntN(10) == 0: // a copy of the reply
				tell(r)
			}
			tell(r)
			if len(waiting) > 5 {
				for _, w := range waiting {
					tell(w)
				}
				waiting = nil
			}
			last = int64(test)
		}
		for _, w := range waiting {
			tell(w)
		}
		if last != 2999 && !answered[2999] {
			t.Fatal("the last one is not answered")
		}
		if gotThere, gotBack := l.sums(); gotThere != there || gotBack != back || l.restarts != 0 {
			t.Fatalf("seed %d: %d there, %d back, %d restarts; want %d, %d", seed, gotThere, gotBack, l.restarts, there, back)
		}
	}
}
