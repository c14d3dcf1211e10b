package datasets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"
)

// Anonymiser replaces what names a host, an address or a person by a token of it, the same
// one for the same name, so that a trace can be given away. Without the key nobody can
// tell which name a token is of.
type Anonymiser struct{ key []byte }

// NewAnonymiser returns one with this key; traces that are to have the same tokens need
// the same one.
func NewAnonymiser(key []byte) *Anonymiser { return &Anonymiser{key} }

// plainKeys are the header keys whose values name nobody.
func plainKeys() []string {
	return []string{
		KeyKind, KeyTool, KeyEpoch, KeyListen, KeyDeadline, KeySchedule, KeyRate, KeySelfTest, KeySelfBias, KeyStamps, KeyMaxDrift, KeyPrecision,
		KeyObserved, KeyFlow, KeyUnfinished, KeyUnfit, "os", "kernel", "clocksource", "cpus", "gomaxprocs", "go", "governor", "nic-driver", "series", "sign", "delay", "error",
		"resolution", "slice", "sampled", "mode", "local-clock", "sent", "skipped",
	}
}

// Token returns what stands for a name: an address remains one to look at.
func (a *Anonymiser) Token(name string) string {
	if name == "" {
		return ""
	}
	m := hmac.New(sha256.New, a.key)
	m.Write([]byte(name))
	token := hex.EncodeToString(m.Sum(nil)[:6])
	if ip, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		if ip.Is4() {
			return "ip4-" + token
		}
		return "ip6-" + token
	}
	return "x-" + token
}

// Header returns a header in which every value of a key that may name somebody is a
// token; of the probe only the name is left.
func (a *Anonymiser) Header(h *Header) *Header {
	out := &Header{Extra: h.Extra}
	for _, f := range h.Fields() {
		value := f.Value
		switch {
		case f.Key == KeyProbe:
			value, _, _ = strings.Cut(value, ":")
		case f.Key == KeySource:
			value = strings.Fields(value + " ?")[0]
		case !slices.Contains(plainKeys(), f.Key):
			value = a.Token(value)
		}
		out.Set(f.Key, value)
	}
	return out
}

// Row replaces what a row names: reference ids, sources, places, and the text of cells that
// only its tool knows, but for numbers. What a daemon said beside that is left out.
func (a *Anonymiser) Row(row Row) {
	switch r := row.(type) {
	case *Exchange:
		r.Reference, r.Why = a.Token(r.Reference), a.why(r.Why)
	case *Claim:
		daemon, of, several := strings.Cut(r.Source, " ")
		if r.Source = daemon; several {
			r.Source += " " + a.Token(of)
		}
		r.Reference, r.Facts, r.Why = a.Token(r.Reference), "", a.why(r.Why)
	case *Entry:
		r.From, r.To = a.Token(r.From), a.Token(r.To)
	}
	if extra := row.extra(); *extra != "" {
		cells := strings.Split(*extra, "\t")
		for i, cell := range cells {
			if !isAbsent([]byte(cell)) && !isNumber([]byte(cell)) {
				cells[i] = a.Token(cell)
			}
		}
		*extra = strings.Join(cells, "\t")
	}
}

// why keeps the words of a reason, unless one of them may be a name.
func (a *Anonymiser) why(text string) string {
	if strings.ContainsAny(text, ".:/@\"") {
		return a.Token(text)
	}
	return text
}
