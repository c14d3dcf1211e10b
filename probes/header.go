package probes

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// lead is how far ahead of its making a probe puts its epoch, so that the first
// attempt, due at the instant zero, can leave on time.
const lead = 10 * time.Millisecond

// newHeader returns what the header of every probe begins with: the kind, what
// the caller knows (the tool's version, the canonical spec, …), the target with
// the address it resolved to (both empty if there is none), the epoch, and the
// facts of this host. What the caller knows is not overwritten.
func newHeader(kind datasets.Kind, target, address string, epoch time.Time, plan Plan) *datasets.Header {
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(kind))
	for _, f := range plan.Facts {
		h.Set(f.Key, f.Value)
	}
	facts := []datasets.Field{
		{Key: datasets.KeyTool, Value: "tickmark"},
		{Key: datasets.KeyTarget, Value: target},
		{Key: datasets.KeyAddress, Value: address},
		{Key: datasets.KeyEpoch, Value: epoch.UTC().Format(time.RFC3339Nano)},
	}
	if plan.Flow.Of > 1 {
		facts = append(facts, datasets.Field{Key: datasets.KeyFlow, Value: fmt.Sprintf("%d of %d", plan.Flow.Number, plan.Flow.Of)})
	}
	for _, f := range append(facts, hostFacts()...) {
		if _, known := h.Value(f.Key); !known && f.Value != "" {
			h.Set(f.Key, f.Value)
		}
	}
	return h
}

// setFacts writes down what else is known.
func setFacts(h *datasets.Header, facts ...datasets.Field) {
	for _, f := range facts {
		h.Set(f.Key, f.Value)
	}
}

// setPlan writes down what was asked for: the schedule, and for probes that wait
// for answers how long they wait.
func setPlan(h *datasets.Header, s schedule, d deadlines, listen time.Duration) {
	h.Set(datasets.KeySchedule, s.String())
	if listen == 0 {
		return
	}
	h.Set(datasets.KeyDeadline, d.String())
	h.SetDuration(datasets.KeyListen, listen)
}

// listenFor returns how long after its due time an attempt is listened for: as
// the plan says, or usual but never shorter than the deadline.
func listenFor(plan Plan, usual time.Duration) (time.Duration, error) {
	deadline, hasDeadline := plan.Deadline.Value()
	listen, asked := plan.Listen.Value()
	if !asked {
		listen = max(usual, deadline)
	}
	var wrong []string
	if hasDeadline && deadline <= 0 {
		wrong = append(wrong, "deadline "+strconv.Quote(spec.Duration(deadline))+": must be positive")
	}
	if listen <= 0 || listen < deadline {
		wrong = append(wrong, "listen "+strconv.Quote(spec.Duration(listen))+": must be positive and not shorter than the deadline")
	}
	if len(wrong) > 0 {
		return 0, &spec.UsageError{Msg: strings.Join(wrong, "; ")}
	}
	return listen, nil
}

// duration and count write a trailer's value.
func duration(key string, d time.Duration) datasets.Field {
	return datasets.Field{Key: key, Value: d.String()}
}

func count(key string, n int64) datasets.Field {
	return datasets.Field{Key: key, Value: strconv.FormatInt(n, 10)}
}
