package datasets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The header keys that tickmark itself reads. Any other key is kept as it came.
const (
	KeyKind       = "kind"
	KeyTool       = "tool"       // name and version of what recorded it
	KeyProbe      = "probe"      // canonical spec of the probe
	KeyTarget     = "target"     // as the user wrote it
	KeyAddress    = "address"    // what the target resolved to
	KeyEpoch      = "epoch"      // wall time of the instant zero, RFC 3339
	KeyListen     = "listen"     // how long after its due time an attempt was listened for
	KeyDeadline   = "deadline"   // the deadline policy
	KeySchedule   = "schedule"   // what was asked for
	KeyRate       = "rate"       // what was reached
	KeySelfTest   = "self-test"  // what a self-test found, and when, or why none covers this
	KeySelfBias   = "self-bias"  // the instrument's own error of θ, from a self-test
	KeyStamps     = "stamps"     // where the client's stamps were taken
	KeyMaxDrift   = "max-drift"  // assumed limit of the local clock's rate error
	KeyPrecision  = "precision"  // of the local clock: its smallest step plus reading cost
	KeyObserved   = "observed"   // how long a pause trace watched
	KeyFlow       = "flow"       // "2 of 3": which of the recordings from several source ports
	KeyUnfinished = "unfinished" // attempts still in flight when the recording was stopped
	KeySource     = "source"     // the other tool, and what kind of file of it, that the rows are from
	KeyUnfit      = "unfit"      // why a recording does not follow its own schedule
	KeyLost       = "lost"       // what a claim or pause trace lacks for want of a permission, and what to do

	KeyImportWarnings = "import-warnings" // what the importer had to say of its source
)

// Field is one line of a header.
type Field struct{ Key, Value string }

// Header says how a trace was made. Keys keep their order; setting one that is
// there replaces its value.
type Header struct {
	fields []Field
	// Extra names the columns of the trace that this version does not know, in
	// their order; the rows carry their cells.
	Extra []string
}

// Fields returns all lines in order.
func (h *Header) Fields() []Field { return h.fields }

// Value returns the value of key, and false if it is not there.
func (h *Header) Value(key string) (string, bool) {
	for _, f := range h.fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Text returns the value of key, or "".
func (h *Header) Text(key string) string {
	v, _ := h.Value(key)
	return v
}

// Set gives key a value.
func (h *Header) Set(key, value string) {
	for i := range h.fields {
		if h.fields[i].Key == key {
			h.fields[i].Value = value
			return
		}
	}
	h.fields = append(h.fields, Field{key, value})
}

// Kind returns what the rows are.
func (h *Header) Kind() Kind { return Kind(h.Text(KeyKind)) }

// Epoch returns the wall time of the instant zero. It places a trace in history
// and is never part of a duration.
func (h *Header) Epoch() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, h.Text(KeyEpoch))
	return t, err == nil
}

// SetEpoch sets the wall time of the instant zero.
func (h *Header) SetEpoch(t time.Time) { h.Set(KeyEpoch, t.UTC().Format(time.RFC3339Nano)) }

// Duration returns the value of key as a duration ("listen", "self-bias", …), and
// false if it is not there or cannot be one.
func (h *Header) Duration(key string) (time.Duration, bool) {
	text, ok := h.Value(key)
	if !ok {
		return 0, false
	}
	d, wrong := parseDuration(key, text)
	return d, wrong == ""
}

// parseDuration reads the value of key, and says what is wrong with it.
func parseDuration(key, text string) (d time.Duration, wrong string) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, "want a duration with its unit"
	case d > farthest || d < -farthest:
		return 0, "longer than 146 years"
	case d <= 0 && (key == KeyListen || key == KeyObserved):
		return 0, "must be positive"
	case d < 0 && key == KeyPrecision:
		return 0, "must not be negative"
	}
	return d, ""
}

// doubts says which durations that tickmark reads are there and cannot be used.
func (h *Header) doubts() []string {
	var doubts []string
	for _, key := range []string{KeyListen, KeyObserved, KeyPrecision, KeySelfBias} {
		text, ok := h.Value(key)
		if _, wrong := parseDuration(key, text); ok && wrong != "" {
			doubts = append(doubts, fmt.Sprintf("%s %s: %s; taken as unknown", key, clip([]byte(text)), wrong))
		}
	}
	return doubts
}

// SetDuration sets key to d.
func (h *Header) SetDuration(key string, d time.Duration) { h.Set(key, d.String()) }

// Clone returns a header that can be changed apart.
func (h *Header) Clone() *Header {
	return &Header{fields: slices.Clone(h.fields), Extra: slices.Clone(h.Extra)}
}

// fieldLine writes "key: value", quoting a value that would not fit on a line.
func fieldLine(f Field) string {
	value := f.Value
	if strings.ContainsFunc(value, notPlain) || strings.HasPrefix(value, `"`) || strings.TrimSpace(value) != value {
		value = strconv.Quote(value)
	}
	return f.Key + ": " + value
}

func notPlain(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }

// parseField reads what fieldLine wrote.
func parseField(line string) (Field, bool) {
	key, value, ok := strings.Cut(line, ":")
	if !ok || !validKey(key) {
		return Field{}, false
	}
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, `"`) {
		if plain, err := strconv.Unquote(value); err == nil {
			value = plain
		}
	}
	return Field{key, value}, true
}

func validKey(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
}
