package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/datasets"
)

func sptpEntry() Entry {
	return Entry{
		Name:    "sptp",
		Summary: "sptp of facebook/time, by the JSON of its monitoring port",
		Places:  []string{"127.0.0.1:4269", "[::1]:4269"},
		Hint:    "is sptp running? sptp@HOST:PORT names its listenaddress and monitoringport",
		at:      newSptp,
	}
}

// sptp is asked over HTTP, where an answer cannot be another question's.
type sptp struct {
	url  string
	http *http.Client
}

func newSptp(place string) (Daemon, error) {
	if strings.HasPrefix(place, "/") {
		return nil, fmt.Errorf("%q: want HOST or HOST:PORT", place)
	}
	address, err := withPort(place, "4269")
	if err != nil {
		return nil, err
	}
	// The system's proxy and redirects are for the web, not for a daemon of this host.
	client := &http.Client{
		Transport: &http.Transport{Proxy: nil, DialContext: (&net.Dialer{}).DialContext, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return &sptp{url: "http://" + address + "/", http: client}, nil
}

func (d *sptp) Close() error {
	d.http.CloseIdleConnections()
	return nil
}

// largestStatus is what 100 grandmasters need many times over.
const largestStatus = 1 << 20

// Ask makes a claim of sptp, which is that of the grandmaster it has selected, and one
// of each grandmaster.
func (d *sptp) Ask(ctx context.Context, r *Reading) error {
	body, err := d.fetch(ctx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return errSilent
		}
		return plain(err)
	}
	masters, err := decodeSptp(body)
	if err != nil {
		return err
	}
	main := r.claim("sptp", datasets.Unsynchronised)
	main.AddFact("grandmasters", integer(len(masters)))
	for _, m := range masters {
		c := r.claim("sptp "+m.Address, m.status())
		m.fill(c)
		if m.Selected {
			main.Status, main.Offset, main.Reference = m.clockStatus(), c.Offset, m.Address
			doubtTAI(main)
		}
	}
	return nil
}

func (d *sptp) fetch(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := d.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", clipped(answer.Status))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, largestStatus+1))
	if err == nil && len(body) > largestStatus {
		err = fmt.Errorf("an answer of more than %d bytes", largestStatus)
	}
	return body, err
}

// grandmaster is what sptp says of one; what is not listed here is kept as a fact.
type grandmaster struct {
	Address    string  `json:"gm_address"`
	Identity   string  `json:"port_identity"`
	Error      string  `json:"error"`
	Present    int     `json:"gm_present"`
	Offset     float64 `json:"offset"`
	Selected   bool    `json:"selected"`
	ServoState int     `json:"servo_state"`
	raw        map[string]json.RawMessage
}

// mostMasters is more than anybody has configured.
const mostMasters = 256

func decodeSptp(body []byte) ([]grandmaster, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(body, &items); err != nil {
		return nil, fmt.Errorf("not the JSON of sptp: %w", err)
	}
	var masters []grandmaster
	for _, item := range items[:min(len(items), mostMasters)] {
		var m grandmaster
		if err := json.Unmarshal(item, &m); err != nil {
			return nil, fmt.Errorf("not the JSON of sptp: %w", err)
		}
		if err := json.Unmarshal(item, &m.raw); err != nil {
			return nil, fmt.Errorf("not the JSON of sptp: %w", err)
		}
		if m.Address == "" || len(m.Address) > longestValue {
			return nil, errors.New("not the JSON of sptp: a grandmaster without an address")
		}
		masters = append(masters, m)
	}
	return masters, nil
}

func (m *grandmaster) status() datasets.ClaimStatus {
	switch {
	case m.Present == 0 || m.Error != "":
		return datasets.Unreachable
	case m.Selected:
		return datasets.Selected
	}
	return datasets.Candidate
}

// The states of sptp's servo.
const (
	servoJump = iota + 1
	servoLocked
	servoFilter
	servoHoldover
)

// clockStatus is what the servo says of the clock; it filters an outlier without
// letting the clock go.
func (m *grandmaster) clockStatus() datasets.ClaimStatus {
	switch {
	case m.Present == 0 || m.Error != "" || m.ServoState == servoHoldover:
		return datasets.Holdover
	case m.ServoState == servoLocked || m.ServoState == servoFilter || m.ServoState == servoJump:
		return datasets.Synchronised
	}
	return datasets.FreeRunning // no servo: it only measures
}

// fill writes the claim. sptp's offset is positive for a clock that is fast, and it
// leaves in it what the grandmaster's timescale is ahead of UTC. It claims no bound.
func (m *grandmaster) fill(c *datasets.Claim) {
	c.Reference = clipped(m.Identity)
	if m.Present != 0 && !math.IsNaN(m.Offset) {
		c.Offset = seconds(-m.Offset / 1e9)
		doubtTAI(c)
	}
	if m.Error != "" {
		doubt(c, "it says: "+clipped(m.Error))
	}
	var facts []datasets.Field
	for _, key := range slices.Sorted(maps.Keys(m.raw)) {
		if validName(key) {
			facts = append(facts, datasets.Field{Key: key, Value: jsonText(m.raw[key])})
		}
	}
	addFacts(c, facts)
}

// jsonText is a number or word as it stands, a string without its quotes.
func jsonText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return clipped(text)
}
