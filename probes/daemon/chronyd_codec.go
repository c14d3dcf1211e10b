package daemon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/facebook/time/ntp/chrony"
)

// The part of chronyd's command and monitoring protocol that says which question a
// reply answers: version 6, every number in network order.
const (
	cmdmonVersion    = 6
	cmdmonReply      = 2
	cmdmonHead       = 28  // bytes of a reply's head
	cmdmonLargest    = 576 // of any reply: the largest, 8 clients of 60 bytes, has 520
	cmdmonCommand    = 4   // offset of the command in request and reply
	cmdmonSequence   = 8   // offset of the sequence number in a request
	cmdmonReplyTo    = 16  // and in a reply
	cmdmonStatus     = 8   // offset of a reply's status
	cmdmonUnauth     = 2   // the question is for root, over the unix socket
	cmdmonNoSource   = 4   // the source has gone
	cmdmonBadVersion = 18
)

// encodeChrony returns the request with its number.
func encodeChrony(p chrony.RequestPacket, sequence uint32) ([]byte, error) {
	p.SetSequence(sequence)
	var b bytes.Buffer
	if err := binary.Write(&b, binary.BigEndian, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// answersChrony reports whether reply answers request. The library would take any.
func answersChrony(request, reply []byte) bool {
	return len(reply) >= cmdmonHead && len(reply) <= cmdmonLargest &&
		reply[0] == cmdmonVersion && reply[1] == cmdmonReply &&
		bytes.Equal(reply[cmdmonCommand:cmdmonCommand+2], request[cmdmonCommand:cmdmonCommand+2]) &&
		bytes.Equal(reply[cmdmonReplyTo:cmdmonReplyTo+4], request[cmdmonSequence:cmdmonSequence+4])
}

// errChrony is a reply that says no.
type errChrony uint16

func (e errChrony) Error() string {
	switch e {
	case cmdmonUnauth:
		return "chronyd answers this only over its unix socket"
	case cmdmonNoSource:
		return "the source has gone"
	case cmdmonBadVersion:
		return "chronyd speaks another version of its protocol, want 6"
	}
	return fmt.Sprintf("chronyd says %s", chrony.ResponseStatusType(e))
}

// decodeChrony returns the reply as one of type R.
func decodeChrony[R chrony.ResponsePacket](reply []byte) (answer R, err error) {
	defer func() {
		if broke := recover(); broke != nil {
			err = fmt.Errorf("a reply of %d bytes breaks its decoder: %v", len(reply), broke)
		}
	}()
	if len(reply) < cmdmonHead {
		return answer, fmt.Errorf("a reply of %d bytes, want at least %d", len(reply), cmdmonHead)
	}
	if status := binary.BigEndian.Uint16(reply[cmdmonStatus:]); status != 0 {
		return answer, errChrony(status)
	}
	// The decoder is not exported: it is reached as a client whose connection is the
	// reply. What that client sends goes nowhere.
	client := chrony.Client{Connection: &canned{reply: reply}}
	got, err := client.Communicate(chrony.NewTrackingPacket())
	if err != nil {
		return answer, err
	}
	answer, ok := got.(R)
	if !ok {
		return answer, fmt.Errorf("a reply of type %d, which this question has not", got.GetType())
	}
	return answer, nil
}

// canned is a connection that has one reply to whatever is asked.
type canned struct{ reply []byte }

func (*canned) Write(p []byte) (int, error) { return len(p), nil }

func (c *canned) Read(p []byte) (int, error) {
	if c.reply == nil {
		return 0, io.EOF
	}
	n := copy(p, c.reply)
	c.reply = nil
	return n, nil
}
