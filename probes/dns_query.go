package probes

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/tickmark/tickmark/datasets"
)

// dnsQuery is a question, packed but for its identifier.
type dnsQuery struct {
	question dnsmessage.Question
	packed   []byte
}

const (
	// usualEDNS is the size of answers that no path fragments: DNS flag day 2020.
	usualEDNS   = 1232
	largestEDNS = 4096
	smallestDNS = 512 // RFC 1035, 2.3.4: what everybody takes without EDNS
)

func bindDNSQuery(fs *flag.FlagSet) func() (*dnsQuery, error) {
	name := fs.String("name", ".", "the `name` to ask for")
	kind := fs.String("type", "NS", "the `type` to ask for: A, AAAA, MX, TYPE65, …")
	edns := fs.Int("edns", usualEDNS, "the `bytes` an answer over UDP may have (EDNS); 0 is a query without it, and 512")
	return func() (*dnsQuery, error) {
		code, ok := dnsType(strings.ToUpper(*kind))
		if !ok {
			return nil, fmt.Errorf("type %q: want A, AAAA, … or TYPE and its number", *kind)
		}
		if *edns != 0 && (*edns < smallestDNS || *edns > largestEDNS) {
			return nil, fmt.Errorf("edns %d: want 0, or %d to %d", *edns, smallestDNS, largestEDNS)
		}
		full, err := dnsmessage.NewName(strings.TrimSuffix(*name, ".") + ".")
		if err != nil {
			return nil, fmt.Errorf("name %q: too long", *name)
		}
		q := &dnsQuery{question: dnsmessage.Question{Name: full, Type: code, Class: dnsmessage.ClassINET}}
		if q.packed, err = packQuery(q.question, *edns); err != nil {
			return nil, fmt.Errorf("name %q: no name of labels of 1 to 63 bytes", *name)
		}
		return q, nil
	}
}

func packQuery(q dnsmessage.Question, edns int) ([]byte, error) {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{RecursionDesired: true})
	if err := errors.Join(b.StartQuestions(), b.Question(q)); err != nil {
		return nil, err
	}
	if edns > 0 {
		var h dnsmessage.ResourceHeader
		if err := errors.Join(h.SetEDNS0(edns, dnsmessage.RCodeSuccess, false), b.StartAdditionals(), b.OPTResource(h, dnsmessage.OPTResource{})); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// dnsType returns the code of a type of record (IANA, DNS parameters; RFC 3597).
func dnsType(name string) (dnsmessage.Type, bool) {
	code, ok := map[string]dnsmessage.Type{
		"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "NAPTR": 35,
		"DS": 43, "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "TLSA": 52, "SVCB": 64, "HTTPS": 65, "ANY": 255, "CAA": 257,
	}[name]
	if number, generic := strings.CutPrefix(name, "TYPE"); generic {
		n, err := strconv.ParseUint(number, 10, 16)
		return dnsmessage.Type(n), err == nil && n > 0
	}
	return code, ok
}

// dnsAnswer is what an answer says.
type dnsAnswer struct {
	rcode     int
	answers   int // records
	truncated bool
}

// dnsColumns are those of an answer, and over UDP how many datagrams were passed over
// because they were none.
func dnsColumns() []string { return []string{"answers", "truncated", "ignored"} }

func (a *dnsAnswer) appendCells(dst []byte, ignored int) []byte {
	if a == nil {
		return fmt.Appendf(dst, "-\t-\t%d", ignored)
	}
	truncated := 0
	if a.truncated {
		truncated = 1
	}
	return fmt.Appendf(dst, "%d\t%d\t%d", a.answers, truncated, ignored)
}

// tell notes an answer.
func (a *dnsAnswer) tell(c *called) { c.status = datasets.Some(a.rcode) }

// errOtherQuestion says that a message answers something else, or nothing.
var errOtherQuestion = errors.New("not an answer to this question")

// judge reads the answer to the query with that identifier. One to another question is
// errOtherQuestion; any other error is an answer of our server that is malformed.
func (q *dnsQuery) judge(b []byte, id uint16) (*dnsAnswer, error) {
	var p dnsmessage.Parser
	h, err := p.Start(b)
	if err != nil || h.ID != id || !h.Response {
		return nil, errOtherQuestion
	}
	questions, err := p.AllQuestions()
	// A server that could not read the question need not repeat it.
	unread := err == nil && len(questions) == 0 && h.RCode != dnsmessage.RCodeSuccess
	if !unread && (err != nil || len(questions) != 1 || !q.asks(questions[0])) {
		return nil, errOtherQuestion
	}
	a := &dnsAnswer{rcode: int(h.RCode), truncated: h.Truncated}
	if err := a.read(&p, h.RCode); err != nil && !h.Truncated {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	return a, nil
}

// asks compares as names are: without regard to the case of ASCII (RFC 4343).
func (q *dnsQuery) asks(o dnsmessage.Question) bool {
	return o.Type == q.question.Type && o.Class == q.question.Class && strings.EqualFold(o.Name.String(), q.question.Name.String())
}

// read counts the records of the answer, and takes the rest of the code from EDNS.
func (a *dnsAnswer) read(p *dnsmessage.Parser, code dnsmessage.RCode) error {
	for {
		err := p.SkipAnswer()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			break
		}
		if err != nil {
			return err
		}
		a.answers++
	}
	if err := p.SkipAllAuthorities(); err != nil {
		return err
	}
	for {
		h, err := p.AdditionalHeader()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Type == dnsmessage.TypeOPT {
			a.rcode = int(h.ExtendedRCode(code))
		}
		if err := p.SkipAdditional(); err != nil {
			return err
		}
	}
}
