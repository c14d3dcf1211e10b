package daemon

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/facebook/time/ntp/control"

	"github.com/tickmark/tickmark/datasets"
)

const (
	controlHead    = 12
	controlVersion = 2 // what ntpq says; a server answers with the same
	// controlFragments of 468 bytes are more than any list of variables has.
	controlFragments = 128
)

// controlAnswer is one reply of NTP's mode 6 (RFC 9327), put together.
type controlAnswer struct {
	status uint16
	data   []byte
}

// askControl asks one question of mode 6.
func askControl(ctx context.Context, l *link, op uint8, association, sequence uint16) (answer controlAnswer, err error) {
	question := control.NTPControlMsgHead{
		VnMode: control.MakeVnMode(controlVersion, control.Mode), REMOp: op, Sequence: sequence, AssociationID: association,
	}
	var request bytes.Buffer
	if err := binary.Write(&request, binary.BigEndian, question); err != nil {
		return answer, err
	}
	a := assembly{question: question}
	err = l.exchange(ctx, func(conn net.Conn) error {
		if _, err := conn.Write(request.Bytes()); err != nil {
			return err
		}
		for !a.whole() {
			if _, err := l.next(conn, a.add); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return answer, err
	}
	return a.answer()
}

// assembly puts the fragments of an answer together, in whichever order they come.
type assembly struct {
	question control.NTPControlMsgHead
	status   uint16
	refused  bool
	parts    map[uint16][]byte // by their offset
	end      int               // known from the last one, which has no more behind it
}

// add takes a datagram, and is false for one that is no part of the answer.
func (a *assembly) add(datagram []byte) bool {
	var head control.NTPControlMsgHead
	if len(datagram) < controlHead {
		return false
	}
	if err := binary.Read(bytes.NewReader(datagram[:controlHead]), binary.BigEndian, &head); err != nil {
		return false
	}
	count, offset := int(head.Count), int(head.Offset)
	if !a.mine(head) || count > len(datagram)-controlHead || offset+count > largest || len(a.parts) == controlFragments {
		return false
	}
	a.status, a.refused = head.Status, a.refused || head.HasError()
	if a.parts == nil {
		a.parts, a.end = map[uint16][]byte{}, -1
	}
	a.parts[head.Offset] = bytes.Clone(datagram[controlHead : controlHead+count])
	if !head.HasMore() {
		a.end = offset + count
	}
	return true
}

// mine reports whether this is of the answer to the question. The library would take any.
func (a *assembly) mine(head control.NTPControlMsgHead) bool {
	return head.GetMode() == control.Mode && head.IsResponse() && head.GetOperation() == a.question.GetOperation() &&
		head.Sequence == a.question.Sequence && head.AssociationID == a.question.AssociationID
}

// whole reports whether nothing is missing.
func (a *assembly) whole() bool {
	if a.refused {
		return true
	}
	if a.parts == nil || a.end < 0 {
		return false
	}
	at := 0
	for at < a.end {
		part, ok := a.parts[uint16(at)]
		if !ok || len(part) == 0 {
			return false
		}
		at += len(part)
	}
	return at == a.end
}

func (a *assembly) answer() (controlAnswer, error) {
	if a.refused {
		return controlAnswer{}, controlError(a.status >> 8)
	}
	out := controlAnswer{status: a.status}
	for len(out.data) < a.end {
		out.data = append(out.data, a.parts[uint16(len(out.data))]...)
	}
	return out, nil
}

// controlError is what the status of an answer that says no stands for, RFC 9327 §3.
func controlError(code uint16) error {
	names := []string{
		"unspecified error", "authentication failure", "invalid message length or format", "invalid opcode",
		"unknown association", "unknown variable", "invalid value", "administratively prohibited",
	}
	if int(code) < len(names) {
		return errors.New("it says " + names[code])
	}
	return fmt.Errorf("it says error %d", code)
}

// variables reads name=value, a comma apart, with commas inside quotes being part of a
// value. The library's reader splits those, and writes to the log.
func variables(data []byte) []datasets.Field {
	var fields []datasets.Field
	rest := string(data)
	for rest != "" && len(fields) < mostVariables {
		var item string
		item, rest = cutItem(rest)
		name, value, _ := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`))
		if validName(name) && len(value) <= longestValue {
			fields = append(fields, datasets.Field{Key: name, Value: value})
		}
	}
	return fields
}

// cutItem takes what stands before the first comma outside quotes.
func cutItem(text string) (item, rest string) {
	quoted := false
	for i := range len(text) {
		switch text[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

func validName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')
	})
}
