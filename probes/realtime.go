package probes

import (
	"fmt"

	"github.com/tickmark/tickmark/datasets"
)

// scheduling is how the kernel runs a thread that watches.
type scheduling struct {
	fifo    int   // the priority of SCHED_FIFO, or 0
	refused error // why it is not, though it was asked for
}

// facts are what the header says of it: the fallback too, so that nobody takes waiting
// behind other programs for a pause of the host.
func (s scheduling) facts() []datasets.Field {
	if s.fifo > 0 {
		return []datasets.Field{{Key: "scheduling", Value: fmt.Sprintf("SCHED_FIFO %d", s.fifo)}}
	}
	facts := []datasets.Field{{Key: "scheduling", Value: "SCHED_OTHER"}}
	if s.refused != nil {
		facts = append(facts, datasets.Field{Key: datasets.KeyLost, Value: s.refused.Error()})
	}
	return facts
}
