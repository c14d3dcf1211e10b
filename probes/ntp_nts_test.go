package probes

import (
	"bytes"
	"testing"

	"github.com/facebook/time/ntp/protocol"
	"github.com/facebook/time/ntp/protocol/nts"
)

// Guard: ntsAEAD. A library that sends a nonce with AES-SIV-CMAC-256 needs no help.
func TestCanarySIVWithoutNonce(t *testing.T) {
	library, err := nts.NewAEAD(protocol.AEADAESSIVCMAC256, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	if nonce, _, err := library.Seal([]byte("ad"), nil); err != nil || len(nonce) != 0 {
		t.Errorf("the library now sends a nonce of %d bytes: %v", len(nonce), err)
	}
	ours, err := ntsAEAD(uint16(protocol.AEADAESSIVCMAC256), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	nonce, sealed, err := ours.Seal([]byte("ad"), []byte("text"))
	if err != nil || len(nonce) != 16 {
		t.Fatalf("a nonce of %d bytes: %v", len(nonce), err)
	}
	if text, err := ours.Open([]byte("ad"), nonce, sealed); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ours.Open([]byte("ad"), nil, sealed); err == nil {
		t.Error("no nonce at all is taken")
	}
}

// ntsPair is a request's identifier and an authentic reply to it with two cookies.
func ntsPair(tb testing.TB, cipher nts.AEAD) (id, reply []byte) {
	tb.Helper()
	id = bytes.Repeat([]byte{7}, 32)
	p := protocol.Packet{Settings: 4<<3 | 4, Stratum: 1, TxTimeSec: 1, ExtensionFields: []protocol.ExtensionField{nts.NewUniqueIdentifier(id)}}
	ad, err := p.AssociatedData(1)
	if err != nil {
		tb.Fatal(err)
	}
	inside := make([]byte, 2*104)
	cookie := nts.NewCookie(bytes.Repeat([]byte{9}, 100))
	if _, err := protocol.MarshalExtensionFieldsTo([]protocol.ExtensionField{cookie, cookie}, inside); err != nil {
		tb.Fatal(err)
	}
	seal, err := nts.SealAuthenticator(cipher, ad, inside)
	if err != nil {
		tb.Fatal(err)
	}
	p.ExtensionFields = append(p.ExtensionFields, seal)
	if reply, err = p.Bytes(); err != nil {
		tb.Fatal(err)
	}
	return id, reply
}

func ntsCipher(tb testing.TB) nts.AEAD {
	tb.Helper()
	cipher, err := ntsAEAD(uint16(protocol.AEADAESSIVCMAC256), bytes.Repeat([]byte{1}, 32))
	if err != nil {
		tb.Fatal(err)
	}
	return cipher
}

// No reply passes in which a bit was changed, that was cut, or that is to another
// request.
func TestNTSReplyIsAuthentic(t *testing.T) {
	cipher := ntsCipher(t)
	id, reply := ntsPair(t, cipher)
	cookies, err := ntsReply(reply, cipher, id)
	if err != nil || len(cookies) != 2 || len(cookies[0]) != 100 {
		t.Fatalf("%d cookies, %v", len(cookies), err)
	}
	if _, err := ntsReply(reply, cipher, id[1:]); err == nil {
		t.Error("a reply to another request passes")
	}
	for i := range reply {
		for bit := range 8 {
			forged := bytes.Clone(reply)
			forged[i] ^= 1 << bit
			if _, err := ntsReply(forged, cipher, id); err == nil {
				t.Errorf("byte %d, bit %d changed: passes", i, bit)
			}
		}
		if _, err := ntsReply(reply[:i], cipher, id); err == nil {
			t.Errorf("cut to %d bytes: passes", i)
		}
	}
}

func FuzzNTSReply(f *testing.F) {
	cipher := ntsCipher(f)
	id, reply := ntsPair(f, cipher)
	f.Add(reply)
	f.Add(reply[:48])
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ntsReply(b, cipher, id); err == nil && !bytes.Equal(b, reply) {
			t.Errorf("%x passes for authentic", b)
		}
	})
}
