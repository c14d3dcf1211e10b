package daemon

import (
	"bytes"
	"io"
	"log"
	"testing"

	"github.com/facebook/time/ntp/chrony"
	"github.com/facebook/time/ntp/control"
	ptp "github.com/facebook/time/ptp/protocol"
)

// These hold what is known to be wrong in the clients of facebook/time, which is why the
// exchanges here are our own. One that fails has been mended: read the exchange again.

// spoiledConn answers each request with a reply whose number is another one's.
type spoiledConn struct {
	answer func(request []byte) []byte
	at     int
	reply  []byte
}

func (c *spoiledConn) Write(request []byte) (int, error) {
	c.reply = c.answer(request)
	c.reply[c.at] ^= 0xff
	return len(request), nil
}

func (c *spoiledConn) Read(p []byte) (int, error) {
	if c.reply == nil {
		return 0, io.EOF
	}
	n := copy(p, c.reply)
	c.reply = nil
	return n, nil
}

func TestCanaryChronyClientTakesAnyNumber(t *testing.T) {
	client := chrony.Client{Connection: &spoiledConn{answer: goodChronyd().answer, at: cmdmonReplyTo}}
	if _, err := client.Communicate(chrony.NewTrackingPacket()); err != nil {
		t.Errorf("mended: %v", err)
	}
}

func TestCanaryControlClientTakesAnyNumber(t *testing.T) {
	answer := func(request []byte) []byte { return controlReply(request, 0, 0x0615, 0, []byte("a=1")) }
	client := control.NTPClient{Connection: &spoiledConn{answer: answer, at: 2}}
	question := &control.NTPControlMsgHead{VnMode: control.MakeVnMode(2, control.Mode), REMOp: control.OpReadVariables}
	if _, err := client.Communicate(question); err != nil {
		t.Errorf("mended: %v", err)
	}
}

func TestCanaryManagementClientTakesAnyNumber(t *testing.T) {
	good := goodPtp4l()
	client := ptp.MgmtClient{Connection: &spoiledConn{answer: good.answer, at: mgmtSequence}, DomainNumber: good.domain}
	if _, err := client.CurrentDataSet(); err != nil {
		t.Errorf("mended: %v", err)
	}
}

// It splits at commas inside quotes and writes to the log of the whole program.
func TestCanaryNormalizeDataSplitsQuotesAndTalks(t *testing.T) {
	var talk bytes.Buffer
	before := log.Writer()
	log.SetOutput(&talk)
	defer log.SetOutput(before)
	values, err := control.NormalizeData([]byte(`version="ntpd, of a day", leap=00`))
	if err != nil || values["version"] == "ntpd, of a day" || talk.Len() == 0 {
		t.Errorf("mended: %v, %v, %q", values, err, talk.String())
	}
}

// It has no words for two of the data sets that are asked for.
func TestCanaryManagementLacksTwoDataSets(t *testing.T) {
	good := goodPtp4l()
	m := manager{domain: good.domain}
	for _, id := range []ptp.ManagementID{idTimeProperties, idPortDataSet} {
		q, err := m.question(id, ptp.PortIdentity{PortNumber: 1})
		check(t, err)
		if err := new(ptp.Management).UnmarshalBinary(good.answer(q)); err == nil {
			t.Errorf("mended: %#x is decoded", id)
		}
	}
}
