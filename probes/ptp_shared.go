package probes

import (
	"fmt"
	"net/netip"
	"sync"

	"github.com/tickmark/tickmark/datasets/spec"
)

// ptpShared is the ports of PTP that the recordings of one probe have open, by our
// address. There is one pair of them for all masters, which are told apart by theirs.
type ptpShared struct {
	mu   sync.Mutex
	open map[netip.Addr]*ptpPorts
}

// join returns the ports of PTP on our address for a peer, open; leave must follow.
func (s *ptpShared) join(q *ptpPeer, local netip.Addr, plan Plan) (*ptpPorts, error) {
	if plan.Flow.Of > 1 {
		return nil, &spec.UsageError{Msg: fmt.Sprintf("%d flows: PTP's ports are fixed, so there is one path (mode=sptp takes any port unless the NIC is to stamp)", plan.Flow.Of)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ports := s.open[local]
	if ports == nil {
		var err error
		if ports, err = openPTPPorts(q.probe, local, q.remote, plan); err != nil {
			return nil, err
		}
		s.open[local] = ports
	}
	ports.add(q)
	return ports, nil
}

// leave closes the ports behind the last peer.
func (s *ptpShared) leave(q *ptpPeer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.ports.drop(q) > 0 {
		return nil
	}
	for local, ports := range s.open {
		if ports == q.ports {
			delete(s.open, local)
		}
	}
	return q.ports.close()
}
