package probes

import (
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// interleaving completes exchanges by the reply to the query behind them: in
// interleaved mode (RFC 9769) a server sends with each reply the stamp of its last
// one's departure, which it could not know before. Until it comes, an exchange and
// those behind it wait; in basic mode nothing does.
type interleaving struct {
	on      bool
	waiting []incomplete
	nonces  nonces
	origin  wire.NTPTime // T2 of the last reply that was believed

	completed, basic, missing int64
}

// incomplete is an exchange that may still get a better T3.
type incomplete struct {
	row       datasets.Exchange
	open      bool
	key       wire.NTPTime   // its T2 as the server wrote it
	departure datasets.Stamp // T1 to go with that T3
}

// mostWaiting is how many exchanges wait for one: a server that does not answer this
// often has forgotten it.
const mostWaiting = 8

// query returns what the next request says of the exchange before it.
func (i *interleaving) query() ntpQuery {
	if !i.on || i.origin.IsZero() {
		return ntpQuery{}
	}
	return ntpQuery{origin: i.origin, receive: i.nonces.next()}
}

// add takes an exchange, with the answer it came from, and hands over those that are
// complete, in their order.
func (i *interleaving) add(row *datasets.Exchange, a *ntpAnswer, record func(*datasets.Exchange) error) error {
	if !i.on {
		return record(row)
	}
	open := row.Outcome.Answered()
	if open {
		i.settle(a)
		i.origin = a.packet.Receive
	}
	i.waiting = append(i.waiting, incomplete{*row, open, a.packet.Receive, a.departure})
	ready := 0
	for ready < len(i.waiting) && (!i.waiting[ready].open || len(i.waiting)-ready > mostWaiting) {
		ready++
	}
	return i.hand(ready, record)
}

// settle closes the exchange that the reply tells of, and those before it.
func (i *interleaving) settle(a *ntpAnswer) {
	for n := range i.waiting {
		w := &i.waiting[n]
		if !w.open {
			continue
		}
		w.open = false
		if a.interleaved() && w.key == a.request.Origin {
			w.complete(a)
		}
	}
}

// complete gives the exchange the server's later T3 and, where it has one, the T1 of
// the same kind.
func (w *incomplete) complete(a *ntpAnswer) {
	w.row.T3 = a.remote(a.packet.Transmit, datasets.Kernel)
	if _, ok := w.departure.UnixNanos(); ok {
		w.row.T1 = w.departure
	}
	if w.row.Why = contradiction(&w.row); w.row.Why != "" {
		w.row.Outcome, w.row.Copies = datasets.Invalid, 0
	}
}

// flush hands over what still waits, as it is.
func (i *interleaving) flush(record func(*datasets.Exchange) error) error {
	return i.hand(len(i.waiting), record)
}

func (i *interleaving) hand(n int, record func(*datasets.Exchange) error) error {
	for ; n > 0; n-- {
		row := i.waiting[0].row
		i.waiting = append(i.waiting[:0], i.waiting[1:]...)
		i.count(&row)
		if err := record(&row); err != nil {
			return err
		}
	}
	return nil
}

func (i *interleaving) count(row *datasets.Exchange) {
	_, stamped := row.T3.UnixNanos()
	switch {
	case !row.Outcome.Answered():
	case !stamped:
		i.missing++
	case row.T3.Source() == datasets.User:
		i.basic++
	default:
		i.completed++
	}
}

// trailer says how many exchanges were completed. The last one of a recording never is.
func (i *interleaving) trailer() []datasets.Field {
	if !i.on {
		return nil
	}
	return []datasets.Field{count("interleaved", i.completed), count("basic", i.basic), count("t3-missing", i.missing)}
}
